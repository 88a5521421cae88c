"""Wrong references: what a learner's function would give who makes this mistake.

Targets and what ``predict`` gets: ``softmax/*``: (x, axis); ``attention/weights``: (Q, K); ``attention/out``:
(w, Q, K, V) with the learner's own weights; ``attention/shapes``: (Q, K, V) and gives whatever the function returns or
raises; ``variance/*``: (drawn, d, n) and yields candidates (raw, scaled); ``entropy/draws``: (scores, largest, d, n)
with one row of raw scores for each query-key pair that the draws may be read as, and yields candidate entropies;
``ranking/equal``: (scores, d) likewise, and yields candidate pairs of orders.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.api import Book

__all__ = ["BOOK"]

BOOK = Book()

Array = npt.NDArray[Any]


def softmax(x: Array, axis: int = -1) -> Array:
    """Return the right softmax, for mistakes that lie elsewhere."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


@BOOK.add("no_scale", "attention/weights", catalogue="A01")
def _(Q: Array, K: Array) -> Array:
    """The dot product alone measures similarity."""
    return softmax(Q @ K.transpose(0, 2, 1))


@BOOK.add("entropy_base2", "entropy/draws", catalogue="E08", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Iterator[float]:
    """Any logarithm measures entropy."""
    p = softmax(scores)
    yield from -(p * np.log2(p + 1e-12)).sum(-1)
