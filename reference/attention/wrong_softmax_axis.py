"""Wrong references for ``softmax``: which numbers belong together, and in what shape they come back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .book import BOOK, Answers, Array, shares, softmax, total, with_and_without_shift

__all__: list[str] = []


def _chosen(axis: int, default: int | None) -> int | None:
    """Return the axis of a function with another default: no case asks for axis -1 in so many words."""
    return default if axis == -1 else axis


@BOOK.add("default_axis_second_last", "softmax/values", catalogue="S01", many=True)
def _(x: Array, axis: int) -> Answers:
    """Rows lie along the second-last axis, so that is the default."""
    yield from with_and_without_shift(x, _chosen(axis, -2))


@BOOK.add("default_axis_0", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """NumPy counts axes from 0, so 0 is the natural default."""
    yield from with_and_without_shift(x, _chosen(axis, 0))


@BOOK.add("default_axis_1", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Scores are a table, and axis 1 runs along its rows."""
    yield from with_and_without_shift(x, _chosen(axis, 1))


@BOOK.add("default_axis_none", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Without an axis, NumPy's own functions take the whole array; so does softmax."""
    yield from with_and_without_shift(x, _chosen(axis, None))


@BOOK.add("axis_ignored", "softmax/axis", catalogue="S02", many=True)
def _(x: Array, axis: int) -> Answers:
    """The last axis is the one that softmax is about; the parameter is there for show."""
    yield from with_and_without_shift(x, -1)


@BOOK.add("axis_1_fixed", "softmax/values", catalogue="S03", many=True)
def _(x: Array, axis: int) -> Answers:
    """Scores are always a table, and its rows are axis 1."""
    yield from with_and_without_shift(x, 1)


@BOOK.add("axis_0_fixed", "softmax/values", catalogue="S04", many=True)
def _(x: Array, axis: int) -> Answers:
    """Softmax sums over axis 0, as it does for a single vector."""
    yield from with_and_without_shift(x, 0)


@BOOK.add("axis_second_last_fixed", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Rows are counted by the second-last axis, so the sum runs over it."""
    yield from with_and_without_shift(x, -2)


@BOOK.add("whole_array", "softmax/values", catalogue="S05", many=True)
def _(x: Array, axis: int) -> Answers:
    """Softmax makes the whole array add up to 1."""
    yield from with_and_without_shift(x, None)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    yield e / e.sum()


@BOOK.add("sum_over_last", "softmax/axis", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Only the maximum needs the axis; the total is always taken along the rows."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    yield e / total(e, -1)


@BOOK.add("sum_over_first", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Only the maximum needs the axis; sums run over axis 0."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    yield e / total(e, 0)


@BOOK.add("max_over_last", "softmax/axis", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """The shift is for stability only, so its axis doesn't matter."""
    yield shares(np.exp(x - x.max(axis=-1, keepdims=True)), axis)


@BOOK.add("max_over_first", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """The shift is for stability only, so the maximum may be taken over axis 0."""
    yield shares(np.exp(x - x.max(axis=0, keepdims=True)), axis)


@BOOK.add("no_keepdims_sum", "softmax/values", catalogue="S15")
def _(x: Array, axis: int) -> Array:
    """NumPy lines the totals up with their rows by itself."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis))


@BOOK.add("no_keepdims_max", "softmax/values", catalogue="S15")
def _(x: Array, axis: int) -> Array:
    """NumPy lines the maxima up with their rows by itself."""
    return shares(np.exp(x - x.max(axis=axis)), axis)


@BOOK.add("no_keepdims", "softmax/values", catalogue="S15")
def _(x: Array, axis: int) -> Array:
    """NumPy lines maxima and totals up with their rows by itself."""
    e = np.exp(x - x.max(axis=axis))
    return np.asarray(e / e.sum(axis=axis))


@BOOK.add("axes_moved", "softmax/axis", catalogue="S32", many=True)
def _(x: Array, axis: int) -> Answers:
    """Once the axis is moved to the end, the result is ready."""
    yield from with_and_without_shift(np.moveaxis(x, axis, -1))
    yield from with_and_without_shift(np.swapaxes(x, axis, -1))


@BOOK.add("axes_reversed", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """A transpose puts the numbers where the sum wants them."""
    yield from with_and_without_shift(x.T, axis)
    yield softmax(x, axis).T


@BOOK.add("flattened", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Softmax is about one list of numbers, so the array becomes one."""
    yield from with_and_without_shift(x.ravel())
    yield softmax(x, axis).ravel()


@BOOK.add("squeezed", "softmax/values", catalogue="S26", many=True)
def _(x: Array, axis: int) -> Answers:
    """Axes of length 1 carry nothing and can go."""
    for answer in with_and_without_shift(x, axis):
        yield np.squeeze(answer)


@BOOK.add("shape_cached", "softmax/values", catalogue="S33", many=True, fresh=True)
def _() -> Callable[[Array, int], Answers]:
    """The same question gets the same answer, and the shape tells which question it is."""
    caches: tuple[dict[object, Array], ...] = ({}, {}, {})

    def remembers(x: Array, axis: int) -> Answers:
        for key, cache in zip(((x.shape, axis), x.shape, len(x)), caches, strict=True):
            yield cache.setdefault(key, softmax(x, axis))

    return remembers


@BOOK.add("sorted_shares", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """A distribution is listed in order of size."""
    p = np.sort(softmax(x, axis), axis=axis)
    yield p
    yield np.flip(p, axis=axis)


@BOOK.add("running_total", "softmax/values", catalogue="")
def _(x: Array, axis: int) -> Array:
    """Each number contains the ones before it, so that the last is 1."""
    return np.asarray(np.cumsum(softmax(x, axis), axis=axis))


@BOOK.add("largest_only", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """What matters is the largest weight of each row."""
    for kept in (False, True):
        yield softmax(x, axis).max(axis=axis, keepdims=kept)


@BOOK.add("largest_position", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """What matters is which entry of the row wins."""
    for kept in (False, True):
        yield x.argmax(axis=axis, keepdims=kept)
