"""A class's grades on their way out: what every writer of LMS files is given."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from grader.model._data import data
from grader.model.attempt import Attempt

__all__ = ["Grade", "Gradebook", "TaskGrade"]


@data
class TaskGrade:
    """A task's points, in hundredths."""

    id: str
    title: str
    status: str
    cents: int
    max_cents: int


@data
class Grade:
    """How one attempt ended. What isn't graded must never become a 0 in anybody's gradebook.

    Attributes:
        reason: Why it isn't graded, in words.
        cents, max_cents: Points, in hundredths; 0 and 0 if it isn't graded.
        folder: Name of the folder, below the run's, with its report.html, fragment.html and result.json.
        reports: That folder's path, or None if it isn't graded.
        look: What an instructor should look at, each a sentence.
    """

    attempt: Attempt
    status: Literal["graded", "not_graded"]
    reason: str = ""
    cents: int = 0
    max_cents: int = 0
    tasks: tuple[TaskGrade, ...] = ()
    folder: str = ""
    reports: Path | None = None
    look: tuple[str, ...] = ()


@data
class Gradebook:
    """All grades of a run, in its order, and what they are of."""

    assignment: str
    title: str
    max_cents: int
    grades: tuple[Grade, ...]
