import numpy as np


def softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)  # subtract row max for stability
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(Q, K, V):
    # Q, K, V: (B, T, d_k)
    d_k = Q.shape[-1]
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(d_k)  # (B, T, T)
    weights = softmax(scores, axis=-1)  # (B, T, T)
    out = weights @ V  # (B, T, d_k)
    return out, weights


# Exercise 1
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    np.random.seed(seed)
    Q = np.random.randn(n_samples, d_k)
    K = np.random.randn(n_samples, d_k)
    scores = np.sum(Q * K, axis=1)  # one dot product per sample
    raw_var = scores.var()
    scaled_var = (scores / np.sqrt(d_k)).var()
    return raw_var, scaled_var


# Exercise 2
def entropy(p):
    return float(-np.sum(p * np.log(p + 1e-12)))


def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42):
    np.random.seed(seed)
    entropies = []
    for d_k in d_ks:
        q = np.random.randn(d_k)
        Kmat = np.random.randn(n_keys, d_k)
        entropies.append(entropy(softmax(Kmat @ q)))
    return entropies


# Exercise 3
def compare_rankings(d_k=256, n_keys=8, seed=42):
    np.random.seed(seed)
    q = np.random.randn(d_k)
    Kmat = np.random.randn(n_keys, d_k)
    raw_scores = Kmat @ q
    w_unscaled = softmax(raw_scores)
    w_scaled = softmax(raw_scores / np.sqrt(d_k))
    order_unscaled = np.argsort(w_unscaled)
    order_scaled = np.argsort(w_scaled)
    return order_unscaled, order_scaled


if __name__ == "__main__":
    print("variances:", measure_variance())
    print("entropies:", entropy_sweep())
    print("rankings:", compare_rankings())
