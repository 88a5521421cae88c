"""What changed between an earlier result and this one: points, and criteria that turned."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grader.model import Result, Status
from grader.model._data import data

__all__ = ["Changes", "Marks", "changes_of", "marks_of", "read_marks"]

SCHEMA = "grade.result/1"
MOST_POINTS = 1_000_000


@data
class Marks:
    """What a result says of the points, and no more.

    Attributes:
        graded: Whether it is a grade at all; if not, something of ours failed.
        cents: Points, in hundredths.
        criteria: Status by ``"<task>/<criterion>"``.
    """

    assignment: str
    version: str
    graded: bool
    cents: int
    criteria: Mapping[str, Status]


@data
class Changes:
    """What changed.

    Attributes:
        before, now: Points, in hundredths.
        right: Criteria that weren't passed before and are now, as ``"<task>/<criterion>"``, in the assignment's order.
        wrong: Criteria that were passed before and aren't any more.
    """

    before: int
    now: int
    right: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def none(self) -> bool:
        """Whether everything is as it was."""
        return self.before == self.now and not self.right and not self.wrong


def marks_of(result: Result) -> Marks:
    """Return where ``result`` stands."""
    return Marks(
        assignment=result.assignment,
        version=result.version,
        graded=result.status == "graded",
        cents=result.cents,
        criteria={f"{task.id}/{c.id}": c.status for task in result.tasks for c in task.criteria},
    )


def read_marks(document: object) -> Marks:
    """Return where the result in a decoded ``result.json`` stands.

    Raises:
        ValueError: If it isn't such a document.
    """
    top = _mapping(document)
    if top.get("schema") != SCHEMA:
        raise ValueError("schema")
    about = _mapping(top.get("assignment"))
    criteria = {}
    for task in map(_mapping, _list(top.get("tasks"))):
        for criterion in map(_mapping, _list(task.get("criteria"))):
            criteria[f"{_text(task.get('id'))}/{_text(criterion.get('id'))}"] = Status(_text(criterion.get("status")))
    return Marks(
        assignment=_text(about.get("id")),
        version=_text(about.get("version")),
        graded=_text(top.get("status")) == "graded",
        cents=_cents(top.get("score")),
        criteria=criteria,
    )


def changes_of(before: Marks, now: Marks) -> Changes:
    """Compare two standings of one assignment. What we could not grade, then or now, has changed nothing."""
    right, wrong = [], []
    for name, status in now.criteria.items():
        earlier = before.criteria.get(name)
        if earlier is None or Status.NOT_GRADED in (earlier, status):
            continue
        if status is Status.PASSED and earlier is not Status.PASSED:
            right.append(name)
        elif earlier is Status.PASSED and status is not Status.PASSED:
            wrong.append(name)
    return Changes(before=before.cents, now=now.cents, right=tuple(right), wrong=tuple(wrong))


def _mapping(value: object) -> Mapping[object, object]:
    if not isinstance(value, dict):
        raise ValueError("mapping")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError("list")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("text")
    return value


def _cents(value: object) -> int:
    if not isinstance(value, int | float) or not math.isfinite(value) or abs(value) > MOST_POINTS:
        raise ValueError("points")
    return round(value * 100)
