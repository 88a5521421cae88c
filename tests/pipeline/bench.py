"""Grades in this process, with the course that comes with the grader."""

from __future__ import annotations

import atexit
from dataclasses import replace
from functools import cache

from grader.core.assignment import Assignment
from grader.core.redact import redact
from grader.course import find_course, load_assignment
from grader.model import Result, Submission, Transcript
from grader.pipeline import grade
from grader.render.document import to_json
from grader.render.terminal import summary
from grader.render.view import build
from grader.run.backend import Backend, Closing
from grader.run.runner import Scratch
from tests.run.offered import OFFERED, opened

__all__ = ["LETTERS", "assignment", "document", "forking", "graded", "letters", "points", "report"]

LETTERS = {"passed": "P", "partial": "p", "failed": "F", "blocked": "B", "missing": "-", "not_graded": "?"}


@cache
def assignment() -> Assignment:
    """Return the assignment."""
    return load_assignment(find_course(), "attention")


@cache
def forking() -> Backend:
    """Return what runs code where nothing is said of how: workers that are forked take half of the time."""
    made = opened("landlock" if "landlock" in OFFERED else "process")
    if isinstance(made, Closing):
        atexit.register(made.close)
    return made


def graded(
    submission: Submission, seed: int = 1, *, backend: Backend | None = None, call_seconds: float = 0.0
) -> tuple[Transcript, Result]:
    """Run a submission and judge it; with ``call_seconds``, no call may take as long as the assignment allows."""
    judged = assignment()
    if call_seconds:
        judged = replace(judged, limits=replace(judged.limits, call_seconds=call_seconds))
    return grade(judged, submission, seed, Scratch(backend or forking(), submission))


def document(result: Result) -> str:
    """Return the learner's ``result.json``."""
    return to_json(redact(result, "learner"), assignment())


def report(result: Result) -> str:
    """Return what a learner reads in the terminal with all hints, and in ``result.json``, as one line."""
    view = build(redact(result, "learner"), assignment(), hints=3)
    text = summary(view, colour=False, unicode=True, hints=3, report="report.html")
    return " ".join((text + document(result)).split())


def letters(result: Result) -> str:
    """Return one letter for each task."""
    return "".join(LETTERS[task.status] for task in result.tasks)


def points(result: Result) -> float:
    """Return the score."""
    return result.cents / 100
