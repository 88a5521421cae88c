"""Follow-through: a mistake is paid for once.

A task whose function calls another task's wrong function is judged again in a session where a stand-in, which the
course is willing to show, has that function's name. Where the stand-in isn't reached, the first verdict stands.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.core.assignment import Assignment
from grader.core.find import find_function
from grader.core.memory import Memory
from grader.core.observed import Case, case_call, case_prefix
from grader.model import Call, Finding, Status, Task, Transcript
from grader.model._data import replace

__all__ = ["better", "follow_calls", "planned", "to_follow"]


def to_follow(assignment: Assignment, task: Task, transcript: Transcript, memory: Memory) -> str:
    """Return the id of the first task that ``task`` uses and that isn't right, if ``task`` isn't right itself."""
    if not task.uses or find_function(assignment, task, transcript).name is None:
        return ""
    wrong = next((name for name in task.uses if not _right(assignment, assignment.task(name), transcript, memory)), "")
    if not wrong or _right(assignment, task, transcript, memory) or memory.observed(task, transcript).untouched:
        return ""
    return wrong


def follow_calls(assignment: Assignment, transcript: Transcript, memory: Memory) -> tuple[Call, ...]:
    """Return the next calls with stand-ins; none when there is nothing to follow or all of it has run."""
    done = {outcome.call for outcome in transcript.outcomes}
    calls = []
    for task in assignment.tasks:
        via = to_follow(assignment, task, transcript, memory)
        function = find_function(assignment, task, transcript).name
        if not via or function is None:
            continue
        prefix = case_prefix(task, via)
        cases = planned(assignment, task, transcript, memory, via)
        wanted = [case for case in cases if not case.hidden and prefix + case.id not in done]
        calls += [case_call(case, task, function, via=via) for case in wanted]
    return tuple(calls)


def planned(assignment: Assignment, task: Task, transcript: Transcript, memory: Memory, via: str = "") -> list[Case]:
    """Return the cases that the checks of ``task`` want next; none if they fail, which judging then tells."""
    try:
        return memory.cases(assignment, task, transcript, via)
    except Exception:  # noqa: BLE001 - a check that fails is our fault, and costs nobody a point
        return []


def better(first: Sequence[Finding], again: Sequence[Finding], points: dict[str, int], via: str) -> tuple[Finding, ...]:
    """Return the findings that stand: those with the stand-in, if they are worth as much or more.

    Args:
        first: Findings with the learner's own function.
        again: Findings with the stand-in in its place.
        points: Points of each criterion.
        via: Id of the task whose function was replaced; it marks what is right only thanks to that.
    """
    if _worth(again, points) < _worth(first, points):
        return tuple(first)
    before = {finding.criterion: finding for finding in first}
    return tuple(
        replace(finding, knock_on=via)
        if finding.status is Status.PASSED and before[finding.criterion].status is not Status.PASSED
        else finding
        for finding in again
    )


def _worth(findings: Sequence[Finding], points: dict[str, int]) -> float:
    return sum(
        points[finding.criterion] * (1.0 if finding.status is Status.PASSED else finding.share[0] / finding.share[1])
        for finding in findings
    )


def _right(assignment: Assignment, task: Task, transcript: Transcript, memory: Memory) -> bool:
    seen = memory.observed(task, transcript)
    if not len(seen) or seen.untouched:
        return False
    try:
        findings = memory.findings(assignment, task, transcript)
    except Exception:  # noqa: BLE001 - as in ``planned``
        return True
    return all(finding.status is Status.PASSED for finding in findings)
