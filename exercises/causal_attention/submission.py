"""Causal attention: one function to write.

Put your code in place of the `...`. Graded is what the function returns; run
`grade submission.py --assignment causal_attention` as often as you like. You may add imports, constants and
functions of your own.
"""

import numpy as np


# Four steps: score, scale, mask, softmax. Then average the values.
def causal_attention(Q, K, V):
    """Return (out, weights); position i looks at positions 0 to i and at none that comes later.

    Q, K, V: (B, T, d_k)
    out: (B, T, d_k), the weighted averages of the values
    weights: (B, T, T), row i a distribution over positions 0 to i, and 0 above the diagonal
    """
    return ...  # Your code here, ending in: return out, weights


# Not graded: `python submission.py` shows you your own numbers.
if __name__ == "__main__":
    rng = np.random.default_rng(42)
    Q = rng.standard_normal((1, 4, 5))
    K = rng.standard_normal((1, 4, 5))
    V = rng.standard_normal((1, 4, 5))
    attention = causal_attention(Q, K, V)
    if attention is ...:
        print("causal_attention:", attention)
    else:
        out, weights = attention
        print("out:", out.shape, " weights:", weights.shape)
        print(np.round(weights[0], 3))  # rows 0 and 1 should be 1 0 0 0 and 0.511 0.489 0 0
