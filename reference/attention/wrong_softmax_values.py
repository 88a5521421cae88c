"""Wrong references for ``softmax``: another formula on the right axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from .book import BOOK, Answers, Array, shares, softmax, spread, total, with_and_without_shift

__all__: list[str] = []

EPSILONS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
TEMPERATURES = (0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.1, 1.2, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0)


@BOOK.add("divided_by_largest", "softmax/values", catalogue="S08", many=True)
def _(x: Array, axis: int) -> Answers:
    """To normalise is to make the largest number 1."""
    yield np.exp(x - x.max(axis=axis, keepdims=True))
    e = np.exp(x)
    yield e / e.max(axis=axis, keepdims=True)


@BOOK.add("exp_only", "softmax/values", catalogue="")
def _(x: Array, axis: int) -> Array:
    """The exponential makes every score positive, and that is the softmax."""
    return np.asarray(np.exp(x))


@BOOK.add("shifted_scores", "softmax/values", catalogue="")
def _(x: Array, axis: int) -> Array:
    """Subtracting the maximum is the step that makes softmax stable, and the last one."""
    return np.asarray(x - x.max(axis=axis, keepdims=True))


@BOOK.add("epsilon_in_total", "softmax/values", catalogue="S10", many=True)
def _(x: Array, axis: int) -> Answers:
    """Something added to the total keeps the division safe, and more is safer."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    for epsilon in EPSILONS:
        yield e / (total(e, axis) + epsilon)
        yield (e + epsilon) / (total(e, axis) + epsilon)
        yield (e + epsilon) / total(e, axis)
        yield e / total(e, axis) + epsilon


