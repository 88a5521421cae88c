"""Do the recorded draws explain a value? In any order, by any generator, in any documented form.

With many recorded pairs some pair explains anything, so the number of candidates is bounded, and each search says how
many it tried: a caller compares it with the chance of a coincidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from grader.api import Drawn, Seen, looks_normal

from . import oracle

__all__ = [
    "MAX_PAIRS",
    "Record",
    "block_variances",
    "entropies",
    "exact_pairs",
    "normal_arrays",
    "odd_pairs",
    "only_pair",
    "orders",
    "query_key_pairs",
    "recorded",
    "score_sets",
    "shuffled",
    "trustworthy",
    "variances",
]

Doubles = npt.NDArray[np.float64]

MAX_PAIRS = 256
MAX_ARRAYS = 4_096
MAX_CELLS = 4_000_000
MAX_TABLE = 1_000_000
"""Of all pairs of a query and a key, no more than these: at n = 1,000 the exact cases fit."""

MAX_STANDARDISED = 20_000
"""Numbers of the queries: the exact cases fit."""

NEAR_TIE = 2.0**-22
"""Scores that differ by less, relative to the sum of the sizes of their terms, single precision may order either way:
rounding costs it a few times 2**-24. Two of eight scores are as near as that once in 10^5 calls."""

MIN_DIFFERENT = 50
MAX_TIMES = 16
"""A record that only looks normal when repeated numbers count once has this many different ones, and none more often:
honest ones repeat a number once a width, made-up ones could repeat what suits them."""


class Record(tuple[Drawn, ...]):
    """What was drawn in one call: as the plain draws, but what is asked of them again and again is worked out once."""

    @classmethod
    def of(cls, drawn: Sequence[Drawn] | None) -> Record:
        """Return a record as it is, and other draws as one; that of none is empty."""
        return drawn if isinstance(drawn, Record) else cls(drawn or ())

    @cached_property
    def normal(self) -> tuple[Drawn, ...]:
        """The draws from N(0, 1)."""
        return tuple(item for item in self if item.standard_normal)

    @cached_property
    def flat(self) -> Doubles:
        """The numbers drawn from N(0, 1), in order, whatever they were drawn as."""
        numbers = [item.values.ravel() for item in self.normal]
        return numbers[0] if len(numbers) == 1 else np.concatenate(numbers) if numbers else np.empty(0)

    @cached_property
    def trusted(self) -> bool:
        """See ``trustworthy``."""
        if not self.normal:
            return False
        if looks_normal(self.flat):
            return True
        once, times = np.unique(self.flat, return_counts=True)
        return once.size >= MIN_DIFFERENT and int(times.max()) <= MAX_TIMES and looks_normal(once)

    @cached_property
    def arrays(self) -> list[Doubles]:
        """See ``normal_arrays``."""
        arrays: list[Doubles] = []
        for item in self.normal:
            if item.values.size:
                arrays += list(_squeezed(item)[: MAX_ARRAYS - len(arrays)])
                if len(arrays) == MAX_ARRAYS:
                    break
        return arrays

    @cached_property
    def by_shape(self) -> Mapping[tuple[int, ...], Sequence[Doubles]]:
        """The same arrays, in order, by their shape."""
        found: defaultdict[tuple[int, ...], list[Doubles]] = defaultdict(list)
        for array in self.arrays:
            found[array.shape].append(array)
        return found


def recorded(seen: Seen) -> Record | None:
    """Return what was drawn in a call; None if it isn't known."""
    return seen.once("record", lambda: None if seen.drawn is None else Record(seen.drawn))


def trustworthy(drawn: Sequence[Drawn] | None) -> bool:
    """Whether there is a record with standard normal draws in it that look like ones.

    Who seeds anew at each width draws the same numbers again and again: they are no new evidence, and count once.
    """
    return Record.of(drawn).trusted


def normal_arrays(drawn: Sequence[Drawn] | None) -> list[Doubles]:
    """Return every array drawn from N(0, 1), in order, with its axes of length 1 taken out."""
    return Record.of(drawn).arrays


def _squeezed(item: Drawn) -> Doubles:
    """Return the draws of a run with the axes of length 1 taken out, which all of them have."""
    return item.values.reshape(len(item.values), *(length for length in item.shape if length != 1))


# ---------------------------------------------------------------------- exercise 1


