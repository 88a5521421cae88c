"""Wrong references for the weights of attention: what is made of the right scores."""

from __future__ import annotations

import numpy as np

from .book import BOOK, Answers, Array, dots, shares, softmax, total, wide
from .wrong_scales import with_wrong_scales

__all__: list[str] = []

SMALL = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)


def _scaled(Q: Array, K: Array) -> Array:
    return dots(Q, K) / wide(Q)


@BOOK.add("over_queries", "attention/weights", catalogue="A21")
def _(Q: Array, K: Array) -> Array:
    """Columns of the weights add up to 1."""
    return softmax(_scaled(Q, K), axis=1)


@BOOK.add("over_queries_and_scale", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Columns of the weights add up to 1, and the scale is another one too."""
    for scores in with_wrong_scales(Q, dots(Q, K)):
        yield softmax(scores, axis=1)


@BOOK.add("over_batch", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Axis 0 is the one to normalise over."""
    yield softmax(_scaled(Q, K), axis=0)
    for scores in with_wrong_scales(Q, dots(Q, K)):
        yield softmax(scores, axis=0)


@BOOK.add("over_table", "attention/weights", catalogue="A23", many=True)
def _(Q: Array, K: Array) -> Answers:
    """The table of weights adds up to 1."""
    for scores in (_scaled(Q, K), *with_wrong_scales(Q, dots(Q, K))):
        yield softmax(scores.reshape(len(Q), -1)).reshape(scores.shape)


@BOOK.add("over_everything", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """All weights of the batch add up to 1."""
    for scores in (_scaled(Q, K), *with_wrong_scales(Q, dots(Q, K))):
        yield softmax(scores, axis=None)


@BOOK.add("weights_transposed", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Rows are keys and columns are queries."""
    yield np.swapaxes(softmax(_scaled(Q, K)), -1, -2)
    yield np.swapaxes(softmax(dots(Q, K)), -1, -2)


@BOOK.add("other_rows_total", "attention/weights", catalogue="A52", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Dividing by the row totals is enough, however they are lined up."""
    s = _scaled(Q, K)
    for shift in (s.max(), s.max(-1, keepdims=True), s.max((1, 2), keepdims=True)):
        e = np.exp(s - shift)
        yield e / e.sum(axis=-1)[:, None, :]


@BOOK.add("softmax_left_out", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """The scores are the weights."""
    yield _scaled(Q, K)
    yield dots(Q, K)
    yield dots(Q, K) / Q.shape[-1]


@BOOK.add("scores_shared", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """A weight is a score divided by the total of its row."""
    s = _scaled(Q, K)
    yield shares(s)
    yield shares(np.abs(s))
    yield shares(s**2)
    yield s / np.sqrt(total(s**2))


@BOOK.add("total_left_out", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """The exponential of a score is its weight."""
    for s in (_scaled(Q, K), dots(Q, K)):
        yield np.exp(s)
        yield np.exp(s - s.max(-1, keepdims=True))


@BOOK.add("log_weights", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Log-weights are the stable version."""
    for s in (_scaled(Q, K), dots(Q, K)):
        yield s - s.max(-1, keepdims=True) - np.log(total(np.exp(s - s.max(-1, keepdims=True))))


@BOOK.add("sigmoid_weights", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Each match is a yes or no of its own."""
    for s in (_scaled(Q, K), *with_wrong_scales(Q, dots(Q, K))):
        w = 1 / (1 + np.exp(-s))
        yield w
        yield shares(w)


@BOOK.add("strongest_key", "attention/weights", catalogue="")
def _(Q: Array, K: Array) -> Array:
    """A query looks at its best key only."""
    s = dots(Q, K)
    return shares((s == s.max(-1, keepdims=True)).astype(float))


@BOOK.add("weights_softened", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Normalising once more does no harm."""
    yield softmax(softmax(_scaled(Q, K)))
    yield softmax(softmax(dots(Q, K)))
    yield softmax(softmax(dots(Q, K)) / wide(Q))


@BOOK.add("weights_base_2", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Any base will do for the exponential."""
    yield softmax(_scaled(Q, K) * np.log(2))
    yield softmax(_scaled(Q, K) * np.log(10))


@BOOK.add("weights_epsilon", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Something added to the total keeps the division safe."""
    s = _scaled(Q, K)
    e = np.exp(s - s.max(-1, keepdims=True))
    for epsilon in (1.0, *SMALL):
        yield e / (total(e) + epsilon)


@BOOK.add("weights_rounded", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Numbers are stored as they are printed."""
    for decimals in range(1, 6):
        yield np.round(softmax(_scaled(Q, K)), decimals)


@BOOK.add("weights_constant", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Every position counts alike, or only itself."""
    s = dots(Q, K)
    yield np.ones(s.shape) / s.shape[-1]
    yield np.ones(s.shape)
    yield np.zeros(s.shape)
    yield np.broadcast_to(np.eye(s.shape[-1]), s.shape)


@BOOK.add("identity_added", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """A position keeps part of itself."""
    w, eye = softmax(_scaled(Q, K)), np.eye(Q.shape[1])
    yield w + eye
    yield (w + eye) / 2
    yield softmax(_scaled(Q, K) + eye)
