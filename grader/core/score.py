"""``conclude``: findings become points. Whole points stand in the course; parts of them are kept in hundredths."""

from __future__ import annotations

from grader.core.assignment import Assignment
from grader.core.judge import Judgement, TaskJudgement
from grader.core.lead import in_order_of_telling
from grader.model import Adjustment, CriterionResult, Finding, Params, Result, Status, Task, TaskResult, Transcript
from grader.model._data import replace

__all__ = ["RESULT_SCHEMA", "conclude", "override"]

RESULT_SCHEMA = "grade.result/1"


def conclude(
    assignment: Assignment, transcript: Transcript, judgement: Judgement, judged: tuple[tuple[str, str], ...] = ()
) -> Result:
    """Add the points up.

    Args:
        assignment: The rubric.
        transcript: What was judged.
        judgement: What judging found.
        judged: Versions of what judged, as pairs.
    """
    tasks = tuple(_task(task, found) for task, found in zip(assignment.tasks, judgement.tasks, strict=True))
    return Result(
        schema=RESULT_SCHEMA,
        assignment=assignment.id,
        version=assignment.version,
        digest=assignment.digest,
        name=transcript.name,
        sha256=transcript.sha256,
        seed=transcript.seed,
        status="not_graded" if judgement.fault else "graded",
        cents=sum(task.cents for task in tasks),
        max_cents=assignment.points * 100,
        tasks=tasks,
        notes=judgement.notes,
        environment=transcript.environment,
        judged=judged,
    )


def override(result: Result, target: str, cents: int, *, reason: str, by: str) -> Result:
    """Give a criterion the points that an instructor decided on; the result says so, with the reason.

    Args:
        result: As it was judged, or with earlier overrides.
        target: The criterion, ``"<task>/<criterion>"``. One that isn't there changes nothing.
        cents: Its points, in hundredths; at most what the criterion has, at least none.
        reason: Why, for the learner.
        by: Who answers for it.
    """
    tasks: list[TaskResult] = []
    change: Adjustment | None = None
    for task in result.tasks:
        criteria: list[CriterionResult] = []
        for criterion in task.criteria:
            if f"{task.id}/{criterion.id}" != target:
                criteria.append(criterion)
                continue
            after = min(max(cents, 0), criterion.max_cents)
            change = Adjustment(
                kind="override", target=target, before=criterion.cents, after=after, reason=reason, by=by
            )
            criteria.append(_decided(criterion, after))
        if change is None or not change.target.startswith(f"{task.id}/"):
            tasks.append(task)
            continue
        status = _status(criteria)
        tasks.append(
            replace(
                task,
                status=status,
                criteria=tuple(criteria),
                cents=sum(criterion.cents for criterion in criteria),
                text="" if status is Status.PASSED else task.text,
                params=() if status is Status.PASSED else task.params,
                evidence=() if status is Status.PASSED else task.evidence,
            )
        )
    if change is None:
        return result
    return replace(
        result,
        tasks=tuple(tasks),
        cents=sum(task.cents for task in tasks),
        adjustments=(*result.adjustments, change),
    )


def _decided(criterion: CriterionResult, cents: int) -> CriterionResult:
    if cents == criterion.max_cents:
        finding = replace(
            criterion.finding, status=Status.PASSED, text="", params=(), misconceptions=(), evidence=(), snippet=""
        )
        return replace(criterion, status=Status.PASSED, cents=cents, finding=finding)
    status = Status.PARTIAL if cents else Status.FAILED
    return replace(criterion, status=status, cents=cents, finding=replace(criterion.finding, status=status))


def _task(task: Task, found: TaskJudgement) -> TaskResult:
    by_criterion = {finding.criterion: finding for finding in found.findings}
    criteria: list[CriterionResult] = []
    for criterion in task.criteria:
        finding = _blocked(by_criterion[f"{task.id}/{criterion.id}"], criterion.requires, criteria)
        cents = criterion.points * 100
        top, bottom = finding.share
        criteria.append(
            CriterionResult(
                id=criterion.id,
                status=finding.status,
                cents=cents if finding.status is Status.PASSED else cents * top // bottom,
                max_cents=cents,
                core=criterion.core,
                hidden=criterion.hidden,
                finding=finding,
            )
        )
    text, params = _lead(task, found, criteria)
    return TaskResult(
        id=task.id,
        function=task.function,
        status=_status(criteria),
        cents=sum(criterion.cents for criterion in criteria),
        max_cents=task.points * 100,
        criteria=tuple(criteria),
        text=text,
        params=params,
        notes=found.notes,
    )


def _blocked(finding: Finding, requires: str, before: list[CriterionResult]) -> Finding:
    """A criterion waits for another one of its task that hasn't passed."""
    waits = any(other.id == requires and other.status in (Status.FAILED, Status.BLOCKED) for other in before)
    if not waits or finding.status in (Status.MISSING, Status.NOT_GRADED):
        return finding
    return replace(finding, status=Status.BLOCKED, share=(0, 1), text="", params=(), evidence=(), notes=())


def _status(criteria: list[CriterionResult]) -> Status:
    statuses = {criterion.status for criterion in criteria}
    for whole in (Status.NOT_GRADED, Status.MISSING):
        if whole in statuses:
            return whole
    if statuses == {Status.PASSED}:
        return Status.PASSED
    core_failed = any(criterion.core and criterion.status is Status.FAILED for criterion in criteria)
    return Status.FAILED if core_failed else Status.PARTIAL


def _lead(task: Task, found: TaskJudgement, criteria: list[CriterionResult]) -> tuple[str, Params]:
    """The one message that leads a task: its own, else that of the first criterion that isn't right and says one."""
    if found.text:
        return found.text, found.params
    told = in_order_of_telling(criteria, {criterion.id: criterion.requires for criterion in task.criteria})
    return next(((c.finding.text, c.finding.params) for c in told if c.finding.text), ("", ()))
