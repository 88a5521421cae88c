import numpy as np


def softmax(x, axis=-1):
    biggest = np.max(x, axis=axis, keepdims=True)
    powers = np.exp(x - biggest)  # without the max it overflows
    return powers / np.sum(powers, axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    # every query with every key
    scores = Q @ K.transpose(0, 2, 1)
    # every row a distribution
    weights = softmax(scores)
    # average of the values
    out = weights @ V
    return out, weights


# Exercise 1
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((n_samples, d_k))
    k = rng.standard_normal((n_samples, d_k))
    dots = (q * k).sum(axis=1)
    return dots.var(), (dots / np.sqrt(d_k)).var()


# Exercise 2
def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42):
    rng = np.random.default_rng(seed)
    entropies = []
    for d_k in d_ks:
        q = rng.standard_normal(d_k)
        keys = rng.standard_normal((n_keys, d_k))
        p = softmax(keys @ q)
        entropies.append(-np.sum(p * np.log(p + 1e-12)))
    return entropies


# Exercise 3
def compare_rankings(d_k=256, n_keys=8, seed=42):
    rng = np.random.default_rng(seed)
    q = rng.standard_normal(d_k)
    keys = rng.standard_normal((n_keys, d_k))
    scores = keys @ q
    unscaled = softmax(scores)
    scaled = softmax(scores / np.sqrt(d_k))
    return np.argsort(unscaled), np.argsort(scaled)


if __name__ == "__main__":
    rng = np.random.default_rng(42)
    Q, K, V = rng.standard_normal((3, 1, 6, 16))
    out, weights = scaled_dot_product_attention(Q, K, V)
    print(out.shape, weights.shape)
    print("row sums:", weights.sum(axis=-1))  # all 1, so it should be right
    print(measure_variance())
    print(entropy_sweep())
    print(compare_rankings())