def score_sets(drawn: Sequence[Drawn] | None, d: int) -> Iterator[tuple[str, Doubles, Doubles]]:
    """Yield ``(how, Q, K)`` of shape (m, d): the ways to read the draws as m query-key pairs."""
    record = Record.of(drawn)
    items = [item for item in record.normal if item.values.size]
    if not items:
        return
    flat = record.flat
    blocks = [part for item in items for part in item.values][: 2 * MAX_ARRAYS]
    rows = [np.reshape(part, (-1, d)) for part in blocks if part.ndim and part.shape[-1] == d]
    if rows and len(rows) % 2 == 0:
        neighbours = all(a.shape == b.shape for a, b in zip(rows[::2], rows[1::2], strict=True))
        if neighbours:
            yield "alternating", np.concatenate(rows[::2]), np.concatenate(rows[1::2])
    half = len(rows) // 2
    if rows and len(rows) % 2 == 0 and len(rows) > 2:
        first, second = np.concatenate(rows[:half]), np.concatenate(rows[half:])
        if first.shape == second.shape:
            yield "one after the other", first, second
    if len(rows) == 4 and len({part.shape for part in rows}) == 1:
        # The scaled variance may be measured from vectors of its own.
        yield "first pair", rows[0], rows[1]
        yield "second pair", rows[2], rows[3]
    if len(blocks) == 2 and blocks[0].ndim == 2 and blocks[0].shape[0] == d and blocks[0].shape == blocks[1].shape:
        yield "columns", blocks[0].T, blocks[1].T
    for part in blocks if len(blocks) == 1 else ():
        if part.ndim == 2 and part.shape[1] == 2 * d:
            yield "side by side", part[:, :d], part[:, d:]
    if flat.size % (2 * d) == 0 and flat.size:
        m = flat.size // (2 * d)
        yield "halves", flat[: m * d].reshape(m, d), flat[m * d :].reshape(m, d)
        pairs = flat.reshape(m, 2, d)
        yield "row by row", pairs[:, 0], pairs[:, 1]
        if len(blocks) == 1 and blocks[0].shape[0] == d:
            whole = flat.reshape(d, -1)
            yield "split columns", whole[:, :m].T, whole[:, m:].T
        elements = flat.reshape(m, d, 2)
        yield "number by number", elements[:, :, 0], elements[:, :, 1]


def block_variances(drawn: Sequence[Drawn] | None, d: int) -> Iterator[tuple[str, float]]:
    """Yield ``(form, variance)`` where the variance was taken block by block and averaged."""
    items = [item for item in Record.of(drawn).normal if item.values.size]
    blocks = [part for item in items for part in item.values][:MAX_ARRAYS]
    pairs = list(zip(blocks[::2], blocks[1::2], strict=False))
    if len(pairs) < 2 or not all(q.ndim == 2 and q.shape == k.shape and q.shape[1] == d for q, k in pairs):
        return
    scores = [np.einsum("ij,ij->i", q, k) for q, k in pairs]
    yield "blocks", float(np.mean([s.var() for s in scores]))
    if all(s.size > 1 for s in scores):
        yield "sample blocks", float(np.mean([s.var(ddof=1) for s in scores]))


def variances(Q: Doubles, K: Doubles, n: int) -> Iterator[tuple[str, float]]:
    """Yield ``(form, variance)``: the documented ways to measure the variance of the pairs' scores."""
    scores = np.einsum("ij,ij->i", Q, K)
    yield "population", float(scores.var())
    if scores.size > 1:
        yield "sample", float(scores.var(ddof=1))
    yield "uncentred", float((scores**2).mean())
    repeats = scores.size // n
    if repeats > 1 and scores.size == repeats * n:
        yield "repeats", float(scores.reshape(repeats, n).var(axis=1).mean())
        yield "sample repeats", float(scores.reshape(repeats, n).var(axis=1, ddof=1).mean()) if n > 1 else 0.0
    if scores.size**2 <= MAX_TABLE:
        # Of all scores q.k, without the table: their mean square is the sum of (Q'Q) * (K'K).
        square = float(((Q.T @ Q) * (K.T @ K)).sum()) / scores.size**2
        population = square - float(Q.mean(axis=0) @ K.mean(axis=0)) ** 2
        yield "table", population
        yield "sample table", population * scores.size**2 / (scores.size**2 - 1) if scores.size > 1 else 0.0
        yield "uncentred table", square
    if scores.size > 1 and Q.size <= MAX_STANDARDISED:
        # Entries that were brought to exactly the mean 0 and the variance 1, all together or column by column.
        for axis in (None, 0):
            standard = np.einsum("ij,ij->i", _standardised(Q, axis), _standardised(K, axis))
            yield "standardised", float(standard.var())
            yield "sample standardised", float(standard.var(ddof=1))


