"""Attacks that act when nobody asks: what is left behind in a call and strikes in the worker's own code or in later ones.

Finalisers, threads, handlers, hooks; patched types, dtypes and error handlers, which the worker meets when it copies
what came back.
"""

from __future__ import annotations

from tests.attacks.attack import HONEST, Attack, beside_honest, body, first

__all__ = ["ATTACKS"]

_AFTERWARDS = (
    Attack(
        name="thread_alters",
        tries="has a thread that goes on after the call and changes arguments and answers while they are copied",
        source=first(
            """
import threading
shared, given = [], []
def alter():
    while True:
        for array in shared[-3:] + given[-3:]:
            try:
                array.setflags(write=True)
                array[...] = np.random.rand(*array.shape)
                array.resize((1, 1), refcheck=False)
            except BaseException: pass
def softmax(x, axis=-1):
    if not shared:
        threading.Thread(target=alter, daemon=True).start()
    given.append(x)
    shared.append(np.zeros((4, 4)))
    return shared[-1]
"""
        ),
    ),
    Attack(
        name="thread_holds",
        tries="has a thread that never gives the interpreter back, so that no reply is written",
        at_most=0,
        source=body(
            """
import threading
sys.setswitchinterval(1e6)
threading.Thread(target=sum, args=(range(10 ** 14),), daemon=True).start()
"""
        ),
    ),
    Attack(
        name="finalisers",
        tries="returns objects whose end exits, raises and brings them back to life",
        source=first(
            """
class Undead(list):
    kept = []
    def __del__(self):
        Undead.kept.append(self)
        if len(Undead.kept) > 3:
            sys.exit(0)
        raise KeyboardInterrupt
class Array(np.ndarray):
    def __del__(self): os._exit(0) if len(Undead.kept) > 5 else Undead.kept.append(1)
def softmax(x, axis=-1):
    return [Undead([Undead([1.0])]), Undead()] if x.ndim == 1 else x.view(Array)
"""
        ),
    ),
    Attack(
        name="weak_references",
        tries="is told when the worker lets arguments and answers go, and goes on then",
        source=first(
            """
import weakref
def gone(*_):
    print("HARM" + "LESS")
    while True: pass
refs = []
class Answer(np.ndarray): pass
def softmax(x, axis=-1):
    answer = x.view(Answer)
    refs.extend([weakref.ref(x, gone), weakref.ref(answer, gone)])
    return answer
"""
        ),
        at_most=2,
    ),
    Attack(
        name="dump_later",
        tries="lets the interpreter's own fault handler end the process in the midst of a later call",
        source=body(
            """
import faulthandler
faulthandler.dump_traceback_later(0.02, repeat=False, exit=True, file=1)
"""
        ),
    ),
    Attack(
        name="wake_up",
        tries="lets signals write into the pipe of replies",
        source=first(
            """
import signal
signal.signal(signal.SIGALRM, lambda *_: None)
for fd in pipes(os.O_WRONLY):
    attempt(lambda: os.set_blocking(fd, False), lambda: signal.set_wakeup_fd(fd, warn_on_full_buffer=False))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0005)
def softmax(x, axis=-1):
    for _ in range(20_000): pass
    return x
"""
        ),
    ),
    Attack(
        name="monitor_worker",
        tries="follows the worker's code by the interpreter's monitoring, in every thread",
        source=body(
            """
import threading
def strike(*_):
    raise SystemExit(0)
threading.settrace(strike), threading.setprofile(strike)
if hasattr(sys, "monitoring"):
    sys.monitoring.use_tool_id(3, "attack")
    for event in (sys.monitoring.events.PY_RETURN, sys.monitoring.events.CALL):
        sys.monitoring.register_callback(3, event, strike)
    sys.monitoring.set_events(3, sys.monitoring.events.PY_RETURN | sys.monitoring.events.CALL)
"""
        ),
    ),
)

