"""A class's statistics, against their plain definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from grader.core.classroom import correlation, groups_of, hardest, items_of, misconceptions_of, quantile, spread_of
from grader.core.standing import Part, Standing, standing_of
from grader.model import Note, Status
from tests.render.course import TASKS, assignment
from tests.render.samples import failing, not_graded, one_mistake

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def standing(cents: int, top: int = 10_000, *, status: str = "graded", **more: object) -> Standing:
    """An attempt with a score."""
    made = Standing(key=str(cents), name=f"student {cents}", cents=cents, max_cents=top)
    return replace(made, status=status, **more)  # type: ignore[arg-type]  # fields of any type


def scored(points: tuple[int, ...], statuses: tuple[Status, ...] = ()) -> Standing:
    """An attempt with criteria of a point each, in hundredths."""
    names = statuses or (Status.PARTIAL,) * len(points)
    parts = tuple(
        Part(id=f"t/{at}", status=status, cents=cents, max_cents=100)
        for at, (cents, status) in enumerate(zip(points, names, strict=True))
    )
    return standing(sum(points), criteria=parts)


@given(st.lists(st.integers(0, 10_000), min_size=1), st.sampled_from(SHARES))
def test_a_quantile_is_a_score_that_somebody_has(scores: list[int], share: float) -> None:
    """It is the first definition of Hyndman and Fan."""
    found = quantile(sorted(scores), share)

    assert found == np.quantile(scores, share, method="inverted_cdf")
    assert sum(score <= found for score in scores) >= share * len(scores)
    # What the page says: at least half have as much as the median or more.
    assert share != 0.5 or 2 * sum(score >= found for score in scores) >= len(scores)


@given(st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(["graded", "not_graded"]))))
def test_the_spread_is_of_the_graded(rows: list[tuple[int, str]]) -> None:
    """Every graded score is in one bin, and full marks are a bin of their own."""
    spread = spread_of([standing(cents, status=status) for cents, status in rows])
    graded = [cents for cents, status in rows if status == "graded"]

    assert sum(spread.bins) == spread.count == len(graded)
    assert [spread.low, spread.high] == ([min(graded), max(graded)] if graded else [0, 0])
    assert spread.full == graded.count(10_000)
    assert spread.bins[0] == sum(cents < 1000 for cents in graded)
    assert spread.bins[9] == sum(9000 <= cents < 10_000 for cents in graded)


@pytest.mark.parametrize("cents, at", [(-50, 0), (0, 0), (999, 0), (1000, 1), (9999, 9), (10_000, 10), (11_000, 10)])
def test_each_score_has_its_bin(cents: int, at: int) -> None:
    """Also one below nothing, and one above all points."""
    assert spread_of([standing(cents)]).bins[at] == 1


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), max_size=40))
def test_correlation_is_pearsons(pairs: list[tuple[int, int]]) -> None:
    """It is defined where both series vary, and what SciPy gives there."""
    one, other = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    found = correlation(one, other)

    assert (found is None) == (len(set(one)) < 2 or len(set(other)) < 2)
    if found is not None:
        assert found == pytest.approx(scipy.stats.pearsonr(one, other).statistic, abs=1e-9)
        assert found == correlation(other, one)
        assert -1 <= found <= 1


def test_correlation_of_unequal_lengths_is_refused() -> None:
    """Two series that don't belong together have none."""
    with pytest.raises(ValueError, match="different lengths"):
        correlation([1.0], [1.0, 2.0])


@given(st.lists(st.lists(st.integers(0, 100), min_size=3, max_size=3), min_size=1, max_size=30))
def test_discrimination_leaves_the_item_out_of_the_total(rows: list[list[int]]) -> None:
    """An item of which the rest knows nothing doesn't discriminate because it is part of the total."""
    items = items_of([scored(tuple(row)) for row in rows])
    table = np.array(rows, dtype=float)

    for at, item in enumerate(items):
        rest = table.sum(axis=1) - table[:, at]
        assert item.success == pytest.approx(table[:, at].mean() / 100)
        if np.ptp(table[:, at]) and np.ptp(rest):
            assert item.discrimination == pytest.approx(scipy.stats.pearsonr(table[:, at], rest).statistic, abs=1e-9)
        else:
            assert item.discrimination is None


