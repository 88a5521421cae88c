"""What leads a task: of all that isn't right, what is told first, because the rest may follow from it."""

from __future__ import annotations

from collections.abc import Iterable

from grader.model import CriterionResult, Status

__all__ = ["LINES", "in_order_of_telling"]

LINES = ("engine.note.line", "engine.note.line_in_cell")
"""Notes that hold the learner's own line, where a call stopped: of a script, and of a notebook."""


def in_order_of_telling(criteria: Iterable[CriterionResult], requires: dict[str, str]) -> list[CriterionResult]:
    """Return the criteria that aren't right: core ones first, and with them those that a core one waits for.

    Args:
        criteria: Of one task, as it lists them.
        requires: Which criterion waits for which one.
    """
    every = tuple(criteria)
    waited_for = {requires.get(c.id, "") for c in every if c.core and c.status is Status.BLOCKED}
    wrong = [c for c in every if c.status in (Status.FAILED, Status.PARTIAL)]
    wrong.sort(key=lambda criterion: not (criterion.core or criterion.id in waited_for))
    return wrong
