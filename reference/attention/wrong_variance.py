"""Wrong references for exercise 1: candidates (raw, scaled) from what was drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from grader.api import Drawn

from . import explain
from .book import BOOK, Answers, Array, softmax, total

__all__: list[str] = []

Drawings = Sequence[Drawn]

UNIFORM = ("rand", "random", "random_sample", "uniform")
MOVES = ((1, 0.0), (1, 0.5), (2, 0.5))
MAX_BLOCKS = 16


def _scores(drawn: Drawings, d: int) -> Iterator[Array]:
    """Yield the scores of the ways to read the draws as query-key pairs."""
    for _, Q, K in explain.score_sets(drawn, d):
        yield (Q * K).sum(axis=1)


def _variances(drawn: Drawings, d: int) -> Iterator[float]:
    for s in _scores(drawn, d):
        yield from _spread(s)


def _spread(s: Array) -> Iterator[float]:
    """Yield the variance of ``s`` in both common forms."""
    yield float(s.var())
    yield float(s.var(ddof=1))


def _blocks(drawn: Drawings, d: int, *methods: str, normal: bool = True) -> list[Array]:
    """Return the drawn arrays whose last axis, or else their first, has length d."""
    found = []
    for item in drawn:
        if item.standard_normal if normal else item.method in methods and not item.standard_normal:
            for part in item.values[:MAX_BLOCKS]:
                if part.ndim == 2 and part.shape[-1] == d:
                    found.append(part)
                elif part.ndim == 2 and part.shape[0] == d:
                    found.append(part.T)
                elif part.ndim == 3 and part.shape[-1] == d:
                    found += list(part)
    return found[:MAX_BLOCKS]


def _odd_pairs(drawn: Drawings, d: int, *methods: str) -> Iterator[Array]:
    """Yield the scores of pairs drawn from something else than the standard normal law."""
    blocks = _blocks(drawn, d, *methods, normal=False)
    pairs = list(zip(blocks[::2], blocks[1::2], strict=False))
    # One of the two may be as it should be.
    usual = _blocks(drawn, d)
    pairs += [(a, b) for a in blocks[:2] for b in usual[:2]]
    for Q, K in pairs:
        if Q.shape == K.shape:
            # As they are, and brought to the mean 0 afterwards.
            yield from ((factor * (Q - mean) * factor * (K - mean)).sum(axis=1) for factor, mean in MOVES)


# ---------------------------------------------------------------------- another statistic


@BOOK.add("standard_deviation", "variance/raw", catalogue="V03", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """Standard deviation and variance are the same."""
    for v in _variances(drawn, d):
        yield np.sqrt(v), np.sqrt(v / d)


@BOOK.add("standard_deviation_raw", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The raw spread is a standard deviation, the scaled one a variance."""
    for v in _variances(drawn, d):
        yield np.sqrt(v), v / d


