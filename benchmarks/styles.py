"""Right functions in many styles, for the measurement of false fails: a correct program never loses a point.

``STYLES`` maps a task to its right functions by name. A function of a later task gets the submission's own ``softmax``
as its first argument, since that is how learners write them; a program is one style for each task, in any combination.
All of them follow the lesson; no two of one task compute alike. Those that draw are in ``styles_drawn`` and
``styles_ranking``.
"""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.special

__all__ = ["STYLES", "TASKS", "Function", "count", "program", "right"]

Function = Callable[..., Any]

TASKS = {
    "softmax": "softmax",
    "attention": "scaled_dot_product_attention",
    "variance": "measure_variance",
    "entropy": "entropy_sweep",
    "ranking": "compare_rankings",
}
STYLES: dict[str, dict[str, Function]] = {task: {} for task in TASKS}


def count() -> int:
    """Return the number of functions of all tasks."""
    return sum(map(len, STYLES.values()))


def program(choice: Mapping[str, str]) -> dict[str, Function]:
    """Return the functions of the program that has these styles."""
    softmax = STYLES["softmax"][choice["softmax"]]
    functions = {"softmax": softmax}
    for task, name in TASKS.items():
        if task != "softmax":
            functions[name] = functools.partial(STYLES[task][choice[task]], softmax)
    return functions


def right(task: str) -> Callable[[Function], Function]:
    """Enter a function as a style of ``task``, by what its name says after the task's."""

    def add(function: Function) -> Function:
        STYLES[task][function.__name__.removeprefix(task + "_")] = function
        return function

    return add


# ---------------------------------------------------------------------- softmax


@right("softmax")
def softmax_lesson(x: Any, axis: int = -1) -> Any:
    shifted = x - x.max(axis=axis, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis=axis, keepdims=True)


@right("softmax")
def softmax_ufuncs(x: Any, axis: int = -1) -> Any:
    x = np.asarray(x)
    num = np.exp(np.subtract(x, np.amax(x, axis=axis, keepdims=True)))
    return np.divide(num, np.add.reduce(num, axis=axis, keepdims=True))


@right("softmax")
def softmax_expand_dims(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - np.expand_dims(np.max(x, axis=axis), axis))
    return e / np.expand_dims(np.sum(e, axis=axis), axis)


@right("softmax")
def softmax_along_axis(x: Any, axis: int = -1) -> Any:
    def row(v: Any) -> Any:
        e = np.exp(v - v.max())
        return e / e.sum()

    return np.apply_along_axis(row, axis, np.asarray(x, dtype=float))


@right("softmax")
def softmax_reciprocal(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - np.amax(x, axis, keepdims=True))
    return e * np.reciprocal(np.add.reduce(e, axis=axis, keepdims=True))


@right("softmax")
def softmax_longdouble(x: Any, axis: int = -1) -> Any:
    y = np.asarray(x, dtype=np.longdouble)
    y = np.exp(y - y.max(axis=axis, keepdims=True))
    return (y / y.sum(axis=axis, keepdims=True)).astype(np.float64)


@right("softmax")
def softmax_scipy(x: Any, axis: int = -1) -> Any:
    return scipy.special.softmax(x, axis=axis)


@right("softmax")
def softmax_scipy_logsumexp(x: Any, axis: int = -1) -> Any:
    return np.exp(x - scipy.special.logsumexp(x, axis=axis, keepdims=True))


@right("softmax")
def softmax_logaddexp(x: Any, axis: int = -1) -> Any:
    x = np.asarray(x, dtype=float)
    return np.exp(x - np.expand_dims(np.logaddexp.reduce(x, axis=axis), axis))


@right("softmax")
def softmax_log_first(x: Any, axis: int = -1) -> Any:
    z = x - np.max(x, axis=axis, keepdims=True)
    return np.exp(z - np.log(np.sum(np.exp(z), axis=axis, keepdims=True)))


@right("softmax")
def softmax_base_two(x: Any, axis: int = -1) -> Any:
    e = np.exp2((x - np.max(x, axis=axis, keepdims=True)) / np.log(2.0))
    return e / e.sum(axis=axis, keepdims=True)