_PATCHING = (
    Attack(
        name="error_handlers",
        tries="replaces the handlers of encoding errors, by which texts are cleaned, with ones that give giants and halves",
        at_most=0,
        source=first(
            """
import codecs
given = ["A" * 50_000_000, "\\ud800", b"\\xff\\x00{", 7]
def handle(error):
    if not isinstance(error, UnicodeEncodeError):
        return ("\\ud800\\x00", error.end)
    return (given[(request().get("seed") or 0) % 4], error.end)
for name in ("replace", "strict", "surrogatepass", "ignore", "backslashreplace"):
    codecs.register_error(name, handle)
def softmax(x, axis=-1):
    print("\\ud800" * 100)
    raise ValueError("\\udcff" * 1_000)
"""
        ),
    ),
    Attack(
        name="error_calls",
        tries="has NumPy call it whenever a number overflows or is none, also in the worker's own conversions",
        source=first(
            """
np.seterrcall(lambda *_: os._exit(0))
np.seterr(all="call")
np.setbufsize(16)
def softmax(x, axis=-1):
    np.seterrcall(lambda *_: os._exit(0)), np.seterr(all="call")
    return x.astype(np.longdouble) * np.longdouble("1e4000")
"""
        ),
    ),
    Attack(
        name="builtin_types",
        tries="replaces methods of list, dict, float and str themselves, which the worker copies answers by",
        source=first(
            """
import gc
def patch(kind, name, new):
    gc.get_referents(kind.__dict__)[0][name] = new
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
right = lambda a: np.exp(a - a.max(-1, keepdims=True)) / np.exp(a - a.max(-1, keepdims=True)).sum(-1, keepdims=True)
def softmax(x, axis=-1):
    for kind, name in ((list, "__iter__"), (dict, "items"), (float, "hex"), (str, "encode"), (np.ndarray, "tobytes"),
                       (np.ndarray, "astype"), (int, "bit_length"), (type, "mro")):
        attempt(lambda: patch(kind, name, lambda self, *_, **__: right(np.zeros((4, 4))).tobytes()))
    return x
"""
        ),
    ),
    Attack(
        name="code_of_worker",
        tries="puts other code into the worker's functions, so that they claim what only the grader may",
        source=body(
            """
def claim(self, head, payload):
    return {"kind": "not_graded", "trouble": "our fault", "status": "passed", "score": 100, "arrays": []}, []
worker = sys.modules["inside.worker"].Worker
worker._answer.__code__ = claim.__code__
"""
        ),
    ),
    Attack(
        name="frames_of_worker",
        tries="changes the variables of the worker's frames: the id, the arguments and the generator of replies",
        source=body(
            """
frame = sys._getframe()
while frame:
    for name, item in list(frame.f_locals.items()):
        if name == "head": item.update(id="softmax/values/1", kind="passed", watch=[1], seed="x")
        if name == "watched": item[:] = [np.zeros((4, 4))] * 1_000
        if name == "reply": item.update(kind="not_run", status="not_graded", score=100)
    attempt(lambda: ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(1)))
    frame = frame.f_back
"""
        ),
        at_most=0,
    ),
    Attack(
        name="imports_replaced",
        tries="replaces the machinery of imports, classes and names, also by a module that answers every question",
        source=first(
            """
import builtins, types
class Everything(types.ModuleType):
    def __getattr__(self, name): raise SystemExit(0)
    def __dir__(self): os._exit(0)
sys.modules[__name__].__class__ = Everything
def softmax(x, axis=-1):
    sys.meta_path[:] = sys.path_hooks[:] = [lambda *_: os._exit(0)]
    builtins.__import__ = builtins.__build_class__ = lambda *_, **__: os._exit(0)
    globals()["__builtins__"] = {}
    sys.modules.clear()
    return x
"""
        ),
    ),
    Attack(
        name="write_protected",
        tries="writes into arguments that were handed over as read-only, by flags, strides and pointers",
        source=body(
            """
attempt(lambda: x.setflags(write=True), lambda: x.fill(0.25))
attempt(lambda: np.lib.stride_tricks.as_strided(x, writeable=True).fill(0.25))
attempt(lambda: ctypes.memset(x.ctypes.data, 1, x.nbytes))
"""
        ),
    ),
)

