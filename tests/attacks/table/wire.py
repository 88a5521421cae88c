"""Attacks on the protocol: forged replies and records, stolen requests, claims that only the grader may make."""

from __future__ import annotations

from tests.attacks.attack import TOOLS, Attack, body, first

__all__ = ["ATTACKS"]

_STATE = r'''
import hashlib
def record(kind, name, state, shape, count=1, method="standard_normal", values=None):
    """A record of draws whose generator stood at `state`."""
    return {
        "sources": [[kind, name, tree(state), hashlib.sha256(b"").hexdigest()]],
        "steps": [[0, method, [], shape, "<f8", count]], "values": values, "complete": True, "others": [],
    }
arrays, buffers = [], []
def tree(item):
    if isinstance(item, dict):
        return {"q": ["dict", [{"q": ["tuple", [{"s": key}, tree(part)]]} for key, part in item.items()]]}
    if isinstance(item, np.ndarray):
        arrays.append([item.dtype.str, list(item.shape), "ndarray", False])
        buffers.append(item.tobytes())
        return {"a": len(arrays) - 1}
    return {"s": item} if isinstance(item, str) else {"f": item.hex()} if isinstance(item, float) else {"i": hex(item)}

def claim(draws, d_k):
    pair = {"q": ["tuple", [{"f": float(d_k).hex()}, {"f": (1.0).hex()}]]}
    tell(forged(b"".join(buffers), id=request()["id"], kind="returned", value=pair, arrays=arrays, draws=draws, cpu=1))
    os._exit(0)
'''

_VARIANCE = """
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    arrays.clear(), buffers.clear()
    claim({record}, d_k)
"""


def _recorded(lines: str, record: str) -> str:
    """Return a script whose variances are claimed to rest on a record."""
    return TOOLS + _STATE + lines + _VARIANCE.format(record=record)