@BOOK.add("standard_deviation_scaled", "variance/scaled", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The raw spread is a variance, the scaled one a standard deviation."""
    for v in _variances(drawn, d):
        yield v, np.sqrt(v / d)


@BOOK.add("mean_of_scores", "variance/raw", catalogue="V19", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The mean tells how large the scores are."""
    for s in _scores(drawn, d):
        yield s.mean(), s.mean() / np.sqrt(d)
        yield s.mean(), s.mean() / d


@BOOK.add("mean_size", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The spread is the mean distance from 0."""
    for s in _scores(drawn, d):
        for size in (np.abs(s).mean(), np.abs(s - s.mean()).mean(), np.abs(s).max(), np.ptp(s)):
            yield size, size / np.sqrt(d)


@BOOK.add("variance_of_sizes", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """Only the size of a score matters."""
    for s in _scores(drawn, d):
        for v in _spread(np.abs(s)):
            yield v, v / d


@BOOK.add("squares_not_averaged", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """A variance is the sum of the squares."""
    for s in _scores(drawn, d):
        for squares in ((s**2).sum(), ((s - s.mean()) ** 2).sum()):
            yield squares, squares / d


@BOOK.add("divided_by_samples", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """What is measured over n samples is divided by n."""
    for v in _variances(drawn, d):
        yield v / n, v / d / n
        yield np.sqrt(v / n), np.sqrt(v / d / n)


@BOOK.add("variance_of_weights", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """Scores are looked at after the softmax."""
    for s in _scores(drawn, d):
        yield softmax(s).var(), softmax(s / np.sqrt(d)).var()
        yield s.var(), softmax(s / np.sqrt(d)).var()
        yield softmax(s).var(), softmax(s).var() / d
        yield softmax(s).var(), (softmax(s) / np.sqrt(d)).var()


# ---------------------------------------------------------------------- another number


@BOOK.add("products_not_summed", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """``Q * K`` is the dot product."""
    for _, Q, K in explain.score_sets(drawn, d):
        P = Q * K
        for v in (*_spread(P), P.var(axis=0).mean(), P.var(axis=1).mean()):
            yield v, v / d


@BOOK.add("products_averaged", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The mean of the products is the score, or the vectors are scaled before they meet."""
    for v in _variances(drawn, d):
        yield v / d**2, v / d**3
        yield v / d**2, v / d**2


@BOOK.add("summed_over_samples", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """Axis 0 is the one to sum over."""
    for _, Q, K in explain.score_sets(drawn, d):
        for v in _spread((Q * K).sum(axis=0)):
            yield v, v / d
            yield v, v / len(Q)


@BOOK.add("variance_of_entries", "variance/raw", catalogue="V07", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The variance of the vectors' entries is what grows."""
    for X in _blocks(drawn, d):
        for v in (*_spread(X), X.var(axis=0).mean(), X.var(axis=1).mean()):
            yield v, v / d


@BOOK.add("same_vector_twice", "variance/raw", catalogue="V11", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """One draw will do for both."""
    for X in _blocks(drawn, d):
        for v in _spread((X * X).sum(axis=1)):
            yield v, v / d


@BOOK.add("unit_vectors", "variance/raw", catalogue="V23", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """Dot products compare directions."""
    for _, Q, K in explain.score_sets(drawn, d):
        q, k = Q / np.sqrt(total(Q**2)), K / np.sqrt(total(K**2))
        for pair in ((q, k), (q, K), (Q, k)):
            for v in _spread((pair[0] * pair[1]).sum(axis=1)):
                yield v, v / d


@BOOK.add("one_query_for_all", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """One query against many keys tells the same."""
    blocks = _blocks(drawn, d)
    rows = [part for item in drawn if item.standard_normal for part in item.values[:MAX_BLOCKS] if part.shape == (d,)]
    rows += [block[0] for block in blocks]
    for q in rows[:MAX_BLOCKS]:
        for K in blocks:
            for v in _spread(K @ q):
                yield v, v / d


@BOOK.add("width_fixed", "variance/raw", catalogue="V05", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The width is the one of the lesson's experiment."""
    shapes = [item.shape for item in drawn if item.standard_normal and len(item.shape) == 2]
    for width in {shape[1] for shape in shapes} - {d, n}:
        for v in _variances(drawn, width):
            yield v, v / width
            yield v, v / d


@BOOK.add("uniform_numbers", "variance/raw", catalogue="V10", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """Random is random."""
    for s in _odd_pairs(drawn, d, *UNIFORM):
        for v in _spread(s):
            yield v, v / d


@BOOK.add("other_normal_numbers", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """Any normal numbers will do."""
    for s in _odd_pairs(drawn, d, "normal"):
        for v in _spread(s):
            yield v, v / d


# ---------------------------------------------------------------------- another scale


@BOOK.add("scaled_not_scaled", "variance/scaled", catalogue="V04", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The second variance is of the same scores."""
    for v in _variances(drawn, d):
        yield v, v


@BOOK.add("raw_is_scaled", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The scores are scaled before either variance is taken."""
    for v in _variances(drawn, d):
        yield v / d, v / d
        yield v / d, v / d**2


@BOOK.add("raw_exactly_width", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The raw variance is d_k, so it need not be measured."""
    for v in _variances(drawn, d):
        yield float(d), v / d


@BOOK.add("sums_in_place_of_products", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """Two vectors are compared by adding them, or each is added up before they meet."""
    for _, Q, K in explain.score_sets(drawn, d):
        for s in ((Q + K).sum(axis=1), (Q - K).sum(axis=1), Q.sum(axis=1) * K.sum(axis=1)):
            for v in _spread(s):
                yield v, v / d


@BOOK.add("products_without_sign", "variance/raw", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """Only the size of a product matters."""
    for _, Q, K in explain.score_sets(drawn, d):
        for v in (*_spread(np.abs(Q * K).sum(axis=1)), *_spread(((Q * K) ** 2).sum(axis=1))):
            yield v, v / d


@BOOK.add("scaled_by_width", "variance/scaled", catalogue="D06", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The variance is d_k, so the scores are divided by d_k."""
    for v in _variances(drawn, d):
        yield v, v / d**2


@BOOK.add("variance_by_root", "variance/scaled", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """A variance is scaled as its scores are, by the root of d_k."""
    for v in _variances(drawn, d):
        yield v, v / np.sqrt(d)


@BOOK.add("scaled_upwards", "variance/scaled", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """To scale is to multiply."""
    for v in _variances(drawn, d):
        yield v, v * d
        yield v, v * d**2
        yield v, v * np.sqrt(d)


@BOOK.add("scaled_precedence", "variance/scaled", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """In ``d_k ** 1/2`` the division comes first."""
    for v in _variances(drawn, d):
        yield v, v / (d / 2) ** 2


@BOOK.add("scaled_by_samples", "variance/scaled", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The scale comes from the number of samples."""
    for v in _variances(drawn, d):
        yield v, v / n
        yield v, v / n**2


@BOOK.add("scaled_by_fixed", "variance/scaled", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The scale is the one of a width that was printed in the lesson."""
    for v in _variances(drawn, d):
        for width in (4, 16, 64, 256, 512, 1024):
            yield v, v / width


@BOOK.add("scaled_exactly_one", "variance/scaled", catalogue="", many=True)
def _(drawn: Drawings, d: int, n: int) -> Answers:
    """The scaled variance is 1, so it is set or forced to 1."""
    for s in _scores(drawn, d):
        for v in _spread(s):
            yield v, 1.0
        yield s.var(), s.var() / s.var(ddof=1)
        yield s.var(ddof=1), s.var(ddof=1) / s.var()