def _standardised(x: Doubles, axis: int | None) -> Doubles:
    spread = x.std(axis=axis, keepdims=True)
    return np.asarray((x - x.mean(axis=axis, keepdims=True)) / np.where(spread > 0, spread, 1.0))


# ---------------------------------------------------------------------- exercises 2 and 3


def query_key_pairs(drawn: Sequence[Drawn] | None, d: int, n: int, skip: int = 0) -> list[tuple[Doubles, Doubles]]:
    """Return pairs ``(q, K)`` of shapes (d,) and (n, d) that the draws may be read as; at most MAX_PAIRS.

    Exact shapes come first and in the order of drawing, then keys as columns, query and keys in one array, slices of
    wider draws, and last the bare stream of numbers, ``skip`` of which belong to what was drawn before.
    """
    record = Record.of(drawn)
    arrays, shaped = record.arrays, record.by_shape
    exact_q = [*shaped.get((d,), ())] or ([np.reshape(a, (1,)) for a in shaped.get((), ())] if d == 1 else [])
    exact_k = [*shaped.get((n, d), ()), *(a.T for a in shaped.get((d, n), ()))]
    if 1 in (n, d) and n * d > 1:
        exact_k += [a.reshape(n, d) for a in shaped.get((n * d,), ())]
    pairs: list[tuple[Doubles, Doubles]] = []
    if exact_q and len(exact_q) == len(exact_k):
        # A query and its keys are drawn together: neighbours first, whatever number of repeats.
        pairs += list(zip(exact_q, exact_k, strict=True))
    pairs += [(q, k) for q in exact_q[:16] for k in exact_k[:16]]
    if not exact_k:
        pairs += _drawn_singly(exact_q, n)
    for a in arrays[:64]:
        if a.shape == (n + 1, d):
            pairs += [(a[0], a[1:]), (a[-1], a[:-1])]
        if a.shape == (d, n + 1):
            pairs += [(a[:, 0], a[:, 1:].T), (a[:, -1], a[:, :-1].T)]
        if a.ndim == 3 and a.shape[0] == 2 and a.shape[1:] == (n, d):
            pairs += [(a[0, 0], a[1]), (a[0, -1], a[1])]
    rows = [a for a in arrays[:64] if a.ndim == 2 and a.shape[1] == d]
    pairs += [(row, k) for a in rows for k in exact_k[:16] if a is not k for row in a[:16]][:64]
    pairs += _slices(arrays[:64], d, n)
    pairs += _stream(record.flat, d, n, skip)
    return pairs[: max(MAX_PAIRS, min(len(exact_q), MAX_ARRAYS))]


def odd_pairs(drawn: Sequence[Drawn] | None, d: int, n: int) -> list[tuple[Doubles, Doubles]]:
    """Pairs of a query and keys of which at least one was drawn from something else than N(0, 1)."""
    found: list[tuple[bool, Doubles]] = []
    for item in drawn or ():
        found += [(item.standard_normal, part) for part in _squeezed(item)[:MAX_PAIRS]]
    queries = [(usual, a) for usual, a in found[:MAX_PAIRS] if a.shape == (d,)][:8]
    keys = [(usual, a if a.shape == (n, d) else a.T) for usual, a in found[:MAX_PAIRS] if a.shape in ((n, d), (d, n))]
    return [(q, k) for usual, q in queries for other, k in keys[:8] if not (usual and other)]


def _drawn_singly(vectors: list[Doubles], n: int) -> list[tuple[Doubles, Doubles]]:
    """Pairs whose keys were drawn one vector at a time, before or after their query."""
    groups = [vectors[at : at + n + 1] for at in range(0, len(vectors) - n, n + 1)]
    after = [(group[0], np.stack(group[1:])) for group in groups]
    return after + [(group[-1], np.stack(group[:-1])) for group in groups]


def _slices(arrays: list[Doubles], d: int, n: int) -> list[tuple[Doubles, Doubles]]:
    """Pairs cut from wider draws: the first d numbers of a longer query, the first d columns of wider keys."""
    queries = [a[:d] for a in arrays if a.ndim == 1 and a.size >= d]
    keys = [a[:n, :d] for a in arrays if a.ndim == 2 and a.shape[0] >= n and a.shape[1] >= d]
    keys += [a[:d, :n].T for a in arrays if a.ndim == 2 and a.shape[0] >= d and a.shape[1] >= n and a.shape[0] != n]
    return [(q, k) for q in queries[:12] for k in keys[:12]]


