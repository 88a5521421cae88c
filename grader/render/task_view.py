"""One task of a report: its message, its criteria with their points, and what stands behind them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from grader.core.lead import LINES, in_order_of_telling
from grader.core.redact import Audience
from grader.core.sentence import SENTENCE
from grader.model import CriterionResult, Evidence, Finding, Note, Params, Status, Table, TaskResult
from grader.model._data import data
from grader.render import clean
from grader.render.evidence import EvidenceView, evidence_view
from grader.render.figures import points
from grader.render.words import Paragraph, Rich, Span, Words, bare, inline

if TYPE_CHECKING:  # it would load NumPy
    from grader.core.assignment import Assignment

__all__ = [
    "CriterionView",
    "FindingView",
    "HintView",
    "StatusView",
    "TaskView",
    "advice",
    "cause_of",
    "hints_of",
    "knock_on_of",
    "message_of",
    "next_of",
    "notes_of",
    "task_view",
    "told_first",
]

ICONS = {
    Status.PASSED: "✓",
    Status.PARTIAL: "◐",
    Status.FAILED: "✗",
    Status.BLOCKED: "‖",
    Status.MISSING: "○",
    Status.NOT_GRADED: "!",
}
HINT_LEVELS = 3
MOST_CALLS = 6
MOST_LINES = 3


@data
class StatusView:
    """A status as an icon and a word, never the one without the other; ``more`` says what the word leaves open."""

    id: Status
    icon: str
    word: str
    more: str = ""


@data
class CriterionView:
    """A row of the points table."""

    id: str
    title: Rich
    status: StatusView
    score: str
    max_score: str
    remarks: tuple[Rich, ...]


@data
class HintView:
    """A hint of one level."""

    level: int
    title: str
    text: Rich


@data
class FindingView:
    """What is said of one criterion.

    Attributes:
        title: The criterion's title; empty for the finding that leads its task.
        message: What was found.
        cause: Heading and text of the misconception that explains it; empty when the message says it.
        hint_levels: How many levels of hints there are for whoever asks, shown or not.
        held: The course holds back a hint of a higher level.
        behind: For the instructor: the criterion, its calls and the misconceptions. Empty for a learner.
    """

    title: tuple[Span, ...] = ()
    message: Rich = ()
    cause: Rich = ()
    evidence: tuple[EvidenceView, ...] = ()
    hints: tuple[HintView, ...] = ()
    hint_levels: int = 0
    held: bool = False
    snippet: str = ""
    behind: Rich = ()


@data
class TaskView:
    """A task, ready to be shown.

    Attributes:
        position: Its place in the assignment.
        stopped: The learner's own lines where calls stopped.
        told: What the instructor says.
    """

    id: str
    position: int
    title: tuple[Span, ...]
    function: str
    status: StatusView
    score: str
    max_score: str
    message: Rich
    stopped: tuple[Rich, ...]
    told: tuple[Rich, ...]
    notes: tuple[Rich, ...]
    findings: tuple[FindingView, ...]
    criteria: tuple[CriterionView, ...]

    @property
    def bare_title(self) -> str:
        """The title without marks."""
        return "".join(span.text for span in self.title)


def task_view(
    task: TaskResult, assignment: Assignment, words: Words, position: int, hints: int, audience: Audience = "learner"
) -> TaskView:
    """Resolve one task."""
    wrong = told_first(task, assignment)
    wrong.sort(key=lambda criterion: not criterion.finding.text)
    message = words.rich(task.text, task.params) or (message_of(wrong[0].finding, words) if wrong else ())
    notes = (*task.notes, *(note for c in task.criteria for note in c.finding.notes))
    return TaskView(
        id=task.id,
        position=position,
        title=inline(words.titled(f"{task.id}.title", task.function)),
        function=clean.html(task.function),
        status=_status(task.status, words),
        score=_score(task.status, task.cents),
        max_score=points(task.max_cents),
        message=message,
        stopped=notes_of((note for note in notes if note.text in LINES), words)[:MOST_LINES],
        told=notes_of((note for note in notes if note.text == SENTENCE), words),
        notes=notes_of((note for note in notes if note.text not in (SENTENCE, *LINES)), words),
        findings=_findings(task, wrong, assignment, words, hints, message, audience) or _pictures(task, words),
        criteria=tuple(_criterion(criterion, task, assignment, words) for criterion in task.criteria),
    )


def _status(status: Status, words: Words) -> StatusView:
    more = words.plain("status.not_graded_points") if status is Status.NOT_GRADED else ""
    return StatusView(id=status, icon=ICONS[status], word=words.plain(f"status.{status}"), more=more)


def _score(status: Status, cents: int) -> str:
    """Write the points; of what we could not grade, none are known."""
    return "–" if status is Status.NOT_GRADED else points(cents)


def notes_of(notes: Iterable[Note], words: Words) -> tuple[Rich, ...]:
    """Resolve notes, each once; one that isn't the learner's says whose it is."""
    shown: list[Rich] = []
    for note in notes:
        if note.text == "engine.note.review":
            # Said beside its criterion.
            continue
        text = words.rich(note.text, note.params)
        if text and note.audience == "instructor":
            spans = (*inline(words.own("page.instructor")), Span(text=" "), *text[0].spans)
            text = (Paragraph(spans=spans), *text[1:])
        if text and text not in shown:
            shown.append(text)
    return tuple(shown)


def _criterion(criterion: CriterionResult, task: TaskResult, assignment: Assignment, words: Words) -> CriterionView:
    status = _status(criterion.status, words)
    waits_for = _requires(assignment, task.id).get(criterion.id, "")
    if criterion.status is Status.BLOCKED and waits_for:
        title = inline(words.titled(f"{task.id}.{waits_for}.title", waits_for))
        status = StatusView(
            id=status.id, icon=status.icon, word=bare(words.around("status.blocked_for", "title", title))
        )
    remarks: list[Rich] = []
    if criterion.finding.knock_on:
        remarks.append(knock_on_of(criterion.finding, assignment, words))
    if criterion.hidden:
        remarks.append(words.own("page.hidden"))
    if any(note.kind == "review" for note in criterion.finding.notes):
        remarks.append(words.own("page.review"))
    return CriterionView(
        id=criterion.id,
        title=words.titled(f"{task.id}.{criterion.id}.title", criterion.id),
        status=status,
        score=_score(criterion.status, criterion.cents),
        max_score=points(criterion.max_cents),
        remarks=tuple(remarks),
    )


def told_first(task: TaskResult, assignment: Assignment) -> list[CriterionResult]:
    """Return the criteria of a task that aren't right, in the order in which they are told."""
    return in_order_of_telling(task.criteria, _requires(assignment, task.id))


