"""A right answer, in the lesson's own words: it reproduces every figure that the lesson prints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def softmax(x: FloatArray, axis: int = -1) -> FloatArray:
    """Return the numerically stable softmax of ``x`` along ``axis``; the shape stays."""
    shifted = x - x.max(axis=axis, keepdims=True)
    e = np.exp(shifted)
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


def scaled_dot_product_attention(Q: FloatArray, K: FloatArray, V: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``(out, weights)`` of shapes (B, T, d_k) and (B, T, T), for Q, K and V of shape (B, T, d_k)."""
    d_k = Q.shape[-1]
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(d_k)
    weights = softmax(scores, axis=-1)
    return weights @ V, weights


def measure_variance(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> tuple[float, float]:
    """Return ``(raw_var, scaled_var)`` of n_samples scores, each a dot product of two random vectors of length d_k."""
    np.random.seed(seed)
    Q = np.random.randn(n_samples, d_k)
    K = np.random.randn(n_samples, d_k)
    scores = np.sum(Q * K, axis=1)
    return float(scores.var()), float((scores / np.sqrt(d_k)).var())


def entropy(p: FloatArray) -> float:
    """Return the entropy of a distribution in nats, as the lesson computes it."""
    return float(-np.sum(p * np.log(p + 1e-12)))


def entropy_sweep(d_ks: Sequence[int] = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> list[float]:
    """Return, for each width, the entropy of the softmax of one query's unscaled scores against n_keys keys."""
    np.random.seed(seed)
    entropies = []
    for d_k in d_ks:
        q = np.random.randn(d_k)
        Kmat = np.random.randn(n_keys, d_k)
        entropies.append(entropy(softmax(Kmat @ q)))
    return entropies


def compare_rankings(
    d_k: int = 256, n_keys: int = 8, seed: int = 42
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return ``(order_unscaled, order_scaled)``: argsort of the weights without and with the scale."""
    np.random.seed(seed)
    q = np.random.randn(d_k)
    Kmat = np.random.randn(n_keys, d_k)
    raw_scores = Kmat @ q
    w_unscaled = softmax(raw_scores)
    w_scaled = softmax(raw_scores / np.sqrt(d_k))
    return np.argsort(w_unscaled), np.argsort(w_scaled)
