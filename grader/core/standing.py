"""Where one attempt stands: all that a page of a whole class needs of a result.

A small record, so that ten thousand of them fit into memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from grader.core.alike import unexplained
from grader.core.catalogue import Catalogue
from grader.model import Note, Result, Status
from grader.model._data import data

__all__ = ["MAX_LOOK", "Look", "Part", "Standing", "standing_of"]

Look = tuple[Literal["review", "integrity", "note"], str]
"""What an instructor should see of an attempt: what kind of thing it is, and a sentence."""

MAX_LOOK = 200
"""Characters of one such sentence."""


@data
class Part:
    """A task's or a criterion's part of a score, in hundredths of a point. A criterion's id is ``"task/criterion"``."""

    id: str
    status: Status
    cents: int
    max_cents: int


@data
class Standing:
    """Where one attempt stands.

    Attributes:
        key: Tells attempts of a run apart.
        name: The learner's or, where it isn't known, the file's.
        folder: Below the page, with the attempt's ``report.html``; ``""`` if there is none.
        reason: Why it isn't graded, in words that follow "not graded:".
        cents, max_cents: The score as it counts, in hundredths of a point.
        late: Whether the source calls it late; None where it doesn't say.
        submitted: When, in the source's own words, or ``""``.
        misconceptions: Pairs of criterion and misconception.
        look: What an instructor should see of it.
        unexplained: Pairs of criterion and group, of failures that no misconception explains.
        adjusted: Whether points were changed after judging.
        duplicate_of: Name of an attempt with the same file, or ``""``.
    """

    key: str
    name: str
    folder: str = ""
    status: Literal["graded", "not_graded"] = "graded"
    reason: str = ""
    cents: int = 0
    max_cents: int = 0
    late: bool | None = None
    submitted: str = ""
    tasks: tuple[Part, ...] = ()
    criteria: tuple[Part, ...] = ()
    misconceptions: tuple[tuple[str, str], ...] = ()
    look: tuple[Look, ...] = ()
    unexplained: tuple[tuple[str, str], ...] = ()
    adjusted: bool = False
    duplicate_of: str = ""


def standing_of(
    result: Result,
    texts: Mapping[str, str],
    *,
    key: str,
    name: str = "",
    folder: str = "",
    reason: str = "",
    late: bool | None = None,
    submitted: str = "",
    duplicate_of: str = "",
) -> Standing:
    """Reduce a result to what the class page needs.

    Args:
        result: The instructor's, with its adjustments: a learner's lacks what is hidden.
        texts: The assignment's catalogue.
        key, name, folder, reason, late, submitted, duplicate_of: As in ``Standing``; without a name, the file's.
    """
    criteria = [(task, criterion) for task in result.tasks for criterion in task.criteria]
    names = ((c.finding.criterion, name) for _, c in criteria for name in c.finding.misconceptions)
    return Standing(
        key=key,
        name=name or result.name,
        folder=folder,
        status=result.status,
        reason=reason,
        cents=result.cents,
        max_cents=result.max_cents,
        late=late,
        submitted=submitted,
        tasks=tuple(
            Part(id=task.id, status=task.status, cents=task.cents, max_cents=task.max_cents) for task in result.tasks
        ),
        criteria=tuple(
            Part(id=f"{task.id}/{c.id}", status=c.status, cents=c.cents, max_cents=c.max_cents) for task, c in criteria
        ),
        misconceptions=tuple(dict.fromkeys(names)),
        look=_look(result, texts),
        unexplained=unexplained(result) if result.status == "graded" else (),
        adjusted=bool(result.adjustments),
        duplicate_of=duplicate_of,
    )


def _look(result: Result, texts: Mapping[str, str]) -> tuple[Look, ...]:
    """Return what the notes tell the instructor, each thing once; what is a learner's alone stays in the report."""
    words = Catalogue(texts)
    notes: list[Note] = [*result.notes]
    for task in result.tasks:
        notes += task.notes
        for criterion in task.criteria:
            notes += criterion.finding.notes
    told = ((note.kind, (words.get(note.text, note.params) or note.text)[:MAX_LOOK]) for note in notes if _asks(note))
    return tuple(dict.fromkeys(told))


def _asks(note: Note) -> bool:
    return note.kind != "note" or note.audience == "instructor"
