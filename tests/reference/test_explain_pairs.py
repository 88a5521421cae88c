"""Do recorded draws explain an entropy and an order: in every documented form, and nothing that is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reference.attention import explain, oracle, solution
from tests.reference.drawn import Doubles, normal, record

# ---------------------------------------------------------------------- entropies and orders: right forms

D, N = 16, 8
Pair = tuple[list[Any], Doubles, Doubles]
"""Arrays as drawn, the query and the keys."""


def query_first(rng: Any) -> Pair:
    """The lesson's order."""
    q, K = rng(D), rng(N, D)
    return [q, K], q, K


def keys_first(rng: Any) -> Pair:
    """Keys, then the query."""
    K, q = rng(N, D), rng(D)
    return [K, q], q, K


def keys_as_columns(rng: Any) -> Pair:
    """Keys of shape (d, n)."""
    q, K = rng(D), rng(D, N)
    return [q, K], q, K.T


def query_as_row(rng: Any) -> Pair:
    """A query of shape (1, d)."""
    q, K = rng(1, D), rng(N, D)
    return [q, K], q[0], K


def query_as_column(rng: Any) -> Pair:
    """A query of shape (d, 1)."""
    q, K = rng(D, 1), rng(N, D)
    return [q, K], q[:, 0], K


def batch_of_one(rng: Any) -> Pair:
    """Shapes (1, 1, d) and (1, n, d)."""
    q, K = rng(1, 1, D), rng(1, N, D)
    return [q, K], q[0, 0], K[0]


def query_on_top(rng: Any) -> Pair:
    """One array (n + 1, d), the query first."""
    X = rng(N + 1, D)
    return [X], X[0], X[1:]


def query_below(rng: Any) -> Pair:
    """One array (n + 1, d), the query last."""
    X = rng(N + 1, D)
    return [X], X[-1], X[:-1]


def query_beside(rng: Any) -> Pair:
    """One array (d, n + 1) of columns."""
    X = rng(D, N + 1)
    return [X], X[:, 0], X[:, 1:].T


def query_out_of_a_table(rng: Any) -> Pair:
    """As many queries as keys, of which the first is taken."""
    Q, K = rng(N, D), rng(N, D)
    return [Q, K], Q[0], K


def last_of_a_table(rng: Any) -> Pair:
    """As many queries as keys, of which the last is taken."""
    Q, K = rng(N, D), rng(N, D)
    return [Q, K], Q[-1], K


def two_in_one(rng: Any) -> Pair:
    """One array (2, n, d), the first query against all keys."""
    X = rng(2, N, D)
    return [X], X[0, 0], X[1]


def slices_of_wider_draws(rng: Any) -> Pair:
    """Drawn once for the widest, cut for this width."""
    q, K = rng(256), rng(N, 256)
    return [q, K], q[:D], K[:, :D]


def key_by_key(rng: Any) -> Pair:
    """The query, and the keys one by one."""
    rows = [rng(D) for _ in range(N + 1)]
    return rows, rows[0], np.array(rows[1:])


def number_by_number(rng: Any) -> Pair:
    """Single numbers in loops."""
    x = [rng() for _ in range(D * (N + 1))]
    whole = np.array(x)
    return x, whole[:D], whole[D:].reshape(N, D)


def one_long_vector(rng: Any) -> Pair:
    """All numbers at once, cut by hand."""
    x = rng(D * (N + 1))
    return [x], x[:D], x[D:].reshape(N, D)


def after_other_widths(rng: Any) -> Pair:
    """The second of two widths of one sweep."""
    before = [rng(4), rng(N, 4)]
    q, K = rng(D), rng(N, D)
    return [*before, q, K], q, K


def before_other_widths(rng: Any) -> Pair:
    """The first of two widths of one sweep."""
    q, K = rng(D), rng(N, D)
    return [q, K, rng(64), rng(N, 64)], q, K


def third_repeat(rng: Any) -> Pair:
    """Several pairs, the third of which was taken."""
    pairs = [(rng(D), rng(N, D)) for _ in range(5)]
    return [a for pair in pairs for a in pair], *pairs[2]


PAIRS = (
    query_first, keys_first, keys_as_columns, query_as_row, query_as_column, batch_of_one, query_on_top, query_below,
    query_beside, query_out_of_a_table, last_of_a_table, two_in_one, slices_of_wider_draws, key_by_key,
    number_by_number, one_long_vector, after_other_widths, before_other_widths, third_repeat,
)  # fmt: skip