_FORGED = (
    Attack(
        name="forge_before",
        tries="answers, at load time, questions that weren't asked",
        at_most=0,
        source=first(
            """
head = {"kind": "returned", "value": {"a": 0}, "arrays": [["<f8", [4, 4], "ndarray", False]], "draws": None}
for name in ("softmax/1", "softmax/plain/0", request()["id"]):
    tell(forged(b"\\0" * 128, id=name, score=1.0, passed=True, **head))
"""
        ),
    ),
    Attack(
        name="forge_later",
        tries="answers the call that comes next, in advance",
        at_most=0,
        source=body(
            """
for n in range(3):
    tell(forged(id=request()["id"][:-1] + str(n), kind="returned", value=None, arrays=[], draws=None))
"""
        ),
    ),
    Attack(
        name="forge_verdicts",
        tries="claims what only the grader may say",
        at_most=0,
        source=body(
            """
kinds = ("not_run", "not_graded", "timed_out", "too_large", "crashed", "missing", "trouble", "passed")
kind = kinds[request()["seed"] % len(kinds)]
tell(forged(id=request()["id"], kind=kind, trouble="isolation failed", status="not_graded", arrays=[]))
os._exit(0)
"""
        ),
    ),
    Attack(
        name="forge_not_run",
        tries="claims that it wasn't run, that the grader is broken, and that it is out of memory",
        at_most=0,
        source=first(
            """
calls = 0
def softmax(x, axis=-1):
    global calls
    calls += 1
    for kind in ("not_run", "not_graded", "trouble", "hello")[calls % 4:]:
        tell(forged(id=request()["id"], kind=kind, arrays=[]))
    raise MemoryError
"""
        ),
    ),
    Attack(
        name="forge_types",
        tries="answers with wrong types in every field",
        at_most=0,
        source=first(
            """
odd = [
    dict(id=7), dict(kind=None), dict(value=[1, 2]), dict(value={"a": True}), dict(value={"a": -1}), dict(arrays={}),
    dict(arrays=[["|O", [1], "x", False]]), dict(arrays=[["<f8", [-1], "x", False]]), dict(value={"i": "1" * 299}),
    dict(arrays=[["<f8", [1 << 62, 0], "x", False]]), dict(arrays=[["<M8[s]", [1], "x", False]]), dict(after={}),
    dict(arrays=[["<f8", [True], "x", False]]), dict(value={"f": "nan"}), dict(value={"c": []}), dict(draws=[]),
    dict(names=[[1, 2]]), dict(failure="x"), dict(stdout=1), dict(value={"f": 1e400}), dict(value={"i": "0x_"}),
    dict(value={"q": ["list", None]}), dict(value={}), dict(draws={"sources": None}), dict(callables=["x"] * 9999),
]
def softmax(x, axis=-1):
    whole = dict(id=request()["id"], kind="returned", value=None, arrays=[], draws=None)
    tell(forged(**{**whole, **odd[request()["seed"] % len(odd)]}))
    os._exit(0)
"""
        ),
    ),
    Attack(
        name="garbage",
        tries="writes bytes that are no frame",
        at_most=0,
        source=body("tell(os.urandom(5000))"),
    ),
    Attack(
        name="huge_header",
        tries="promises a header of 4 GiB, and one that is just allowed",
        at_most=0,
        source=body(
            """
import struct
tell(b"GRD1" + struct.pack("<IQ", (1 << 32) - 1, 0) + b" " * 1000)
tell(b"GRD1" + struct.pack("<IQ", 1 << 20, 0) + b"[" * (1 << 20))
"""
        ),
    ),
    Attack(
        name="huge_payload",
        tries="promises 16 EiB and sends what it has",
        at_most=0,
        source=body("import struct\ntell(b'GRD1' + struct.pack('<IQ', 2, (1 << 64) - 1) + b'{}' + b'x' * 1000)"),
    ),
    Attack(
        name="deep_header",
        tries="sends JSON that is nested a hundred thousand times",
        at_most=0,
        source=body(
            """
import struct
text = b'{"value":' + b'{"q":["list",[' * 60_000 + b']]}' * 60_000 + b'}'
text = text[:1 << 20]
deep = b"[" * 400_000 + b"]" * 400_000
tell(b"GRD1" + struct.pack("<IQ", len(deep), 0) + deep)
tell(b"GRD1" + struct.pack("<IQ", len(text), 0) + text)
"""
        ),
    ),
    Attack(
        name="digits",
        tries="sends numbers of a million digits where small ones belong",
        at_most=0,
        source=body(
            """
import struct
for text in (b'{"id":' + b"9" * 900_000 + b"}", b'{"id":1e' + b"9" * 900_000 + b"}", b'{"id":-' + b"0" * 9 + b"}"):
    tell(b"GRD1" + struct.pack("<IQ", len(text), 0) + text)
"""
        ),
    ),
    Attack(
        name="equal_keys",
        tries="sends an object with the same key many times, and a hundred thousand keys",
        at_most=0,
        source=body(
            """
import json, struct
text = b'{"id":"x",' * 1 + b'"kind":"returned",' * 30_000 + b'"value":null}'
tell(b"GRD1" + struct.pack("<IQ", len(text), 0) + text)
tell(forged(id=request()["id"], kind="returned", **{f"k{n}": n for n in range(60_000)}))
"""
        ),
    ),
    Attack(
        name="slow_drip",
        tries="sends a promised frame byte by byte for ever",
        at_most=0,
        source=body(
            """
import struct, time
head = b"GRD1" + struct.pack("<IQ", 1 << 20, 0) + b" " * 1000
for at in range(len(head)):
    tell(head[at:at + 1])
    time.sleep(0.05)
"""
        ),
    ),
    Attack(
        name="flood_of_replies",
        tries="answers without end, with sound frames",
        at_most=0,
        source=body(
            """
frame = forged(b"x" * 100_000, id="x", kind="returned", arrays=[["<f8", [12_500], "ndarray", False]])
while True:
    for fd in pipes(os.O_WRONLY):
        os.write(fd, frame)
"""
        ),
    ),
    Attack(
        name="flood_of_progress",
        tries="says for ever, while it is loaded, that it makes progress",
        at_most=0,
        source=first(
            """
import time
for at in range(1, 10_000):
    tell(forged(id=request()["id"], kind="progress", at=at))
os._exit(3)
"""
        ),
    ),
    Attack(
        name="read_ahead",
        tries="reads the pipe of requests to learn what comes next",
        source=body(
            """
for fd in pipes(os.O_RDONLY):
    os.set_blocking(fd, False)
    def peek():
        later = os.read(fd, 1 << 16)
        return bool(later)
    attempt(peek, harms="reads ahead")
    os.set_blocking(fd, True)
"""
        ),
    ),
)