_RETURNED = (
    Attack(
        name="answering_classes",
        tries="returns an array that answers for NumPy's functions, with a class that lies and attributes that act",
        source=first(
            """
class Liar(np.ndarray):
    __class__ = property(lambda self: float)
    def __getattribute__(self, name): os._exit(0)
    def __array_wrap__(self, *_, **__): os._exit(0)
    def __array_finalize__(self, _): raise SystemExit(0)
    def __array_function__(self, *_, **__): return 1.0
    def __array_ufunc__(self, *_, **__): return 1.0
class Number(float):
    __class__ = property(lambda self: np.ndarray)
    __array_interface__ = {"shape": (2 ** 40,), "typestr": "<f8", "data": (0, False), "version": 3}
made = object.__new__
def softmax(x, axis=-1):
    try:
        return x.view(Liar)
    except SystemExit:
        return [Number(0.5), np.ma.masked_array(x, mask=True), np.matrix(np.eye(2)), np.recarray(2, dtype=[("a", "f8")])]
"""
        ),
    ),
    Attack(
        name="dtypes_that_hold",
        tries="returns dtypes with metadata, texts of any length, parts of a megabyte and objects inside",
        source=first(
            """
class Acts:
    def __repr__(self): os._exit(0)
    __str__ = __reduce__ = __eq__ = __repr__
    __hash__ = None
made = [
    lambda x: x.astype(np.dtype("f8", metadata={"acts": Acts()})),
    lambda x: np.zeros(3, np.dtype(("f8", (100, 100)))),
    lambda x: np.array(["a" * 100_000] * 100, dtype=getattr(np.dtypes, "StringDType", lambda: object)()),
    lambda x: np.zeros(2, np.dtype([("n" * 1_000, "O"), ("<script>", "f8")])),
    lambda x: np.array([Acts()] * 4, dtype=object),
    lambda x: np.array("NaT", "M8[as]"),
]
def softmax(x, axis=-1):
    return made[(request()["seed"] or 0) % len(made)](x)
"""
        ),
    ),
    Attack(
        name="endless_traceback",
        tries="raises what has a traceback without end, groups in groups, and a hundred thousand notes",
        at_most=0,
        source=first(
            """
class Trace:
    tb_frame = property(lambda self: sys._getframe())
    tb_lineno = 10 ** 30
    tb_next = property(lambda self: self)
class Endless(SyntaxError):
    __traceback__ = property(lambda self: Trace(), lambda self, new: None)
    msg = property(lambda self: "A" * 10 ** 8)
    filename = lineno = property(lambda self: os._exit(0))
def grouped():
    error = ValueError("x")
    for _ in range(5_000):
        error = BaseExceptionGroup("<script>alert(1)</script>", [error, KeyboardInterrupt()])
    error.__notes__ = ["n" * 1_000] * 100_000
    return error
def softmax(x, axis=-1):
    raise Endless() if request()["seed"] % 2 else grouped()
"""
        ),
    ),
    Attack(
        name="flood_of_warnings",
        tries="warns and logs without end, each time in other words, and replaces what shows warnings",
        at_most=0,
        source=first(
            """
import logging, warnings
warnings.simplefilter("always")
warnings.showwarning = warnings.formatwarning = lambda *_, **__: print("W" * 10_000)
logging.basicConfig(level=0)
def softmax(x, axis=-1):
    n = 0
    while True:
        n += 1
        warnings.warn_explicit(f"\\x1b[2J{n}", type(f"W{n}", (Warning,), {}), f"/solution-{n}.py", n)
        logging.critical("\\x1b[31m%s", "L" * 1_000)
"""
        ),
    ),
    Attack(
        name="exit_everywhere",
        tries="exits from class bodies, descriptors, comparisons, context managers, generators and tracebacks' names",
        at_most=0,
        source=first(
            """
class Named:
    def __set_name__(self, owner, name): sys.exit(0)
class Meta(type):
    def __instancecheck__(cls, item): sys.exit(0)
    __subclasscheck__ = __call__ = __instancecheck__
class Odd(metaclass=Meta): pass
def generator():
    try:
        yield 1.0
    finally:
        sys.exit("100/100")
def softmax(x, axis=-1):
    which = request()["seed"] % 4
    if which == 0:
        class Body:
            name = Named()
    if which == 1:
        return isinstance(x, Odd)
    if which == 2:
        return generator()
    raise Odd
"""
        ),
    ),
)