def _requires(assignment: Assignment, task_id: str) -> dict[str, str]:
    return {c.id: c.requires for task in assignment.tasks if task.id == task_id for c in task.criteria}


def knock_on_of(finding: Finding, assignment: Assignment, words: Words) -> Rich:
    """Say what a criterion was judged with, so that one mistake costs once.

    ``knock_on`` is a text of the catalogue, or the id of the task whose stand-in was used, or anything else.
    """
    if finding.knock_on in words:
        return words.rich(finding.knock_on, finding.params)
    for task in assignment.tasks:
        if task.id == finding.knock_on:
            return words.own("page.knock_on_task", (("function", task.function),))
    return words.own("page.knock_on")


def message_of(finding: Finding, words: Words) -> Rich:
    """Resolve what a finding says; of a misconception alone when it has no text of its own."""
    text = words.rich(finding.text, finding.params)
    if not text and len(finding.misconceptions) == 1:
        text = words.rich(f"misconception.{finding.misconceptions[0]}.text", finding.params)
    return text


def next_of(finding: Finding, words: Words) -> Rich:
    """Say what to do about a finding: its text's own advice, else that of its one misconception."""
    keys = [finding.text]
    if len(finding.misconceptions) == 1:
        keys.append(f"misconception.{finding.misconceptions[0]}")
    found = (advice(key, finding.params, words) for key in keys)
    return next((text for text in found if text), ())


def advice(key: str, params: Params, words: Words) -> Rich:
    """Return the next step that belongs to a text; nothing if it has none."""
    return words.rich(f"{key}.next", params) or words.rich(f"{key.removesuffix('.text')}.next", params)


