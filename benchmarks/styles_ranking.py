"""Right answers to exercise 3, which draw, in many styles: see ``styles``."""

# ruff: noqa: NPY002 - the lesson draws with NumPy's old functions, and so do these

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import scipy.stats

from benchmarks.styles import STYLES, Function, right
from benchmarks.styles_drawn import box_muller

__all__ = ["Orders"]

softmax_lesson, softmax_float32 = STYLES["softmax"]["lesson"], STYLES["softmax"]["float32"]
attention_lesson = STYLES["attention"]["lesson"]

Orders = namedtuple("Orders", "unscaled scaled")


@right("ranking")
def ranking_lesson(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    np.random.seed(seed)
    q = np.random.randn(d_k)
    Kmat = np.random.randn(n_keys, d_k)
    raw = Kmat @ q
    return np.argsort(softmax_lesson(raw)), np.argsort(softmax_lesson(raw / np.sqrt(d_k)))


def _scores(d_k: int, n_keys: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    q, keys = rng.standard_normal(d_k), rng.standard_normal((n_keys, d_k))
    return keys.dot(q)


@right("ranking")
def ranking_generator(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    s = _scores(d_k, n_keys, seed)
    return softmax_lesson(s).argsort(), softmax_lesson(s / d_k**0.5).argsort()


@right("ranking")
def ranking_own_softmax(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    s = _scores(d_k, n_keys, seed)
    return Orders(np.argsort(softmax(s)), np.argsort(softmax(s / np.sqrt(d_k))))


@right("ranking")
def ranking_keys_first(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    rs = np.random.RandomState(seed)
    K, q = rs.randn(n_keys, d_k), rs.randn(d_k)
    s = K.dot(q)
    return [np.argsort(softmax_lesson(s)), np.argsort(softmax_lesson(s / np.sqrt(d_k)))]


@right("ranking")
def ranking_descending(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    s = _scores(d_k, n_keys, seed)
    a, b = (np.argsort(softmax_lesson(x))[::-1].tolist() for x in (s, s / np.sqrt(d_k)))
    return a, b


@right("ranking")
def ranking_negated(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    s = _scores(d_k, n_keys, seed)
    return np.argsort(-softmax_lesson(s)), np.argsort(-softmax_lesson(s / np.sqrt(d_k)))


@right("ranking")
def ranking_sorted(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    s = _scores(d_k, n_keys, seed)
    a, b = softmax_lesson(s), softmax_lesson(s / np.sqrt(d_k))
    return sorted(range(n_keys), key=lambda i: a[i]), sorted(range(n_keys), key=b.__getitem__)


@right("ranking")
def ranking_ranks(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    s = _scores(d_k, n_keys, seed)
    return tuple(np.argsort(np.argsort(softmax_lesson(x))) for x in (s, s / np.sqrt(d_k)))


@right("ranking")
def ranking_rankdata(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    np.random.seed(seed)
    q, K = np.random.normal(size=d_k), np.random.normal(size=(n_keys, d_k))
    s = K @ q
    return tuple(scipy.stats.rankdata(softmax_lesson(x)).astype(int) - 1 for x in (s, s / np.sqrt(d_k)))


@right("ranking")
def ranking_scores(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    s = _scores(d_k, n_keys, seed)
    return np.argsort(s), np.argsort(s / np.sqrt(d_k))


@right("ranking")
def ranking_stacked(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    s = _scores(d_k, n_keys, seed)
    return np.argsort(softmax_lesson(np.stack([s, s / np.sqrt(d_k)])), axis=-1, kind="stable")


@right("ranking")
def ranking_same_twice(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    order = np.argsort(softmax_lesson(_scores(d_k, n_keys, seed)))
    return order, order


@right("ranking")
def ranking_divided_by_width(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    s = _scores(d_k, n_keys, seed)
    return np.argsort(softmax_lesson(s)), np.argsort(softmax_lesson(s / d_k))


@right("ranking")
def ranking_columns(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    rng = np.random.default_rng(seed)
    s = rng.normal(size=(1, d_k)) @ rng.normal(size=(d_k, n_keys))
    return np.argsort(softmax_lesson(s), axis=-1)[0], np.argsort(softmax_lesson(s / np.sqrt(d_k)), axis=-1)[0]


@right("ranking")
def ranking_own_attention(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    r = np.random.RandomState(seed)
    q, K = r.randn(1, 1, d_k), r.randn(1, n_keys, d_k)
    _, scaled = attention_lesson(softmax_lesson, q, K, np.zeros((1, n_keys, 1)))
    return np.argsort(softmax_lesson(q @ K.transpose(0, 2, 1))[0, 0]), np.argsort(scaled[0, 0])


@right("ranking")
def ranking_one_draw(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    x = np.random.default_rng(seed).standard_normal((n_keys + 1, d_k))
    s = x[1:] @ x[0]
    return np.lexsort((softmax_lesson(s),)), np.lexsort((softmax_lesson(s / np.sqrt(d_k)),))


@right("ranking")
def ranking_float32(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    s = _scores(d_k, n_keys, seed)
    return np.argsort(softmax_float32(s)), np.argsort(softmax_float32(s / np.sqrt(d_k)))


@right("ranking")
def ranking_unseeded(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    q = np.random.randn(d_k)
    s = np.random.randn(n_keys, d_k) @ q
    return np.argsort(softmax_lesson(s)), np.argsort(softmax_lesson(s / np.sqrt(d_k)))


@right("ranking")
def ranking_box_muller(softmax: Function, d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    rng = np.random.default_rng(seed)
    s = box_muller(rng, n_keys, d_k) @ box_muller(rng, d_k)
    return np.argsort(softmax_lesson(s)), np.argsort(softmax_lesson(s / np.sqrt(d_k)))
