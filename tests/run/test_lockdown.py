"""What student code can and can't do, under every backend that this machine offers."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.model import Submission
from tests.run.arena import Arena, arena, roomy, script
from tests.run.offered import CONFINING, ISOLATED, opened

SOURCE = """
import ctypes, os, socket, subprocess, sys
import numpy as np

OPEN = [number for number in range(64) if os.path.exists(number)]
libc = ctypes.CDLL(None, use_errno=True)

def tried(code):
    # The name of what is raised, or what came back.
    try:
        return repr(eval(code))
    except OSError as error:
        return f"OSError {error.errno}"
    except BaseException as error:
        return type(error).__name__

def called(number, *arguments):
    result = libc.syscall(number, *arguments)
    return ctypes.get_errno() if result < 0 else 0
"""
PLANTED = "planted-0b5e7c"


@pytest.fixture(scope="module", params=CONFINING)
def inmate(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """Return a worker of each backend, with a companion, started where something was planted."""
    companion = script(SOURCE, companions={"data.csv": b"1,2"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANTED", PLANTED)
        with opened(request.param) as backend, arena(companion, backend=backend, packages=("numpy", "scipy")) as made:
            assert made.load.kind == "returned", made.load
            yield made


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file that everybody may read, as far as its mode goes."""
    path = tmp_path_factory.mktemp("secret") / "secret.txt"
    path.write_text(PLANTED, encoding="utf-8")
    path.chmod(0o644)
    return path


DENIED = {
    # Other processes
    "fork": "os.fork()",
    "posix_spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "subprocess": "subprocess.run(['/bin/true'])",
    "exec": "os.execv('/bin/true', ['true'])",
    "kill-all": "os.kill(-1, 0)",
    "kill-group": "os.kill(0, 0)",
    "kill-parent": f"os.kill({os.getpid()}, 0)",
    "pidfd": "os.pidfd_open(os.getpid())",
    # The network
    "tcp": "socket.socket()",
    "udp": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "unix": "socket.socket(socket.AF_UNIX)",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "socketpair": "socket.socketpair()",
    # Files
    "passwd": "open('/etc/passwd').read()",
    "write-tmp": "open('/tmp/grade-was-here', 'w')",
    "write-root": "open('/grade-was-here', 'w')",
    "write-library": "open(os.path.join(os.path.dirname(os.__file__), 'was_here.py'), 'w')",
    "write-numpy": "open(os.path.join(os.path.dirname(np.__file__), 'was_here.py'), 'w')",
    "shared-memory": "open('/dev/shm/grade-was-here', 'w')",
    "proc-environ": "open('/proc/self/environ').read()",
    "proc-memory": "open('/proc/self/mem', 'rb')",
    "proc-list": "os.listdir('/proc')",
    "home": "os.listdir(os.path.expanduser('~root'))",
    "parent-folder": "os.listdir('..')",
    "chmod": "os.chmod('data.csv', 0o777)",
    "chown": "os.chown('data.csv', 1, 1)",
    "utime": "os.utime('data.csv')",
    "symlink": "os.symlink('/etc/passwd', 'link')",
    "hard-link": "os.link('data.csv', 'link')",
    "fifo": "os.mkfifo('fifo')",
    "flock": "__import__('fcntl').flock(os.open('data.csv', os.O_RDONLY), 2)",
    "lock": "__import__('fcntl').lockf(os.open('lock', os.O_RDWR | os.O_CREAT), 2)",
    "lease": "__import__('fcntl').fcntl(os.open('data.csv', os.O_RDONLY), 1024, 0)",
    "owner": "__import__('fcntl').fcntl(0, 8, 1)",
    "mount": "exec('raise OSError(called(165, 0, 0, 0, 0, 0), str())')",
    # The machine
    "priority": "os.setpriority(os.PRIO_PROCESS, 0, 5)",
    "nice": "os.nice(1)",
    "affinity": "os.sched_setaffinity(0, {0})",
    "scheduler": "os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))",
    "limits": "__import__('resource').prlimit(0, 0, (1, 1))",
    "user": "os.setuid(12345)",
    "memfd": "os.memfd_create('x')",
    "session": "os.setsid()",
}


