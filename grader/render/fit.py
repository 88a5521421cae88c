"""A view that takes less room: what a submission makes its checks show and say must not make a page that nobody opens.

An honest report has room to spare. Where one hasn't, pictures and tables go first, the least telling before the others,
then long texts are cut. Points, statuses, the next step and the hints stay.
"""

from __future__ import annotations

from grader.model import Status
from grader.model._data import replace
from grader.render.task_view import FindingView, TaskView
from grader.render.view import ReportView
from grader.render.words import Paragraph, Rich, Span

__all__ = ["LEVELS", "leaner"]

LEVELS = 3
"""How often a view can be made leaner."""

MOST_NOTES = 3
MOST_FINDINGS = 3
MOST_EVIDENCE = 2
SNIPPET = 2_000
LETTERS = (0, 600, 600, 200)
"""Of a text, by level: 600 is more than any text of ours has."""


def leaner(view: ReportView, level: int) -> ReportView:
    """Return what of ``view`` is shown at a level: 0 all of it, ``LEVELS`` the least."""
    if level == 0:
        return view
    letters = LETTERS[level]
    return replace(
        view,
        tasks=tuple(_task(task, level, focus=task.id == view.focus) for task in view.tasks),
        notes=_notes(view.notes, letters),
        next=_cut(view.next, letters),
        left_out=True,
    )


def _task(task: TaskView, level: int, *, focus: bool) -> TaskView:
    """Show evidence of the first finding of every task, then of the one that the next step is about, then none."""
    letters = LETTERS[level]
    shows = (level == 1 and task.status.id is not Status.PASSED) or (level == 2 and focus)
    return replace(
        task,
        message=_cut(task.message, letters),
        stopped=_notes(task.stopped, letters),
        told=_notes(task.told, letters),
        notes=_notes(task.notes, letters),
        findings=tuple(
            _finding(finding, letters, shown=MOST_EVIDENCE if shows and at == 0 else 0)
            for at, finding in enumerate(task.findings[:MOST_FINDINGS])
        ),
    )


def _finding(finding: FindingView, letters: int, *, shown: int) -> FindingView:
    return replace(
        finding,
        message=_cut(finding.message, letters),
        cause=_cut(finding.cause, letters),
        evidence=finding.evidence[:shown],
        snippet=finding.snippet if len(finding.snippet) <= SNIPPET else "",
        behind=_cut(finding.behind, letters),
    )


def _notes(notes: tuple[Rich, ...], letters: int) -> tuple[Rich, ...]:
    return tuple(_cut(note, letters) for note in notes[:MOST_NOTES])


def _cut(text: Rich, letters: int) -> Rich:
    """Return the first letters of a text, with a sign that it went on."""
    paragraphs: list[Paragraph] = []
    for paragraph in text:
        spans: list[Span] = []
        for span in paragraph.spans:
            if len(span.text) > letters:
                spans.append(replace(span, text=f"{span.text[:letters]}…"))
                return (*paragraphs, Paragraph(spans=tuple(spans)))
            spans.append(span)
            letters -= len(span.text)
        paragraphs.append(Paragraph(spans=tuple(spans)))
    return tuple(paragraphs)
