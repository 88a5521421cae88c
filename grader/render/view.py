"""The one view model behind every face: all texts resolved and cleaned, all orders and choices made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from grader.core.changes import Changes
from grader.core.redact import Audience
from grader.model import Adjustment, Params, Result, Status, TaskResult
from grader.model._data import data
from grader.render import clean
from grader.render.figures import points
from grader.render.grids import NAME, CellView, Grid, GridRow, cut
from grader.render.since import SinceView, since_view
from grader.render.task_view import (
    CriterionView,
    FindingView,
    HintView,
    StatusView,
    TaskView,
    advice,
    next_of,
    notes_of,
    task_view,
    told_first,
)
from grader.render.words import Rich, Span, Words, bare

if TYPE_CHECKING:  # it would load NumPy
    from grader.core.assignment import Assignment

__all__ = ["CriterionView", "FindingView", "HintView", "ReportView", "StatusView", "TaskView", "build"]

_PLACE = {
    Status.FAILED: 0,
    Status.PARTIAL: 1,
    Status.NOT_GRADED: 2,
    Status.BLOCKED: 3,
    Status.MISSING: 3,
    Status.PASSED: 4,
}


@data
class ReportView:
    """A whole report.

    Attributes:
        language: Of the texts, for ``lang``.
        page_title: Of the document: the score and what it is of.
        heading: The score in words, or that we could not grade.
        title: The assignment's title.
        name: The file's name, as the learner knows it.
        works: One sentence on what works.
        next: The one next step; empty at full marks.
        after: What else to know at the top: why nothing was graded, what happens when it counts.
        notes: What was noticed about the file as a whole.
        tasks: In the order of reading: that of the next step, then not yet, partly, waiting or not started, correct.
        open: Those of them that aren't correct.
        correct: Those that are.
        focus: Id of the task that the next step is about, or ``""``.
        changes: Changes of points after judging; None without any.
        footer: Seed, file and versions.
        isolation: How the code was kept apart; empty if none of it ran.
        dispute: The line that names this result to the instructor.
        words: The page's own words, by what follows ``page.`` in the catalogue.
        since: What changed since an earlier result, if one was given.
        audience: For whom it is made; the result was redacted for them.
        left_out: Some of what could be shown isn't, so that the page stays small.
    """

    language: str
    page_title: str
    heading: str
    score: str
    max_score: str
    graded: bool
    full: bool
    title: Rich
    name: str
    seed: int
    works: Rich
    next: Rich
    after: Rich
    notes: tuple[Rich, ...]
    tasks: tuple[TaskView, ...]
    correct_line: Rich
    focus: str
    changes: Grid | None
    footer: str
    isolation: str
    dispute: str
    words: Mapping[str, str]
    since: SinceView | None = None
    audience: Audience = "learner"
    left_out: bool = False

    @property
    def open(self) -> tuple[TaskView, ...]:
        """The tasks that aren't correct."""
        return tuple(task for task in self.tasks if task.status.id != Status.PASSED)

    @property
    def correct(self) -> tuple[TaskView, ...]:
        """The tasks that are correct."""
        return tuple(task for task in self.tasks if task.status.id == Status.PASSED)

    @property
    def in_order(self) -> tuple[TaskView, ...]:
        """The tasks as the assignment lists them."""
        return tuple(sorted(self.tasks, key=lambda task: task.position))


def build(
    result: Result,
    assignment: Assignment,
    *,
    hints: int | None = None,
    changes: Changes | None = None,
    counts: bool = False,
    audience: Audience = "learner",
) -> ReportView:
    """Resolve all that a report says.

    Args:
        result: What was found, already redacted for its reader.
        assignment: Whose catalogue the texts come from; it includes the engine's own texts.
        hints: How many levels of hints are shown; None: as many as the assignment shows.
        changes: What changed since an earlier result.
        counts: This is the run that counts, so that no other inputs are to be expected.
        audience: Who reads it. An instructor is told the ids of what is named, and the calls.
    """
    words = Words(assignment.texts)
    hints = assignment.hints_shown if hints is None else hints
    tasks = [
        task_view(task, assignment, words, position, hints, audience) for position, task in enumerate(result.tasks)
    ]
    focus = _focus(result, assignment)
    tasks.sort(key=lambda task: (focus is None or task.id != focus.id, _PLACE[task.status.id], task.position))
    graded = result.status == "graded"
    full = graded and result.cents >= result.max_cents and all(task.status.id is Status.PASSED for task in tasks)
    title = words.titled("title", assignment.id)
    score: Params = (("score", points(result.cents)), ("max", points(result.max_cents)))
    name = cut(clean.html(result.name), NAME)
    return ReportView(
        language=assignment.language,
        page_title=_page_title(bare(title), score, graded, words),
        heading=_heading(result, score, words),
        score=points(result.cents),
        max_score=points(result.max_cents),
        graded=graded,
        full=full,
        title=title,
        name=name,
        seed=result.seed,
        works=_works(result, assignment, score, full=full, words=words),
        next=_next(focus, graded, assignment, words),
        after=words.own("page.not_graded_why") if not graded else words.own("page.full") if full and not counts else (),
        notes=notes_of(result.notes, words),
        tasks=tuple(tasks),
        correct_line=_correct_line([task for task in tasks if task.status.id is Status.PASSED], words),
        focus=focus.id if focus else "",
        changes=_changes(result.adjustments, words),
        footer=_footer(result, words),
        isolation=clean.html(dict(result.environment).get("isolation", "")),
        dispute=_dispute(result, focus),
        words={
            key.removeprefix("page."): clean.html(text)
            for key, text in assignment.texts.items()
            if key.startswith("page.")
        },
        since=since_view(changes, result, words) if changes is not None and graded else None,
        audience=audience,
    )


