"""Right answers against sixty digits, and how much of their tolerance other right programs use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from scipy import special

from grader.core.compare import DOUBLE, SINGLE, Expected, compare
from grader.core.observed import Inputs
from reference.attention import oracle, solution
from reference.attention.attention import Attention
from reference.attention.made import unit
from reference.attention.softmax import Softmax

Floats = npt.NDArray[np.floating[Any]]
Softmaxes = Callable[..., Any]
SEEDS = range(4)

# ---------------------------------------------------------------------- sixty digits


def precise(row: npt.ArrayLike) -> list[Any]:
    """Return the softmax of a vector in sixty digits."""
    e = [mpmath.exp(mpmath.mpf(float(x))) for x in np.asarray(row)]
    return [x / mpmath.fsum(e) for x in e]


def share(expected: Expected, index: tuple[int, ...], exact: Any) -> float:
    """Return how far the oracle is from ``exact``, as a part of what is allowed in double precision."""
    high = float(expected.value[index])
    rest = float(expected.value[index] - np.longdouble(high))
    error = abs(mpmath.mpf(high) + mpmath.mpf(rest) - exact)
    allowed = DOUBLE * expected.units[index] * expected.scale[index] + 5e-308
    return float(error / allowed)


LIMIT = 0.002 if np.finfo(oracle.WIDE).eps < np.finfo(np.float64).eps else 0.25
"""Extended precision leaves nothing of the tolerance to our own rounding; plain doubles take what others do."""


@pytest.mark.parametrize(
    "x",
    [
        pytest.param(np.random.default_rng(0).standard_normal((3, 5)), id="usual"),
        pytest.param(np.random.default_rng(1).standard_normal((2, 8)) * 100, id="wide"),
        pytest.param(np.random.default_rng(2).standard_normal((2, 4)) + 1000, id="large"),
        pytest.param(np.array([[0.0, 0.0, 0.0, 2000.0], [2000.0, 2001.0, 2003.0, -2000.0]]), id="outliers"),
        pytest.param(np.array([[3.0], [-700.0]]), id="one score"),
        pytest.param(np.array([[1, 2, 3, 5]]), id="whole numbers"),
        pytest.param(np.random.default_rng(3).standard_normal((2, 5)).astype(np.float32), id="single precision"),
        pytest.param(np.linspace(-1, 1, 400)[None] * 300, id="many scores"),
    ],
)
def test_softmax_against_sixty_digits(x: Floats) -> None:
    """The oracle is right to far below what it allows others."""
    expected = oracle.softmax(x)
    with mpmath.workdps(60):
        worst = max(share(expected, (i, j), exact) for i, row in enumerate(x) for j, exact in enumerate(precise(row)))

    assert worst < LIMIT


@pytest.mark.parametrize(
    "shape, scale",
    [
        pytest.param((2, 3, 5), 1, id="usual"),
        pytest.param((1, 4, 64), 1, id="head"),
        pytest.param((2, 3, 7), 8, id="large scores"),
        pytest.param((2, 2, 1), 30, id="one dimension"),
    ],
)
def test_attention_against_sixty_digits(shape: tuple[int, int, int], scale: float) -> None:
    """Weights and output are right to far below what is allowed, also where scores are large and terms cancel."""
    Q, K, V = np.random.default_rng(5).standard_normal((3, *shape)) * scale
    out, weights = oracle.attention(Q, K, V)
    B, T, d = shape
    worst = 0.0
    with mpmath.workdps(60):
        root = mpmath.sqrt(d)
        for b in range(B):
            for i in range(T):
                scores = [
                    mpmath.fdot(
                        (mpmath.mpf(float(x)), mpmath.mpf(float(y))) for x, y in zip(Q[b, i], K[b, j], strict=True)
                    )
                    / root
                    for j in range(T)
                ]
                e = [mpmath.exp(s) for s in scores]
                w = [x / mpmath.fsum(e) for x in e]
                worst = max(worst, *(share(weights, (b, i, j), w[j]) for j in range(T)))
                for c in range(d):
                    exact = mpmath.fdot((w[j], mpmath.mpf(float(V[b, j, c]))) for j in range(T))
                    worst = max(worst, share(out, (b, i, c), exact))

    assert worst < LIMIT


@pytest.mark.parametrize("scale", [0.0, 1.0, 16.0, 300.0, 3000.0])
def test_entropy_against_sixty_digits(scale: float) -> None:
    """Entropies are right to the last bits, from uniform rows to rows where every weight but one underflows."""
    scores = np.random.default_rng(7).standard_normal((4, 8)) * scale
    with mpmath.workdps(60):
        exact = [float(-mpmath.fsum(p * mpmath.log(p) for p in precise(row))) for row in scores]

    np.testing.assert_allclose(oracle.entropy(scores), exact, rtol=1e-14, atol=1e-17)


def test_extended_precision_is_used_where_there_is_any() -> None:
    """On a machine whose long double is longer than a double, right answers are computed in it."""
    longer = np.finfo(np.longdouble).eps < np.finfo(np.float64).eps

    assert (oracle.WIDE is np.longdouble) == longer
    assert oracle.softmax([1.0, 2.0]).value.dtype == (np.longdouble if longer else np.float64)


def test_softmax_along_every_axis() -> None:
    """The oracle's axis is NumPy's."""
    x = np.random.default_rng(8).standard_normal((2, 3, 4))
    for axis in (0, 1, 2, -1, -2, -3):
        moved = np.moveaxis(np.asarray(oracle.softmax(np.moveaxis(x, axis, -1)).value), -1, axis)
        np.testing.assert_array_equal(oracle.softmax(x, axis).value, moved)


def test_an_output_whose_terms_cancel_is_compared_with_its_terms() -> None:
    """The tolerance of ``out`` is relative to the terms, so that a sum near 0 isn't asked for more than it has."""
    w = np.full((1, 2, 2), 0.5)
    v = np.array([[[1.0], [-1.0]]])
    expected = oracle.weighted(w, np.full((1, 2, 2), 4.0), v)

    assert expected.value.tolist() == [[[0.0], [0.0]]]
    assert expected.scale.tolist() == [[[1.0], [1.0]]]
    assert not np.isnan(oracle.weighted(w, w, np.zeros((1, 2, 1))).units).any()


