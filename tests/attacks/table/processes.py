"""Attacks on processes: ending, slowing, reading and outliving others, and the ways to the network."""

from __future__ import annotations

from tests.attacks.attack import Attack, body, first

__all__ = ["ATTACKS"]

_OTHERS = (
    Attack(
        name="signal_grader",
        tries="signals the grader, its parent and its group",
        source=body(
            """
import signal
for pid in (GRADER, os.getppid()):
    if pid > 1:
        attempt(lambda: os.kill(pid, signal.SIGUSR1))
attempt(lambda: os.kill(GRADER, 0), harms="may signal")
"""
        ),
    ),
    Attack(
        name="end_others",
        tries="ends a process of the same user",
        source=body("attempt(lambda: os.kill(SENTINEL, 9))"),
    ),
    Attack(
        name="end_by_handle",
        tries="ends a process by a handle of it, and by its thread",
        source=body(
            """
import signal
attempt(lambda: signal.pidfd_send_signal(os.pidfd_open(SENTINEL), 9))
attempt(lambda: syscall(234, 131, SENTINEL, SENTINEL, 9), lambda: syscall(200, 130, SENTINEL, 9))
"""
        ),
    ),
    Attack(
        name="stop_others",
        tries="stops a process of the same user",
        source=body("attempt(lambda: os.kill(SENTINEL, 19))"),
    ),
    Attack(
        name="signal_everybody",
        tries="signals all processes and the first one (with a signal that does nothing)",
        source=body("attempt(lambda: os.kill(-1, 0), lambda: os.getpid() != 1 and os.kill(1, 0), harms='may signal')"),
    ),
    Attack(
        name="signal_by_owner",
        tries="lets the kernel signal the owner of a pipe",
        source=body(
            """
import fcntl
def owned():
    read, write = os.pipe()
    fcntl.fcntl(read, fcntl.F_SETOWN, SENTINEL)
    fcntl.fcntl(read, 10, 9)  # F_SETSIG
    fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(write, b"x")
attempt(owned)
"""
        ),
    ),
    Attack(
        name="slow_others",
        tries="lowers priority, takes processors and a scheduling class away",
        source=body(
            """
attempt(
    lambda: os.setpriority(os.PRIO_PROCESS, SENTINEL, 19),
    lambda: os.setpriority(os.PRIO_PROCESS, GRADER, 3),
    lambda: os.sched_setaffinity(SENTINEL, {0}),
    lambda: os.sched_setscheduler(SENTINEL, os.SCHED_IDLE, os.sched_param(0)),
    lambda: syscall(251, 30, 1, SENTINEL, 3 << 13),
    harms="slows others",
)
"""
        ),
    ),
    Attack(
        name="limit_others",
        tries="sets limits of another process and of the grader",
        source=body(
            """
import resource
attempt(
    lambda: resource.prlimit(SENTINEL, resource.RLIMIT_NOFILE, (3, 3)),
    lambda: resource.prlimit(GRADER, resource.RLIMIT_CORE, (0, 0)),
    harms="limits others",
)
"""
        ),
    ),
    Attack(
        name="trace_others",
        tries="attaches to another process and to the grader as a debugger",
        source=body(
            """
def attach(pid):
    syscall(101, 117, 16, pid, 0, 0)
    os.waitpid(pid, 0x40000000)
    syscall(101, 117, 17, pid, 0, 0)
attempt(lambda: attach(SENTINEL), lambda: attach(GRADER), harms="traces others")
"""
        ),
    ),
    Attack(
        name="read_grader_memory",
        tries="reads environment, command line, descriptors and memory of the grader and of its parent",
        source=body(
            r"""
import re
WANTED = rb"SECRET-[A-Z]+-[0-9a-f]{16}"
def memory(pid):
    with open(f"/proc/{pid}/mem", "rb", 0) as whole:
        for line in open(f"/proc/{pid}/maps"):
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if m and int(m[2], 16) - int(m[1], 16) < 32 << 20:
                whole.seek(int(m[1], 16))
                print(set(re.findall(WANTED, whole.read(int(m[2], 16) - int(m[1], 16)))) or "")
for pid in {GRADER, os.getppid()} - {0}:
    for name in ("environ", "cmdline"):
        attempt(lambda: print(re.findall(WANTED, open(f"/proc/{pid}/{name}", "rb").read())))
    attempt(lambda: print(os.listdir(f"/proc/{pid}/fd")), lambda: show(f"/proc/{pid}/cwd/../others/alice.py"))
    attempt(lambda: memory(pid))
"""
        ),
    ),
    Attack(
        name="read_by_vm_call",
        tries="reads another process's memory by a call of the kernel, and takes its descriptors",
        source=body(
            """
import ctypes
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
room = ctypes.create_string_buffer(64)
here = Piece(ctypes.addressof(room), 64)
def start_of(pid):
    return int(open(f"/proc/{pid}/maps").readline().split("-")[0], 16)
attempt(
    lambda: syscall(310, 270, GRADER, ctypes.byref(here), 1, ctypes.byref(Piece(start_of(GRADER), 64)), 1, 0),
    lambda: syscall(438, 438, os.pidfd_open(GRADER), 0, 0),
    harms="reads memory",
)
"""
        ),
    ),
    Attack(
        name="list_processes",
        tries="reads the command lines of all processes",
        source=body(
            """
def others():
    found = [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()]
    return any(open(f"/proc/{pid}/cmdline").read() for pid in found if int(pid) in (GRADER, SENTINEL))
attempt(others, harms="sees processes")
"""
        ),
    ),
)

