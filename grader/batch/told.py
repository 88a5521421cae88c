"""What others are told of an attempt: the gradebook of its grade, the class page of where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grader.batch.messages import Row
from grader.batch.tally import NOTHING_RAN
from grader.core.standing import Look, Part, Standing
from grader.model import Status
from grader.model.attempt import Attempt
from grader.model.gradebook import Grade, TaskGrade

__all__ = ["grade_of", "standing_of"]


def grade_of(row: Row, attempt: Attempt, *, titles: Mapping[str, str], reports: Path) -> Grade:
    """Return a grade.

    Args:
        row: How the attempt ended, or why it hasn't.
        attempt: Whose it is.
        titles: Of the tasks.
        reports: The folder with its files.
    """
    if row.status != "graded":
        return Grade(attempt=attempt, status=row.status, reason=row.reason, folder=row.folder, look=attempt.remarks)
    return Grade(
        attempt=attempt,
        status=row.status,
        cents=row.cents,
        max_cents=row.max_cents,
        tasks=tuple(
            TaskGrade(id=id_, title=titles.get(id_, id_), status=status, cents=cents, max_cents=most)
            for id_, status, cents, most in row.tasks
        ),
        folder=row.folder,
        reports=reports,
        look=(*_own_remarks(row), *(text for _, text in row.look), *attempt.remarks),
    )


def standing_of(row: Row, attempt: Attempt, *, name: str, duplicate_of: str = "") -> Standing:
    """Return where an attempt stands: what a worker said of it, and what is known of its learner.

    Args:
        row: How the attempt ended, or why it hasn't.
        attempt: Whose it is.
        name: What it is called.
        duplicate_of: Name of an attempt with the same file.
    """
    remarks = tuple(_note(text) for text in (*_own_remarks(row), *attempt.remarks))
    if row.status != "graded":
        return Standing(
            key=attempt.key,
            name=name,
            status=row.status,
            reason=row.reason,
            late=attempt.late,
            submitted=attempt.submitted,
            look=remarks,
        )
    return Standing(
        key=attempt.key,
        name=name,
        folder=row.folder,
        cents=row.cents,
        max_cents=row.max_cents,
        late=attempt.late,
        submitted=attempt.submitted,
        tasks=tuple(_part(part) for part in row.tasks),
        criteria=tuple(_part(part) for part in row.criteria),
        misconceptions=row.misconceptions,
        look=(*row.look, *remarks),
        unexplained=row.unexplained,
        adjusted=row.adjusted,
        duplicate_of=duplicate_of,
    )


def _own_remarks(row: Row) -> tuple[str, ...]:
    return (NOTHING_RAN,) if row.unloaded else ()


def _note(text: str) -> Look:
    return ("note", text)


def _part(part: tuple[str, str, int, int]) -> Part:
    id_, status, cents, most = part
    return Part(id=id_, status=Status(status), cents=cents, max_cents=most)
