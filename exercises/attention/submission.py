"""Scaled dot-product attention: five functions to write.

Put your code in place of each `...`. Graded is what the functions return; run `grade submission.py` as often
as you like. You may add imports, constants and functions of your own.
"""

import numpy as np


# The numerically stable softmax: subtract the row's largest score, exponentiate, normalize.
def softmax(x, axis=-1):
    """Return the softmax of x along axis.

    x: scores of any shape, such as (B, T, T)
    returns: an array of the shape of x; along axis it is non-negative and adds up to 1
    """
    return ...  # Your code here


# The lesson's four steps: score, scale, normalize, average.
def scaled_dot_product_attention(Q, K, V):
    """Return (out, weights).

    Q, K, V: (B, T, d_k)
    out: (B, T, d_k), the weighted averages of the values
    weights: (B, T, T), each row a distribution over the key positions
    """
    return ...  # Your code here, ending in: return out, weights


# Exercise 1: measure the variance at d_k = 1024.
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    """Return (raw_var, scaled_var), measured from n_samples random query-key pairs.

    raw_var: the variance of the dot products
    scaled_var: the variance of the dot products divided by sqrt(d_k)
    """
    np.random.seed(seed)
    raw_var = ...  # Your code here: Experiment 1 of the lesson, for one d_k
    scaled_var = ...
    return raw_var, scaled_var


# Exercise 2: sweep the softmax entropy across d_k.
def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42):
    """Return one entropy for each d_k, in the order of d_ks.

    For each d_k: one random query against n_keys random keys, the softmax of the unscaled scores, its entropy
    (with the natural logarithm, as in the lesson).
    """
    np.random.seed(seed)
    entropies = ...  # Your code here: loop over d_ks, build q and Kmat, softmax(Kmat @ q), collect the entropies
    return entropies


# Exercise 3: confirm that scaling does not change the ranking.
def compare_rankings(d_k=256, n_keys=8, seed=42):
    """Return (order_unscaled, order_scaled): argsort of the unscaled and of the scaled softmax weights.

    Both are of the same query and the same n_keys keys.
    """
    np.random.seed(seed)
    order_unscaled = ...  # Your code here: argsort of w_unscaled
    order_scaled = ...  # and of w_scaled
    return order_unscaled, order_scaled


# Not graded: `python submission.py` shows you your own numbers.
if __name__ == "__main__":
    print("softmax:", softmax(np.array([1.0, 2.0, 3.0])))  # adds up to 1

    rng = np.random.default_rng(42)
    Q = rng.standard_normal((1, 6, 16))
    K = rng.standard_normal((1, 6, 16))
    V = rng.standard_normal((1, 6, 16))
    attention = scaled_dot_product_attention(Q, K, V)
    if attention is not ...:
        out, weights = attention
        print("out:", out.shape, " weights:", weights.shape)
        print(np.round(weights[0], 3))  # the lesson's first row: 0.057 0.41 0.13 0.21 0.104 0.09

    print("exercise 1:", measure_variance())  # takes about 0.4 s and 0.3 GB
    print("exercise 2:", entropy_sweep())
    print("exercise 3:", compare_rankings())
