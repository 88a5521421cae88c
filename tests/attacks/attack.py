"""What an attack is, and the tools that every one of them has at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["HONEST", "TOOLS", "Attack", "beside_honest", "body", "first"]

TOOLS = r'''
import ctypes, os, sys
import numpy as np

PREFIX = "LEFT_BY_AN_ATTACK_"
COURSE, OTHERS, HOME, RESULTS = "@ARENA@/course", "@ARENA@/others", "@ARENA@/home", "@ARENA@/results"
SOLUTION = COURSE + "/reference/attention/solution.py"
ALICE, SCORES, NETRC = OTHERS + "/alice.py", RESULTS + "/results.json", HOME + "/.netrc"
SENTINEL, GRADER, PORT, ABSTRACT = int("@SENTINEL@"), int("@HOST@"), int("@PORT@"), "\0@ABSTRACT@"
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", RESULTS, HOME, OTHERS, COURSE)

print("ATTACK RUNS")

def harm(word):
    print("HARM", word)

def attempt(*steps, harms=None):
    """Try each step; with `harms`, success is told as that harm."""
    for step in steps:
        try:
            value = step()
        except BaseException as error:
            print(type(error).__name__, str(error)[:80])
        else:
            if harms and value is not False:
                harm(harms)

def show(path):
    with open(path, errors="replace") as file:
        print(file.read(4000))

_libc = ctypes.CDLL(None, use_errno=True)

def syscall(number_x86, number_arm, *args):
    """Call the kernel; raise what it refuses."""
    machine = os.uname().machine
    number = {"x86_64": number_x86, "aarch64": number_arm}[machine]
    given = [ctypes.c_long(item) if isinstance(item, int) else item for item in args]
    result = _libc.syscall(ctypes.c_long(number), *given)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def pipes(mode):
    """Descriptors of pipes and sockets that this process can read from or write to."""
    import fcntl, stat
    found = []
    for fd in range(3, 64):
        try:
            kind = os.fstat(fd).st_mode
            way = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE
        except OSError:
            continue
        if (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)) and way in (mode, os.O_RDWR):
            found.append(fd)
    return found

def forged(payload=b"", **head):
    import json, struct
    text = json.dumps(head).encode()
    return b"GRD1" + struct.pack("<IQ", len(text), len(payload)) + text + payload

def tell(content):
    """Write bytes of our own to wherever the grader may listen."""
    for fd in pipes(os.O_WRONLY):
        attempt(lambda fd=fd: os.write(fd, content))

def request():
    """What the worker was just asked: it stands in the frames above."""
    frame = sys._getframe()
    while frame:
        head = frame.f_locals.get("head")
        if isinstance(head, dict) and "id" in head:
            return head
        frame = frame.f_back
    return {"id": "?"}
'''

HONEST = r"""
import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

def scaled_dot_product_attention(Q, K, V):
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    return weights @ V, weights

def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    r = np.random.RandomState(seed)
    scores = (r.randn(n_samples, d_k) * r.randn(n_samples, d_k)).sum(1)
    return scores.var(), (scores / np.sqrt(d_k)).var()

def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42):
    r = np.random.RandomState(seed)
    found = []
    for d in d_ks:
        q, K = r.randn(d), r.randn(n_keys, d)
        p = softmax(K @ q)
        found.append(float(-(p * np.log(p + 1e-300)).sum()))
    return found

def compare_rankings(d_k=256, n_keys=8, seed=42):
    r = np.random.RandomState(seed)
    q, K = r.randn(d_k), r.randn(n_keys, d_k)
    return np.argsort(softmax(K @ q)), np.argsort(softmax(K @ q / np.sqrt(d_k)))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A hostile submission, and what its honest part deserves.

    Attributes:
        name: Short and stable; promises are kept by it.
        tries: What it attempts, in a few words.
        source: A script; ``@ARENA@`` and the like stand for what is planted.
        cells: A notebook's cells, instead of ``source``.
        document: A notebook's whole text, instead of both.
        files: What lies beside it.
        at_most: The highest score allowed, in points. A wrong function that leaves its input alone has 2.
        at_least: The lowest: what it does to the rest is its own failure only, and honest programs keep all.
        roomy: Runs with the course's own limits, since something honest takes its time.
        twice: Is graded twice: the second may find what the first has left.
        reviewed: Tasks that an instructor must be asked to look at.
        silent: Ends before it can say that it runs, or isn't run at all.
    """

    name: str
    tries: str
    source: str = ""
    cells: tuple[str, ...] = ()
    document: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    at_most: float = 2
    at_least: float = 0
    roomy: bool = False
    twice: bool = False
    reviewed: tuple[str, ...] = ()
    silent: bool = False


def body(lines: str) -> str:
    """Return a script whose softmax does ``lines`` and gives its input back."""
    indented = "".join(f"    {line}\n" for line in lines.strip("\n").splitlines())
    return f"{TOOLS}\ndef softmax(x, axis=-1):\n{indented}    return x\n"


def first(lines: str) -> str:
    """Return a script that does ``lines`` when it is loaded; a softmax that does nothing, unless they define one."""
    own = "def softmax(" in lines or "softmax = " in lines
    return TOOLS + lines + ("" if own else "\ndef softmax(x, axis=-1):\n    return x\n")


def beside_honest(lines: str) -> str:
    """Return the right program, with ``lines`` behind it."""
    return TOOLS + HONEST + lines
