"""Do recorded draws explain a variance: in every documented form and order, and nothing that is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.reference.drawn import Doubles, explained, normal, record

Made = tuple[list[Any], float]
"""Arrays in the order in which they were drawn, and what was computed of them."""

# ---------------------------------------------------------------------- variances: right forms


def scores(Q: Any, K: Any) -> Doubles:
    """Return the dot product of each row with each row."""
    return np.asarray((Q * K).sum(-1))


def q_then_k(n: int, d: int) -> Made:
    """The lesson's order."""
    Q, K = normal(n, d), normal(n, d)
    return [Q, K], scores(Q, K).var()


def interleaved(n: int, d: int) -> Made:
    """A query and its key for each sample."""
    rows = [normal(d) for _ in range(2 * n)]
    return rows, float(np.var([q @ k for q, k in zip(rows[::2], rows[1::2], strict=True)]))


def all_queries_first(n: int, d: int) -> Made:
    """All queries row by row, then all keys."""
    rows = [normal(d) for _ in range(2 * n)]
    return rows, float(np.var([q @ k for q, k in zip(rows[:n], rows[n:], strict=True)]))


def blocks(n: int, d: int) -> Made:
    """In blocks of ten, one variance of all of them."""
    parts = [normal(10, d) for _ in range(2 * (n // 10))]
    return parts, np.concatenate([scores(q, k) for q, k in zip(parts[::2], parts[1::2], strict=True)]).var()


def blocks_and_a_rest(n: int, d: int) -> Made:
    """In blocks of forty, the last one smaller."""
    sizes = [40] * (n // 40) + ([n % 40] if n % 40 else [])
    parts = [(normal(size, d), normal(size, d)) for size in sizes]
    return [a for pair in parts for a in pair], np.concatenate([scores(q, k) for q, k in parts]).var()


def averaged_blocks(n: int, d: int) -> Made:
    """The mean of the variances of blocks."""
    parts = [normal(20, d) for _ in range(2 * (n // 20))]
    return parts, float(np.mean([scores(q, k).var() for q, k in zip(parts[::2], parts[1::2], strict=True)]))


def averaged_sample_blocks(n: int, d: int) -> Made:
    """The mean of the sample variances of blocks."""
    parts = [normal(20, d) for _ in range(2 * (n // 20))]
    return parts, float(np.mean([scores(q, k).var(ddof=1) for q, k in zip(parts[::2], parts[1::2], strict=True)]))


def both_in_one(n: int, d: int) -> Made:
    """One array (2, n, d)."""
    X = normal(2, n, d)
    return [X], scores(X[0], X[1]).var()


def pairs_in_one(n: int, d: int) -> Made:
    """One array (n, 2, d)."""
    X = normal(n, 2, d)
    return [X], scores(X[:, 0], X[:, 1]).var()


def numbers_in_pairs(n: int, d: int) -> Made:
    """One array (n, d, 2)."""
    X = normal(n, d, 2)
    return [X], X.prod(-1).sum(-1).var()


def side_by_side(n: int, d: int) -> Made:
    """One array (n, 2d), split in the middle."""
    X = normal(n, 2 * d)
    return [X], scores(X[:, :d], X[:, d:]).var()


def stacked(n: int, d: int) -> Made:
    """One array (2n, d), split in the middle."""
    X = normal(2 * n, d)
    return [X], scores(X[:n], X[n:]).var()


def columns(n: int, d: int) -> Made:
    """Vectors as columns (d, n)."""
    Q, K = normal(d, n), normal(d, n)
    return [Q, K], (Q * K).sum(0).var()


def split_columns(n: int, d: int) -> Made:
    """One array (d, 2n) of columns."""
    X = normal(d, 2 * n)
    return [X], (X[:, :n] * X[:, n:]).sum(0).var()


def flat(n: int, d: int) -> Made:
    """One long vector, reshaped."""
    x = normal(2 * n * d)
    Q, K = x.reshape(2, n, d)
    return [x], scores(Q, K).var()


def one_by_one(n: int, d: int) -> Made:
    """Plain loops that draw single numbers, factor by factor."""
    x = [normal() for _ in range(2 * n * d)]
    products = np.array(x).reshape(n, d, 2).prod(-1)
    return x, products.sum(-1).var()


def with_an_axis_too_many(n: int, d: int) -> Made:
    """Shapes (1, n, d), as with a batch of one."""
    Q, K = normal(1, n, d), normal(1, n, d)
    return [Q, K], scores(Q, K).var()


def welford(n: int, d: int) -> Made:
    """A running variance of the pairs as they come."""
    rows = [normal(d) for _ in range(2 * n)]
    mean = total = 0.0
    for i, (q, k) in enumerate(zip(rows[::2], rows[1::2], strict=True), 1):
        delta = float(q @ k) - mean
        mean += delta / i
        total += delta * (float(q @ k) - mean)
    return rows, total / n


def sample_variance(n: int, d: int) -> Made:
    """Divided by n - 1."""
    Q, K = normal(n, d), normal(n, d)
    return [Q, K], scores(Q, K).var(ddof=1)


def uncentred(n: int, d: int) -> Made:
    """The mean of the squares: the true mean is 0."""
    Q, K = normal(n, d), normal(n, d)
    return [Q, K], (scores(Q, K) ** 2).mean()


def whole_table(n: int, d: int) -> Made:
    """All n times n scores."""
    Q, K = normal(n, d), normal(n, d)
    return [Q, K], (Q @ K.T).var()


def sample_table(n: int, d: int) -> Made:
    """All n times n scores, divided by one less."""
    Q, K = normal(n, d), normal(n, d)
    return [Q, K], (Q @ K.T).var(ddof=1)


def uncentred_table(n: int, d: int) -> Made:
    """The mean of all n times n squares."""
    Q, K = normal(n, d), normal(n, d)
    return [Q, K], ((Q @ K.T) ** 2).mean()


def repeats(n: int, d: int) -> Made:
    """The mean over five repeats of the whole measurement."""
    parts = [(normal(n, d), normal(n, d)) for _ in range(5)]
    return [a for pair in parts for a in pair], float(np.mean([scores(q, k).var() for q, k in parts]))


def sample_repeats(n: int, d: int) -> Made:
    """The same of sample variances."""
    parts = [(normal(n, d), normal(n, d)) for _ in range(3)]
    return [a for pair in parts for a in pair], float(np.mean([scores(q, k).var(ddof=1) for q, k in parts]))


FORMS = (
    q_then_k, interleaved, all_queries_first, blocks, blocks_and_a_rest, averaged_blocks, averaged_sample_blocks,
    both_in_one, pairs_in_one, numbers_in_pairs, side_by_side, stacked, columns, split_columns, flat, one_by_one,
    with_an_axis_too_many, welford, sample_variance, uncentred, whole_table, sample_table, uncentred_table, repeats,
    sample_repeats,
)  # fmt: skip
SIZES = [pytest.param(3, 200, id="3-200"), pytest.param(7, 100, id="7-100")]


@pytest.mark.parametrize("d, n", SIZES)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__.replace("_", "-"))
def test_a_variance_is_explained_in_every_form(form: Callable[[int, int], Made], d: int, n: int) -> None:
    """Any order, any shape, either divisor, repeats and the whole table: the draws explain the number."""
    arrays, value = form(n, d)

    assert explained(record(arrays), float(value), d, n)


@pytest.mark.parametrize(
    "method, args",
    [
        pytest.param("randn", (), id="randn"),
        pytest.param("standard_normal", (), id="standard_normal"),
        pytest.param("normal", (0.0, 1.0), id="normal"),
    ],
)
def test_any_method_will_do(method: str, args: tuple[float, ...]) -> None:
    """N(0, 1) is N(0, 1), whoever drew it."""
    arrays, value = q_then_k(100, 3)

    assert explained(record(arrays, method, args), float(value), 3, 100)


def test_other_draws_between_are_passed_over() -> None:
    """A uniform draw before or after doesn't matter."""
    arrays, value = q_then_k(100, 3)
    other = record([np.random.default_rng(0).uniform(size=50)], "uniform", (0.0, 1.0))

    assert explained([*other, *record(arrays), *other], float(value), 3, 100)


# ---------------------------------------------------------------------- variances: wrong statistics

WRONG: dict[str, Callable[[Doubles, Doubles, int], float]] = {
    "standard-deviation": lambda Q, K, d: scores(Q, K).std(),
    "of-the-products": lambda Q, K, d: (Q * K).var(),
    "mean-of-absolutes": lambda Q, K, d: np.abs(scores(Q, K)).mean(),
    "twice": lambda Q, K, d: 2 * scores(Q, K).var(),
    "divided-by-root": lambda Q, K, d: (scores(Q, K) / np.sqrt(d)).var(),
    "divided-by-width": lambda Q, K, d: (scores(Q, K) / d).var(),
    "query-with-itself": lambda Q, K, d: scores(Q, Q).var(),
    "half-of-the-samples": lambda Q, K, d: scores(Q[::2], K[::2]).var(),
    "first-hundred": lambda Q, K, d: scores(Q[:100], K[:100]).var(),
    "without-one": lambda Q, K, d: scores(Q[1:], K[1:]).var(),
    "keys-in-another-order": lambda Q, K, d: scores(Q, K[::-1]).var(),
    "two-less": lambda Q, K, d: scores(Q, K).var(ddof=2),
    "other-axis": lambda Q, K, d: (Q * K).sum(0).var(),
    "theory": lambda Q, K, d: float(d),
    "nearly": lambda Q, K, d: scores(Q, K).var() * (1 + 1e-6),
    "of-the-queries": lambda Q, K, d: Q.var(),
    "sum-of-squares": lambda Q, K, d: (scores(Q, K) ** 2).sum(),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_statistic_is_not_explained(name: str) -> None:
    """What is computed of the right draws in a wrong way isn't what they give."""
    for d, n in ((3, 300), (7, 200)):
        Q, K = normal(n, d), normal(n, d)
        for arrays in ([Q, K], [*itertools.chain.from_iterable(zip(Q, K, strict=True))], [np.stack([Q, K])]):
            assert not explained(record(arrays), float(WRONG[name](Q, K, d)), d, n)


def test_other_draws_do_not_explain() -> None:
    """A right value of other draws isn't one of these."""
    _, value = q_then_k(200, 3)
    arrays, _ = q_then_k(200, 3)

    assert not explained(record(arrays), float(value), 3, 200)
