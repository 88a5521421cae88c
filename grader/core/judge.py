"""``judge``: what the outcomes show. Pure, and without any code of the learner's."""

from __future__ import annotations

from collections.abc import Mapping

from grader.core.assignment import Assignment
from grader.core.cells import ReadsCells, cells_of
from grader.core.find import find_function, inputs_of
from grader.core.follow import better, to_follow
from grader.core.integrity import integrity_notes
from grader.core.lead import LINES
from grader.core.loading import loading_notes, nothing_ran, own_line
from grader.core.memory import Memory
from grader.core.observed import Observed
from grader.core.runnable import runnable
from grader.model import Finding, Note, Params, Status, Task, Transcript
from grader.model._data import data, replace

__all__ = ["Judgement", "TaskJudgement", "judge", "needs_cells"]


@data
class TaskJudgement:
    """The findings of one task, one for each criterion, and what is said of the task as a whole."""

    task: str
    findings: tuple[Finding, ...]
    text: str = ""
    params: Params = ()
    notes: tuple[Note, ...] = ()


@data
class Judgement:
    """All findings of one transcript. ``fault`` is set when a check of ours failed: nobody loses points by it."""

    tasks: tuple[TaskJudgement, ...]
    notes: tuple[Note, ...] = ()
    fault: str = ""


def judge(
    assignment: Assignment,
    transcript: Transcript,
    memory: Memory | None = None,
    known: Mapping[str, TaskJudgement] | None = None,
) -> Judgement:
    """Judge every criterion of ``assignment`` by what ``transcript`` holds.

    Args:
        assignment: The rubric and its checks.
        transcript: What is judged.
        memory: That of planning the same transcript; it saves work.
        known: What was found of tasks before, where nothing that it rests on has changed.
    """
    memory = Memory() if memory is None else memory
    known = known or {}
    tasks, faults = [], [transcript.trouble] if transcript.trouble else []
    for task in assignment.tasks:
        if transcript.trouble:
            tasks.append(_all(task, Status.NOT_GRADED, "engine.task.not_graded"))
            continue
        if task.id in known:
            tasks.append(known[task.id])
            continue
        try:
            tasks.append(_judge_task(assignment, task, transcript, memory))
        except Exception as error:  # noqa: BLE001 - a check that fails is our fault, whatever it raised
            faults.append(f"{task.id}: {type(error).__name__}: {error}")
            tasks.append(_all(task, Status.NOT_GRADED, "engine.task.not_graded"))
    return Judgement(
        tasks=tuple(tasks), notes=(*loading_notes(transcript), *integrity_notes(transcript)), fault="; ".join(faults)
    )


def _judge_task(assignment: Assignment, task: Task, transcript: Transcript, memory: Memory) -> TaskJudgement:
    found = find_function(assignment, task, transcript)
    name = (("function", task.function),)
    if found.name is None:
        if found.candidates:
            params = (*name, ("names", ", ".join(found.candidates)))
            return _all(task, Status.MISSING, "engine.task.ambiguous", params)
        written = _from_cells(assignment, task, transcript)
        if written is not None:
            return written
        text = "engine.task.never_reached" if nothing_ran(transcript) else "engine.task.missing"
        return _all(task, Status.MISSING, text, name)
    if memory.observed(task, transcript).untouched:
        written = _from_cells(assignment, task, transcript)
        return written or _all(task, Status.MISSING, "engine.task.untouched", name)
    # Planning passes over checks that fail; what they would have asked for is then missing, and that is our fault.
    memory.cases(assignment, task, transcript)
    findings = _complete(task, memory.findings(assignment, task, transcript))
    via = to_follow(assignment, task, transcript, memory)
    if via and len(memory.observed(task, transcript, via)):
        again = _complete(task, memory.findings(assignment, task, transcript, via))
        points = {f"{task.id}/{criterion.id}": criterion.points for criterion in task.criteria}
        findings = better(findings, again, points, via)
    notes = (Note(text="engine.note.slip", params=(*name, ("got", found.name))),) if found.slip else ()
    findings = tuple(runnable(finding, assignment, transcript, found.name) for finding in findings)
    findings = _with_lines(findings, transcript)
    return TaskJudgement(task=task.id, findings=findings, notes=notes)


def _with_lines(findings: tuple[Finding, ...], transcript: Transcript) -> tuple[Finding, ...]:
    """Put the learner's own line to what rests on a call that stopped there, as a note."""
    outcomes = {outcome.call: outcome for outcome in transcript.outcomes}
    made = []
    for finding in findings:
        stopped = [outcomes[name].failure for name in finding.calls[:1] if name in outcomes]
        failure = stopped[0] if stopped and outcomes[finding.calls[0]].kind == "raised" else None
        code = "" if failure is None else own_line(transcript, failure.cell, failure.line)
        if failure is not None and code and finding.status is not Status.PASSED:
            params = (("line", failure.line or 0), ("cell", failure.cell or 0), ("code", code))
            note = Note(text=LINES[bool(failure.cell)], params=params)
            finding = replace(finding, notes=(*finding.notes, note))
        made.append(finding)
    return tuple(made)


def needs_cells(assignment: Assignment, transcript: Transcript) -> bool:
    """Whether some task's answer may have to be read out of a notebook's cells."""
    if transcript.kind != "notebook":
        return False
    for task in assignment.tasks:
        if isinstance(assignment.checks[task.id], ReadsCells):
            found = find_function(assignment, task, transcript)
            if found.name is None or Observed(task, transcript).untouched:
                return True
    return False


def _from_cells(assignment: Assignment, task: Task, transcript: Transcript) -> TaskJudgement | None:
    """Judge an answer that stands in the notebook's cells, without a function; None if there is none."""
    checks = assignment.checks[task.id]
    cells = cells_of(transcript)
    if not cells or not isinstance(checks, ReadsCells):
        return None
    findings = tuple(checks.read_cells(inputs_of(task, transcript), cells))
    if not findings:
        return None
    note = Note(text="engine.note.cells", params=(("function", task.function),))
    return TaskJudgement(task=task.id, findings=_complete(task, findings), notes=(note,))


def _complete(task: Task, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return ``findings`` if there is one for each criterion. Raises ValueError."""
    expected = {f"{task.id}/{criterion.id}" for criterion in task.criteria}
    if {finding.criterion for finding in findings} != expected or len(findings) != len(expected):
        raise ValueError(f"checks of {task.id} don't give exactly one finding for each criterion")
    for finding in findings:
        top, bottom = finding.share
        if not 0 <= top <= bottom or not bottom:
            raise ValueError(f"{finding.criterion} has the share {top}/{bottom}: a share lies between 0 and 1")
    return findings


def _all(task: Task, status: Status, text: str, params: Params = ()) -> TaskJudgement:
    findings = tuple(Finding(criterion=f"{task.id}/{criterion.id}", status=status) for criterion in task.criteria)
    return TaskJudgement(task=task.id, findings=findings, text=text, params=params)
