"""Attacks on files: reading what is secret, changing what counts, leaving something for others."""

from __future__ import annotations

from tests.attacks.attack import Attack, body, first

__all__ = ["ATTACKS"]

_READING = (
    Attack(
        name="read_solution",
        tries="reads the reference by its path",
        source=body("attempt(lambda: show(SOLUTION), harms='reads files')"),
    ),
    Attack(
        name="read_expected",
        tries="reads expected values beside the reference",
        source=body("attempt(lambda: show(COURSE + '/reference/attention/expected.txt'), harms='reads files')"),
    ),
    Attack(
        name="read_neighbour",
        tries="reads another submission",
        source=body("attempt(lambda: show(ALICE), harms='reads files')"),
    ),
    Attack(
        name="read_home",
        tries="reads the home of who grades",
        source=body("attempt(lambda: show(NETRC), harms='reads files')"),
    ),
    Attack(
        name="read_grader",
        tries="reads the grader's own code and the shipped reference",
        source=body(
            """
attempt(
    lambda: open("@ROOT@/reference/attention/solution.py").read(1),
    lambda: open("@ROOT@/grader/pipeline.py").read(1),
    harms="reads files",
)
"""
        ),
    ),
    Attack(
        name="list_folders",
        tries="lists the folders of the course and of the others",
        source=body("attempt(lambda: print(os.listdir(OTHERS), os.listdir(COURSE)), harms='reads files')"),
    ),
    Attack(
        name="read_by_dots",
        tries="climbs out of the scratch folder by links, dots and /proc",
        source=body(
            """
attempt(lambda: os.symlink(ALICE, "mine"))
attempt(
    lambda: show("mine"), lambda: show("../" * 30 + ALICE), lambda: show("/proc/self/root" + ALICE),
    lambda: show("/proc/self/cwd/" + "../" * 30 + ALICE), harms="reads files",
)
"""
        ),
    ),
    Attack(
        name="read_by_handle",
        tries="opens a folder and reads below it; opens a path only, and again through /proc",
        source=body(
            """
def below():
    top = os.open("@ARENA@", os.O_RDONLY)
    show(os.open("others/alice.py", os.O_RDONLY, dir_fd=top))
def twice():
    show(f"/proc/self/fd/{os.open(ALICE, os.O_PATH)}")
attempt(below, twice, harms="reads files")
"""
        ),
    ),
    Attack(
        name="read_by_hard_link",
        tries="links the reference into the scratch folder",
        source=body("attempt(lambda: (os.link(SOLUTION, 'loot.py'), show('loot.py')), harms='reads files')"),
    ),
    Attack(
        name="read_by_numpy",
        tries="reads by NumPy's own readers and by a memory map",
        source=body(
            """
attempt(
    lambda: print(bytes(np.fromfile(ALICE, np.uint8))),
    lambda: print(bytes(np.memmap(ALICE, np.uint8, "r"))),
    lambda: print(np.genfromtxt(ALICE, dtype=str, comments=None)),
    harms="reads files",
)
"""
        ),
    ),
    Attack(
        name="read_by_import",
        tries="imports the reference and the grader after taking the inert modules away",
        source=body(
            """
sys.path[:0] = [COURSE, "@ROOT@"]
sys.meta_path[:] = [finder for finder in sys.meta_path if "Inert" not in type(finder).__name__]
def stolen():
    import reference.attention.solution as solution
    print(solution.PLANTED)
attempt(stolen, harms="reads files")
"""
        ),
    ),
    Attack(
        name="read_by_traceback",
        tries="raises from a line that is said to stand in the reference",
        at_most=0,
        source=first(
            """
n = 0
def boom():
    raise ValueError("look at my line")

def softmax(x, axis=-1):
    global n
    n += 1
    if n % 2:
        boom.__code__ = boom.__code__.replace(co_filename=SOLUTION, co_firstlineno=n)
        boom()
    raise SyntaxError("bad", (ALICE, (10 ** 18, -5, 0)[n % 3], 10 ** 9, "t" * 10 ** 6, -1, -1))
"""
        ),
    ),
    Attack(
        name="read_own_process",
        tries="looks for secrets in its own memory, descriptors, environment and command line",
        source=body(
            r"""
import re
for name in ("environ", "cmdline", "mountinfo", "status", "auxv"):
    attempt(lambda: print(re.findall(rb"SECRET-[A-Z]+-[0-9a-f]{16}", open("/proc/self/" + name, "rb").read())))
found = set()
def memory():
    import mmap
    with open("/proc/self/mem", "rb", 0) as whole:
        for line in open("/proc/self/maps"):
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if m and int(m[2], 16) - int(m[1], 16) < 16 << 20:
                whole.seek(int(m[1], 16))
                found.update(re.findall(rb"SECRET-[A-Z]+-[0-9a-f]{16}", whole.read(int(m[2], 16) - int(m[1], 16))))
attempt(memory)
print(found)
for fd in range(3, 64):
    attempt(lambda: print(os.readlink(f"/proc/self/fd/{fd}")))
"""
        ),
    ),
    Attack(
        name="read_collected",
        tries="asks the garbage collector for what lay in the process before it",
        source=body(
            """
import gc
gc.unfreeze()
for item in gc.get_objects():
    if type(item) in (dict, list, tuple):
        for part in (list(item.values()) if type(item) is dict else item):
            if type(part) in (str, bytes) and "SECR" + "ET-" in str(part)[:5000]:
                print("FOUND", str(part)[:200])
"""
        ),
    ),
)

