"""Wrong references for the weights of attention: the scale between the scores and the softmax."""

from __future__ import annotations

import numpy as np

from .book import BOOK, Answers, Array, dots, softmax, spread, wide

__all__ = ["with_wrong_scales"]

FIXED = (2.0, 3.0, 5.0, 6.0, 10.0, 12.0, 16.0, 20.0, 32.0, 50.0, 64.0, 100.0, 128.0, 256.0, 512.0, 1024.0)
FIXED_ROOTS = (2, 3, 8, 10, 12, 20, 32, 48, 50, 96, 128, 512, 768, 1000, 2048)
FIXED_FACTORS = (0.1, 0.125, 0.2, 0.25, 0.5)


@BOOK.add("no_scale", "attention/weights", catalogue="A01")
def _(Q: Array, K: Array) -> Array:
    """The dot product alone measures similarity."""
    return softmax(dots(Q, K))


@BOOK.add("scale_width", "attention/weights", catalogue="A02 A06")
def _(Q: Array, K: Array) -> Array:
    """The variance of a score is d_k, so it is divided by d_k."""
    return softmax(dots(Q, K) / Q.shape[-1])


@BOOK.add("scale_multiplied", "attention/weights", catalogue="A08", many=True)
def _(Q: Array, K: Array) -> Answers:
    """The factor strengthens the signal."""
    yield softmax(dots(Q, K) * wide(Q))
    yield softmax(dots(Q, K) * Q.shape[-1])


@BOOK.add("scale_length", "attention/weights", catalogue="A03", many=True)
def _(Q: Array, K: Array) -> Answers:
    """The width is the second number of the shape, or the last one of the scores."""
    yield softmax(dots(Q, K) / np.sqrt(Q.shape[1]))
    yield softmax(dots(Q, K) / Q.shape[1])


@BOOK.add("scale_batch", "attention/weights", catalogue="A04", many=True)
def _(Q: Array, K: Array) -> Answers:
    """``len`` gives the width of an array."""
    yield softmax(dots(Q, K) / np.sqrt(len(Q)))
    yield softmax(dots(Q, K) / len(Q))


@BOOK.add("scale_size", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """The more numbers an array has, the larger its scores."""
    B, T, d = Q.shape
    for size in (B * T * d, T * d, B * d, B * T, B * T * T, T + d):
        yield softmax(dots(Q, K) / np.sqrt(size))
        yield softmax(dots(Q, K) / size)


@BOOK.add("scale_fixed_64", "attention/weights", catalogue="A09")
def _(Q: Array, K: Array) -> Array:
    """In papers d_k is 64."""
    return softmax(dots(Q, K) / 8)


@BOOK.add("scale_fixed_16", "attention/weights", catalogue="A10 A43")
def _(Q: Array, K: Array) -> Array:
    """In the lesson's example d_k is 16."""
    return softmax(dots(Q, K) / 4)


@BOOK.add("scale_fixed", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """The scale is a number that someone found to work."""
    for number in (*FIXED, *np.sqrt(FIXED_ROOTS), *FIXED_FACTORS):
        yield softmax(dots(Q, K) / number)


@BOOK.add("scale_precedence", "attention/weights", catalogue="A45")
def _(Q: Array, K: Array) -> Array:
    """In ``d_k ** 1/2`` the division comes first."""
    return softmax(dots(Q, K) / (Q.shape[-1] / 2))


@BOOK.add("scale_power", "attention/weights", catalogue="A48", many=True)
def _(Q: Array, K: Array) -> Answers:
    """What keeps a score small keeps it safe, so more of it does no harm."""
    d = float(Q.shape[-1])
    for power in (2.0, 1.5, 3.0):
        yield softmax(dots(Q, K) / d**power)


@BOOK.add("scale_root", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Any root tames the width, or each of Q and K takes half of the scale's root."""
    d = float(Q.shape[-1])
    for power in (1 / 3, 1 / 4, 2 / 3, 3 / 4, 1 / 8):
        yield softmax(dots(Q, K) / d**power)


@BOOK.add("scale_log", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """The size of a score grows with the logarithm of the width."""
    d = Q.shape[-1]
    for scale in (np.log(d), np.log2(d), np.log10(d), np.log(d + 1), np.log2(d + 1), np.sqrt(np.log(d))):
        yield softmax(dots(Q, K) / scale)


@BOOK.add("scale_off_by_some", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """The width is counted with one more or one less, or for Q and K together."""
    d = float(Q.shape[-1])
    for number in (2 * d, d / 2, d + 1, d - 1, 4 * d, 3 * d, d + 1e-1, d + 1e-2, d + 1e-3):
        yield softmax(dots(Q, K) / np.sqrt(number))
    for extra in (1.0, 1e-1, 1e-2, 1e-3):
        yield softmax(dots(Q, K) / (np.sqrt(d) + extra))


@BOOK.add("scale_whole_number", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """A scale is a whole number."""
    root = wide(Q)
    for number in (np.floor(root), np.round(root), np.ceil(root)):
        yield softmax(dots(Q, K) / number)


@BOOK.add("scale_measured", "attention/weights", catalogue="A46", many=True)
def _(Q: Array, K: Array) -> Answers:
    """To scale is to bring the spread of these very scores to 1."""
    s = dots(Q, K)
    for axes in (None, (1, 2), -1, 1, 0):
        for ddof in (0, 1):
            yield softmax(s / spread(s, axes, ddof))
        yield softmax(s / spread(s, axes) ** 2)
        yield softmax(s / np.abs(s).max(axis=axes, keepdims=True))
        yield softmax(s / np.sqrt((s**2).sum(axis=axes, keepdims=True)))
    yield softmax(s / s.max(axis=-1, keepdims=True))
    yield softmax(s / s.max())


@BOOK.add("scale_after", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """It doesn't matter whether the scores are scaled or their softmax."""
    for w in (softmax(dots(Q, K)), softmax(dots(Q, K) / wide(Q))):
        for factor in (wide(Q), Q.shape[-1], 1 / wide(Q)):
            yield w / factor


def with_wrong_scales(Q: Array, scores: Array) -> Answers:
    """Yield ``scores`` divided by each of the wrong scales that come together with another mistake."""
    B, T, d = Q.shape
    for scale in (1.0, d, np.sqrt(T), np.sqrt(B), 1 / np.sqrt(d), T, d / 2, d**2, 8.0, 4.0):
        yield scores / scale