@pytest.mark.parametrize("code", DENIED.values(), ids=DENIED.keys())
def test_denied(inmate: Arena, code: str) -> None:
    """Each of these raises an ordinary OSError, and the worker goes on."""
    assert str(inmate.value("tried", code)).startswith("OSError"), code


@pytest.mark.parametrize(
    "name, number",
    [
        *[("shmget", 29), ("ptrace", 101), ("keyctl", 250), ("unshare", 272), ("perf_event_open", 298)],
        *[("process_vm_readv", 310), ("bpf", 321), ("userfaultfd", 323), ("io_uring_setup", 425), ("msgget", 68)],
        *[("inotify_init1", 294), ("ioprio_set", 251), ("sched_setattr", 314), ("seccomp", 317), ("tkill", 200)],
        *[("pidfd_getfd", 438), ("landlock_create_ruleset", 444), ("setns", 308), ("personality", 135)],
    ],
)
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="these are the numbers of x86-64")
def test_calls_without_a_name_in_python(inmate: Arena, name: str, number: int) -> None:
    """Called by number, they are refused as well."""
    assert inmate.value("called", number, 0, 0, 0) == 1, name


def test_processes_by_clone(inmate: Arena) -> None:
    """A thread may be made, a process or a namespace may not."""
    assert inmate.value("called", 56 if os.uname().machine == "x86_64" else 220, int(signal.SIGCHLD), 0, 0, 0, 0) == 1
    assert inmate.value("called", 435, 0, 0) == 38  # ENOSYS: the C library then uses the old call


def test_no_secret_is_found(inmate: Arena, secret: Path) -> None:
    """A file outside isn't readable, whatever its mode; nothing planted is in the environment."""
    assert str(inmate.value("tried", f"open({str(secret)!r}).read()")).startswith("OSError")
    assert PLANTED not in str(inmate.value("tried", "dict(os.environ)"))
    assert PLANTED not in str(inmate.value("tried", "sys.orig_argv"))


def test_the_grader_is_not_readable(inmate: Arena, root: Path) -> None:
    """Neither the engine nor the course's solution nor the worker's own code can be read."""
    for path in ("grader/run/session.py", "grader/run/inside/worker.py", "reference/attention/solution.py"):
        assert str(inmate.value("tried", f"open({str(root / path)!r}).read()")).startswith("OSError"), path
    assert str(inmate.value("tried", "open('/inside/worker.py').read()")).startswith("OSError")


def test_no_descriptor_is_inherited(inmate: Arena) -> None:
    """The standard streams and two pipes are open, nothing else."""
    assert inmate.value("tried", "OPEN") == "[0, 1, 2, 3, 4]"


