"""``redact``: what an audience may see. It happens before anything is rendered, so no template can leak."""

from __future__ import annotations

from typing import Literal

from grader.model import CriterionResult, Note, Result, TaskResult
from grader.model._data import replace

__all__ = ["Audience", "redact"]

Audience = Literal["learner", "instructor"]


def redact(result: Result, audience: Audience) -> Result:
    """Return what ``audience`` may see of ``result``.

    A learner sees no note meant for the instructor, and of a hidden criterion its verdict and points only:
    no message, input, number, exception text or printed line.
    """
    if audience == "instructor":
        return result
    return replace(result, notes=_for_learners(result.notes), tasks=tuple(_task(task) for task in result.tasks))


def _task(task: TaskResult) -> TaskResult:
    criteria = tuple(_criterion(criterion) for criterion in task.criteria)
    hidden_lead = any(
        before.hidden and before.finding.text == task.text and before.finding.params == task.params
        for before in task.criteria
        if task.text
    )
    return replace(
        task,
        criteria=criteria,
        notes=_for_learners(task.notes),
        text="engine.task.hidden" if hidden_lead else task.text,
        params=() if hidden_lead else task.params,
    )


def _criterion(criterion: CriterionResult) -> CriterionResult:
    finding = criterion.finding
    if criterion.hidden:
        finding = replace(
            finding, text="", params=(), calls=(), misconceptions=(), knock_on="", evidence=(), snippet="", notes=()
        )
    return replace(criterion, finding=replace(finding, notes=_for_learners(finding.notes)))


def _for_learners(notes: tuple[Note, ...]) -> tuple[Note, ...]:
    """Leave out what is for the instructor alone; that somebody will look is told, why isn't."""
    told = [
        Note(text="engine.note.review", kind="review")
        if note.kind == "review" and note.audience == "instructor"
        else note
        for note in notes
    ]
    return tuple(dict.fromkeys(note for note in told if note.audience == "learner" and note.kind != "integrity"))
