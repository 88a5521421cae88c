"""What recorded draws are read as: bounded, never in vain, and only what may be trusted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.core.observed import Drawn, Seen
from grader.model import Call, Draws, Outcome
from reference.attention import explain
from tests.reference.drawn import explained, normal, record

D, N = 16, 8


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