# ---------------------------------------------------------------------- right programs of other styles


def apply_along(x: Any, axis: int = -1) -> Any:
    """A function of a vector, applied along the axis."""

    def one(v: Any) -> Any:
        e = np.exp(v - v.max())
        return e / e.sum()

    return np.apply_along_axis(one, axis, x)


def by_log_sum_exp(x: Any, axis: int = -1) -> Any:
    """The exponential of x minus log-sum-exp."""
    return np.exp(x - special.logsumexp(x, axis=axis, keepdims=True))


def by_hand_log_sum_exp(x: Any, axis: int = -1) -> Any:
    """The same with the lesson's means: the largest score goes back into the logarithm."""
    m = x.max(axis=axis, keepdims=True)
    return np.exp(x - (m + np.log(np.exp(x - m).sum(axis=axis, keepdims=True))))


def moved_axis(x: Any, axis: int = -1) -> Any:
    """The axis is moved to the end and back."""
    y = np.moveaxis(np.asarray(x), axis, -1)
    e = np.exp(y - np.max(y, -1)[..., None])
    return np.moveaxis(e / np.sum(e, -1)[..., None], -1, axis)


def reciprocal(x: Any, axis: int = -1) -> Any:
    """Multiplied by one over the sum."""
    e = np.exp(np.subtract(x, np.amax(x, axis=axis, keepdims=True)))
    return e * np.reciprocal(np.add.reduce(e, axis=axis, keepdims=True))


def base_two(x: Any, axis: int = -1) -> Any:
    """Powers of two in place of powers of e."""
    powers = np.exp2((x - x.max(axis=axis, keepdims=True)) / np.log(2.0))
    return powers / powers.sum(axis=axis, keepdims=True)


def plain_python(x: Any, axis: int = -1) -> Any:
    """No NumPy but for the axes: math.exp and fsum over lists."""
    y = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    rows = []
    for row in y.reshape(-1, y.shape[-1]).tolist():
        e = [math.exp(v - max(row)) for v in row]
        rows.append([v / math.fsum(e) for v in e])
    return np.moveaxis(np.array(rows).reshape(y.shape), -1, axis)


def extended(x: Any, axis: int = -1) -> Any:
    """Computed in extended precision, returned as doubles."""
    y = np.asarray(x, dtype=np.longdouble)
    e = np.exp(y - y.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).astype(np.float64)


