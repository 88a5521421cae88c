"""What changed between two results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from grader.core.changes import Marks, changes_of, read_marks
from grader.model import Status

P, T, F, B, M, N = (
    Status.PASSED, Status.PARTIAL, Status.FAILED, Status.BLOCKED, Status.MISSING, Status.NOT_GRADED,
)  # fmt: skip


def standing(cents: int, criteria: Mapping[str, Status]) -> Marks:
    """Make a standing of one assignment."""
    return Marks(assignment="small", version="1", graded=True, cents=cents, criteria=criteria)


TURNS: list[tuple[Status, Status, str]] = [
    (F, P, "right"), (T, P, "right"), (B, P, "right"), (M, P, "right"),
    (P, F, "wrong"), (P, T, "wrong"), (P, B, "wrong"), (P, M, "wrong"),
    (P, P, ""), (F, F, ""), (F, T, ""), (M, B, ""), (N, P, ""), (P, N, ""), (N, F, ""),
]  # fmt: skip


@pytest.mark.parametrize("before, now, turned", TURNS, ids=[f"{a} to {b}" for a, b, _ in TURNS])
def test_turns(before: Status, now: Status, turned: str) -> None:
    """A criterion turns when it becomes passed, or is passed no longer; our own fault turns nothing."""
    changes = changes_of(standing(100, {"a/x": before}), standing(300, {"a/x": now}))

    assert (changes.before, changes.now) == (100, 300)
    assert changes.right == (("a/x",) if turned == "right" else ())
    assert changes.wrong == (("a/x",) if turned == "wrong" else ())


def test_order_and_strangers() -> None:
    """Criteria come in the assignment's order; one that only the older result knows is left out."""
    before = standing(0, {"gone/z": P, "b/y": F, "a/x": F})

    assert changes_of(before, standing(5, {"a/x": P, "b/y": P, "new/n": P})).right == ("a/x", "b/y")


STATUSES = st.dictionaries(st.sampled_from(["a/x", "a/y", "b/x", "b/y"]), st.sampled_from(Status))


@given(STATUSES, STATUSES, st.integers(0, 10_000), st.integers(0, 10_000))
def test_there_and_back(one: dict[str, Status], other: dict[str, Status], cents: int, later: int) -> None:
    """The way back turns the same criteria the other way, and nothing changes without a change."""
    first, second = standing(cents, one), standing(later, other)
    there, back = changes_of(first, second), changes_of(second, first)

    assert (set(there.right), set(there.wrong)) == (set(back.wrong), set(back.right))
    assert changes_of(first, first).none


def document(**changes: object) -> dict[str, Any]:
    """Make a result.json, as far as it matters."""
    criteria = [{"id": "x", "status": "passed"}, {"id": "y", "status": "failed"}]
    made: dict[str, Any] = {
        "schema": "grade.result/1",
        "assignment": {"id": "small", "version": "1"},
        "status": "graded",
        "score": 2.5,
        "tasks": [{"id": "a", "criteria": criteria}],
    }
    return made | changes


def test_reading() -> None:
    """What matters of a document is read, whatever else it holds."""
    assert read_marks(document(more=[1])) == standing(250, {"a/x": P, "a/y": F})


BROKEN: dict[str, object] = {
    "no mapping": [],
    "another schema": document(schema="grade.batch/1"),
    "no tasks": document(tasks=None),
    "a task that is a text": document(tasks=["a"]),
    "an odd status": document(tasks=[{"id": "a", "criteria": [{"id": "x", "status": "fine"}]}]),
    "an id that is no text": document(tasks=[{"id": 3, "criteria": [{"id": "x", "status": "passed"}]}]),
    "no points": document(score=None),
    "points without end": document(score=float("inf")),
    "too many points": document(score=1e300),
    "no assignment": document(assignment="small"),
}


@pytest.mark.parametrize("title", BROKEN)
def test_what_is_no_result(title: str) -> None:
    """Anything else is refused, and never with another error."""
    with pytest.raises(ValueError, match=r".+"):
        read_marks(BROKEN[title])
