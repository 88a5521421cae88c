"""Wrong references for ``softmax`` that show on large scores only."""

from __future__ import annotations

import numpy as np

from .book import BOOK, Answers, Array, shares, total

__all__: list[str] = []

EPSILONS = (1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20)
BOUNDS = (10, 20, 30, 50, 80, 88, 100, 200, 250, 300, 350, 400, 500, 600, 700, 708)


@BOOK.add("no_max", "softmax/large", catalogue="S06")
def _(x: Array, axis: int) -> Array:
    """Exponentials divided by their total are the whole definition."""
    return shares(np.exp(x), axis)


@BOOK.add("global_max", "softmax/large", catalogue="S07")
def _(x: Array, axis: int) -> Array:
    """Any maximum will do for the shift."""
    return shares(np.exp(x - x.max()), axis)


@BOOK.add("epsilon_for_max", "softmax/large", catalogue="S11", many=True)
def _(x: Array, axis: int) -> Answers:
    """A small number in the denominator makes the division safe."""
    e = np.exp(x)
    for epsilon in EPSILONS:
        yield e / (total(e, axis) + epsilon)
        yield e / np.maximum(total(e, axis), epsilon)


@BOOK.add("subtract_middle", "softmax/large", catalogue="S13", many=True)
def _(x: Array, axis: int) -> Answers:
    """Any centring of the row is good for stability."""
    yield shares(np.exp(x - x.mean(axis=axis, keepdims=True)), axis)
    yield shares(np.exp(x - np.median(x, axis=axis, keepdims=True)), axis)
    yield shares(np.exp(x - np.take(x, [0], axis=axis)), axis)
    yield shares(np.exp(x - x.mean()), axis)


@BOOK.add("subtract_largest_size", "softmax/large", catalogue="S14")
def _(x: Array, axis: int) -> Array:
    """The largest size is what has to be taken off."""
    return shares(np.exp(x - np.abs(x).max(axis=axis, keepdims=True)), axis)


@BOOK.add("subtract_too_much", "softmax/large", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """The length of a row, or its total, is what has to be taken off."""
    yield shares(np.exp(x - np.sqrt(total(np.square(x), axis))), axis)
    yield shares(np.exp(x - total(x, axis)), axis)
    yield shares(np.exp(x - total(np.abs(x), axis)), axis)


@BOOK.add("subtract_min", "softmax/large", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Scores have to be positive before the exponential."""
    yield shares(np.exp(x - x.min(axis=axis, keepdims=True)), axis)
    yield shares(np.exp(x - x.min()), axis)


@BOOK.add("add_max", "softmax/large", catalogue="")
def _(x: Array, axis: int) -> Array:
    """The row is shifted by its maximum, in whichever direction."""
    return shares(np.exp(x + x.max(axis=axis, keepdims=True)), axis)


@BOOK.add("clipped", "softmax/large", catalogue="S30", many=True)
def _(x: Array, axis: int) -> Answers:
    """Overflow is cured by a limit on the scores."""
    for bound in BOUNDS:
        for clipped in (np.clip(x, -bound, bound), np.minimum(x, bound)):
            yield shares(np.exp(clipped), axis)
    yield shares(np.exp(np.clip(x, -709, 709)), axis)


@BOOK.add("nan_replaced", "softmax/large", catalogue="S31", many=True)
def _(x: Array, axis: int) -> Answers:
    """What comes out as nan can be set to a number afterwards."""
    e = np.exp(x)
    p = shares(e, axis)
    for number in (0.0, 1.0):
        yield np.nan_to_num(p, nan=number)
        yield np.nan_to_num(shares(np.nan_to_num(e), axis), nan=number)
    yield shares(np.nan_to_num(e), axis)
    yield shares(np.where(np.isinf(e), 0, e), axis)
    yield np.nan_to_num(shares(np.where(np.isinf(e), 0, e), axis))