@right("softmax")
def softmax_swapped(x: Any, axis: int = -1) -> Any:
    y = np.swapaxes(np.array(x, dtype=float), axis, -1)
    y -= y.max(-1)[..., None]
    np.exp(y, out=y)
    y /= y.sum(-1)[..., np.newaxis]
    return np.swapaxes(y, axis, -1)


@right("softmax")
def softmax_loops(x: Any, axis: int = -1) -> Any:
    moved = np.moveaxis(np.asarray(x), axis, -1)
    out = np.empty(moved.shape)
    for index in np.ndindex(moved.shape[:-1]):
        row = [float(v) for v in moved[index]]
        top = max(row)
        powers = [math.exp(v - top) for v in row]
        total = math.fsum(powers)
        out[index] = [p / total for p in powers]
    return np.moveaxis(out, -1, axis)


@right("softmax")
def softmax_streaming(x: Any, axis: int = -1) -> Any:
    moved = np.moveaxis(np.asarray(x, dtype=float), axis, 0)
    top = np.full(moved.shape[1:], -np.inf)
    total = np.zeros(moved.shape[1:])
    for part in moved:
        new = np.maximum(top, part)
        total = total * np.exp(top - new) + np.exp(part - new)
        top = new
    return np.moveaxis(np.exp(moved - top) / total, 0, axis)


