"""Where a task's function is in a submission, and the random inputs that it gets."""

from __future__ import annotations

from grader.core.assignment import Assignment
from grader.core.names import near_misses
from grader.core.observed import Inputs
from grader.model import Task, Transcript
from grader.model._data import data

__all__ = ["LOAD", "Found", "callables", "find_function", "inputs_of"]

LOAD = "load/"
"""Calls that load the submission have ids of this prefix and the cell's number."""


@data
class Found:
    """Where a task's function is: ``name`` to call, or None; ``slip`` if it only resembles the right one."""

    name: str | None
    slip: bool = False
    candidates: tuple[str, ...] = ()


def inputs_of(task: Task, transcript: Transcript) -> Inputs:
    """Return the random inputs of ``task`` for this transcript's seed."""
    return Inputs(transcript.seed, task.id, secret=transcript.secret)


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
