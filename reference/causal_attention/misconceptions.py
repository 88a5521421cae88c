"""Wrong references, each the whole function as a learner with this mistake would write it."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader import api

BOOK = api.Book()


def scored(Q: Any, K: Any) -> Any:
    """Return the scaled scores, nothing hidden."""
    return Q @ K.swapaxes(1, 2) / np.sqrt(Q.shape[-1])


def masked(scores: Any, instead: Any = -np.inf, k: int = 0) -> Any:
    """Replace the scores of later positions; with ``k=-1`` also a position's own."""
    return np.where(np.tri(scores.shape[-1], k=k), scores, instead)


def attend(scores: Any, V: Any, axis: int = -1) -> Any:
    """Return ``(out, weights)`` of scores as they stand."""
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    weights = e / e.sum(axis=axis, keepdims=True)
    return weights @ V, weights


@BOOK.add("no_mask", "causal/future", catalogue="C01")
def _(Q: Any, K: Any, V: Any) -> Any:
    """Every position may look at every other."""
    return attend(scored(Q, K), V)


@BOOK.add("looks_ahead", "causal/future", catalogue="C02")
def _(Q: Any, K: Any, V: Any) -> Any:
    """The lower triangle is what has to be hidden."""
    return attend(masked(scored(Q, K).swapaxes(1, 2)).swapaxes(1, 2), V)


@BOOK.add("zero_scores", "causal/future", catalogue="C03")
def _(Q: Any, K: Any, V: Any) -> Any:
    """A score of 0 gives no weight."""
    return attend(masked(scored(Q, K), 0), V)


# Adding a triangle of ones and adding -1 to the future shift a row by the same number, so they are one.
@BOOK.add("weak_mask", "causal/future", catalogue="C04")
def _(Q: Any, K: Any, V: Any) -> Any:
    """A lower score hides a position."""
    return attend(scored(Q, K) + np.tri(Q.shape[1]), V)


@BOOK.add("first_row_open", "causal/future", catalogue="C05")
def _(Q: Any, K: Any, V: Any) -> Any:
    """A position learns from the ones before it, and -1e9 hides in any row."""
    return attend(masked(scored(Q, K), -1e9, k=-1), V)


@BOOK.add("strict", "causal/weights", catalogue="C06")
def _(Q: Any, K: Any, V: Any) -> Any:
    """A position learns from the ones before it, not from itself."""
    return attend(masked(scored(Q, K), k=-1), V)


@BOOK.add("after_softmax", "causal/weights", catalogue="C07")
def _(Q: Any, K: Any, V: Any) -> Any:
    """Weights can be struck out at the end."""
    weights = masked(attend(scored(Q, K), V)[1], 0)
    return weights @ V, weights


@BOOK.add("no_scale", "causal/weights", catalogue="C08")
def _(Q: Any, K: Any, V: Any) -> Any:
    """The dot product alone measures similarity."""
    return attend(masked(Q @ K.swapaxes(1, 2)), V)


@BOOK.add("columns", "causal/weights", catalogue="C09")
def _(Q: Any, K: Any, V: Any) -> Any:
    """The softmax runs over the queries."""
    return attend(masked(scored(Q, K)), V, axis=-2)


@BOOK.add("all_nan", "causal/future", catalogue="C10")
def _(Q: Any, K: Any, V: Any) -> Any:
    """Zero times minus infinity is zero."""
    return attend(scored(Q, K) + (np.tri(Q.shape[1]) == 0) * -np.inf, V)