@right("softmax")
def softmax_twice_normalised(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    p = e / np.sum(e, axis=axis, keepdims=True)
    return p / np.sum(p, axis=axis, keepdims=True)


@right("softmax")
def softmax_by_ratios(x: Any, axis: int = -1) -> Any:
    """1 / sum_j exp(x_j - x_i): nothing is ever subtracted from all."""
    moved = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    with np.errstate(over="ignore"):
        p = 1 / np.exp(moved[..., None, :] - moved[..., :, None]).sum(-1)
    return np.moveaxis(p, -1, axis)


@right("softmax")
def softmax_lists(x: Any, axis: int = -1) -> Any:
    return softmax_lesson(np.array(x, dtype=float), axis).tolist()


@right("softmax")
def softmax_small_epsilon(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / (e.sum(axis=axis, keepdims=True) + 1e-12)


@right("softmax")
def softmax_float32(x: Any, axis: int = -1) -> Any:
    x = np.asarray(x, dtype=np.float32)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# ---------------------------------------------------------------------- attention

Pair = namedtuple("Pair", "out weights")


@right("attention")
def attention_lesson(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    d_k = Q.shape[-1]
    weights = np.asarray(softmax(Q @ K.transpose(0, 2, 1) / np.sqrt(d_k), axis=-1))
    return weights @ V, weights


@right("attention")
def attention_swapaxes(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    logits = np.matmul(Q, np.swapaxes(K, -1, -2)) * (1.0 / np.sqrt(K.shape[-1]))
    attn = softmax(logits)
    return np.matmul(attn, V), attn


@right("attention")
def attention_einsum(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    w = softmax(np.einsum("bqd,bkd->bqk", Q, K) / Q.shape[2] ** 0.5, axis=2)
    return np.einsum("bqk,bkd->bqd", w, V), w


@right("attention")
def attention_einsum_optimised(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    w = softmax(np.einsum("btd,bsd->bts", Q, K, optimize=True) / math.sqrt(Q.shape[-1]))
    return np.matmul(w, V), w


@right("attention")
def attention_fourth_root(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    r = Q.shape[-1] ** 0.25
    weights = np.asarray(softmax((Q / r) @ (K / r).transpose(0, 2, 1)))
    return weights @ V, weights


@right("attention")
def attention_query_first(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    weights = np.asarray(softmax((Q / math.sqrt(Q.shape[-1])) @ K.transpose(0, 2, 1)))
    return [weights @ V, weights]


@right("attention")
def attention_keys_first(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    weights = np.asarray(softmax(Q @ (K * K.shape[-1] ** -0.5).transpose((0, 2, 1))))
    return Pair(weights @ V, weights)


@right("attention")
def attention_matrix_transpose(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    weights = np.asarray(softmax(Q @ K.mT / np.sqrt(K.shape[-1])))
    return Pair(out=weights @ V, weights=weights)


@right("attention")
def attention_broadcast(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    scores = (Q[:, :, None, :] * K[:, None, :, :]).sum(axis=-1) / np.sqrt(Q.shape[-1])
    weights = np.asarray(softmax(scores))
    return (weights[..., None] * V[:, None, :, :]).sum(axis=2), weights


@right("attention")
def attention_streaming(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    B, T, d = Q.shape
    m, z, acc = np.full((B, T, 1), -np.inf), np.zeros((B, T, 1)), np.zeros((B, T, V.shape[2]))
    scores = np.empty((B, T, K.shape[1]))
    for j in range(K.shape[1]):
        s = (Q * K[:, j : j + 1, :]).sum(-1, keepdims=True) / np.sqrt(d)
        scores[:, :, j : j + 1] = s
        new = np.maximum(m, s)
        keep, add = np.exp(m - new), np.exp(s - new)
        acc, z, m = acc * keep + add * V[:, j : j + 1, :], z * keep + add, new
    return acc / z, np.exp(scores - m) / z


@right("attention")
def attention_batch_loop(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    outs, ws = [], []
    for q, k, v in zip(Q, K, V, strict=True):
        w = np.asarray(softmax(np.dot(q, k.T) / np.sqrt(q.shape[-1])))
        outs.append(np.dot(w, v))
        ws.append(w)
    return np.stack(outs), np.stack(ws)


@right("attention")
def attention_row_loop(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    B, T, d = Q.shape
    out, weights = np.zeros((B, T, V.shape[-1])), np.zeros((B, T, T))
    for b in range(B):
        for i in range(T):
            weights[b, i] = softmax(K[b] @ Q[b, i] / np.sqrt(d))
            for j in range(T):
                out[b, i] += weights[b, i, j] * V[b, j]
    return out, weights


@right("attention")
def attention_pure_python(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    B, T, d = Q.shape
    weights, out = [], []
    for b in range(B):
        rows, mixed = [], []
        for i in range(T):
            s = [sum(float(x) * float(y) for x, y in zip(Q[b, i], K[b, j], strict=True)) / d**0.5 for j in range(T)]
            e = [math.exp(v - max(s)) for v in s]
            w = [v / sum(e) for v in e]
            rows.append(w)
            mixed.append([sum(w[j] * float(V[b, j, c]) for j in range(T)) for c in range(d)])
        weights.append(rows)
        out.append(mixed)
    return np.array(out), np.array(weights)


@right("attention")
def attention_lists(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    out, weights = attention_lesson(softmax, Q, K, V)
    return out.tolist(), weights.tolist()


@right("attention")
def attention_longdouble(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    q, k, v = (a.astype(np.longdouble) for a in (Q, K, V))
    s = np.einsum("bid,bjd->bij", q, k) / np.sqrt(np.longdouble(q.shape[-1]))
    w = softmax_lesson(s)
    return np.einsum("bij,bjd->bid", w, v).astype(float), w.astype(float)


@right("attention")
def attention_logsumexp(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    s = np.inner(Q, K).transpose(0, 2, 1, 3)[np.arange(len(Q)), np.arange(len(Q))] / np.sqrt(Q.shape[-1])
    w = np.exp(s - scipy.special.logsumexp(s, axis=-1, keepdims=True))
    return w @ V, w


@right("attention")
def attention_unnormalised(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    """The output divides last, as blocked kernels do."""
    s = np.matmul(Q, K.transpose(0, 2, 1)) / np.sqrt(Q.shape[-1])
    e = np.exp(s - s.max(-1, keepdims=True))
    total = e.sum(-1, keepdims=True)
    return (e @ V) / total, e / total


@right("attention")
def attention_float32(softmax: Function, Q: Any, K: Any, V: Any) -> Any:
    Q, K, V = (np.asarray(a, dtype=np.float32) for a in (Q, K, V))
    w = np.asarray(softmax(Q @ K.transpose(0, 2, 1) / np.float32(np.sqrt(Q.shape[-1]))))
    return w @ V, w
