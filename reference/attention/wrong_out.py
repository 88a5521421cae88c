"""Wrong references for the output of attention, made from the learner's own weights ``w``."""

from __future__ import annotations

import numpy as np

from .book import BOOK, Answers, Array, dots, softmax, total, wide

__all__: list[str] = []


def _swap(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


@BOOK.add("out_weights_transposed", "attention/out", catalogue="A15")
def _(w: Array, Q: Array, K: Array, V: Array) -> Array:
    """Columns of the weights belong to the queries."""
    return np.asarray(_swap(w) @ V)


@BOOK.add("out_keys", "attention/out", catalogue="A28")
def _(w: Array, Q: Array, K: Array, V: Array) -> Array:
    """Keys hold the content."""
    return np.asarray(w @ K)


@BOOK.add("out_queries", "attention/out", catalogue="")
def _(w: Array, Q: Array, K: Array, V: Array) -> Array:
    """Queries hold the content."""
    return np.asarray(w @ Q)


@BOOK.add("out_divided_by_length", "attention/out", catalogue="A38", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """An average needs a division by the number of positions."""
    yield w @ V / V.shape[1]
    yield w @ V / np.sqrt(V.shape[1])


@BOOK.add("out_times_length", "attention/out", catalogue="")
def _(w: Array, Q: Array, K: Array, V: Array) -> Array:
    """The weights are small, so the output is brought back to size."""
    return np.asarray(w @ V * V.shape[1])


@BOOK.add("out_scaled", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """The scale belongs to the output, or to the output as well."""
    for factor in (wide(Q), Q.shape[-1], 1 / wide(Q), 1 / Q.shape[-1]):
        yield w @ V / factor


@BOOK.add("out_residual", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """The input is added to what attention gives."""
    for extra in (Q, V, K):
        yield w @ V + extra
        yield (w @ V + extra) / 2


@BOOK.add("out_is_input", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """The values themselves are the output."""
    yield V
    yield Q
    yield K
    yield np.zeros(V.shape)


@BOOK.add("out_plain_mean", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """All values count alike."""
    yield np.broadcast_to(V.mean(1, keepdims=True), V.shape)
    yield np.broadcast_to(V.sum(1, keepdims=True), V.shape)


@BOOK.add("out_strongest", "attention/out", catalogue="")
def _(w: Array, Q: Array, K: Array, V: Array) -> Array:
    """A query takes the value of its best key."""
    return np.take_along_axis(V, w.argmax(-1)[..., None], axis=1)


@BOOK.add("out_own_value", "attention/out", catalogue="")
def _(w: Array, Q: Array, K: Array, V: Array) -> Array:
    """Each position has one weight for its own value."""
    return np.asarray(np.diagonal(w, axis1=1, axis2=2)[..., None] * V)


@BOOK.add("out_from_scores", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """The scores are what the values are averaged with."""
    yield dots(Q, K) / wide(Q) @ V
    yield dots(Q, K) @ V
    yield np.exp(dots(Q, K) / wide(Q)) @ V


@BOOK.add("out_other_weights", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """The scaled weights are for looking at; the output is made with others."""
    s = dots(Q, K)
    yield softmax(s) @ V
    yield softmax(s / Q.shape[-1]) @ V
    yield softmax(s / wide(Q), axis=1) @ V
    yield softmax(w) @ V


@BOOK.add("out_squared_weights", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """The weights are applied once more."""
    yield w**2 @ V
    yield w @ (w @ V)


@BOOK.add("out_squashed", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """A layer ends with an activation."""
    out = w @ V
    yield softmax(out)
    yield np.tanh(out)
    yield np.maximum(out, 0)
    yield 1 / (1 + np.exp(-out))
    yield w @ softmax(V)


@BOOK.add("out_normalised", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """The output is normalised at the end."""
    out = w @ V
    yield out / np.sqrt(total(out**2))
    yield out / total(out)
    centred = out - out.mean(-1, keepdims=True)
    for epsilon in (0.0, 1e-5, 1e-6, 1e-8):
        yield centred / np.sqrt(out.var(-1, keepdims=True) + epsilon)
        yield centred / (out.std(-1, keepdims=True) + epsilon)


@BOOK.add("out_one_sequence", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """One sequence stands for the batch."""
    out = w @ V
    for at in (0, -1):
        lone = np.zeros(out.shape)
        lone[at] = out[at]
        yield lone
        yield np.broadcast_to(out[at], out.shape)
        yield w[at] @ V
        yield w @ V[at]
    yield w.mean(0) @ V
    yield w @ V.mean(0)
    yield np.broadcast_to(out.mean(0), out.shape)


@BOOK.add("out_one_query", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """One row of weights stands for all queries."""
    out = w @ V
    for row in (out[:, :1], out[:, -1:], out.mean(1, keepdims=True), out.sum(1, keepdims=True)):
        yield np.broadcast_to(row, out.shape)


@BOOK.add("out_reordered", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """Numbers may change their places as long as the shape is right."""
    out = w @ V
    yield _swap(out).reshape(out.shape)
    yield w @ _swap(V).reshape(V.shape)
    yield out[:, ::-1]
    yield w @ V[:, ::-1]
    yield out[..., ::-1]


@BOOK.add("out_masked", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """The output may use only what came before."""
    for kept in (np.tril(w), np.triu(w), w * (1 - np.eye(w.shape[-1]))):
        # Weights that are masked already would make any output of theirs a masked one.
        if w.shape[-1] == 1 or not np.array_equal(kept, w):
            yield kept @ V
            yield kept / total(kept) @ V


@BOOK.add("out_rounded", "attention/out", catalogue="", many=True)
def _(w: Array, Q: Array, K: Array, V: Array) -> Answers:
    """Numbers are stored as they are printed."""
    for decimals in range(1, 6):
        yield np.round(w @ V, decimals)
        yield np.round(w, decimals) @ V
