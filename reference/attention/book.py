"""The book that all wrong references are entered in, and the right steps that they share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.api import Book

__all__ = ["BOOK", "Answers", "Array", "dots", "shares", "softmax", "spread", "total", "wide", "with_and_without_shift"]

BOOK = Book()

Array = npt.NDArray[Any]

Answers = Iterator[Any]
"""Candidates, any of which may be the answer."""


def softmax(x: Array, axis: int | None = -1) -> Array:
    """Return the right softmax, for mistakes that lie elsewhere."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


def total(x: Array, axis: int | None = -1) -> Array:
    """Return the sums along ``axis``, which stays with length 1."""
    return np.asarray(x.sum(axis=axis, keepdims=True))


def shares(x: Array, axis: int | None = -1) -> Array:
    """Return ``x`` divided by its sums along ``axis``."""
    return np.asarray(x / total(x, axis))


def with_and_without_shift(x: Array, axis: int | None = -1) -> Answers:
    """Yield the softmax with its largest score taken off first, and without: a learner may have left that out too."""
    yield softmax(x, axis)
    yield shares(np.exp(x), axis)


def dots(Q: Array, K: Array) -> Array:
    """Return the raw scores of a batch."""
    return np.asarray(Q @ np.swapaxes(K, -1, -2))


def spread(x: Array, axis: int | tuple[int, ...] | None = -1, ddof: int = 0) -> Array:
    """Return the standard deviation along ``axis``, which stays with length 1; nan, without a word, of too few."""
    centred = x - x.mean(axis=axis, keepdims=True)
    mean_square = np.square(centred).mean(axis=axis, keepdims=True)
    count = x.size // mean_square.size
    return np.asarray(np.sqrt(mean_square * np.float64(count) / np.float64(count - ddof)))


def wide(Q: Array) -> np.float64:
    """Return √d_k, in double precision as NumPy gives it."""
    return np.float64(np.sqrt(Q.shape[-1]))
