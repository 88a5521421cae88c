"""Right answers in extended precision, and how far honest rounding may carry another right program from them.

Error model, with u half the spacing of the answer's numbers at 1. In softmax, rounding x - max costs |x_i - max| u
relative in p_i, exp a few u, the sum log2(n) u, the quotient u; forms through log-sum-exp add |max x| u. In attention a
score of terms q_i k_i carries about sqrt(d_k) u A with A = |q| . |k| / sqrt(d_k), and an absolute error of a score is
a relative error of its weight. The factor 4 keeps every right program that was measured below a quarter of it.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from grader.api import Expected

__all__ = ["FACTOR", "WIDE", "attention", "entropy", "softmax", "weighted"]

Wide = npt.NDArray[np.longdouble]
Doubles = npt.NDArray[np.float64]

WIDE = cast(
    "type[np.longdouble]",
    np.longdouble if np.finfo(np.longdouble).eps < np.finfo(np.float64).eps else np.float64,
)
"""Extended precision where the machine has it; where it hasn't, the factor's headroom covers our own rounding."""

FACTOR = 4.0
FLOOR = 1e-9
"""Weights that were kept from being exactly 0, by 1e-12 or so, are right."""

_MAX_SPREAD = 800.0
"""Further below the largest score a weight is zero in double precision."""


def _softmax(x: Wide, axis: int) -> Wide:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


def softmax(x: npt.ArrayLike, axis: int = -1) -> Expected:
    """Return the softmax of ``x`` along ``axis`` with its tolerance."""
    wide: Wide = _wide(x)
    w = _softmax(wide, axis)
    top = wide.max(axis=axis, keepdims=True)
    spread = np.minimum(top - wide, _MAX_SPREAD)
    mean_spread = (w * spread).sum(axis=axis, keepdims=True)
    units = FACTOR * (spread + mean_spread + np.abs(top) + np.log2(wide.shape[axis] + 1) + 8)
    return Expected(value=w, units=_doubles(units, w.shape), scale=_doubles(w, w.shape), weights=True, floor=FLOOR)


def attention(Q: npt.ArrayLike, K: npt.ArrayLike, V: npt.ArrayLike) -> tuple[Expected, Expected]:
    """Return ``(out, weights)`` for Q, K and V of shape (B, T, d_k), with their tolerances."""
    q, k, v = (_wide(a) for a in (Q, K, V))
    d, T = q.shape[-1], k.shape[-2]
    root = np.sqrt(WIDE(d))
    scores = np.einsum("bid,bjd->bij", q, k) / root
    w = _softmax(scores, -1)
    size = np.einsum("bid,bjd->bij", _size(q), _size(k)) / root
    delta = (root + 4) * size
    spread = np.minimum(scores.max(-1, keepdims=True) - scores, _MAX_SPREAD)
    largest = np.abs(scores).max(-1, keepdims=True)
    units = FACTOR * (delta + delta.max(-1, keepdims=True) + spread + largest + np.log2(T + 1) + 8)
    weights = Expected(value=w, units=_doubles(units, w.shape), scale=_doubles(w, w.shape), weights=True, floor=FLOOR)
    return weighted(w, units, v), weights


def weighted(w: npt.ArrayLike, units: npt.ArrayLike, v: npt.ArrayLike) -> Expected:
    """Return ``w @ v``; errors are relative to ``w @ |v|``, since terms may cancel.

    Args:
        w: Weights of shape (B, T, T), no negative ones.
        units: Their rounding errors in units of u, relative to themselves.
        v: Values of shape (B, T, d_k).
    """
    wide, values = _wide(w), _wide(v)
    out = np.einsum("bij,bjd->bid", wide, values)
    scale = np.einsum("bij,bjd->bid", _size(wide), _size(values))
    carried = np.einsum("bij,bjd->bid", np.asarray(_size(wide) * np.asarray(units)), _size(values))
    with np.errstate(invalid="ignore"):
        relative = np.where(scale > 0, carried / np.where(scale > 0, scale, 1), 0)
    total = relative + FACTOR * (np.log2(wide.shape[-1] + 1) + 4)
    return Expected(value=out, units=_doubles(total, out.shape), scale=_doubles(scale, out.shape))


def entropy(scores: npt.ArrayLike) -> Doubles:
    """Return the entropy, in nats, of the softmax of ``scores`` along the last axis.

    Double precision is enough: -sum w log w is log(total) + sum e (max - x) / total with e = exp(x - max), two terms
    that are never negative; and total is 1 and a rest, so that its logarithm is precise where the entropy is near 0.
    """
    x = np.asarray(scores, dtype=np.float64)
    below = x.max(axis=-1, keepdims=True) - x
    e = np.exp(-below)
    others = e.copy()
    np.put_along_axis(others, np.argmax(x, axis=-1, keepdims=True), 0.0, axis=-1)
    rest = others.sum(axis=-1)
    return np.asarray(np.log1p(rest) + (e * below).sum(axis=-1) / (1 + rest))


def _wide(x: npt.ArrayLike) -> Wide:
    return np.asarray(x).astype(WIDE)


def _size(x: Wide) -> Wide:
    return np.asarray(np.abs(x))


def _doubles(array: npt.ArrayLike, shape: tuple[int, ...]) -> Doubles:
    return np.broadcast_to(np.asarray(array, dtype=np.float64), shape)