def from_differences(x: Any, axis: int = -1) -> Any:
    """One over the sum of exp(x_j - x_i): no shift needed, overflow gives the right 0."""
    y = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    with np.errstate(over="ignore"):
        p = 1 / np.exp(y[..., None, :] - y[..., :, None]).sum(-1)
    return np.moveaxis(p, -1, axis)


def twice_shifted(x: Any, axis: int = -1) -> Any:
    """Shifted by the mean first and by the largest then."""
    y = x - x.mean(axis=axis, keepdims=True)
    return solution.softmax(y, axis)


def online(x: Any, axis: int = -1) -> Any:
    """One pass with a running maximum and a running sum."""
    y = np.moveaxis(np.asarray(x, dtype=float), axis, 0)
    m, total = np.full(y.shape[1:], -np.inf), np.zeros(y.shape[1:])
    for row in y:
        larger = np.maximum(m, row)
        total = total * np.exp(m - larger) + np.exp(row - larger)
        m = larger
    return np.moveaxis(np.exp(y - m) / total, 0, axis)


def by_scipy(x: Any, axis: int = -1) -> Any:
    """SciPy's own."""
    return special.softmax(x, axis=axis)


SOFTMAXES: dict[str, Softmaxes] = {
    "lesson": solution.softmax,
    **{
        function.__name__.replace("_", "-"): function
        for function in (
            apply_along, by_log_sum_exp, by_hand_log_sum_exp, moved_axis, reciprocal, base_two, plain_python, extended,
            from_differences, by_scipy, twice_shifted, online,
        )
    },
}  # fmt: skip

QUARTER = 0.25
MORE = {"twice-shifted": 0.8}
"""Styles that round more than is needed: the lesson's shift is exact where one by the mean isn't."""


@pytest.mark.parametrize("name", SOFTMAXES)
def test_a_right_softmax_uses_a_quarter_at_most(name: str) -> None:
    """Whatever the style, a right softmax passes all cases of all seeds without a note, with a factor 4 to spare."""
    largest, at = 0.0, ""
    for seed in SEEDS:
        for case, (made, kwargs) in Softmax().cases(Inputs(seed, "softmax")).items():
            (x,) = made.arrays
            expected = oracle.softmax(x, kwargs.get("axis", -1))
            verdict = compare(SOFTMAXES[name](x.copy(), **kwargs), expected, "p", input_unit=unit(made))
            assert (verdict.passed, verdict.notes) == (True, ()), (case, seed)
            if verdict.used > largest:
                largest, at = verdict.used, case
    print(f"softmax, {name}: {largest:.3f} of the tolerance ({at})")

    assert largest <= MORE.get(name, QUARTER)


def lesson(Q: Any, K: Any, V: Any) -> Any:
    """As the lesson has it."""
    return solution.scaled_dot_product_attention(Q, K, V)


def by_einsum(Q: Any, K: Any, V: Any) -> Any:
    """Everything by einsum."""
    w = solution.softmax(np.einsum("bid,bjd->bij", Q, K) / math.sqrt(Q.shape[-1]))
    return np.einsum("bij,bjd->bid", w, V), w


def query_scaled_first(Q: Any, K: Any, V: Any) -> Any:
    """The query is divided before the product."""
    w = solution.softmax((Q / np.sqrt(Q.shape[-1])) @ np.swapaxes(K, -1, -2))
    return w @ V, w


def fourth_roots(Q: Any, K: Any, V: Any) -> Any:
    """Both are divided by the fourth root."""
    root = Q.shape[-1] ** 0.25
    w = solution.softmax((Q / root) @ (K / root).transpose(0, 2, 1))
    return w @ V, w


def multiplied(Q: Any, K: Any, V: Any) -> Any:
    """Multiplied by the power -0.5."""
    w = special.softmax(Q @ K.mT * Q.shape[-1] ** -0.5, axis=-1)
    return w @ V, w


def broadcast_sum(Q: Any, K: Any, V: Any) -> Any:
    """Products and sums by broadcasting, no matrix product anywhere."""
    w = solution.softmax((Q[:, :, None, :] * K[:, None, :, :]).sum(-1) / np.sqrt(Q.shape[-1]))
    return (w[..., None] * V[:, None, :, :]).sum(2), w


def batch_by_batch(Q: Any, K: Any, V: Any) -> Any:
    """A loop over the batch, in two dimensions each."""
    w = np.stack([solution.softmax(q @ k.T / np.sqrt(q.shape[1])) for q, k in zip(Q, K, strict=True)])
    return np.stack([a @ v for a, v in zip(w, V, strict=True)]), w


