"""Do recorded draws explain a value: in every documented form and order, and nothing that is wrong."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.core.observed import Drawn, Seen
from grader.model import Call, Draws, Outcome
from reference.attention import explain, oracle, solution

Doubles = npt.NDArray[np.float64]
Made = tuple[list[Any], float]
"""Arrays in the order in which they were drawn, and what was computed of them."""

RNG = np.random.default_rng(2024)


def normal(*shape: int) -> Doubles:
    """Draw from N(0, 1)."""
    return np.asarray(RNG.standard_normal(shape))


def record(arrays: Sequence[Any], method: str = "standard_normal", args: tuple[float, ...] = ()) -> list[Drawn]:
    """Record draws as the worker does: equal ones in a row are one run."""
    runs = itertools.groupby((np.asarray(a, dtype=np.float64) for a in arrays), key=lambda a: a.shape)
    return [Drawn(source=0, method=method, args=args, shape=shape, values=np.stack(list(run))) for shape, run in runs]


def explained(drawn: Sequence[Drawn] | None, value: float, d: int, n: int) -> bool:
    """Whether some way to read the draws gives the variance ``value``."""
    sets = [found for _, Q, K in explain.score_sets(drawn, d) for _, found in explain.variances(Q, K, n)]
    blocks = [found for _, found in explain.block_variances(drawn, d)]
    return any(math.isclose(found, value, rel_tol=1e-9) for found in [*sets, *blocks])


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


@pytest.mark.parametrize(
    "drawn",
    [
        pytest.param(None, id="not recorded"),
        pytest.param([], id="nothing drawn"),
        pytest.param(record([np.ones(6)], "uniform", (0.0, 1.0)), id="uniform draws"),
        pytest.param(record([np.ones((2, 3))], "normal", (0.0, 2.0)), id="wider draws"),
        pytest.param(record([1.0]), id="one number"),
        pytest.param(record([np.empty((0, 3)), np.empty((0, 3))]), id="empty draws"),
        pytest.param(record([np.empty((0, 3)), np.empty((0, 3)), np.ones(5)]), id="empty draws and others"),
        pytest.param(record([np.ones((5, 4))]), id="another width"),
        pytest.param(record([np.ones((3, 3, 3, 3))]), id="four axes"),
    ],
)
def test_nothing_is_explained_by_nothing(drawn: list[Drawn] | None) -> None:
    """Draws that can't be queries and keys explain no number, and nothing is raised."""
    assert not explained(drawn, 3.5, 3, 100)
    assert explain.query_key_pairs(drawn, 16, 8) == []
    assert explain.entropies(drawn, 16, 8)[1] == 0
    assert explain.orders(drawn, 16, 8) == ([], 0)


def test_the_search_is_bounded() -> None:
    """Ten thousand small draws are read in no time, as at most so many pairs."""
    drawn = record([normal(4) for _ in range(10_000)] + [normal(8, 4) for _ in range(2_000)])

    assert len(explain.query_key_pairs(drawn, 4, 8)) <= explain.MAX_ARRAYS
    assert len(explain.normal_arrays(drawn)) <= explain.MAX_ARRAYS


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


# ---------------------------------------------------------------------- trust


@pytest.mark.parametrize(
    "drawn, trusted",
    [
        pytest.param(record([normal(200, 3)]), True, id="honest"),
        pytest.param(record([normal(4)]), True, id="too few to tell"),
        pytest.param(record([np.zeros((200, 3))]), False, id="zeros"),
        pytest.param(record([normal(200, 3) * 2]), False, id="scaled"),
        pytest.param(record([normal(200, 3)], "normal", (0.0, 2.0)), False, id="not standard"),
        pytest.param(record([np.full((2, 3), np.nan)]), False, id="nan"),
        pytest.param(record([np.full((2, 3), 100.0)]), False, id="far out"),
        pytest.param([], False, id="nothing"),
        pytest.param(None, False, id="not recorded"),
    ],
)
def test_which_records_are_trusted(drawn: list[Drawn] | None, trusted: bool) -> None:
    """A record is a claim: numbers that don't look like draws from N(0, 1) explain nothing."""
    assert explain.trustworthy(drawn) is trusted


@pytest.mark.parametrize(
    "arrays, found",
    [
        pytest.param([normal(D), normal(N, D)], True, id="in so many words"),
        pytest.param([normal(N, D), normal(D)], True, id="the other way round"),
        pytest.param([normal(D), normal(D, N)], True, id="columns"),
        pytest.param([normal(N + 1, D)], False, id="in one array"),
        pytest.param([normal(D)], False, id="no keys"),
        pytest.param([np.zeros(D), np.zeros((N, D))], False, id="not honest"),
    ],
)
def test_exact_pairs(arrays: list[Any], found: bool) -> None:
    """It is known what was drawn if query and keys of these very shapes were."""
    assert explain.exact_pairs(record(arrays), D, N) is found


@pytest.mark.parametrize(
    "others, found",
    [
        pytest.param(("permutation",), True, id="permutation"),
        pytest.param(("integers", "shuffle"), True, id="shuffle"),
        pytest.param(("integers",), False, id="whole numbers"),
        pytest.param((), False, id="nothing"),
    ],
)
def test_shuffled(others: tuple[str, ...], found: bool) -> None:
    """A random order that was drawn in place of scores is seen."""
    call = Call(id="ranking/first", session="main", kind="function", name="f")
    outcome = Outcome(call=call.id, kind="returned", draws=Draws(others=others))

    assert explain.shuffled(Seen(call, outcome)) is found


SHAPES = st.lists(st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 6, 12]), max_size=4).map(tuple), max_size=6)


@given(SHAPES, st.sampled_from([1, 2, 3, 4]), st.sampled_from([1, 2, 3, 5]))
@settings(max_examples=300)
def test_whatever_was_drawn_can_be_read(shapes: list[tuple[int, ...]], d: int, n: int) -> None:
    """No draws of whatever shapes make reading them fail: that would be our fault, and hide the learner's."""
    rng = np.random.default_rng(0)
    drawn = record([rng.standard_normal(shape) for shape in shapes])
    for _, Q, K in explain.score_sets(drawn, d):
        assert Q.shape == K.shape
        assert all(math.isfinite(value) for _, value in explain.variances(Q, K, n))
    assert all(math.isfinite(value) for _, value in explain.block_variances(drawn, d))
    for q, k in explain.query_key_pairs(drawn, d, n):
        assert (q.shape, k.shape) == ((d,), (n, d))
    assert np.isfinite(explain.entropies(drawn, d, n)[0]).all()
    assert all(sorted(order) == list(range(n)) for order in explain.orders(drawn, d, n)[0])
    explain.exact_pairs(drawn, d, n)
