"""Attacks by what is returned: liars, giants, bombs, objects that act when they are looked at."""

from __future__ import annotations

from tests.attacks.attack import Attack, beside_honest, body, first

__all__ = ["ATTACKS"]


def _returns(expression: str, before: str = "") -> str:
    """Return a script whose softmax gives an expression back."""
    return first(f"{before}\ndef softmax(x, axis=-1):\n    return {expression}\n")


ATTACKS = (
    Attack(
        name="huge_arrays",
        tries="returns arrays of 12 GiB, of 2**50 broadcast entries and of 600 MB",
        at_most=0,
        source=first(
            """
calls = 0
def softmax(x, axis=-1):
    global calls
    calls += 1
    if calls % 3 == 1:
        return np.zeros((40_000, 40_000))
    if calls % 3 == 2:
        return np.broadcast_to(np.float64(1), (1 << 25, 1 << 25))
    return np.ones(75_000_000)
"""
        ),
    ),
    Attack(
        name="balloon",
        tries="returns, prints and puts into its arguments as much as it may, at every call",
        at_most=0,
        source=first(
            """
def big():
    return np.frombuffer(np.random.default_rng().bytes(1 << 20), np.uint8).copy()
def softmax(x, axis=-1):
    print("z" * 70_000)
    attempt(lambda: x.resize((500, 500), refcheck=False))
    return [big() for _ in range(8)]
def scaled_dot_product_attention(Q, K, V):
    return big(), big()
"""
        ),
    ),
    Attack(
        name="pickles",
        tries="returns objects whose pickle runs code",
        at_most=0,
        source=_returns(
            "np.array([P()] * 16, dtype=object).reshape(4, 4) if x.ndim == 2 else P()",
            """
class P:
    def __reduce__(self):
        return (os.system, ("touch @ARENA@/results/unpickled",))
    __array__ = __float__ = __index__ = lambda self, *a, **k: os._exit(3)
""",
        ),
    ),
    Attack(
        name="odd_dtypes",
        tries="returns dates, structures, texts, bytes, void and swapped byte orders",
        source=_returns(
            "made[int(abs(x).sum() * 1e6) % len(made)](x)",
            """
made = [
    lambda x: x.astype("M8[s]"), lambda x: x.astype("m8[ns]"), lambda x: x.astype("U9999"), lambda x: x.astype("S"),
    lambda x: x.astype([("a", "f8"), ("b", "O")]), lambda x: np.zeros(x.shape, "V1000000"), lambda x: x.astype(object),
    lambda x: x.astype(">f8"), lambda x: x.astype(np.longdouble), lambda x: x.astype(np.float16), lambda x: x.T[::-1].T,
]
""",
        ),
    ),
    Attack(
        name="lying_subclass",
        tries="returns an array whose shape, dtype, length and comparison are what one wishes",
        source=_returns(
            "x.view(Liar)",
            """
class Liar(np.ndarray):
    shape = property(lambda self: (4, 4))
    dtype = property(lambda self: np.dtype("f8"))
    nbytes = size = property(lambda self: 1)
    __eq__ = __le__ = __lt__ = __ge__ = __gt__ = lambda *_: np.True_
    __array_priority__ = 1e9
    def __array_ufunc__(self, *_, **__): return np.zeros(())
    def __array_function__(self, *_, **__): return True
    def __array_finalize__(self, _): pass
    def __reduce__(self): return (os._exit, (1,))
    def __len__(self): return 0
    def astype(self, *_, **__): os._exit(1)
    def tobytes(self, *_, **__): os._exit(1)
""",
        ),
    ),
    Attack(
        name="lying_interfaces",
        tries="returns objects that say where in memory their numbers lie",
        source=_returns(
            "(A, B, C)[int(abs(x).sum() * 1e6) % 3]()",
            """
class A:
    __array_interface__ = {"shape": (1 << 20,), "typestr": "<f8", "data": (8, False), "version": 3}
class B:
    def __array__(self, *_, **__): return np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 20,), (8,))
class C:
    __array_struct__ = __dlpack__ = property(lambda self: os._exit(7))
""",
        ),
    ),
    Attack(
        name="read_beyond",
        tries="returns an array that reaches far over the end of its memory",
        source=_returns("np.lib.stride_tricks.as_strided(x, (100_000,), (8,))"),
    ),
    Attack(
        name="not_numbers",
        tries="returns NaN and infinities everywhere, which some comparisons let through",
        source=_returns("np.full(x.shape, (np.nan, np.inf, -np.inf)[x.ndim % 3])"),
    ),
    Attack(
        name="broadcasting",
        tries="returns something of another shape that would broadcast",
        source=_returns("(np.float64(0.25), np.ones((1, 1)) / 4, 0.25, [0.25], True)[int(abs(x).sum() * 1e6) % 5]"),
    ),
    Attack(
        name="endless_iterators",
        tries="returns generators and iterators that never end",
        source=_returns(
            "(itertools.count(), (n for n in itertools.repeat(1)), map(int, itertools.count()), range(10 ** 18), Endless())"
            "[int(abs(x).sum() * 1e6) % 5]",
            """
import itertools
class Endless(list):
    def __iter__(self): return itertools.repeat(self)
    def __len__(self): return 1 << 62
    def __getitem__(self, _): return self
""",
        ),
    ),
    Attack(
        name="colliding_keys",
        tries="returns a mapping whose keys all have one hash",
        source=_returns("{((1 << 61) - 1) * k: 1.0 for k in range(1_500)}"),
    ),
    Attack(
        name="recursive_values",
        tries="returns lists that hold themselves, and structures of a million parts",
        source=_returns(
            "(own, deep, [[]] * 1_000_000, {'k': own}, [own] * 30)[int(abs(x).sum() * 1e6) % 5]",
            """
own = []
own.append(own)
deep = []
for _ in range(100_000):
    deep = [deep]
""",
        ),
    ),
    Attack(
        name="hostile_text",
        tries="returns texts whose comparison, hash and length act",
        source=_returns(
            "[Text('a' * 10_000), {Text('k'): Text('v')}, Number(7), Real(0.5)]",
            """
class Text(str):
    __eq__ = __ne__ = lambda *_: True
    __hash__ = lambda self: os.getpid()
    __str__ = __repr__ = __len__ = __iter__ = __getitem__ = encode = lambda *_: os._exit(5)
class Number(int):
    __index__ = __int__ = __hash__ = bit_length = lambda *_: os._exit(5)
class Real(float):
    __float__ = hex = is_integer = lambda *_: os._exit(5)
""",
        ),
    ),
    Attack(
        name="huge_integer",
        tries="returns integers of a million digits",
        source=_returns("[1 << 4_000_000, -(1 << 1023), 10 ** 308]"),
    ),
    Attack(
        name="change_afterwards",
        tries="keeps what it was given and what it returned, and changes both later",
        source=first(
            """
kept, shared = [], np.zeros((4, 4))
def softmax(x, axis=-1):
    kept.append(x)
    for old in kept[:-1]:
        attempt(lambda: old.fill(0.25))
    shared[...] = 0.25
    return shared
"""
        ),
    ),
    Attack(
        name="change_arguments",
        tries="changes its arguments so that a comparison with them is fooled",
        at_most=10,
        source=beside_honest(
            """
def softmax(x, axis=-1):
    x[...] = 0.25
    return x
def scaled_dot_product_attention(Q, K, V):
    for item in (Q, K, V):
        attempt(lambda: item.resize(0, refcheck=False), lambda: item.fill(0.0))
    return V, Q
measure_variance = entropy_sweep = compare_rankings = None
"""
        ),
    ),
    Attack(
        name="released_memory",
        tries="breaks reference counts and interned objects",
        source=body(
            """
import ctypes
ctypes.c_long.from_address(id(0.25)).value = 1 << 40
value = ctypes.c_char.from_address(id(256) + 24)
value.raw = b"\\x07"
for _ in range(100):
    ctypes.pythonapi.Py_DecRef(ctypes.py_object("attack"))
"""
        ),
    ),
    Attack(
        name="bad_pointer",
        tries="writes where there is no memory",
        at_most=0,
        source=body("ctypes.memset(8, 1, 100)"),
    ),
    Attack(
        name="subclass_of_tuple",
        tries="returns a pair that has other parts at every look",
        at_most=4,
        source=first(
            """
class Pair(tuple):
    looks = 0
    def __len__(self): return 2
    def __getitem__(self, _):
        Pair.looks += 1
        return np.full((2, 3, 3), Pair.looks)
    def __iter__(self): return iter([self[0]] * (Pair.looks % 5))
def scaled_dot_product_attention(Q, K, V):
    return Pair(())
"""
        ),
    ),
)
