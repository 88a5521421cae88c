"""Wrong references for exercise 2: candidate entropies from the raw scores of the drawn query-key pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .book import BOOK, Answers, Array, shares, softmax

__all__: list[str] = []

TINY = (0.0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-15)
"""What may stand inside a logarithm without being a mistake."""

LARGE = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
MAX_SUMS = 4096


def _terms(p: Array) -> Iterator[Array]:
    """Yield the terms -p log p with each small number inside the logarithm; 0 log 0 is 0."""
    for tiny in TINY:
        yield -p * np.log(np.where(p + tiny > 0, p + tiny, 1))


def _entropies(p: Array) -> Iterator[Array]:
    for terms in _terms(p):
        yield terms.sum(-1)


def _each(values: Iterator[Array], change: Callable[[Array], Array]) -> Answers:
    for value in values:
        yield from change(value)


# ---------------------------------------------------------------------- of the right distribution


@BOOK.add("entropy_base2", "entropy/draws", catalogue="E08", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """Any logarithm measures entropy."""
    yield from _each(_entropies(softmax(scores)), lambda h: h / np.log(2))


@BOOK.add("entropy_base10", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The usual logarithm is the one to base 10."""
    yield from _each(_entropies(softmax(scores)), lambda h: h / np.log(10))


@BOOK.add("entropy_normalised", "entropy/draws", catalogue="E09", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """An entropy lies between 0 and 1."""
    yield from _each(_entropies(softmax(scores)), lambda h: h / np.log(n))


@BOOK.add("entropy_mean", "entropy/draws", catalogue="E10", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The terms are averaged over the keys."""
    yield from _each(_entropies(softmax(scores)), lambda h: h / n)


@BOOK.add("entropy_negative", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The minus sign is a convention."""
    yield from _each(_entropies(softmax(scores)), lambda h: -h)


@BOOK.add("entropy_from_uniform", "entropy/draws", catalogue="E16", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """How peaked a distribution is, is its distance from the uniform one."""
    yield from _each(_entropies(softmax(scores)), lambda h: np.log(n) - h)
    yield from _each(_entropies(softmax(scores)), lambda h: 1 - h / np.log(n))


@BOOK.add("entropy_unweighted_logs", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """Every key's logarithm counts alike."""
    p = softmax(scores)
    for tiny in TINY:
        logs = np.log(p + tiny)
        yield from -logs.mean(-1)
        yield from -logs.sum(-1)
        yield from -logs.mean(-1) - np.log(n)


@BOOK.add("entropy_big_epsilon", "entropy/draws", catalogue="E15", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The size of the number inside the logarithm doesn't matter."""
    p = softmax(scores)
    for epsilon in LARGE:
        yield from -(p * np.log(p + epsilon)).sum(-1)
        yield from -((p + epsilon) * np.log(p + epsilon)).sum(-1)
        yield from -(p * np.log(np.maximum(p, epsilon))).sum(-1)
        yield from -(np.maximum(p, epsilon) * np.log(np.maximum(p, epsilon))).sum(-1)
        yield from -np.where(p > epsilon, p * np.log(p + 1e-300), 0).sum(-1)


@BOOK.add("entropy_rounded", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """Numbers are stored as they are printed, and one decimal is enough."""
    for h in _entropies(softmax(scores)):
        for decimals in (0, 1, 2):
            yield from np.round(h, decimals)
        yield from np.floor(h)


@BOOK.add("entropy_two_sided", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """Every key is a yes or no of its own."""
    p = softmax(scores)
    for yes, no in zip(_terms(p), _terms(1 - p), strict=True):
        yield from yes.sum(-1) + no.sum(-1)


@BOOK.add("entropy_one_term", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The strongest key decides, so its term is enough."""
    p = softmax(scores).max(-1)
    for terms in _terms(p):
        yield from terms
    yield from -np.log(p)


@BOOK.add("entropy_max_weight", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """How peaked a distribution is, is its largest weight."""
    yield from softmax(scores).max(-1)
    yield from 1 - softmax(scores).max(-1)


@BOOK.add("entropy_perplexity", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The number of keys that are really looked at is the entropy."""
    yield from _each(_entropies(softmax(scores)), np.exp)


@BOOK.add("entropy_squares", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The sum of the squared weights tells how peaked they are."""
    squares = (softmax(scores) ** 2).sum(-1)
    yield from squares
    yield from 1 - squares
    yield from -np.log(squares)


@BOOK.add("entropy_spread", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The spread of the weights tells how peaked they are."""
    p = softmax(scores)
    for ddof in (0, 1):
        yield from p.var(-1, ddof=ddof)
        yield from p.std(-1, ddof=ddof)
        yield from scores.var(-1, ddof=ddof)
        yield from scores.std(-1, ddof=ddof)


@BOOK.add("entropy_no_log", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The scores are the logarithms of the weights."""
    expected = (softmax(scores) * scores).sum(-1)
    yield from expected
    yield from -expected
    yield from -(softmax(scores) * (scores - scores.max(-1, keepdims=True))).sum(-1)


# ---------------------------------------------------------------------- of another distribution


@BOOK.add("entropy_scaled", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """Attention weights are always the scaled ones."""
    for scale in (np.sqrt(d), d):
        yield from _each(_entropies(softmax(scores / scale)), lambda h: h)


@BOOK.add("entropy_softened", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """Normalising once more does no harm."""
    yield from _each(_entropies(softmax(softmax(scores))), lambda h: h)


@BOOK.add("entropy_not_normalised", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The exponentials are the weights."""
    for e in (np.exp(scores - scores.max(-1, keepdims=True)), np.exp(scores)):
        yield from _each(_entropies(e), lambda h: h)


@BOOK.add("entropy_linear", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """A share is a score divided by the total, or its own squashed value."""
    squashed = 1 / (1 + np.exp(-scores))
    positive = np.maximum(scores, 0)
    for p in (np.abs(scores), shares(np.abs(scores)), shares(scores**2), squashed, shares(squashed), shares(positive)):
        yield from _each(_entropies(p), lambda h: h)


@BOOK.add("entropy_softmin", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The sign of the scores doesn't matter for how peaked they are."""
    yield from _each(_entropies(softmax(-scores)), lambda h: h)


@BOOK.add("entropy_size_scores", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """Only the size of a score matters."""
    yield from _each(_entropies(softmax(np.abs(scores))), lambda h: h)


@BOOK.add("entropy_rounded_weights", "entropy/draws", catalogue="", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The weights are the numbers that are printed."""
    for decimals in range(1, 7):
        yield from _each(_entropies(np.round(softmax(scores), decimals)), lambda h: h)


@BOOK.add("entropy_one_width", "entropy/draws", catalogue="E14", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The keys are drawn once, at the largest width."""
    yield from _each(_entropies(softmax(largest)), lambda h: h)


@BOOK.add("entropy_running", "entropy/draws", catalogue="", many=True, fresh=True)
def _() -> Callable[..., Answers]:
    """Each round adds to the number of the rounds before."""
    before: list[tuple[int, Array]] = []

    def remembers(scores: Array, largest: Array, d: int, n: int) -> Answers:
        if before and d <= before[-1][0]:
            before.clear()
        own = -(softmax(scores) * np.log(softmax(scores) + 1e-12)).sum(-1)
        sums = np.unique((before[-1][1][:, None] + own).ravel())[:MAX_SUMS] if before else np.unique(own)
        before.append((d, sums))
        yield from sums
        yield from sums / len(before)

    return remembers


@BOOK.add("entropy_of_scores", "entropy/draws", catalogue="E07", many=True)
def _(scores: Array, largest: Array, d: int, n: int) -> Answers:
    """The scores themselves are the distribution."""
    for tiny in TINY:
        yield from -(scores * np.log(scores + tiny)).sum(-1)
