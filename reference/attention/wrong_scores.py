"""Wrong references for the weights of attention: other scores, masks, another batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .book import BOOK, Answers, Array, dots, shares, softmax, total, wide
from .wrong_scales import with_wrong_scales

__all__: list[str] = []


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