def test_what_waits_isnt_counted() -> None:
    """A criterion that waits for another tells nothing of itself, and what isn't graded of nothing."""
    waits = (Status.FAILED, Status.BLOCKED)
    rows = [scored((0, 0), waits), scored((100, 50)), scored((100, 100)), replace(scored((0, 0)), status="not_graded")]
    first, second = items_of(rows)

    assert first.count == 3
    assert first.success == pytest.approx(2 / 3)
    assert (second.count, second.success) == (2, 0.75)
    assert second.discrimination is None
    assert hardest([first, second]) == first
    assert hardest(items_of([scored((100, 100))])) is None
    assert items_of([]) == ()
    assert [item.success for item in items_of([scored((0,), (Status.BLOCKED,))])] == [None]


def test_misconceptions_count_students() -> None:
    """Each student once for each, the most frequent first."""
    rows = [
        standing(1, misconceptions=(("a/x", "one"), ("b/y", "one"), ("a/x", "two"))),
        standing(2, misconceptions=(("a/x", "two"),)),
        standing(3, misconceptions=(("a/x", "three"),), status="not_graded"),
    ]

    assert misconceptions_of(rows) == (("two", 2), ("one", 1))


def test_groups_hold_who_fails_alike() -> None:
    """The largest first, members in the order given."""
    rows = [
        standing(1, unexplained=(("a/x", "rare"),)),
        standing(2, unexplained=(("a/x", "many"), ("b/y", "rare"))),
        standing(3, unexplained=(("a/x", "many"),)),
        standing(4, unexplained=(("a/x", "many"),), status="not_graded"),
    ]
    found = groups_of(rows)

    assert [(group.id, group.criterion, [one.cents for one in group.members]) for group in found] == [
        ("many", "a/x", [2, 3]),
        ("rare", "a/x", [1]),
        ("rare", "b/y", [2]),
    ]


def test_a_standing_is_what_the_result_says() -> None:
    """Points, misconceptions and notes for the instructor; what is explained isn't unexplained."""
    texts = assignment().texts
    result = one_mistake()
    made = standing_of(result, texts, key="6", name="Ada", folder="ada-6", late=True, submitted="Monday")

    assert (made.cents, made.max_cents, made.name, made.late) == (result.cents, result.max_cents, "Ada", True)
    assert [part.cents for part in made.tasks] == [task.cents for task in result.tasks]
    assert [part.id for part in made.criteria][:2] == ["softmax/rows", "softmax/axis"]
    assert len(made.criteria) == sum(len(task.criteria) for task in TASKS)
    assert made.misconceptions == (("attention/weights", "no-scale"),)
    assert made.unexplained == ()
    assert made.look == ()
    assert standing_of(result, texts, key="6").name == result.name


def test_a_standing_says_what_to_look_at() -> None:
    """Each sentence once and no longer than its room; a learner's own notes stay in the report."""
    note = Note(text="note.review", kind="review", audience="instructor")
    long = Note(text="note.hostile", params=(("message", "x" * 500),), kind="integrity", audience="instructor")
    result = failing()
    made = standing_of(replace(result, notes=(note, note, long, Note(text="note.slow"))), assignment().texts, key="1")

    kinds = [kind for kind, _ in made.look]
    assert kinds == ["review", "integrity"]
    assert made.look[0][1] == "The draws of this call could not be followed."
    assert max(len(text) for _, text in made.look) == 200
    assert made.adjusted is True


def test_what_isnt_graded_is_in_no_group() -> None:
    """A fault of ours isn't a failure of theirs."""
    made = standing_of(not_graded(), assignment().texts, key="1", reason="a check of the course failed")

    assert (made.status, made.reason) == ("not_graded", "a check of the course failed")
    assert made.unexplained == ()
