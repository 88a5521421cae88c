"""A right answer: attention in which no position looks ahead."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating]


def causal_attention(Q: Array, K: Array, V: Array) -> tuple[Array, Array]:
    """Return ``(out, weights)`` of shapes (B, T, d_k) and (B, T, T), for Q, K and V of shape (B, T, d_k)."""
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    scores = np.where(np.tri(Q.shape[1], dtype=bool), scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights
