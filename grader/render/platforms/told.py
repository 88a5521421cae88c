"""What is told of a result, criterion by criterion, before any platform's format is put around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.core.redact import redact
from grader.model import CriterionResult, Result, Status, TaskResult
from grader.model._data import data
from grader.render.comparison import ComparisonView
from grader.render.evidence import evidence_view
from grader.render.figures import points
from grader.render.task_view import CriterionView, TaskView, cause_of, hints_of, message_of, next_of
from grader.render.view import ReportView, build
from grader.render.words import Paragraph, Rich, Span, Words, bare, marked

if TYPE_CHECKING:  # it would load NumPy
    from grader.core.assignment import Assignment

__all__ = ["Told", "Verdict", "number", "tell"]


@data
class Verdict:
    """One criterion with its points, in hundredths, and everything that is said of it.

    Attributes:
        id: ``"<task>/<criterion>"``.
        function: The function that it is about.
        word: The status in words, such as what it waits for.
        message: What was found; for a criterion without a message of its own, that of its task.
        next: What to do about it; empty where nothing is.
        hints: Up to the level that was asked for.
    """

    id: str
    function: str
    title: str
    status: Status
    word: str
    cents: int
    max_cents: int
    message: Rich
    next: Rich
    hints: tuple[str, ...]

    @property
    def task(self) -> str:
        """The task's part of the id."""
        return self.id.partition("/")[0]

    @property
    def score(self) -> str:
        """The points in words of numbers: ``4 / 12``; of what we could not grade, none are known."""
        if self.status is Status.NOT_GRADED:
            return f"– / {points(self.max_cents)}"
        return f"{points(self.cents)} / {points(self.max_cents)}"


@data
class Told:
    """A result as its learner may see it.

    Attributes:
        result: Already redacted.
        view: The report; all its texts are resolved.
        verdicts: One for each criterion, as the assignment lists them.
        next_word: What a next step begins with.
    """

    result: Result
    view: ReportView
    verdicts: tuple[Verdict, ...]
    next_word: str

    @property
    def summary(self) -> Rich:
        """What works, why something wasn't graded, the one next step, and notes on the file."""
        view = self.view
        step = tuple(
            Paragraph(spans=(Span(text=f"{self.next_word} "), *paragraph.spans)) if number == 0 else paragraph
            for number, paragraph in enumerate(view.next)
        )
        return (*view.works, *view.after, *step, *(paragraph for note in view.notes for paragraph in note))

    def text(self, verdict: Verdict) -> str:
        """Return all that is said of a criterion as plain text, code in backticks."""
        parts = [marked(verdict.message)]
        if verdict.next:
            parts.append(f"{self.next_word} {marked(verdict.next)}")
        parts += [f"{self.view.words[f'hint{level}']}: {hint}" for level, hint in enumerate(verdict.hints, 1)]
        return "\n\n".join(part for part in parts if part)


def tell(result: Result, assignment: Assignment, *, hints: int = 0) -> Told:
    """Resolve what a learner may see of ``result``, whoever asks: redaction happens here.

    Args:
        result: What was found.
        assignment: Whose catalogue the texts come from.
        hints: How many levels of hints are told.
    """
    public = redact(result, "learner")
    words = Words(assignment.texts)
    view = build(public, assignment, hints=hints)
    verdicts = [
        _verdict(criterion, shown, task, seen, words, hints)
        for task, seen in zip(public.tasks, view.in_order, strict=True)
        for criterion, shown in zip(task.criteria, seen.criteria, strict=True)
    ]
    return Told(result=public, view=view, verdicts=tuple(verdicts), next_word=view.words["next"])


def number(cents: int) -> int | float:
    """Return hundredths as points, whole where they are."""
    return cents // 100 if cents % 100 == 0 else cents / 100


def _verdict(
    criterion: CriterionResult, shown: CriterionView, task: TaskResult, seen: TaskView, words: Words, hints: int
) -> Verdict:
    finding = criterion.finding
    right = criterion.status is Status.PASSED
    message = message_of(finding, words)
    said = message + cause_of(finding, message, words)
    for item in finding.evidence if not right else ():
        view = evidence_view(item, words)
        if isinstance(view, ComparisonView):
            said += view.sentence[:1]  # the rest speaks of the tables below it
    remarks = tuple(paragraph for remark in shown.remarks for paragraph in remark)
    if not right and not said and not criterion.hidden and criterion.status is not Status.BLOCKED:
        said = seen.message
    return Verdict(
        id=f"{task.id}/{criterion.id}",
        function=seen.function,
        title=bare(shown.title),
        status=criterion.status,
        word=f"{shown.status.word}, {shown.status.more}" if shown.status.more else shown.status.word,
        cents=criterion.cents,
        max_cents=criterion.max_cents,
        message=said + remarks,
        next=() if right else next_of(finding, words),
        hints=() if right else tuple(marked(hint.text) for hint in hints_of(finding, words, hints)),
    )