def _focus(result: Result, assignment: Assignment) -> TaskResult | None:
    """Return the task that the next step is about: the first of the worst, or what it builds on and isn't there.

    Where the file stopped before a task, that comes first.
    """
    open_ones = [task for task in result.tasks if task.status not in (Status.PASSED, Status.NOT_GRADED)]
    if stopped := next((task for task in open_ones if task.text == "engine.task.never_reached"), None):
        return stopped
    focus = min(open_ones, key=lambda task: _PLACE[task.status], default=None)
    used = {name for task in assignment.tasks if focus is not None and task.id == focus.id for name in task.uses}
    return next((task for task in open_ones if task.id in used and task.status is Status.MISSING), focus)


def _page_title(title: str, score: Params, graded: bool, words: Words) -> str:
    return words.plain("page.title" if graded else "page.title_not_graded", (*score, ("title", title)))


def _heading(result: Result, score: Params, words: Words) -> str:
    if result.status == "graded":
        return words.plain("page.points", score)
    some = any(task.status is not Status.NOT_GRADED for task in result.tasks)
    return words.plain("page.not_graded_partly" if some else "page.not_graded")


def _functions(tasks: Iterable[TaskResult]) -> list[tuple[Span, ...]]:
    return [(Span(text=clean.html(task.function), code=True),) for task in tasks]


def _joined(titles: list[tuple[Span, ...]], last: str) -> tuple[Span, ...]:
    """Join names as a sentence does: one, two and three."""
    spans: list[Span] = []
    for number, title in enumerate(titles):
        if number:
            spans.append(Span(text=last if number == len(titles) - 1 else ", "))
        spans += title
    return tuple(spans)


def _works(result: Result, assignment: Assignment, score: Params, *, full: bool, words: Words) -> Rich:
    if full:
        return words.own("page.works_all")
    right = [task for task in result.tasks if task.status is Status.PASSED]
    if right:
        joined = _joined(_functions(right), assignment.texts["page.and"])
        return words.around("page.works_some" if len(right) == 1 else "page.works_many", "names", joined)
    if result.cents:
        return words.own("page.works_part", score)
    return words.own("page.works_none") if result.status == "graded" else ()


def _next(focus: TaskResult | None, graded: bool, assignment: Assignment, words: Words) -> Rich:
    """Find the one next step: of the criterion that is told first, else of whatever else knows one."""
    if focus is None:
        return () if graded else words.own("page.not_graded_next")
    wrong = told_first(focus, assignment)
    steps = [*(next_of(criterion.finding, words) for criterion in wrong), advice(focus.text, focus.params, words)]
    if any(steps):
        return next(filter(None, steps))
    key = "page.next_start" if focus.status is Status.MISSING else "page.next_task"
    if focus.text == "engine.task.never_reached":
        key = "page.next_mend"  # it may be written, and right
    return words.own(key, (("function", focus.function),))


def _correct_line(tasks: list[TaskView], words: Words) -> Rich:
    """Name the correct tasks with their points, in one line."""
    if not tasks:
        return ()
    spans: list[Span] = []
    for task in tasks:
        if spans:
            spans.append(Span(text=" · "))
        spans += [*task.title, Span(text=f" {task.score}/{task.max_score}")]
    return words.around("page.correct", "names", spans)


def _changes(adjustments: tuple[Adjustment, ...], words: Words) -> Grid | None:
    if not adjustments:
        return None
    heads = [words.plain(f"page.{key}") for key in ("change", "before", "after", "reason", "by")]
    rows = tuple(
        GridRow(
            label=f"{clean.html(change.target)}, {words.plain('page.' + change.kind)}",
            cells=(
                CellView(text=points(change.before)),
                CellView(text=points(change.after)),
                CellView(text=clean.html(change.reason), number=False),
                CellView(text=clean.html(change.by), number=False),
            ),
        )
        for change in adjustments
    )
    return Grid(caption=words.own("page.changes"), corner=heads[0], columns=tuple(heads[1:]), rows=rows)


def _footer(result: Result, words: Words) -> str:
    versions = [f"{name} {version}" for name, version in result.judged if name.startswith("grade")]
    versions.append(f"{result.assignment} {result.version}")
    versions += [
        f"{name} {version}" for name, version in result.environment if name in ("python", "numpy", "isolation")
    ]
    params: Params = (
        ("seed", result.seed),
        ("sha", _short_sha(result.sha256)),
        ("versions", " · ".join(versions)),
    )
    return words.plain("page.footer", params)


def _short_sha(sha256: str) -> str:
    return f"{sha256[:8]}…{sha256[-4:]}" if len(sha256) > 12 else sha256


def _dispute(result: Result, focus: TaskResult | None) -> str:
    """Name the criterion in question, the seed and the file."""
    place = result.assignment
    if focus is not None:
        wrong = [c for c in focus.criteria if c.status is not Status.PASSED]
        wrong.sort(key=lambda criterion: not criterion.core)
        place = f"{focus.id}/{wrong[0].id}" if wrong else focus.id
    return clean.html(f"{place} {result.seed} {_short_sha(result.sha256)}")