def _stream(flat: Doubles, d: int, n: int, skip: int = 0) -> list[tuple[Doubles, Doubles]]:
    """The numbers as they came, whatever they were drawn as: those of one query and its keys, after ``skip`` others."""
    size = d * (n + 1)
    if flat.size < skip + size:
        return []
    part = flat[skip : skip + size]
    return [(part[:d], part[d:].reshape(n, d)), (part[n * d :], part[: n * d].reshape(n, d))]


def exact_pairs(drawn: Sequence[Drawn] | None, d: int, n: int) -> bool:
    """Whether a query of shape (d,) and keys of shape (n, d) were drawn, in so many words, or n + 1 vectors."""
    record = Record.of(drawn)
    if not record.trusted:
        return False
    queries = len(record.by_shape.get((d,), ()))
    keys = (n, d) in record.by_shape or (d, n) in record.by_shape
    return bool(queries and keys) or (queries > n and d > 1)


def shuffled(seen: Seen) -> bool:
    """Whether a random order was drawn and no normal number."""
    draws = seen.outcome.draws
    others = draws.others if draws is not None else ()
    return bool({"permutation", "permuted", "shuffle", "choice"} & set(others)) and not trustworthy(recorded(seen))


def only_pair(drawn: Sequence[Drawn] | None, d: int, n: int) -> tuple[Doubles, Doubles] | None:
    """Return the query of shape (d,) and the keys of shape (n, d) or (d, n) if just one of each was drawn.

    That is what the exercises ask for, so it is looked at before anything else.
    """
    shaped = Record.of(drawn).by_shape
    queries, keys = shaped.get((d,), ()), _keys(shaped, d, n)
    if len(queries) != 1 or len(keys) != 1:
        return None
    (q,), (k,) = queries, keys
    return q, k if k.shape == (n, d) else k.T


def _keys(shaped: Mapping[tuple[int, ...], Sequence[Doubles]], d: int, n: int) -> list[Doubles]:
    """Return the arrays of n keys of width d, as rows or as columns."""
    return [array for shape in {(n, d), (d, n)} for array in shaped.get(shape, ())]


def entropies(drawn: Sequence[Drawn] | None, d: int, n: int, skip: int = 0) -> tuple[Doubles, int]:
    """Return the entropies that the draws give for width d and n keys, and how many pairs were tried.

    Means over repeats stand behind those of the pairs.
    """
    pairs = query_key_pairs(drawn, d, n, skip)
    record = Record.of(drawn)
    arrays, shaped = record.arrays, record.by_shape
    values = oracle.entropy(np.stack([k @ q for q, k in pairs])) if pairs else np.empty(0)
    repeats = len(shaped.get((d,), ()))
    means: list[float] = []
    if 1 < repeats <= len(pairs) and repeats == len(_keys(shaped, d, n)):
        means.append(float(values[:repeats].mean()))
    batches = [a for a in arrays[:64] if a.ndim == 3 and a.shape[1:] == (n, d)]
    means += [
        float(oracle.entropy(np.einsum("rd,rnd->rn", q, k)).mean())
        for k in batches
        for q in arrays[:64]
        if q.shape == (k.shape[0], d)
    ]
    tables = [a for a in arrays[:16] if a.ndim == 2 and a.shape[1] == d and len(a) > 1]
    means += [
        float(oracle.entropy(queries @ keys.T).mean())
        for keys in tables
        if len(keys) == n
        for queries in tables
        if queries is not keys
    ]
    return np.append(values, means), len(pairs)


def orders(drawn: Sequence[Drawn] | None, d: int, n: int) -> tuple[list[npt.NDArray[np.intp]], int]:
    """Return the orders (ascending argsort of the scores) that the draws give, and how many pairs were tried.

    Two neighbours whose scores single precision can't tell apart are given in both orders.
    """
    pairs = query_key_pairs(drawn, d, n)
    found: list[npt.NDArray[np.intp]] = []
    for q, k in pairs:
        scores = k @ q
        order = np.argsort(scores)
        found.append(order)
        close = np.diff(scores[order]) <= NEAR_TIE * float((np.abs(k) @ np.abs(q)).max())
        for at in np.flatnonzero(close):
            other = order.copy()
            other[[at, at + 1]] = order[[at + 1, at]]
            found.append(other)
    return found, len(pairs)
