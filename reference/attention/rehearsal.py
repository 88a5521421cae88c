"""Turns each misconception into the function that a learner who has it would hand in.

Wrong references of the exact tasks are functions already. Those of the three experiments tell what a learner gets from
given draws: here a function draws as the lesson does and gives that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.api import Drawn, Misconception

from . import solution

__all__ = ["as_function"]

Array = npt.NDArray[Any]
Predict = Callable[..., Any]


def as_function(entry: Misconception) -> Callable[..., object]:
    """Return the wrong function for the task of ``entry``. The other functions come from the solution."""
    predict: Predict = entry.predict() if entry.fresh else entry.predict
    if entry.many:
        several = predict

        def predict(*args: Any, **kwargs: Any) -> Any:
            """Take the first candidate: the one for the vectors in the order in which they were drawn."""
            for candidate in several(*args, **kwargs):
                return candidate
            raise LookupError(f"{entry.id} has no candidate for what was drawn")

    if entry.task == "variance":
        return _variance(predict, DRAWING.get(entry.id, _standard_normal))
    if entry.task == "ranking":
        return _ranking(predict, pairs=2 if entry.id == "ranking_different_draws" else 1)
    return MAKERS.get(entry.target, MAKERS[entry.task])(predict)


def _softmax(predict: Predict) -> Callable[..., object]:
    def softmax(x: Array, axis: int = -1) -> object:
        return predict(x, axis=axis)

    return softmax


def _attention_shapes(predict: Predict) -> Callable[..., object]:
    def scaled_dot_product_attention(Q: Array, K: Array, V: Array) -> object:
        return predict(Q, K, V)

    return scaled_dot_product_attention


def _attention_weights(predict: Predict) -> Callable[..., object]:
    def scaled_dot_product_attention(Q: Array, K: Array, V: Array) -> object:
        weights = predict(Q, K)
        return weights @ V, weights

    return scaled_dot_product_attention


def _attention_out(predict: Predict) -> Callable[..., object]:
    def scaled_dot_product_attention(Q: Array, K: Array, V: Array) -> object:
        _, weights = solution.scaled_dot_product_attention(Q, K, V)
        return predict(weights, Q, K, V), weights

    return scaled_dot_product_attention


def _standard_normal(n: int, d: int) -> Drawn:
    """Draw queries and keys, all of one shape, as the lesson does."""
    vectors = np.stack([np.random.randn(n, d) for _ in "QK"])
    return Drawn(source=0, method="randn", args=(), shape=(n, d), values=vectors)


def _of_width_256(n: int, d: int) -> Drawn:
    return _standard_normal(n, 256)


def _uniform(n: int, d: int) -> Drawn:
    vectors = np.stack([np.random.rand(n, d) for _ in "QK"])
    return Drawn(source=0, method="rand", args=(), shape=(n, d), values=vectors)


def _twice_as_wide(n: int, d: int) -> Drawn:
    vectors = np.stack([np.random.normal(0, 2, (n, d)) for _ in "QK"])
    return Drawn(source=0, method="normal", args=(0.0, 2.0), shape=(n, d), values=vectors)


DRAWING = {"width_fixed": _of_width_256, "uniform_numbers": _uniform, "other_normal_numbers": _twice_as_wide}
"""Misconceptions of exercise 1 that lie in the drawing itself."""


def _variance(predict: Predict, draw: Callable[[int, int], Drawn]) -> Callable[..., object]:
    def measure_variance(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> object:
        np.random.seed(seed)
        return predict((draw(n_samples, d_k),), d_k, n_samples)

    return measure_variance


def _scores(d_k: int, n_keys: int) -> Array:
    """Draw a query and its keys, and return their raw scores."""
    q = np.random.randn(d_k)
    return np.asarray(np.random.randn(n_keys, d_k) @ q)


def _entropy(predict: Predict) -> Callable[..., object]:
    def entropy_sweep(d_ks: Sequence[int] = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> object:
        np.random.seed(seed)
        scores = {d_k: _scores(d_k, n_keys)[None] for d_k in d_ks}
        return [float(predict(scores[d_k], scores[max(d_ks)], d_k, n_keys)) for d_k in d_ks]

    return entropy_sweep


def _ranking(predict: Predict, pairs: int) -> Callable[..., object]:
    def compare_rankings(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> object:
        np.random.seed(seed)
        return predict(np.stack([_scores(d_k, n_keys) for _ in range(pairs)]), d_k)

    return compare_rankings


MAKERS: dict[str, Callable[[Predict], Callable[..., object]]] = {
    "softmax": _softmax,
    "attention": _attention_shapes,
    "attention/weights": _attention_weights,
    "attention/out": _attention_out,
    "entropy": _entropy,
}
"""By target, else by task."""
