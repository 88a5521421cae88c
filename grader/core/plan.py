"""``plan``: which calls to make next. Pure: the same assignment and transcript give the same calls."""

from __future__ import annotations

from grader.core.assignment import Assignment
from grader.core.find import LOAD, find_function
from grader.core.follow import follow_calls, planned
from grader.core.memory import Memory
from grader.core.observed import case_call, case_prefix
from grader.model import Call, Transcript

__all__ = ["plan", "start"]


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
            draws="replay" if transcript.kind == "notebook" else "none",
            stage=0,
        )
        for number in transcript.cell_numbers
    )


def plan(assignment: Assignment, transcript: Transcript, memory: Memory | None = None) -> tuple[Call, ...]:
    """Return the next calls; none means that there is enough to judge.

    Loading comes first, then every task's visible cases, in rounds; then, where a task uses another one's function that
    is wrong, the same cases with a stand-in for it. Hidden cases come last, in a session
    of their own after which nothing visible runs, so that nothing of them can come out through a later print: a task
    with hidden cases is followed through only by what its visible ones show.

    ``memory`` saves work between rounds of one submission.
    """
    memory = Memory() if memory is None else memory
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
        if memory.observed(task, transcript).untouched:
            continue
        prefix = case_prefix(task)
        for case in planned(assignment, task, transcript, memory):
            if prefix + case.id not in done:
                (hidden if case.hidden else visible).append(case_call(case, task, found.name))
    if any(call.hidden for call in transcript.calls):
        return tuple(hidden)
    return tuple(visible) or follow_calls(assignment, transcript, memory) or tuple(hidden)
