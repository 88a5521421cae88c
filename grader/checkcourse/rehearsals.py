"""Runs plain functions through a course's checks, and remembers what was said of them and with which parameters."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

from grader.checkcourse.keys import PARTS
from grader.checkcourse.solution import Function
from grader.core.assignment import Assignment, TaskChecks
from grader.core.catalogue import Catalogue
from grader.core.judge import judge
from grader.core.observed import STAND_IN, Case, Inputs, Observed
from grader.model import Chart, Finding, Note, Orders, Params, Result, Status, Table, TaskResult, Transcript
from grader.model._data import data, replace
from grader.pipeline import judge_transcript
from grader.run.rehearse import rehearse

__all__ = ["Rehearsals", "Rehearsed", "Said", "lost", "misconceptions_of", "only", "reviews_of"]


@data
class Rehearsed:
    """What became of some functions; ``fault`` says how a check of the course failed, and is empty if none did."""

    result: Result
    fault: str

    @property
    def full(self) -> bool:
        """Whether no point was lost."""
        return self.result.cents == self.result.max_cents and not self.fault


class Said:
    """The keys of all texts that were used, and the parameters that each of them was given every time."""

    def __init__(self) -> None:
        self.given: dict[str, frozenset[str]] = {}

    def hear(self, result: Result) -> None:
        """Remember what ``result`` says."""
        self._notes(result.notes)
        for task in result.tasks:
            self._add(task.text, task.params)
            self._notes(task.notes)
            for criterion in task.criteria:
                self._finding(criterion.finding)

    def _finding(self, finding: Finding) -> None:
        self._add(finding.text, finding.params)
        for name in finding.misconceptions:
            self._add(f"misconception.{name}.text", finding.params)
            self._add(f"misconception.{name}.title", finding.params)
        self._notes(finding.notes)
        for item in finding.evidence:
            if isinstance(item, Table):
                self._add(item.caption, item.params)
                for key in item.header:
                    self._add(key, ())
            elif isinstance(item, (Chart, Orders)):
                for key in PARTS[type(item).__name__]:
                    self._add(f"{item.id}.{key}", item.params)
                for label in item.labels if isinstance(item, Chart) else ():
                    self._add(label, item.params)

    def _notes(self, notes: Iterable[Note]) -> None:
        for note in notes:
            self._add(note.text, note.params)

    def _add(self, key: str, params: Params) -> None:
        if key:
            names = frozenset(name for name, _ in params)
            self.given[key] = self.given.get(key, names) & names


class _Watched:
    """Checks of a task; what they raise is written down, since the engine goes on without a word to be fair."""

    def __init__(self, task: str, checks: TaskChecks, raised: list[str]) -> None:
        self._task, self._checks, self._raised = task, checks, raised

    def plan(self, inputs: Inputs, seen: Observed) -> list[Case]:
        """Plan as the checks do."""
        try:
            return list(self._checks.plan(inputs, seen))
        except Exception as error:
            self._raised.append(f"{self._task}, plan: {type(error).__name__}: {error}")
            raise

    def judge(self, inputs: Inputs, seen: Observed) -> list[Finding]:
        """Judge as the checks do."""
        try:
            return list(self._checks.judge(inputs, seen))
        except Exception as error:
            self._raised.append(f"{self._task}, judge: {type(error).__name__}: {error}")
            raise


class Rehearsals:
    """Runs functions through the checks of an assignment."""

    def __init__(self, assignment: Assignment) -> None:
        self._raised: list[str] = []
        watched = {name: _Watched(name, checks, self._raised) for name, checks in assignment.checks.items()}
        self.assignment = replace(assignment, checks=watched)
        self.said = Said()
        self._texts = Catalogue(assignment.texts)

    def judge(self, functions: Mapping[str, Function], seed: int, tasks: Iterable[str] = ()) -> Rehearsed:
        """Judge ``functions``; only those of ``tasks``, if some are named."""
        assignment = only(self.assignment, tasks)
        with warnings.catch_warnings(action="ignore"):
            return self._judged(assignment, rehearse(assignment, functions, seed))

    def judge_followed(
        self,
        functions: Mapping[str, Function],
        helped: Mapping[str, Function],
        seed: int,
        tasks: tuple[str, ...],
    ) -> Rehearsed:
        """Judge ``functions``, the first of ``tasks`` being wrong and called by the others.

        Args:
            functions: As a learner would hand them in: those who call the wrong function get what it gives.
            helped: The same, but for them the stand-in has the wrong function's name.
            seed: Of the random inputs.
            tasks: The wrong task, and those whose functions call its function.
        """
        assignment = only(self.assignment, tasks)
        with warnings.catch_warnings(action="ignore"):
            first = rehearse(assignment, functions, seed)
            again = rehearse(assignment, helped, seed)
            return self._judged(assignment, _followed(first, again, tasks[0], tasks[1:]))

    def says(self, task: TaskResult) -> str:
        """Say in one line what was wrong with a task."""
        for criterion in sorted(task.criteria, key=lambda item: not item.core):
            if criterion.status is not Status.PASSED and criterion.finding.text in self._texts:
                return f"{criterion.id}: {self._texts.render(criterion.finding.text, criterion.finding.params)}"
        return self._texts.get(task.text, task.params) or ", ".join(
            f"{criterion.id} is {criterion.status}"
            for criterion in task.criteria
            if criterion.status is not Status.PASSED
        )

    def _judged(self, assignment: Assignment, transcript: Transcript) -> Rehearsed:
        result = judge_transcript(assignment, transcript)
        self.said.hear(result)
        raised, self._raised[:] = self._raised[:1], []
        # Nothing was raised and yet nothing is graded: the findings aren't those of the criteria.
        fault = raised or ([judge(assignment, transcript).fault] if result.status == "not_graded" else [])
        return Rehearsed(result=result, fault="".join(fault))


def only(assignment: Assignment, tasks: Iterable[str]) -> Assignment:
    """Return the assignment with these tasks alone; with all of them, if none is named."""
    wanted = set(tasks)
    if not wanted:
        return assignment
    kept = tuple(
        replace(task, uses=tuple(name for name in task.uses if name in wanted))
        for task in assignment.tasks
        if task.id in wanted
    )
    return replace(assignment, tasks=kept)


def lost(rehearsed: Rehearsed) -> tuple[TaskResult, ...]:
    """Return the tasks that lost points."""
    return tuple(task for task in rehearsed.result.tasks if task.cents < task.max_cents)


def misconceptions_of(result: Result) -> dict[str, set[str]]:
    """Return the ids of the misconceptions that were named, and in which tasks."""
    named: dict[str, set[str]] = {}
    for task in result.tasks:
        for criterion in task.criteria:
            for name in criterion.finding.misconceptions:
                named.setdefault(name, set()).add(task.id)
    return named


def reviews_of(result: Result) -> tuple[str, ...]:
    """Return the texts of all notes that ask the instructor to look."""
    notes = [*result.notes]
    for task in result.tasks:
        notes += task.notes
        for criterion in task.criteria:
            notes += criterion.finding.notes
    return tuple(dict.fromkeys(note.text for note in notes if note.kind == "review"))


def _followed(first: Transcript, again: Transcript, wrong: str, callers: Iterable[str]) -> Transcript:
    """Put what the callers gave with the stand-in where the engine looks for it: in a session of its own."""
    session = f"{STAND_IN}{wrong}"
    own = {call.id for call in first.calls if not call.session.startswith(STAND_IN)}
    moved = {
        call.id: call.id.replace(f"{caller}/", f"{caller}@{wrong}/", 1)
        for caller in callers
        for call in again.calls
        if call.id.startswith(f"{caller}/") and call.session == "main"
    }
    calls = [replace(call, id=moved[call.id], session=session) for call in again.calls if call.id in moved]
    outcomes = [replace(outcome, call=moved[outcome.call]) for outcome in again.outcomes if outcome.call in moved]
    return replace(
        first,
        calls=(*(call for call in first.calls if call.id in own), *calls),
        outcomes=(*(outcome for outcome in first.outcomes if outcome.call in own), *outcomes),
    )