_RECORDS = (
    Attack(
        name="state_philox",
        tries="claims a generator's state whose replay would read out of bounds",
        at_most=0,
        source=_recorded(
            """
words = lambda n: np.zeros(n, np.uint64)
state = {"bit_generator": "Philox", "state": {"counter": words(4), "key": words(2)}, "buffer": words(4),
         "buffer_pos": -100_000_000, "has_uint32": 0, "uinteger": 0}
""",
            'record("Generator", "Philox", state, [200, 64])',
        ),
    ),
    Attack(
        name="state_zero",
        tries="claims a state whose replay would never end",
        at_most=0,
        source=_recorded(
            """
state = {"bit_generator": "MT19937", "state": {"key": np.zeros(624, np.uint32), "pos": 0}, "has_gauss": 0, "gauss": 0.0}
""",
            'record("RandomState", "MT19937", state, [200, 64], method="randn")',
        ),
    ),
    Attack(
        name="state_pcg_zero",
        tries="claims a PCG64 of zeros behind the old interface, and an even increment",
        at_most=0,
        source=_recorded(
            """
state = {"bit_generator": "PCG64", "state": {"state": 0, "inc": 0}, "has_uint32": 0, "uinteger": 0}
""",
            'record("RandomState", "PCG64", state, [200, 64])',
        ),
    ),
    Attack(
        name="state_huge_numbers",
        tries="claims states and counts far beyond every word",
        at_most=0,
        source=_recorded(
            """
state = {"bit_generator": "PCG64", "state": {"state": 1 << 1000, "inc": 1}, "has_uint32": 1 << 40, "uinteger": -1}
""",
            'record("Generator", "PCG64", state, [200, 64], count=1 << 31)',
        ),
    ),
    Attack(
        name="draws_of_terabytes",
        tries="claims draws of shapes that nobody could make",
        at_most=0,
        source=_recorded(
            """
state = {"bit_generator": "PCG64", "state": {"state": 1, "inc": 1}, "has_uint32": 0, "uinteger": 0}
shapes = [[10 ** 6, 10 ** 6], [0, 1 << 40, 1 << 40], [1] * 70, [-1], [1 << 39]]
""",
            'record("Generator", "PCG64", state, shapes[request()["seed"] % 5])',
        ),
    ),
    Attack(
        name="draws_without_numbers",
        tries="claims billions of draws of nothing, which would take for ever to replay",
        at_most=0,
        source=_recorded(
            """
state = {"bit_generator": "PCG64", "state": {"state": 1, "inc": 1}, "has_uint32": 0, "uinteger": 0}
""",
            'record("Generator", "PCG64", state, [0], count=1 << 32)',
        ),
    ),
    Attack(
        name="draws_by_value",
        tries="claims, by value, draws that it has made up so that they explain its answers",
        at_most=0,
        source=TOOLS
        + _STATE
        + """
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    arrays.clear(), buffers.clear()
    made = np.zeros((2, 4, d_k))
    made[0, :, 0] = np.sqrt(d_k) * np.array([1.0, -1.0, 1.0, -1.0])
    made[1, :, 0] = 1.0
    tree(made.reshape(-1))
    claim({**record("RandomState", "MT19937", "", [4, d_k], count=2, method="randn", values=0)}, d_k)
""",
    ),
    Attack(
        name="record_others_methods",
        tries="claims draws by methods that aren't draws",
        at_most=0,
        source=_recorded(
            """
state = {"bit_generator": "PCG64", "state": {"state": 1, "inc": 1}, "has_uint32": 0, "uinteger": 0}
names = ["__init__", "bit_generator", "spawn", "__reduce__", "integers", "bytes", "normal"]
""",
            'record("Generator", "PCG64", state, [10], method=names[request()["seed"] % 7])',
        ),
    ),
)

ATTACKS = _FORGED + _RECORDS
