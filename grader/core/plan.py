"""``plan``: which calls to make next. Pure: the same assignment and transcript give the same calls."""

from __future__ import annotations

from grader.core.assignment import Assignment
from grader.core.names import near_misses
from grader.core.observed import Inputs, Observed, case_call
from grader.model import Call, Task, Transcript
from grader.model._data import data

__all__ = ["LOAD", "Found", "callables", "find_function", "inputs_of", "plan", "start"]

LOAD = "load/"
"""Calls that load the submission have ids of this prefix and the cell's number."""


@data
class Found:
    """Where a task's function is: ``name`` to call, or None; ``slip`` if it only resembles the right one."""

    name: str | None
    slip: bool = False
    candidates: tuple[str, ...] = ()


def start(transcript: Transcript) -> tuple[Call, ...]:
    """Return the calls that load the submission, cell by cell."""
    kind = "load" if transcript.kind == "script" else "cell"
    return tuple(
        Call(
            id=f"{LOAD}{number}",
            session="main",
            kind="load" if kind == "load" else "cell",
            name=str(number),
            seed=transcript.seed,
            stage=0,
        )
        for number in transcript.cell_numbers
    )


def plan(assignment: Assignment, transcript: Transcript) -> tuple[Call, ...]:
    """Return the next calls; none means that there is enough to judge.

    Loading comes first, then every task's visible cases, in rounds. Hidden cases come last, in a session
    of their own after which nothing visible runs, so that nothing of them can come out through a later print.
    """
    if transcript.intake_trouble or transcript.trouble:
        return ()
    done = {outcome.call for outcome in transcript.outcomes}
    if not done:
        return start(transcript)
    visible: list[Call] = []
    hidden: list[Call] = []
    for task in assignment.tasks:
        found = find_function(assignment, task, transcript)
        if found.name is None:
            continue
        seen = Observed(task, transcript)
        if seen.untouched:
            continue
        for case in assignment.checks[task.id].plan(inputs_of(task, transcript), seen):
            call = case_call(case, task, found.name)
            if call.id not in done:
                (hidden if case.hidden else visible).append(call)
    return tuple(visible or hidden)


def inputs_of(task: Task, transcript: Transcript) -> Inputs:
    """Return the random inputs of ``task`` for this transcript's seed."""
    return Inputs(transcript.seed, task.id)


def callables(transcript: Transcript) -> frozenset[str]:
    """Return the names that the submission left bound to something callable."""
    names: frozenset[str] = frozenset()
    for outcome in transcript.outcomes:
        if outcome.call.startswith(LOAD) and outcome.callables:
            names = frozenset(outcome.callables)
    return names


def find_function(assignment: Assignment, task: Task, transcript: Transcript) -> Found:
    """Find the function of ``task`` by its name, or by the only name that could be a slip of it."""
    names = callables(transcript)
    if task.function in names:
        return Found(name=task.function)
    others = [other.function for other in assignment.tasks]
    candidates = near_misses(task.function, sorted(names), taken=others)
    if len(candidates) == 1:
        return Found(name=candidates[0], slip=True, candidates=candidates)
    return Found(name=None, candidates=candidates)
