"""Which of several files is the submission: the one that defines most of what is asked for, seen inside a worker."""

from __future__ import annotations

from grader.core.assignment import Assignment
from grader.core.find import callables
from grader.core.plan import start
from grader.model import Submission
from grader.model._data import replace
from grader.pipeline import begin
from grader.run.backend import Backend
from grader.run.runner import Runner, Scratch

__all__ = ["functions_of"]


def functions_of(assignment: Assignment, backend: Backend, submission: Submission) -> int:
    """Load a submission and count the assignment's functions that it then has.

    Raises:
        IsolationError, OutputError: If no worker can be started.
    """
    if not submission.cells:
        return 0
    begun = begin(assignment, submission, seed=0)
    runner = Runner(Scratch(backend, submission), assignment.limits, assignment.inert_modules)
    try:
        outcomes = runner.run(start(begun))
    finally:
        runner.close()
    names = callables(replace(begun, outcomes=outcomes))
    return sum(task.function in names for task in assignment.tasks)
