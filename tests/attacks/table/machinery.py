"""Attacks on the worker's own machinery, from the process that it shares with the submission."""

from __future__ import annotations

from tests.attacks.attack import HONEST, TOOLS, Attack, body, first

__all__ = ["ATTACKS"]

ATTACKS = (
    Attack(
        name="blame_recursion",
        tries="leaves no recursion, no descriptors and no modules to the worker's own code",
        at_most=0,
        source=body(
            """
import builtins, resource
attempt(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0)))
sys.setrecursionlimit(40)
for name in list(sys.modules):
    sys.modules.pop(name, None)
for name in ("len", "type", "isinstance", "bytes", "list", "int", "dict"):
    delattr(builtins, name)
"""
        ),
    ),
    Attack(
        name="blame_collector",
        tries="ends the process from the garbage collector, in the midst of the worker's own code",
        source=body("import gc\ngc.callbacks.append(lambda *_: os._exit(9))\ngc.set_threshold(1)"),
    ),
    Attack(
        name="blame_memory",
        tries="takes the memory that the worker's own code needs",
        source=body("import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))"),
    ),
    Attack(
        name="close_pipes",
        tries="closes every descriptor",
        at_most=0,
        source=body("os.closerange(0, 4096)"),
    ),
    Attack(
        name="swap_pipes",
        tries="puts other descriptors in the place of the pipes",
        at_most=0,
        source=body(
            """
for fd in range(3, 64):
    attempt(lambda: os.dup2(os.open(os.devnull, os.O_RDWR), fd))
"""
        ),
    ),
    Attack(
        name="turn_pipes",
        tries="writes its own output into the pipe of replies",
        at_most=0,
        source=first(
            """
for fd in pipes(os.O_WRONLY):
    os.dup2(fd, 1)
os.write(1, b"PASSED 100/100\\n" * 1000)
"""
        ),
    ),
    Attack(
        name="block_pipes",
        tries="makes the pipes non-blocking and full",
        source=body(
            """
for fd in pipes(os.O_WRONLY) + pipes(os.O_RDONLY):
    attempt(lambda: os.set_blocking(fd, False))
"""
        ),
    ),
    Attack(
        name="patch_worker",
        tries="replaces functions of the worker's own modules",
        source=body(
            """
for name, module in list(sys.modules.items()):
    if name.startswith("inside"):
        for part in list(vars(module)):
            if callable(getattr(module, part)) and not part.startswith("__"):
                attempt(lambda: setattr(module, part, lambda *a, **k: {"kind": "returned", "score": 100}))
"""
        ),
    ),
    Attack(
        name="patch_worker_class",
        tries="makes the worker answer each call with a right answer of its own reckoning",
        source=body(
            """
worker = sys.modules["inside.worker"].Worker
frame = sys._getframe()
while frame:
    print(sorted(frame.f_locals))
    frame = frame.f_back
worker._call = lambda self, head, payload, watched: None
"""
        ),
    ),
    Attack(
        name="walk_frames",
        tries="looks in the frames above for expected values",
        source=body(
            """
frame = sys._getframe()
while frame:
    for name, item in [*frame.f_locals.items(), *frame.f_globals.items()]:
        if name in ("expected", "reference", "solution", "answer", "misconceptions", "oracle"):
            harm("finds expected values")
    frame = frame.f_back
"""
        ),
    ),
    Attack(
        name="output_raises",
        tries="puts an output in place that raises whatever ends a process",
        source=first(
            """
class Output:
    def write(self, *_): raise SystemExit(0)
    def flush(self): raise KeyboardInterrupt
    def __getattr__(self, name): raise GeneratorExit
sys.stdout = sys.stderr = sys.__stdout__ = Output()
sys.excepthook = sys.unraisablehook = lambda *_: os._exit(1)
"""
        ),
    ),
    Attack(
        name="trace_worker",
        tries="follows the worker's own code by trace, profile and audit hooks",
        source=body(
            """
import threading
def follow(frame, event, argument):
    if event == "return" and frame.f_code.co_name in ("frame", "_answer", "encode"):
        raise SystemExit
    return follow
def listen(event, arguments):
    if event in ("open", "import", "compile", "os.chdir"):
        raise MemoryError(event)
sys.settrace(follow)
sys.setprofile(follow)
frame = sys._getframe()
while frame:
    frame.f_trace = follow
    frame = frame.f_back
sys.addaudithook(listen)
"""
        ),
    ),
    Attack(
        name="hooked_honest",
        tries="nothing more than an audit hook that is in its own way; what it computes is right",
        at_most=20,
        at_least=20,
        source=HONEST.replace("def scaled_dot", "def unused")
        .replace("def measure_", "def other_")
        .replace("def entropy_", "def third_")
        .replace("def compare_", "def fourth_")
        + TOOLS
        + "\nsys.addaudithook(lambda event, arguments: sys.audit(event + '.again') if event == 'open' else None)\n",
    ),
    Attack(
        name="run_at_the_end",
        tries="waits for the end of the process, with handlers, finalisers and threads that hold it up",
        source=first(
            """
import atexit, threading, time, weakref
class Thing: pass
_thing = Thing()
weakref.finalize(_thing, lambda: open(SCORES, "w").write("forged"))
atexit.register(lambda: (open(SCORES, "w").write("forged"), time.sleep(30)))
threading.Thread(target=time.sleep, args=(30,)).start()
"""
        ),
    ),
    Attack(
        name="fire_later",
        tries="sets timers and signals that strike in later calls",
        source=body(
            """
import signal
def strike(*_):
    raise KeyboardInterrupt("later")
for number in (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF):
    signal.signal(number, strike)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.001)
signal.setitimer(signal.ITIMER_PROF, 0.01, 0.001)
"""
        ),
    ),
)