def drawer(name: str) -> Callable[..., Any]:
    """Return what draws an array of a shape given as arguments, by one generator."""
    if name == "RandomState":
        return np.random.RandomState(42).randn
    rng = np.random.default_rng(42)
    return lambda *shape: rng.standard_normal(shape)


@pytest.mark.parametrize("generator", ["RandomState", "default_rng"])
@pytest.mark.parametrize("form", PAIRS, ids=lambda form: form.__name__.replace("_", "-"))
def test_an_entropy_and_an_order_are_explained_in_every_form(form: Callable[[Any], Pair], generator: str) -> None:
    """Whatever the shapes, the order and the generator, entropy and ranking are among those that the draws give."""
    arrays, q, K = form(drawer(generator))
    drawn = record(arrays, "randn" if generator == "RandomState" else "standard_normal")
    entropies, tried = explain.entropies(drawn, D, N)
    orders, _ = explain.orders(drawn, D, N)

    assert 0 < tried <= explain.MAX_PAIRS
    assert np.abs(entropies - oracle.entropy(K @ q)).min() < 1e-12
    assert any(np.array_equal(order, np.argsort(K @ q)) for order in orders)


WRONG_ENTROPIES: dict[str, Callable[[Doubles], float]] = {
    "bits": lambda s: float(oracle.entropy(s)) / math.log(2),
    "scaled": lambda s: float(oracle.entropy(s / 4)),
    "divided-by-width": lambda s: float(oracle.entropy(s / 16)),
    "negative": lambda s: -float(oracle.entropy(s)),
    "normalised": lambda s: float(oracle.entropy(s)) / math.log(8),
    "of-the-smallest": lambda s: float(oracle.entropy(-s)),
    "mean-in-place-of-sum": lambda s: float(oracle.entropy(s)) / 8,
    "seven-keys": lambda s: float(oracle.entropy(s[:-1])),
    "largest-weight": lambda s: float(solution.softmax(s).max()),
    "ten": lambda s: float(oracle.entropy(s)) / math.log(10),
}


@pytest.mark.parametrize("name", WRONG_ENTROPIES)
def test_a_wrong_entropy_is_not_explained(name: str) -> None:
    """What is computed of the right scores in a wrong way isn't what the draws give, for ten draws out of ten."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        q, K = rng.standard_normal(D), rng.standard_normal((N, D))
        while oracle.entropy(K @ q) < 0.1:
            q, K = rng.standard_normal(D), rng.standard_normal((N, D))
        for arrays in ([q, K], [K, q], [np.vstack([q, K])]):
            entropies, _ = explain.entropies(record(arrays), D, N)
            assert np.abs(entropies - WRONG_ENTROPIES[name](K @ q)).min() > 1e-4


def test_the_mean_over_repeats_is_explained() -> None:
    """Whoever averages over repeats is right, in pairs one by one and in one batch."""
    pairs = [(normal(D), normal(N, D)) for _ in range(20)]
    mean = float(np.mean([oracle.entropy(K @ q) for q, K in pairs]))
    one_by_one = record([a for pair in pairs for a in pair])
    batch = record([np.stack([q for q, _ in pairs]), np.stack([K for _, K in pairs])])

    for drawn in (one_by_one, batch):
        entropies, tried = explain.entropies(drawn, D, N)
        assert np.abs(entropies[tried:] - mean).min() < 1e-12


@pytest.mark.parametrize("d", [4, 16, 64, 256])
def test_every_width_of_a_sweep_is_explained(d: int) -> None:
    """In a sweep that is seeded once, and in one that seeds anew for each width, every width has its own pair."""
    for seed_again in (False, True):
        rng = np.random.RandomState(42)
        arrays, wanted = [], 0.0
        for width in (4, 16, 64, 256):
            rng = np.random.RandomState(42) if seed_again else rng
            q, K = rng.randn(width), rng.randn(8, width)
            arrays += [q, K]
            wanted = float(oracle.entropy(K @ q)) if width == d else wanted
        entropies, tried = explain.entropies(record(arrays, "randn"), d, 8)

        assert explain.trustworthy(record(arrays, "randn"))
        assert tried < 64
        assert np.abs(entropies - wanted).min() < 1e-12


def test_neighbours_come_first() -> None:
    """With many repeats the pairs that were drawn together are tried first, in order."""
    pairs = [(normal(D), normal(N, D)) for _ in range(40)]
    found = explain.query_key_pairs(record([a for pair in pairs for a in pair]), D, N)

    for (q, K), (other_q, other_k) in zip(pairs, found, strict=False):
        np.testing.assert_array_equal(q, other_q)
        np.testing.assert_array_equal(K, other_k)
