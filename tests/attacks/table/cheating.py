"""Attacks on the score itself: patched comparisons, forged draws, guessed seeds, memorised answers."""

from __future__ import annotations

from tests.attacks.attack import HONEST, TOOLS, Attack, body, first

__all__ = ["ATTACKS"]

SOFTMAX = HONEST.split("def scaled_dot", maxsplit=1)[0]


def _with_softmax(lines: str) -> str:
    """Return a script with a right softmax (20 points) and ``lines``."""
    return TOOLS + SOFTMAX + lines


ATTACKS = (
    Attack(
        name="patch_comparisons",
        tries="lets every comparison of NumPy say yes",
        source=first(
            """
for name in ("allclose", "array_equal", "isclose", "all", "any", "equal"):
    setattr(np, name, lambda *_, **__: True)
np.abs = np.absolute = np.max = lambda *_, **__: np.zeros(())
for name in dir(np.testing):
    if name.startswith("assert"):
        setattr(np.testing, name, lambda *_, **__: None)
"""
        ),
    ),
    Attack(
        name="patch_builtins",
        tries="replaces what comparing code is built of",
        source=body(
            """
import builtins
builtins.all = builtins.any = builtins.bool = builtins.isinstance = lambda *_: True
builtins.abs = lambda *_: 0
builtins.AssertionError = Exception
"""
        ),
    ),
    Attack(
        name="patch_array",
        tries="replaces the functions of NumPy by which the worker copies what is returned",
        source=body(
            """
right = lambda a: np.exp(a - a.max(-1, keepdims=True))
for name in ("array", "asarray", "ascontiguousarray", "frombuffer", "copy"):
    attempt(lambda: setattr(np, name, lambda item, *_, **__: right(item)))
np.ndarray.__array_finalize__ if hasattr(np.ndarray, "__array_finalize__") else None
"""
        ),
    ),
    Attack(
        name="patch_modules",
        tries="puts modules of its own in the place of a reference",
        source=first(
            """
import types
fake = types.ModuleType("solution")
fake.softmax = fake.reference = fake.solution = lambda x, axis=-1: x
for name in ("solution", "reference", "checks", "oracle", "grader", "grader.core", "grader.core.judge", "inside"):
    sys.modules[name] = fake
for module in list(sys.modules.values()):
    for name in ("judge", "compare", "expected"):
        if hasattr(module, name):
            attempt(lambda: setattr(module, name, lambda *_, **__: True))
"""
        ),
    ),
    Attack(
        name="guess_seeds",
        tries="has answers for the inputs that common seeds would give",
        source=first(
            """
def right(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
known = {}
for seed in (*range(40), 42, 123, 1234, 2024, 2025):
    for made in (np.random.RandomState(seed).randn(4, 4), np.random.default_rng(seed).standard_normal((3, 5))):
        known[made.tobytes()] = right(made)
def softmax(x, axis=-1):
    return known.get(np.ascontiguousarray(x).tobytes(), x)
"""
        ),
    ),
    Attack(
        name="learn_seeds",
        tries="takes the seed of a call from the frames above and seeds everything with it",
        source=body(
            """
import random
seed = request()["seed"]
np.random.seed(seed % (1 << 32))
random.seed(0)
np.random.default_rng = lambda *_, **__: np.random.Generator(np.random.PCG64(7))
return np.full(x.shape, 1 / x.shape[-1])
"""
        ),
    ),
    Attack(
        name="remember_answers",
        tries="gives what it gave last time, whatever it is asked",
        at_most=20 + 2,
        source=_with_softmax(
            """
last = []
def scaled_dot_product_attention(Q, K, V):
    last.append((Q, K, V))
    return last[0][2], last[0][1]
def entropy_sweep(*_, **__): return [1.0787, 1.4753, 0.0140, 0.1033]
def measure_variance(*_, **__): return 1024.0, 1.0
def compare_rankings(*_, **__): return np.arange(8), np.arange(8)
"""
        ),
    ),
    Attack(
        name="draws_of_choice",
        tries="draws whatever it likes by a normal distribution without spread",
        at_most=20 + 3 + 2,
        source=_with_softmax(
            """
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    q, k = np.zeros((n_samples, d_k)), np.zeros((n_samples, d_k))
    q[:, 0], k[:, 0] = np.where(np.arange(n_samples) % 2, 1, -1) * np.sqrt(d_k), 1
    np.random.normal(q, 0), np.random.normal(k, 0)
    return float(d_k), 1.0
def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42):
    for d in d_ks:
        np.random.normal(np.ones(d), 0), np.random.normal(np.zeros((n_keys, d)), 0.0)
    return [float(np.log(n_keys))] * len(d_ks)
def compare_rankings(d_k=256, n_keys=8, seed=42):
    np.random.normal(np.ones(d_k), 0), np.random.normal(np.arange(n_keys)[:, None] * np.ones(d_k), 1e-300)
    return np.arange(n_keys), np.arange(n_keys)
"""
        ),
    ),
    Attack(
        name="draws_for_show",
        tries="draws hundreds of pairs, so that one of them explains any order",
        at_most=20 + 2,
        source=_with_softmax(
            """
def compare_rankings(d_k=256, n_keys=8, seed=42):
    np.random.seed(seed)
    for _ in range(200):
        np.random.randn(d_k), np.random.randn(n_keys, d_k)
    return np.arange(n_keys), np.arange(n_keys)
"""
        ),
    ),
    Attack(
        name="scatter_made_up",
        tries="measures nothing: the right number with the right scatter",
        at_most=20 + 20 + 15,
        reviewed=("variance", "ranking"),
        source=_with_softmax(
            """
import random
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    r = random.Random(seed)
    v = 1 + r.gauss(0, 1) * ((2 + 6 / d_k) / n_samples) ** 0.5
    return d_k * v, v
def compare_rankings(d_k=256, n_keys=8, seed=42):
    order = list(range(n_keys))
    random.Random(seed).shuffle(order)
    return np.array(order), np.array(order)
"""
        ),
    ),
    Attack(
        name="sizes_that_change",
        tries="draws with sizes and means that are others at every look",
        at_most=20 + 3,
        source=_with_softmax(
            """
class Size:
    looks = 0
    def __index__(self):
        Size.looks += 1
        return 3 if Size.looks % 2 else 100_000
class Mean:
    looks = 0
    def __array__(self, *_, **__):
        Mean.looks += 1
        return np.full(4, float(Mean.looks))
def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42):
    np.random.standard_normal(size=Size()), np.random.normal(Mean(), 1.0), np.random.randn(*[Size(), 2])
    return [1.0787, 0.6135, 0.1074, 0.0003]
"""
        ),
    ),
    Attack(
        name="forged_tape",
        tries="rewrites the record of draws in the worker's memory",
        at_most=20,
        source=_with_softmax(
            """
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    tape = sys.modules["inside.tape"].TAPE
    n = 64
    q, k = np.zeros((n, d_k)), np.zeros((n, d_k))
    q[:, 0], k[:, 0] = np.where(np.arange(n) % 2, 1, -1) * np.sqrt(d_k), 1
    tape.clear()
    tape.values = bytearray(np.stack([q, k]).astype("<f8").tobytes())
    tape.sources.append(["RandomState", "MT19937", {}, type("D", (), {"hexdigest": lambda self: ""})()])
    tape.steps.append([0, "randn", [], [n, d_k], "<f8", 2])
    tape.total, tape.on = 2 * n * d_k, False
    return float(d_k), 1.0
"""
        ),
    ),
    Attack(
        name="coarse_numbers",
        tries="answers in float16, so that a tolerance by the answer's own precision lets all through",
        at_most=10,
        source=first(
            """
def softmax(x, axis=-1):
    x = np.asarray(x, float)
    return (x == x.max(axis, keepdims=True)).astype(np.float16)
def scaled_dot_product_attention(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2)
    w = np.exp(s - s.max(-1, keepdims=True))
    return np.zeros(V.shape, np.float16), (w / w.sum(-1, keepdims=True)).astype(np.float16)
"""
        ),
    ),
    Attack(
        name="weights_of_nothing",
        tries="harvests what follows from weights that have nothing to do with Q and K",
        at_most=20 + 8,
        source=_with_softmax(
            """
def scaled_dot_product_attention(Q, K, V):
    return V.copy(), np.broadcast_to(np.eye(Q.shape[1]), (Q.shape[0], Q.shape[1], Q.shape[1])).copy()
"""
        ),
    ),
    Attack(
        name="steal_stand_in",
        tries="keeps the right softmax that it is lent, for a later session",
        at_most=5,
        source=first(
            """
import marshal, types
def softmax(x, axis=-1):
    try:
        return types.FunctionType(marshal.loads(open("stolen", "rb").read()), {"np": np})(x, axis)
    except Exception:
        return x
_mine = softmax
def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42):
    if softmax is not _mine:
        with open("stolen", "wb") as file:
            file.write(marshal.dumps(softmax.__code__))
        os._exit(3)
    return [float(softmax(np.zeros(3))[0])] * len(d_ks)
"""
        ),
    ),
    Attack(
        name="blame_honest",
        tries="lets the process end when something else than its right function is asked",
        at_most=20,
        at_least=20,
        source=_with_softmax(
            """
def scaled_dot_product_attention(Q, K, V): os._exit(0)
def measure_variance(**_): raise SystemExit
def entropy_sweep(*_, **__): raise MemoryError("no points lost, please")
compare_rankings = "not_graded"
"""
        ),
    ),
)