def row_by_row(Q: Any, K: Any, V: Any) -> Any:
    """Loops down to single scores."""
    B, T, d = Q.shape
    w = np.empty((B, T, T), dtype=Q.dtype)
    out = np.empty((B, T, d), dtype=Q.dtype)
    for b in range(B):
        for i in range(T):
            w[b, i] = solution.softmax(np.array([np.dot(Q[b, i], K[b, j]) / np.sqrt(d) for j in range(T)]))
            out[b, i] = sum(w[b, i, j] * V[b, j] for j in range(T))
    return out, w


def columns(Q: Any, K: Any, V: Any) -> Any:
    """Keys by queries, softmax over axis 1, turned at the end."""
    w = solution.softmax(K @ Q.transpose(0, 2, 1) / np.sqrt(Q.shape[2]), axis=1).transpose(0, 2, 1)
    return np.matmul(w, V), w


def late_division(Q: Any, K: Any, V: Any) -> Any:
    """Divided by the row sums only after the product with V."""
    s = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e @ V) / e.sum(-1, keepdims=True), e / e.sum(-1, keepdims=True)


def through_logarithms(Q: Any, K: Any, V: Any) -> Any:
    """Log-sum-exp, and tensordot for the products."""
    s = np.stack([np.tensordot(q, k, axes=(1, 1)) for q, k in zip(Q, K, strict=True)]) / np.sqrt(Q.shape[-1])
    w = by_hand_log_sum_exp(s)
    return w @ V, w


ATTENTIONS = {
    function.__name__.replace("_", "-"): function
    for function in (
        lesson, by_einsum, query_scaled_first, fourth_roots, multiplied, broadcast_sum, batch_by_batch, row_by_row,
        columns, late_division, through_logarithms,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", ATTENTIONS)
def test_a_right_attention_uses_a_quarter_at_most(name: str) -> None:
    """Whatever the style, weights and out pass all cases of all seeds without a note, with a factor 4 to spare."""
    used = {"out": 0.0, "weights": 0.0}
    for seed in SEEDS:
        for case, made in Attention().cases(Inputs(seed, "attention")).items():
            for part, got, expected in zip(
                ("out", "weights"), ATTENTIONS[name](*made.arrays), oracle.attention(*made.arrays), strict=True
            ):
                verdict = compare(got, expected, part, input_unit=unit(made))
                assert (verdict.passed, verdict.notes) == (True, ()), (case, seed, part)
                used[part] = max(used[part], verdict.used)
    print(f"attention, {name}: {used['weights']:.3f} of the tolerance of weights, {used['out']:.3f} of that of out")

    assert max(used.values()) <= QUARTER


# ---------------------------------------------------------------------- near, but not as good, and wrong

NEAR: dict[str, tuple[Softmaxes, bool]] = {
    "single-precision": (lambda x, axis=-1: solution.softmax(x.astype(np.float32), axis).astype(np.float64), True),
    "tiny-epsilon": (lambda x, axis=-1: solution.softmax(x, axis) * (1 - 1e-8), True),
    "epsilon": (lambda x, axis=-1: solution.softmax(x, axis) * (1 - 1e-3), False),
    "six-decimals": (lambda x, axis=-1: solution.softmax(x, axis).round(6), False),
    "half-precision": (lambda x, axis=-1: solution.softmax(x, axis).astype(np.float16), False),
}


@pytest.mark.parametrize("name", NEAR)
def test_what_is_only_near(name: str) -> None:
    """Single precision passes with a note; what is coarser is wrong."""
    function, passed = NEAR[name]
    x = np.random.default_rng(3).standard_normal((4, 6)) * 2
    verdict = compare(function(x), oracle.softmax(x), "p")

    assert verdict.passed is passed
    assert [note.text for note in verdict.notes] == (["engine.note.single_precision"] if passed else [])


@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0])
def test_tolerance_stays_far_below_what_a_mistake_makes(scale: float) -> None:
    """Even for scores in the hundreds, and in single precision, a part in a thousand is never allowed."""
    Q, K, V = np.random.default_rng(11).standard_normal((3, 2, 5, 8)) * scale
    for expected in oracle.attention(Q, K, V):
        assert (DOUBLE * expected.units).max() < 1e-9
        if scale == 1:
            assert (SINGLE * expected.units).max() < 1e-3
