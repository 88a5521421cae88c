"""Wrong references for attention as a whole: what comes back in other shapes, in another form, or as an error."""

from __future__ import annotations

import numpy as np

from .book import BOOK, Answers, Array, dots, softmax, wide

__all__: list[str] = []

Both = tuple[Array, Array]


def _right(Q: Array, K: Array, V: Array) -> Both:
    w = softmax(dots(Q, K) / wide(Q))
    return w @ V, w


@BOOK.add("all_axes_reversed", "attention/shapes", catalogue="A12 A50")
def _(Q: Array, K: Array, V: Array) -> Both:
    """``K.T`` exchanges the last two axes."""
    w = softmax(Q @ K.T / wide(Q))
    return w @ V, w


@BOOK.add("torch_transpose", "attention/shapes", catalogue="A51")
def _(Q: Array, K: Array, V: Array) -> Both:
    """NumPy's ``transpose`` takes the two axes to exchange, as PyTorch's does."""
    w = softmax(Q @ K.transpose(-2, -1) / wide(Q))
    return w @ V, w


@BOOK.add("no_transpose", "attention/shapes", catalogue="")
def _(Q: Array, K: Array, V: Array) -> Both:
    """``@`` finds the axes that belong together."""
    w = softmax(Q @ K / wide(Q))
    return w @ V, w


@BOOK.add("dot_of_batches", "attention/shapes", catalogue="A26")
def _(Q: Array, K: Array, V: Array) -> Both:
    """``np.dot`` and ``@`` are the same."""
    w = softmax(np.dot(Q, np.swapaxes(K, -1, -2)) / wide(Q))
    return np.dot(w, V), w


@BOOK.add("batch_summed", "attention/shapes", catalogue="A27", many=True)
def _(Q: Array, K: Array, V: Array) -> Answers:
    """What isn't named in an einsum stays as it is."""
    for scores in (dots(Q, K).sum(0), dots(Q, K).mean(0)):
        w = softmax(scores / wide(Q))
        yield w @ V, w
        yield np.einsum("qk,bkd->qd", w, V), w
        yield w @ V.mean(0), w
    w = softmax(dots(Q, K) / wide(Q))
    yield (w @ V).sum(0), w.sum(0)
    yield (w @ V).mean(0), w.mean(0)


@BOOK.add("one_sequence_returned", "attention/shapes", catalogue="", many=True)
def _(Q: Array, K: Array, V: Array) -> Answers:
    """The loop's last result is the result."""
    out, w = _right(Q, K, V)
    for at in (-1, 0):
        yield out[at], w[at]
        yield out, w[at]
        yield out[at], w


@BOOK.add("batch_flattened", "attention/shapes", catalogue="", many=True)
def _(Q: Array, K: Array, V: Array) -> Answers:
    """A batch is one long sequence."""
    q, k, v = (x.reshape(-1, x.shape[-1]) for x in (Q, K, V))
    w = softmax(q @ k.T / wide(Q))
    yield w @ v, w
    yield (w @ v).reshape(V.shape), w


@BOOK.add("only_out", "attention/shapes", catalogue="A18")
def _(Q: Array, K: Array, V: Array) -> Array:
    """The weights are internal."""
    return _right(Q, K, V)[0]


@BOOK.add("only_weights", "attention/shapes", catalogue="", many=True)
def _(Q: Array, K: Array, V: Array) -> Answers:
    """The weights are the result of attention."""
    yield _right(Q, K, V)[1]
    yield softmax(dots(Q, K))


@BOOK.add("three_values", "attention/shapes", catalogue="", many=True)
def _(Q: Array, K: Array, V: Array) -> Answers:
    """Whatever was computed may be of use."""
    out, w = _right(Q, K, V)
    for scores in (dots(Q, K) / wide(Q), dots(Q, K)):
        yield out, w, scores
        yield out, scores, w
        yield scores, w, out
    yield out, w, V
    yield out, w, None
    yield w, out, None


@BOOK.add("nothing_returned", "attention/shapes", catalogue="")
def _(Q: Array, K: Array, V: Array) -> None:
    """What a function computes is there afterwards, or printing is returning."""


@BOOK.add("out_axes_swapped", "attention/shapes", catalogue="", many=True)
def _(Q: Array, K: Array, V: Array) -> Answers:
    """Features come before positions."""
    out, w = _right(Q, K, V)
    yield np.swapaxes(out, -1, -2), w
    yield out.transpose(1, 0, 2), w
    yield out.T, w


@BOOK.add("out_one_row", "attention/shapes", catalogue="", many=True)
def _(Q: Array, K: Array, V: Array) -> Answers:
    """Attention gives one vector for the whole sequence."""
    out, w = _right(Q, K, V)
    for kept in (False, True):
        yield out.sum(1, keepdims=kept), w
        yield out.mean(1, keepdims=kept), w
        yield out.sum(-1, keepdims=kept), w
    yield out[:, -1], w
    yield out[:, 0], w


@BOOK.add("out_flattened", "attention/shapes", catalogue="", many=True)
def _(Q: Array, K: Array, V: Array) -> Answers:
    """The next layer wants one row of numbers."""
    out, w = _right(Q, K, V)
    yield out.reshape(len(Q), -1), w
    yield out.reshape(-1, V.shape[-1]), w
    yield out.ravel(), w
    yield out.ravel(), w.ravel()


@BOOK.add("pair_squeezed", "attention/shapes", catalogue="", many=True)
def _(Q: Array, K: Array, V: Array) -> Answers:
    """Axes of length 1 carry nothing and can go."""
    out, w = _right(Q, K, V)
    yield np.squeeze(out), np.squeeze(w)
    yield out, np.squeeze(w)
    yield np.squeeze(out), w


@BOOK.add("totals_not_kept", "attention/shapes", catalogue="")
def _(Q: Array, K: Array, V: Array) -> Both:
    """NumPy lines the totals up with their rows by itself."""
    s = dots(Q, K) / wide(Q)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1)
    return w @ V, w


@BOOK.add("features_attend", "attention/shapes", catalogue="", many=True)
def _(Q: Array, K: Array, V: Array) -> Answers:
    """The table of weights is as wide as the vectors."""
    s = np.swapaxes(Q, -1, -2) @ K
    for scale in (wide(Q), 1.0, np.sqrt(Q.shape[1])):
        w = softmax(s / scale)
        yield V @ w, w
        yield V @ np.swapaxes(w, -1, -2), w


@BOOK.add("no_sum_in_scores", "attention/shapes", catalogue="", many=True)
def _(Q: Array, K: Array, V: Array) -> Answers:
    """Vectors are compared number by number."""
    for scale in (wide(Q), 1.0):
        w = softmax(Q * K / scale)
        yield w * V, w