def cause_of(finding: Finding, message: Rich, words: Words) -> Rich:
    """Name the misconception, unless the message is its text already, or several explain the same numbers."""
    if len(finding.misconceptions) != 1:
        return ()
    base = f"misconception.{finding.misconceptions[0]}"
    text = words.rich(f"{base}.text", finding.params)
    title = words.rich(f"{base}.title", finding.params)
    if not title or finding.text.startswith(base + ".") or text == message:
        return ()
    return words.around("page.cause", "title", inline(title)) + text


def hints_of(finding: Finding, words: Words, most: int) -> tuple[HintView, ...]:
    """Return the hints of a finding up to level ``most``: its text's own, else those of its one misconception."""
    bases = [finding.text, finding.text.removesuffix(".text")]
    if len(finding.misconceptions) == 1:
        bases.append(f"misconception.{finding.misconceptions[0]}")
    base = next((b for b in bases if b and any(f"{b}.hint{n}" in words for n in range(1, HINT_LEVELS + 1))), "")
    made = (
        HintView(level=n, title=words.plain(f"page.hint{n}"), text=words.rich(f"{base}.hint{n}", finding.params))
        for n in range(1, min(most, HINT_LEVELS) + 1)
    )
    return tuple(hint for hint in made if base and hint.text)


def _pictures(task: TaskResult, words: Words) -> tuple[FindingView, ...]:
    """What a right task has to show: its weights, its curves."""
    if task.status is not Status.PASSED:
        return ()
    items = [item for criterion in task.criteria for item in criterion.finding.evidence if not isinstance(item, Table)]
    evidence = tuple(evidence_view(item, words) for item in items)
    return (FindingView(evidence=evidence),) if evidence else ()


def _findings(
    task: TaskResult,
    wrong: list[CriterionResult],
    assignment: Assignment,
    words: Words,
    hints: int,
    lead: Rich,
    audience: Audience,
) -> tuple[FindingView, ...]:
    """What is said of the criteria that aren't right, the lead first, and nothing twice."""
    made: list[FindingView] = []
    if task.evidence:
        evidence = tuple(evidence_view(item, words) for item in task.evidence)
        made.append(FindingView(evidence=evidence))
    said: list[Rich] = [lead]
    hinted: list[tuple[HintView, ...]] = []
    snippets: set[str] = set()
    drawn: list[Evidence] = list(task.evidence)
    for number, criterion in enumerate(wrong):
        finding = criterion.finding
        message, shown = message_of(finding, words), hints_of(finding, words, hints)
        cause = cause_of(finding, message, words)
        leads = number == 0 and message == lead
        offered = len(hints_of(finding, words, max(hints, assignment.hints_shown)))
        view = FindingView(
            title=() if leads else inline(words.titled(f"{task.id}.{criterion.id}.title", criterion.id)),
            message=() if message in said else message,
            cause=() if cause in said else cause,
            # The first is drawn, what else is wrong is told by its numbers.
            evidence=tuple(
                evidence_view(item, words, pictures=number == 0) for item in finding.evidence if item not in drawn
            ),
            hints=() if shown in hinted else shown,
            hint_levels=offered,
            held=shown not in hinted and len(hints_of(finding, words, HINT_LEVELS)) > offered,
            snippet="" if finding.snippet in snippets else clean.html(finding.snippet).strip("\n"),
            behind=_behind(task, criterion, assignment, words) if audience == "instructor" else (),
        )
        said += [message, cause]
        hinted.append(shown)
        snippets.add(finding.snippet)
        drawn += finding.evidence
        if view.message or view.cause or view.evidence or view.hints or view.snippet or leads or view.behind:
            made.append(view)
    return tuple(made)


def _behind(task: TaskResult, criterion: CriterionResult, assignment: Assignment, words: Words) -> Rich:
    """Say what an instructor wants to look up: the criterion, the calls that it rests on, the misconceptions."""
    finding = criterion.finding
    catalogue = {entry.id: entry.catalogue for entry in assignment.misconceptions}
    told = words.own("page.behind", (("criterion", f"{task.id}/{criterion.id}"),))
    if finding.calls:
        calls = ", ".join(finding.calls[:MOST_CALLS]) + (", …" if len(finding.calls) > MOST_CALLS else "")
        told += words.own("page.behind_calls", (("calls", calls),))
    for name in finding.misconceptions:
        told += words.own("page.behind_misconception", (("id", name), ("catalogue", catalogue.get(name) or "–")))
    return told
