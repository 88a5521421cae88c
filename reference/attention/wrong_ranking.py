"""Wrong references for exercise 3: candidate pairs of orders from the raw scores of the drawn query-key pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from .book import BOOK, Answers, Array, softmax

__all__: list[str] = []


def _sorted(w: Array) -> Iterator[Array]:
    """Yield the order of ``w`` from below and from above; equal numbers fall as the sort likes."""
    for kind in ("quicksort", "stable"):
        order = w.argsort(kind=kind)
        yield order
        yield order[::-1]
        yield (-w).argsort(kind=kind)


@BOOK.add("ranking_backwards", "ranking/equal", catalogue="R02 R19", many=True)
def _(scores: Array, d: int) -> Answers:
    """One list begins with the best, the other with the worst, or a scale may be negative."""
    for s in scores:
        order = s.argsort()
        ranks = order.argsort()
        yield order, order[::-1]
        yield order[::-1], order
        yield ranks, len(s) - 1 - ranks
        yield len(s) - 1 - ranks, ranks


@BOOK.add("ranking_rounded", "ranking/equal", catalogue="R08", many=True)
def _(scores: Array, d: int) -> Answers:
    """Weights are sorted as they are printed."""
    for s in scores:
        raw, scaled = softmax(s), softmax(s / np.sqrt(d))
        for decimals in (0, 1, 2, 3, 4, 5, 6, 8):
            firsts = _sorted(np.round(raw, decimals))
            seconds = zip(_sorted(np.round(scaled, decimals)), _sorted(scaled), strict=True)
            for first, (second, exact) in zip(firsts, seconds, strict=True):
                yield first, second
                yield first, exact


@BOOK.add("ranking_different_draws", "ranking/equal", catalogue="", many=True)
def _(scores: Array, d: int) -> Answers:
    """Each ranking may have a query and keys of its own."""
    for first, second in permutations(scores, 2):
        yield first.argsort(), second.argsort()
        yield first.argsort()[::-1], second.argsort()[::-1]


@BOOK.add("ranking_mixed_forms", "ranking/equal", catalogue="", many=True)
def _(scores: Array, d: int) -> Answers:
    """The order of the positions and the rank of each position are the same list."""
    for s in scores:
        for order in (s.argsort(), s.argsort()[::-1]):
            ranks = order.argsort()
            yield order, ranks
            yield ranks, order


@BOOK.add("ranking_size_of_scores", "ranking/equal", catalogue="", many=True)
def _(scores: Array, d: int) -> Answers:
    """Only the size of a score matters for its rank."""
    for s in scores:
        order, other = s.argsort(), np.abs(s).argsort()
        yield order, other
        yield other, order
        yield order[::-1], other[::-1]
        yield other[::-1], order[::-1]


@BOOK.add("ranking_index_beside", "ranking/equal", catalogue="", many=True)
def _(scores: Array, d: int) -> Answers:
    """Once the weights are sorted, their positions are 0, 1, 2, ..."""
    for s in scores:
        for order in (s.argsort(), s.argsort()[::-1]):
            yield order, np.arange(len(s))
            yield np.arange(len(s)), order