def test_nothing_is_connected_to(inmate: Arena) -> None:
    """Somebody listens, and nobody calls."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        code = f"socket.create_connection(('127.0.0.1', {listening.getsockname()[1]}), 1)"
        assert str(inmate.value("tried", code)).startswith("OSError")


HONEST = {
    "save": "np.save('out.npy', np.eye(3)), np.load('out.npy').shape",
    "text": "open('notes.txt', 'w').write('x'), open('notes.txt').read()",
    "companion": "open('data.csv').read()",
    "folders": "os.makedirs('a/b'), os.rename('a/b', 'c'), os.rmdir('c'), os.rmdir('a')",
    "list": "sorted(os.listdir('.'))",
    "temporary": "__import__('tempfile').TemporaryFile().write(b'x')",
    "copy": "__import__('shutil').copyfile('data.csv', 'copy.csv')",
    "memory-map": "np.memmap('map', dtype='f8', mode='w+', shape=(4,)).flush()",
    "thread": "__import__('concurrent.futures').futures.ThreadPoolExecutor(2).submit(sum, [1, 2]).result()",
    "linear-algebra": "np.linalg.svd(np.ones((60, 60)))[1].shape",
    "chance": "len(os.urandom(4)), __import__('secrets').token_bytes(2) and 1",
    "late-library": "[__import__(name) and 0 for name in ('decimal', 'sqlite3', 'unittest', 'asyncio', 'bz2', 'wave')]",
    "database": "__import__('sqlite3').connect(':memory:').execute('select 1').fetchone()",
    "encodings": "'ä'.encode('cp1252'), b'x'.decode('utf-16-le', 'replace')",
    "clock": "__import__('time').sleep(0.001), __import__('datetime').date(2020, 1, 1).isoformat()",
    "processors": "os.cpu_count() and len(os.sched_getaffinity(0)) > 0",
    "signal-oneself": "os.kill(os.getpid(), 0)",
    "alarm": "__import__('signal').setitimer(0, 100), __import__('signal').alarm(0)",
    "scipy": "__import__('scipy.linalg').linalg.expm(np.zeros((2, 2))).tolist()",
    "statistics": "__import__('scipy.stats').stats.chi2.ppf(0.5, 3) > 2",
    "terminal": "sys.stdout.isatty(), __import__('shutil').get_terminal_size()",
    "disk": "__import__('shutil').disk_usage('.').total > 0",
}


@pytest.mark.parametrize("code", HONEST.values(), ids=HONEST.keys())
def test_honest_work_goes_on(inmate: Arena, code: str) -> None:
    """What an ordinary submission does works as it would at home."""
    answer = str(inmate.value("tried", code))

    assert not answer.startswith("OSError"), answer
    assert not answer.endswith("Error"), answer


def test_packages_that_are_not_allowed_are_not_there(inmate: Arena) -> None:
    """A package that is installed but not allowed can't be imported, as if it were absent."""
    assert inmate.value("tried", "__import__('jinja2')") == "ModuleNotFoundError"
    assert inmate.value("tried", "__import__('hypothesis')") == "ModuleNotFoundError"


@pytest.mark.parametrize("name", ISOLATED)
def test_workers_do_not_meet(name: str) -> None:
    """Two submissions at the same time see nothing of each other, and each has its own random numbers."""
    source = "import os, random\nimport numpy as np\n"
    source += "def leave(): open('left', 'w').write('x'); return os.getcwd()\n"
    source += "def look(place):\n    try:\n        return os.listdir(place)\n    except OSError:\n        return None\n"
    source += "def draw(): return float(np.random.rand()), random.random(), float(np.random.default_rng().random())\n"
    answers: dict[str, list[object]] = {}

    with opened(name) as backend:

        def one(who: str, handed_in: Submission) -> None:
            with arena(handed_in, backend=backend) as made:
                place = made.value("leave")
                answers[who] = [place, made.value("look", "."), made.value("draw", seed=5), made.value("draw", seed=5)]
                with arena(handed_in, backend=backend) as other:
                    answers[who] += [other.value("look", "."), other.value("look", place), other.value("draw", seed=5)]

        threads = [threading.Thread(target=one, args=(who, script(source))) for who in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    for place, own, first, again, empty, foreign, third in answers.values():
        assert own == ["left"]
        assert empty == []
        # In a namespace the same path is another place.
        assert foreign == ([] if name == "namespaces" else None), place
        assert first == again == third
    assert answers["a"][2] == answers["b"][2]


@pytest.mark.parametrize("name", ISOLATED)
def test_ctrl_c_is_for_us(name: str) -> None:
    """A worker can be interrupted by us, and what it defined before is kept."""
    source = "def fine(): return 1\nimport time\ntry:\n    while True: pass\nfinally: later = 1\n"
    with opened(name) as backend, arena(source, backend=backend, limits=roomy(load_seconds=0.3)) as made:
        assert made.load.kind == "timed_out"
        assert made.load.callables == ("fine",)
        assert made.value("fine") == 1