@BOOK.add("one_in_total", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """The denominator is 1 plus the sum, as it is in a sigmoid."""
    for e in (np.exp(x - x.max(axis=axis, keepdims=True)), np.exp(x)):
        yield e / (1 + total(e, axis))


@BOOK.add("others_in_total", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """An entry is compared with all the others, not with itself."""
    for e in (np.exp(x - x.max(axis=axis, keepdims=True)), np.exp(x)):
        yield e / (total(e, axis) - e)


@BOOK.add("raw_total", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """The exponentials are divided by the total of the row."""
    for e in (np.exp(x - x.max(axis=axis, keepdims=True)), np.exp(x)):
        yield e / total(x, axis)


@BOOK.add("max_numerator_only", "softmax/values", catalogue="S12")
def _(x: Array, axis: int) -> Array:
    """The shift is needed only above the fraction line."""
    return np.asarray(np.exp(x - x.max(axis=axis, keepdims=True)) / total(np.exp(x), axis))


@BOOK.add("max_denominator_only", "softmax/values", catalogue="")
def _(x: Array, axis: int) -> Array:
    """Only the sum can overflow, so only it needs the shift."""
    return np.asarray(np.exp(x) / total(np.exp(x - x.max(axis=axis, keepdims=True)), axis))


@BOOK.add("max_after_exp", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """The largest exponential is what has to be taken off."""
    e = np.exp(x)
    shifted = e - e.max(axis=axis, keepdims=True)
    yield shifted / total(e, axis)
    yield shares(shifted, axis)


@BOOK.add("log_shares", "softmax/values", catalogue="S16", many=True)
def _(x: Array, axis: int) -> Answers:
    """Log-probabilities are the stable version of softmax."""
    shifted = x - x.max(axis=axis, keepdims=True)
    yield shifted - np.log(total(np.exp(shifted), axis))
    for p in with_and_without_shift(x, axis):
        yield np.log(p)
    yield x - np.log(total(np.exp(x), axis))


@BOOK.add("sigmoid_each", "softmax/values", catalogue="S17")
def _(x: Array, axis: int) -> Array:
    """Softmax squashes every score into the range from 0 to 1."""
    return np.asarray(1 / (1 + np.exp(-x)))


@BOOK.add("sigmoid_shares", "softmax/values", catalogue="")
def _(x: Array, axis: int) -> Array:
    """Scores are squashed into the range from 0 to 1 and then made to add up to 1."""
    return shares(1 / (1 + np.exp(-x)), axis)


@BOOK.add("tanh_scores", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """A squashed score is a safe score."""
    squashed = np.tanh(x)
    yield squashed
    yield softmax(squashed, axis)
    yield shares(squashed, axis)


@BOOK.add("base_2", "softmax/values", catalogue="S19", many=True)
def _(x: Array, axis: int) -> Answers:
    """Any base will do, since the shares are normalised anyway."""
    yield softmax(x * np.log(2), axis)
    yield shares(np.exp2(x), axis)


@BOOK.add("base_10", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Any base will do, and 10 is the usual one."""
    yield softmax(x * np.log(10), axis)
    yield shares(10.0**x, axis)


@BOOK.add("linear_shares", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """A share is a score divided by the total of the scores."""
    yield shares(x, axis)
    yield shares(x - x.max(axis=axis, keepdims=True), axis)


@BOOK.add("size_shares", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Shares have to be positive, so the sizes of the scores are shared out."""
    yield shares(np.abs(x), axis)
    yield shares(np.square(x), axis)


@BOOK.add("size_scores", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Only the size of a score matters, not its sign."""
    yield from with_and_without_shift(np.abs(x), axis)
    yield from with_and_without_shift(np.square(x), axis)


@BOOK.add("positive_shares", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """A negative score gets nothing; the others share by size."""
    positive = np.maximum(x, 0)
    yield shares(positive, axis)
    for epsilon in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12):
        yield positive / (total(positive, axis) + epsilon)


@BOOK.add("positive_scores", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Negative scores count as 0."""
    yield from with_and_without_shift(np.maximum(x, 0), axis)


@BOOK.add("unit_length", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """To normalise a row is to give it length 1."""
    for row in (x, np.exp(x - x.max(axis=axis, keepdims=True)), np.exp(x)):
        yield row / np.sqrt(total(np.square(row), axis))


@BOOK.add("min_max", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """To normalise a row is to stretch it from 0 to 1."""
    low, high = x.min(axis=axis, keepdims=True), x.max(axis=axis, keepdims=True)
    yield (x - low) / (high - low)
    yield shares(x - low, axis)


@BOOK.add("z_scores", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """To normalise a row is to bring it to mean 0 and spread 1."""
    for ddof in (0, 1):
        yield (x - x.mean(axis=axis, keepdims=True)) / spread(x, axis, ddof)


@BOOK.add("softmin", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """The sign in front of the score is a matter of taste."""
    yield from with_and_without_shift(-x, axis)
    yield shares(np.exp(x.max(axis=axis, keepdims=True) - x), axis)


@BOOK.add("winner_takes_all", "softmax/values", catalogue="")
def _(x: Array, axis: int) -> Array:
    """The largest score gets everything."""
    return shares((x == x.max(axis=axis, keepdims=True)).astype(float), axis)


@BOOK.add("softmax_twice", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Normalising once more does no harm."""
    for p in with_and_without_shift(x, axis):
        yield from with_and_without_shift(p, axis)


@BOOK.add("divided_by_row_length", "softmax/values", catalogue="S28", many=True)
def _(x: Array, axis: int) -> Answers:
    """The square root of the scaled formula belongs to the softmax."""
    for length in (x.shape[axis], x.shape[-1]):
        for scale in (np.sqrt(length), length):
            yield from with_and_without_shift(x / scale, axis)


@BOOK.add("fixed_temperature", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """A softmax has a temperature, and a fixed one is as good as any."""
    for temperature in TEMPERATURES:
        yield from with_and_without_shift(x / temperature, axis)


@BOOK.add("divided_before_exp", "softmax/values", catalogue="S29", many=True)
def _(x: Array, axis: int) -> Answers:
    """Large scores are tamed by a division."""
    sizes: list[Any] = [np.sqrt(total(np.square(x), axis)), spread(x, axis), spread(x, axis, 1)]
    for size in (np.abs(x), x):
        sizes += [total(size, axis), size.max(), size.max(axis=axis, keepdims=True)]
    for size in reversed(sizes):
        yield from with_and_without_shift(x / size, axis)


@BOOK.add("divided_by_count", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """An average is divided by the number of things averaged."""
    for p in with_and_without_shift(x, axis):
        yield p / x.shape[axis]


@BOOK.add("divided_by_mean", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """To normalise a row is to divide it by its mean."""
    for p in with_and_without_shift(x, axis):
        yield p * x.shape[axis]


@BOOK.add("one_minus", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """A weight says how far an entry is from the winner."""
    for p in with_and_without_shift(x, axis):
        yield 1 - p


@BOOK.add("half_precision", "softmax/values", catalogue="", many=True)
def _(x: Array, axis: int) -> Answers:
    """Half the precision is enough for a weight."""
    half = x.astype(np.float16)
    for p in with_and_without_shift(half, axis):
        yield p
        yield p.astype(np.float64)
    for p in with_and_without_shift(x, axis):
        yield p.astype(np.float16)


@BOOK.add("rounded_shares", "softmax/values", catalogue="S24", many=True)
def _(x: Array, axis: int) -> Answers:
    """Numbers are stored as they are printed."""
    for decimals in range(1, 6):
        for p in with_and_without_shift(x, axis):
            yield np.round(p, decimals)


@BOOK.add("whole_number_container", "softmax/care", catalogue="S25", many=True)
def _(x: Array, axis: int) -> Answers:
    """An array made like the input is a neutral container."""
    for p in with_and_without_shift(x, axis):
        yield p.astype(x.dtype)
    yield shares(np.exp(x - x.max(axis=axis, keepdims=True)).astype(x.dtype), axis)
    yield shares(np.exp(x).astype(x.dtype), axis)
