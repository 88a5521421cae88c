"""One plain check for each of the attention course's 17 criteria, for whatever runs them.

They are what an instructor would write by hand: a reference, a few random inputs, fixed tolerances. They say less than
the course's own checks do (no diagnosis, no recorded draws), so they cost less too. NumPy only: each peer's own Python
runs them.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["CHECKS", "Functions", "load"]

Functions = dict[str, Any]
SEEDS = (11, 23, 37)

near = np.testing.assert_allclose


def load(path: str) -> Functions:
    """Run a submission and return what it defines."""
    return runpy.run_path(path)


def softmax(x: Any, axis: int = -1) -> Any:
    """Return the right softmax."""
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def attention(q: Any, k: Any, v: Any) -> Any:
    """Return the right pair."""
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    return weights @ v, weights


def inputs(*shape: int) -> Iterator[list[Any]]:
    """Yield three arrays of a shape for each seed."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        yield [rng.standard_normal(shape) for _ in range(3)]


def softmax_values(code: Functions) -> None:
    """Rows are distributions with the right values."""
    for x, *_ in inputs(5, 9):
        near(code["softmax"](3 * x), softmax(3 * x), rtol=1e-6, atol=1e-9)


def softmax_axis(code: Functions) -> None:
    """The axis decides."""
    for x, *_ in inputs(4, 6, 3):
        for axis in (0, 1, 2):
            near(code["softmax"](x, axis=axis), softmax(x, axis=axis), rtol=1e-6, atol=1e-9)


def softmax_large(code: Functions) -> None:
    """Scores in the thousands stay finite and right."""
    x = np.array([[1000.0, 1001.0, 999.0], [-1000.0, -1001.0, -999.0]])
    near(code["softmax"](x), softmax(x), rtol=1e-6)


def softmax_care(code: Functions) -> None:
    """The input is kept, and whole numbers work."""
    x = np.array([[1, 2, 3], [3, 3, 3]])
    kept = x.copy()
    near(code["softmax"](x), softmax(x.astype(float)), rtol=1e-6)
    assert (x == kept).all()


def attention_shapes(code: Functions) -> None:
    """The pair has the right shapes."""
    for q, k, v in inputs(2, 5, 12):
        out, weights = code["scaled_dot_product_attention"](q, k, v)
        assert out.shape == (2, 5, 12)
        assert weights.shape == (2, 5, 5)


def attention_rows(code: Functions) -> None:
    """Every row of weights sums to 1."""
    for q, k, v in inputs(2, 12, 32):
        near(code["scaled_dot_product_attention"](q, k, v)[1].sum(-1), 1.0, rtol=1e-9)


def attention_weights(code: Functions) -> None:
    """Weights have the right values."""
    for q, k, v in inputs(3, 7, 11):
        near(code["scaled_dot_product_attention"](q, k, v)[1], attention(q, k, v)[1], rtol=1e-6, atol=1e-9)


def attention_out(code: Functions) -> None:
    """``out`` is weights @ V."""
    for q, k, v in inputs(3, 7, 11):
        near(code["scaled_dot_product_attention"](q, k, v)[0], attention(q, k, v)[0], rtol=1e-6, atol=1e-9)


def attention_kept(code: Functions) -> None:
    """Q, K and V are kept."""
    for arrays in inputs(2, 4, 3):
        before = [array.copy() for array in arrays]
        code["scaled_dot_product_attention"](*arrays)
        assert all((array == kept).all() for array, kept in zip(arrays, before, strict=True))


def variance_measured(code: Functions) -> None:
    """Both numbers are measured: another seed gives others."""
    first = code["measure_variance"](d_k=64, n_samples=500, seed=1)
    assert first != code["measure_variance"](d_k=64, n_samples=500, seed=2)


def variance_raw(code: Functions) -> None:
    """The raw variance is near d_k."""
    assert abs(code["measure_variance"](d_k=1024, n_samples=1000, seed=5)[0] / 1024 - 1) < 0.25


def variance_scaled(code: Functions) -> None:
    """The scaled variance is near 1."""
    assert abs(code["measure_variance"](d_k=1024, n_samples=1000, seed=6)[1] - 1) < 0.25


def entropy_draws(code: Functions) -> None:
    """There are four entropies in their range."""
    found = [float(value) for value in code["entropy_sweep"](d_ks=(4, 16, 64, 256), n_keys=8, seed=5)]
    assert len(found) == 4
    assert all(0 <= value <= np.log(8) + 1e-9 for value in found)


def entropy_arguments(code: Functions) -> None:
    """They follow the arguments."""
    found = [float(value) for value in code["entropy_sweep"](d_ks=(4, 9), n_keys=3, seed=5)]
    assert len(found) == 2
    assert all(0 <= value <= np.log(3) + 1e-9 for value in found)


def ranking_draws(code: Functions) -> None:
    """Another seed gives another order."""
    orders = {tuple(map(int, code["compare_rankings"](d_k=256, n_keys=8, seed=seed)[0])) for seed in range(6)}
    assert len(orders) > 1


def ranking_equal(code: Functions) -> None:
    """Both orders are the same."""
    for seed in SEEDS:
        first, second = code["compare_rankings"](d_k=256, n_keys=8, seed=seed)
        assert list(first) == list(second)


def ranking_form(code: Functions) -> None:
    """An order is a permutation."""
    for seed in SEEDS:
        assert sorted(map(int, code["compare_rankings"](d_k=64, n_keys=8, seed=seed)[1])) == list(range(8))


CHECKS: list[tuple[int, Callable[[Functions], None]]] = [
    *((10, softmax_values), (4, softmax_axis), (4, softmax_large), (2, softmax_care)),
    *((3, attention_shapes), (3, attention_rows), (15, attention_weights), (7, attention_out), (2, attention_kept)),
    *((8, variance_measured), (6, variance_raw), (6, variance_scaled)),
    *((12, entropy_draws), (3, entropy_arguments)),
    *((5, ranking_draws), (8, ranking_equal), (2, ranking_form)),
]