_STARTING = (
    Attack(
        name="daemon",
        tries="forks a process in a session of its own that rewrites the results later",
        source=body(
            """
import time
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for _ in range(200):
                time.sleep(0.1)
                attempt(lambda: open(SCORES, "w").write("forged"))
        os._exit(0)
attempt(daemon, harms="forks")
"""
        ),
    ),
    Attack(
        name="fork_many",
        tries="forks as often as it may (here: 40 times), waiting",
        source=body(
            """
def many():
    import time
    for _ in range(40):
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
attempt(many, harms="forks")
"""
        ),
    ),
    Attack(
        name="fork_otherwise",
        tries="starts a process by the kernel's other calls",
        source=body(
            """
def child(result):
    if result == 0:
        _libc._exit(0)
    return result
attempt(lambda: child(syscall(57, 220, *(() if os.uname().machine == "x86_64" else (17, 0, 0, 0, 0)))), harms="forks")
attempt(lambda: child(syscall(56, 220, 17, 0, 0, 0, 0)), harms="forks")
arguments = np.zeros(11, np.uint64)
arguments[4] = 17  # SIGCHLD when it ends
attempt(lambda: child(syscall(435, 435, ctypes.c_void_p(arguments.ctypes.data), 88)), harms="forks")
"""
        ),
    ),
    Attack(
        name="run_programs",
        tries="runs a shell and what it can do",
        source=body(
            """
import subprocess
for words in (["/bin/sh", "-c", f"cat {ALICE}"], ["/usr/bin/id"], [sys.executable or "python3", "-c", "1"]):
    attempt(lambda: print(subprocess.run(words, capture_output=True, timeout=5).stdout), harms="runs programs")
attempt(lambda: os.system("true") == 0, lambda: print(os.popen("id").read()) or True, harms="runs programs")
attempt(lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0), harms="runs programs")
"""
        ),
    ),
    Attack(
        name="become_a_program",
        tries="replaces itself by another program that holds the pipes",
        source=body("attempt(lambda: os.execv('/bin/cat', ['cat', ALICE]))"),
    ),
    Attack(
        name="run_from_memory",
        tries="runs a program that lies in no file",
        source=body(
            """
def memory():
    fd = os.memfd_create("x", 0)
    os.write(fd, b"#!/bin/sh\\nexit 0\\n")
    if os.fork() == 0:
        os.execve(fd, ["x"], {})
attempt(memory, harms="runs programs")
attempt(lambda: os.memfd_create("y", 0), harms="hides memory")
"""
        ),
    ),
    Attack(
        name="run_by_preload",
        tries="sets the environment for programs that are started later",
        source=body(
            """
os.environ.update(LD_PRELOAD="./x.so", PYTHONSTARTUP=ALICE, PYTHONPATH=".", OPENBLAS_NUM_THREADS="64")
attempt(lambda: _libc.setenv(b"LD_PRELOAD", b"./x.so", 1))
"""
        ),
    ),
    Attack(
        name="notebook_shell",
        tries="runs programs by the magics of a notebook",
        cells=(
            first(""),
            "!touch @ARENA@/others/by_shell\n%sx touch @ARENA@/others/by_shell\nfound = !cat @ARENA@/others/alice.py",
            "%%bash\ntouch @ARENA@/others/by_shell\n",
            "%%python\nopen('@ARENA@/others/by_shell', 'w')",
            "get_ipython().system('touch @ARENA@/others/by_shell')\n%run @ARENA@/others/alice.py\n%load_ext evil",
            "get_ipython().run_cell_magic('bash', '', 'touch @ARENA@/others/by_shell')\n%%writefile @ARENA@/others/x\n1",
        ),
    ),
    Attack(
        name="threads",
        tries="starts as many threads as it may (here: 300), which wait and write",
        source=first(
            """
import threading, time
def busy():
    while True:
        time.sleep(0.01)
        for fd in pipes(os.O_WRONLY):
            attempt(lambda: os.write(fd, b""))
def idle():
    time.sleep(60)
def many():
    for n in range(300):
        threading.Thread(target=idle if n else busy, daemon=n % 2 == 0).start()
attempt(many)
"""
        ),
    ),
)

_NETWORK = (
    Attack(
        name="connect",
        tries="connects to a port of this machine",
        source=body(
            """
import socket
attempt(lambda: socket.create_connection(("127.0.0.1", PORT), 1), harms="connects")
"""
        ),
    ),
    Attack(
        name="send_datagram",
        tries="sends a datagram, to this machine and to the world",
        source=body(
            """
import socket
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"secret", ("127.0.0.1", PORT)))
"""
        ),
    ),
    Attack(
        name="connect_abstract",
        tries="connects to a socket that has a name but no file",
        source=body(
            """
import socket
attempt(lambda: socket.socket(socket.AF_UNIX).connect(ABSTRACT), harms="connects")
"""
        ),
    ),
    Attack(
        name="odd_sockets",
        tries="makes raw, packet, netlink and virtual machine sockets",
        source=body(
            """
import socket
for family, kind, protocol in ((2, 3, 1), (17, 3, 768), (16, 3, 0), (40, 1, 0), (38, 5, 0)):
    attempt(lambda: socket.socket(family, kind, protocol), harms="makes sockets")
"""
        ),
    ),
    Attack(
        name="listen",
        tries="listens on a port and on a named socket",
        source=body(
            """
import socket
def listen():
    here = socket.socket()
    here.bind(("127.0.0.1", 0))
    here.listen()
attempt(listen, lambda: socket.socket(socket.AF_UNIX).bind("\\0" + PREFIX), harms="listens")
"""
        ),
    ),
)

ATTACKS = _OTHERS + _STARTING + _NETWORK
