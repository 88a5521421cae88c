"""Attacks on time, memory, disk and output: what never ends, and what is too much."""

from __future__ import annotations

from tests.attacks.attack import Attack, body, first

__all__ = ["ATTACKS"]


def _endless(lines: str, name: str, tries: str) -> Attack:
    return Attack(name=name, tries=tries, source=body(lines), at_most=0)


ATTACKS = (
    _endless("while True: pass", "loop", "never returns"),
    _endless("import time; time.sleep(60)", "sleep", "sleeps"),
    _endless(
        "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()", "deadlock", "waits for itself"
    ),
    _endless("os.read(os.pipe()[0], 1)", "read_nothing", "reads where nobody writes"),
    _endless("import signal; signal.pause()", "pause", "waits for a signal"),
    _endless(
        """
import signal
for number in range(1, 65):
    attempt(lambda: signal.signal(number, signal.SIG_IGN))
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True: pass
""",
        "ignore_signals",
        "ignores and blocks every signal, and never returns",
    ),
    # The first process of a namespace can't be stopped from within: there it does nothing.
    Attack(
        name="stop_oneself",
        tries="stops itself, so that it uses no time at all",
        source=body("os.kill(os.getpid(), 19)"),
    ),
    _endless("import re; re.match(r'(a+)+$', 'a' * 60 + 'b')", "slow_pattern", "matches in C for ever"),
    _endless("str(7 ** 8_000_000) if not sys.set_int_max_str_digits(0) else 0", "slow_digits", "writes digits in C"),
    _endless("sum(range(10 ** 13))", "slow_sum", "adds up in C for ever"),
    _endless("np.sort(np.random.rand(200_000_000))", "slow_sort", "sorts more than there is time or memory for"),
    _endless(
        """
import time
while True:
    until = time.monotonic() + 0.02
    while time.monotonic() < until: pass
    time.sleep(0.2)
""",
        "nearly_asleep",
        "works a little between naps",
    ),
    _endless(
        """
while True:
    try:
        while True: pass
    except BaseException: pass
""",
        "swallow",
        "swallows what should interrupt it",
    ),
    Attack(
        name="loop_when_loaded",
        tries="never ends when it is loaded, and swallows what interrupts it",
        source=first(
            """
while True:
    try:
        while True: pass
    except BaseException: pass
"""
        ),
    ),
    Attack(name="exit_when_loaded", tries="ends the process when it is loaded", at_most=0, source=first("os._exit(0)")),
    Attack(
        name="kill_oneself",
        tries="ends itself by signals and aborts",
        at_most=0,
        source=body("os.abort() if request()['seed'] % 2 else os.kill(os.getpid(), 9)"),
    ),
    Attack(
        name="raise_what_ends",
        tries="raises what ends a program that catches exceptions only",
        at_most=0,
        source=body("raise (KeyboardInterrupt, SystemExit, GeneratorExit)[request()['seed'] % 3]('stop')"),
    ),
    Attack(
        name="clocks",
        tries="lets all clocks stand still and goes on for ever",
        at_most=0,
        source=first(
            """
import time
for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
    setattr(time, name, lambda: 0.0)
def softmax(x, axis=-1):
    while True: pass
"""
        ),
    ),
    Attack(
        name="recursion",
        tries="lifts the limit of recursion and fills the stack of C",
        at_most=0,
        source=first(
            """
sys.setrecursionlimit(10 ** 8)
class R:
    def __getattr__(self, name): return getattr(self, name)
def softmax(x, axis=-1):
    return R().x
"""
        ),
    ),
    Attack(
        name="memory",
        tries="takes memory until there is none, by lists, arrays and maps",
        at_most=0,
        source=body(
            """
import mmap
kept = []
attempt(lambda: kept.append(np.ones(700_000_000)))
while True:
    kept.append(mmap.mmap(-1, 1 << 30))
"""
        ),
    ),
    Attack(
        name="memory_kept",
        tries="takes all memory and catches the error, over and over",
        source=body(
            """
kept = []
try:
    while True: kept.append(bytearray(1 << 26))
except MemoryError:
    print(len(kept))
"""
        ),
    ),
    Attack(
        name="descriptors",
        tries="opens files until it is refused, and keeps them",
        source=first(
            """
kept = []
def many():
    for _ in range(5_000):
        kept.append(os.open(os.devnull, 0))
attempt(many, harms="opens thousands of files")
"""
        ),
    ),
    Attack(
        name="disk",
        tries="fills its folder (here: up to 300 MB)",
        source=body(
            """
import errno
def fill():
    total = 0
    for n in range(5):
        with open(f"fill-{n}", "wb", 0) as file:
            for _ in range(60):
                total += file.write(b"x" * (1 << 20))
                if total > 280 << 20: return
    return False
if request()["seed"] % 7 == 0:
    attempt(fill)
"""
        ),
    ),
    Attack(
        name="sparse",
        tries="makes files of terabytes that hold nothing",
        source=body(
            """
def sparse():
    with open("sparse", "wb") as file:
        file.truncate(1 << 42)
attempt(sparse, harms="makes huge files")
"""
        ),
    ),
    Attack(
        name="many_files",
        tries="makes files without content (here: up to 5,000)",
        source=first(
            """
def many():
    for n in range(5_000):
        open(f"{n}", "w").close()
attempt(many)
"""
        ),
    ),
    Attack(
        name="output",
        tries="prints without end, by every way to an output",
        at_most=0,
        source=body("while True: print('A' * 100_000); os.write(1, b'A' * 100_000); os.write(2, b'B' * 100_000)"),
    ),
    Attack(
        name="core",
        tries="leaves a core dump",
        at_most=0,
        source=body(
            """
import resource
attempt(lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30)))
ctypes.string_at(0)
"""
        ),
    ),
    Attack(
        name="limits",
        tries="lifts its own limits",
        source=body(
            """
import resource
for which in (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
    soft, hard = resource.getrlimit(which)
    attempt(lambda: resource.setrlimit(which, (-1, -1)), harms="lifts its limits")
    attempt(lambda: resource.setrlimit(which, (soft, hard)))
"""
        ),
    ),
)