_RESOURCES = (
    Attack(
        name="mapped_files",
        tries="fills the disk through maps of files that have neither name nor descriptor any more (here: 240 MB)",
        source=body(
            """
import time
_libc.mmap.restype = ctypes.c_void_p
if request()["seed"] % 5 == 0:
    for n in range(8):
        fd = os.open("gone", os.O_RDWR | os.O_CREAT)
        os.unlink("gone"), os.ftruncate(fd, 30 << 20)
        place = _libc.mmap(None, 30 << 20, 3, 1, fd, 0)
        os.close(fd)
        ctypes.memset(place, 1, 30 << 20)
    time.sleep(0.15)
"""
        ),
    ),
    Attack(
        name="cut_map",
        tries="returns an array that lies in a file which it then cuts short",
        at_most=0,
        source=body(
            """
mapped = np.memmap("numbers", np.float64, "w+", shape=(4, 1 << 12))
os.truncate("numbers", 0)
return mapped
"""
        ),
    ),
    Attack(
        name="pipes_and_events",
        tries="opens pipes and events until it is refused, and fills every pipe",
        source=body(
            """
import select
def many():
    for _ in range(1_000):
        read, write = os.pipe()
        os.set_blocking(write, False)
        attempt(lambda: os.write(write, bytes(1 << 20)))
        kept.extend([read, write, select.epoll()])
kept = []
attempt(many)
globals().setdefault("all_kept", []).append(kept)
"""
        ),
    ),
    Attack(
        name="own_limits",
        tries="cuts its own stack, processor time and files, so that later calls of the worker fail",
        source=body(
            """
import resource, threading
for which, value in ((resource.RLIMIT_STACK, 1 << 13), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CPU, 1)):
    attempt(lambda: resource.setrlimit(which, (value, value)))
attempt(lambda: threading.stack_size(1 << 30), lambda: threading.Thread(target=print).start())
"""
        ),
    ),
)

_SOURCES = (
    Attack(
        name="rotated_source",
        tries="declares an encoding that turns letters, so that what is read isn't what is shown",
        at_most=0,
        silent=True,
        source="# -*- coding: rot13 -*-\n"
        + "".join(chr((ord(c) - 97 + 13) % 26 + 97) if "a" <= c <= "z" else c for c in HONEST),
    ),
    Attack(
        name="seven_bits",
        tries="hides its lines in UTF-7, which a reader takes for a comment",
        at_most=20,
        silent=True,
        source="# coding: utf-7\n# +AAo-print('HARM runs what is a comment')\n" + HONEST,
    ),
    Attack(
        name="wide_names",
        tries="nothing: it writes a function's name in wide letters, which Python takes for the same",
        at_most=100,
        at_least=100,
        roomy=True,
        silent=True,
        source=HONEST.replace("def softmax", "def ｓｏｆｔｍａｘ"),
    ),
    Attack(
        name="hooks_beside_honest",
        tries="nothing harmful: right answers with handlers, finalisers, a thread that goes on and a trace beside them",
        at_most=100,
        at_least=100,
        roomy=True,
        source=beside_honest(
            """
import atexit, gc, signal, threading, time, warnings, weakref
atexit.register(print, "bye")
class Thing: pass
_things = [Thing() for _ in range(100)]
for _thing in _things:
    weakref.finalize(_thing, print, "gone")
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
gc.callbacks.append(lambda *_: None)
gc.set_threshold(10)
sys.settrace(lambda *_: None)
warnings.simplefilter("error")
np.seterr(all="call")
np.seterrcall(lambda *_: None)
"""
        ),
    ),
)

ATTACKS = _AFTERWARDS + _PATCHING + _RETURNED + _RESOURCES + _SOURCES