_CHANGING = (
    Attack(
        name="write_results",
        tries="writes full marks to the usual places",
        source=body(
            """
for path in (SCORES, "/autograder/results/results.json", "results.json", "../results/results.json"):
    attempt(lambda: open(path, "r+" if path == SCORES else "w").write('{"score": 100}'))
"""
        ),
    ),
    Attack(
        name="write_by_links",
        tries="puts a link in the place of a result, for the grader to follow",
        source=body(
            """
attempt(lambda: os.unlink(SCORES), lambda: os.symlink(SOLUTION, SCORES))
attempt(lambda: os.symlink("/etc/passwd", RESULTS + "/report.html"))
"""
        ),
    ),
    Attack(
        name="write_beside_report",
        tries="puts a link where the report of its own file will be written",
        source=body(
            "attempt(lambda: os.symlink(SOLUTION, '@ARENA@/inbox/write_beside_report/submission-report.html'))"
        ),
    ),
    Attack(
        name="delete",
        tries="deletes the reference, the results and the others, and its own folder",
        source=body(
            """
import shutil
for folder in (COURSE, OTHERS, RESULTS, os.getcwd()):
    shutil.rmtree(folder, ignore_errors=True)
"""
        ),
    ),
    Attack(
        name="change_modes",
        tries="changes modes, times and attributes of files that it may not open",
        source=body(
            """
for path in (SCORES, SOLUTION, ALICE):
    attempt(lambda: os.utime(path, (1, 1)), lambda: os.setxattr(path, "user.x", b"1"), lambda: os.chmod(path, 0o600))
    attempt(lambda: os.chown(path, os.getuid(), os.getgid()), lambda: os.truncate(path, 3))
"""
        ),
    ),
    Attack(
        name="change_modes_of_links",
        tries="changes modes and times through links and handles in its own folder",
        source=body(
            """
attempt(lambda: os.symlink(ALICE, "link"), lambda: os.chmod("link", 0o777), lambda: os.utime("link", (2, 2)))
def handle():
    fd = os.open(ALICE, os.O_PATH)
    os.chmod(f"/proc/self/fd/{fd}", 0o777)
attempt(handle)
"""
        ),
    ),
    Attack(
        name="lock_scratch",
        tries="makes its folder unreadable and undeletable, deep and with odd names",
        source=body(
            r"""
attempt(lambda: os.mkdir("d"), lambda: open("d/f", "w").close(), lambda: os.chmod("d", 0), lambda: os.chmod(".", 0))
for name in (b"\xff\xfe\n", b"-rf", b" ", "\u202e".encode(), b"n" * 255):
    attempt(lambda: open(name, "w").close())
"""
        ),
    ),
    Attack(
        name="deep_folders",
        tries="makes folders so deep that a path to the last is too long",
        source=body(
            """
def deeper():
    for _ in range(1500):
        os.mkdir("deeper")
        os.chdir("deeper")
attempt(deeper)
"""
        ),
    ),
    Attack(
        name="special_files",
        tries="leaves pipes, sockets and loops of links where somebody may read them",
        source=body(
            """
import socket
attempt(lambda: os.mkfifo("pipe.py"), lambda: os.mkfifo(PREFIX + "pipe"), lambda: os.symlink("loop", "loop"))
attempt(lambda: socket.socket(socket.AF_UNIX).bind("socket.py"))
attempt(lambda: os.mknod("disk", 0o60600, os.makedev(8, 0)), harms="makes a device")
"""
        ),
    ),
    Attack(
        name="poison_packages",
        tries="opens the library, NumPy and the grader for writing",
        source=body(
            """
for path in (np.__file__, os.__file__, "@ROOT@/grader/pipeline.py"):
    attempt(lambda: os.close(os.open(path, os.O_WRONLY)), harms="writes code")
"""
        ),
    ),
    Attack(
        name="leave_messages",
        tries="leaves a message for the next submission in every place that it can think of",
        twice=True,
        source=first(
            """
mine = os.urandom(8).hex()
def softmax(x, axis=-1):
    for place in (*PLACES, os.path.expanduser("~"), os.environ.get("TMPDIR", "."), ".", ".."):
        path = place + "/" + PREFIX + "message"
        attempt(lambda: open(path).read() != mine, harms="finds a message")
        attempt(lambda: open(path, "w").write(mine))
    return x
"""
        ),
    ),
    Attack(
        name="leave_in_kernel",
        tries="leaves shared memory, queues, semaphores and keys in the kernel",
        twice=True,
        source=body(
            """
attempt(lambda: syscall(29, 194, 0x1A77AC, 4096, 0o1666))
attempt(lambda: syscall(68, 186, 0x1A77AC, 0o1666), lambda: syscall(64, 190, 0x1A77AC, 1, 0o1666))
def shared():
    from multiprocessing import shared_memory
    shared_memory.SharedMemory(name=PREFIX + "memory", create=True, size=4096)
attempt(shared)
attempt(lambda: syscall(248, 217, b"user", b"attack", b"text", 4, -4), harms="leaves a key")
"""
        ),
    ),
)

ATTACKS = _READING + _CHANGING
