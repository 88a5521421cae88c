"""Wrong references for the weights of attention: other scores, another softmax, another batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .book import BOOK, Answers, Array, dots, shares, softmax, total, wide
from .wrong_scales import with_wrong_scales

__all__: list[str] = []

SMALL = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)


def _scaled(Q: Array, K: Array) -> Array:
    return dots(Q, K) / wide(Q)


def _reshaped(Q: Array, K: Array) -> Array:
    B, T, d = K.shape
    return np.asarray(Q @ K.reshape(B, d, T))


def _masks(T: int) -> tuple[Array, ...]:
    """The triangles that a mask may keep."""
    return np.tril(np.ones((T, T))), np.triu(np.ones((T, T)))


# ---------------------------------------------------------------------- scores


@BOOK.add("roles_swapped", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """A dot product is symmetric, so K may come first."""
    yield softmax(_scaled(K, Q))
    yield softmax(dots(K, Q))


@BOOK.add("one_input_twice", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Positions of one sequence are compared with each other."""
    for X in (Q, K):
        yield softmax(_scaled(X, X))
        yield softmax(dots(X, X))


@BOOK.add("reshape_for_transpose", "attention/weights", catalogue="")
def _(Q: Array, K: Array) -> Array:
    """A reshape to the right shape is a transpose."""
    return softmax(_reshaped(Q, K) / wide(Q))


@BOOK.add("reshape_and_scale", "attention/weights", catalogue="D03", many=True)
def _(Q: Array, K: Array) -> Answers:
    """A reshape to the right shape is a transpose, and the scale is another one too."""
    for scores in with_wrong_scales(Q, _reshaped(Q, K)):
        yield softmax(scores)


@BOOK.add("size_of_scores", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """A strong match is a large number, whatever its sign."""
    s = _scaled(Q, K)
    yield softmax(np.abs(s))
    yield softmax(s**2)
    yield softmax(dots(Q, K) ** 2 / wide(Q))
    yield softmax(np.abs(dots(Q, K)))


@BOOK.add("positive_matches", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """A negative score means no match at all."""
    s = np.maximum(_scaled(Q, K), 0)
    yield softmax(s)
    yield softmax(np.maximum(dots(Q, K), 0))
    yield shares(s)
    yield s
    for epsilon in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12):
        yield s / (total(s) + epsilon)


@BOOK.add("sign_of_scores", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Near vectors have a small score."""
    yield softmax(-_scaled(Q, K))
    yield softmax(-dots(Q, K))


@BOOK.add("cosine", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Similarity is the angle between two vectors."""
    sizes = np.sqrt(total(Q**2)), np.sqrt(total(K**2))
    both = dots(Q / sizes[0], K / sizes[1])
    for s in (both, dots(Q / sizes[0], K), dots(Q, K / sizes[1])):
        yield softmax(s)
        yield softmax(s / wide(Q))
        yield softmax(s * wide(Q))
    yield both


@BOOK.add("distances", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """Near vectors belong together."""
    squares = total(Q**2) + np.swapaxes(total(K**2), -1, -2) - 2 * dots(Q, K)
    for distance in (np.sqrt(np.maximum(squares, 0)), squares, squares / 2):
        for scale in (1, wide(Q), Q.shape[-1]):
            yield softmax(-distance / scale)
            yield softmax(distance / scale)


@BOOK.add("tanh_matches", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """A score is squashed before it is used."""
    for s in (_scaled(Q, K), dots(Q, K)):
        yield softmax(np.tanh(s))
        yield softmax(1 / (1 + np.exp(-s)))
        yield np.tanh(s)
    yield softmax(np.tanh(dots(Q, K)) / wide(Q))


# ---------------------------------------------------------------------- softmax


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


# ---------------------------------------------------------------------- masks


@BOOK.add("mask_before", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """A position may look only at what came before it."""
    for scores in (_scaled(Q, K), *with_wrong_scales(Q, dots(Q, K))):
        for kept in _masks(Q.shape[1]):
            yield softmax(np.where(kept == 1, scores, -np.inf))


@BOOK.add("mask_after", "attention/weights", catalogue="A40", many=True)
def _(Q: Array, K: Array) -> Answers:
    """To mask is to set weights to 0."""
    for scores in (_scaled(Q, K), *with_wrong_scales(Q, dots(Q, K))):
        for kept in _masks(Q.shape[1]):
            yield softmax(scores) * kept


@BOOK.add("mask_with_zero", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """A score of 0 means no attention."""
    for kept in _masks(Q.shape[1]):
        yield softmax(_scaled(Q, K) * kept)
        yield softmax(dots(Q, K) * kept)


@BOOK.add("self_masked", "attention/weights", catalogue="A39", many=True)
def _(Q: Array, K: Array) -> Answers:
    """A position doesn't look at itself."""
    eye = np.eye(Q.shape[1]) == 1
    for s in (_scaled(Q, K), dots(Q, K)):
        yield softmax(np.where(eye, -np.inf, s))
        yield softmax(np.where(eye, -1e9, s))
        yield np.where(eye, 0, softmax(s))
        yield shares(np.where(eye, 0, softmax(s)))
        yield softmax(np.where(eye, 0, s))


# ---------------------------------------------------------------------- batches


@BOOK.add("rest_empty", "attention/weights", catalogue="A24", many=True)
def _(Q: Array, K: Array) -> Answers:
    """One round of the loop is enough."""
    w = softmax(_scaled(Q, K))
    for at in (0, -1):
        lone = np.zeros(w.shape)
        lone[at] = w[at]
        yield lone


@BOOK.add("one_repeated", "attention/weights", catalogue="", many=True)
def _(Q: Array, K: Array) -> Answers:
    """All sequences of a batch have the same weights."""
    s = _scaled(Q, K)
    w = softmax(s)
    for part in (w[0], w[-1], w.mean(0), softmax(s.mean(0)), softmax(s.sum(0))):
        yield np.broadcast_to(part, w.shape)


@BOOK.add("weights_cached", "attention/weights", catalogue="A35", many=True, fresh=True)
def _() -> Callable[[Array, Array], Answers]:
    """The same shapes have the same answer."""
    caches: tuple[dict[object, Array], ...] = ({}, {}, {})

    def remembers(Q: Array, K: Array) -> Answers:
        for key, cache in zip((Q.shape, Q.shape[1], Q.shape[:2]), caches, strict=True):
            yield cache.setdefault(key, softmax(_scaled(Q, K)))

    return remembers
