"""Grades the submission of a pytest run, and keeps what its items need as plain values."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from grader.errors import UsageError
from grader.model._data import data
from grader.run.isolation import Isolation

__all__ = ["Graded", "Said", "Wanted", "criteria_of", "grade", "seed_of"]

MAX_SEED = 1 << 53


@data
class Wanted:
    """What is to be graded, and how; without a seed, one is drawn."""

    path: Path
    course: Path | None
    assignment: str
    seed: int | None
    isolation: Isolation


@data
class Said:
    """What is said of a criterion; ``points`` is empty where none are known."""

    status: str
    points: str
    max_points: str
    text: str


@data
class Graded:
    """The verdicts by the criteria's ids, and the lines that close the run."""

    seed: int
    isolation: str
    verdicts: dict[str, Said]
    lines: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """Return all of it as numbers, strings, lists and dicts, which can be sent to another process."""
        verdicts = {name: [s.status, s.points, s.max_points, s.text] for name, s in self.verdicts.items()}
        return {"seed": self.seed, "isolation": self.isolation, "verdicts": verdicts, "lines": list(self.lines)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any] | None) -> Graded | None:
        """Return what ``plain`` gave."""
        if plain is None:
            return None
        verdicts = {
            name: Said(status=status, points=points, max_points=most, text=text)
            for name, (status, points, most, text) in plain["verdicts"].items()
        }
        return cls(seed=plain["seed"], isolation=plain["isolation"], verdicts=verdicts, lines=tuple(plain["lines"]))


def seed_of(text: str | None) -> int | None:
    """Read the seed that was typed. Raises UsageError."""
    if text is None:
        return None
    if not text.isdecimal() or len(text) > 20 or not int(text) < MAX_SEED:
        raise UsageError(f"'{text[:30]}' is no seed: --grade-seed takes a whole number from 0 to {MAX_SEED - 1}.")
    return int(text)


def criteria_of(wanted: Wanted) -> tuple[str, ...]:
    """Return the ids of the assignment's criteria, in its order, without running anything.

    Raises:
        UsageError: If there is no such file or course.
        CourseError: If the course can't be used.
    """
    from grader.course import choose_assignment, find_course
    from grader.course.spec import read_spec

    if not wanted.path.is_file():
        raise UsageError(f"There is no file '{wanted.path}'.", hint="Give --submission a .py or .ipynb file.")
    if wanted.path.suffix not in (".py", ".ipynb"):
        raise UsageError(f"'{wanted.path.name}' is neither a .py nor an .ipynb file.")
    if wanted.course is not None and not wanted.course.is_dir():
        raise UsageError(f"{wanted.course}: there is no such folder.", hint="Give --course the folder of a course.")
    course = find_course(wanted.course)
    spec = read_spec(course.reference(choose_assignment(course, wanted.assignment)) / "assignment.toml")
    return tuple(f"{task.id}/{criterion.id}" for task in spec.tasks for criterion in task.criteria)


def grade(wanted: Wanted) -> Graded:
    """Grade the file as other people's files are: isolated, or not at all.

    Raises:
        GraderError: If it can't be done.
    """
    from grader.course import find_course, load_assignment
    from grader.intake import read_submission
    from grader.pipeline import grade as grade_submission
    from grader.render.platforms import tell
    from grader.run.isolation import open_backend
    from grader.run.scratch import Scratch

    course = find_course(wanted.course)
    submission = read_submission(wanted.path)
    seed = secrets.randbelow(1_000_000) if wanted.seed is None else wanted.seed
    with ExitStack() as stack:
        backend = stack.enter_context(open_backend(wanted.isolation, purpose="others' files", secrets=course.secrets))
        assignment = load_assignment(course, wanted.assignment)
        scratch = Scratch(backend, submission)
        stack.callback(scratch.close)
        _, result = grade_submission(assignment, submission, seed, scratch, secret=secrets.token_hex(16))
        name = backend.name
    told = tell(result, assignment)
    verdicts = {
        verdict.id: Said(
            status=str(verdict.status),
            points="" if verdict.status == "not_graded" else _points(verdict.cents),
            max_points=_points(verdict.max_cents),
            text=_text(verdict.title, f"{verdict.word}: {verdict.score} points", told.text(verdict)),
        )
        for verdict in told.verdicts
    }
    lines = (f"{told.view.heading}; isolation {name}; the same inputs again: --grade-seed {seed}",)
    return Graded(seed=seed, isolation=name, verdicts=verdicts, lines=lines)


def _points(cents: int) -> str:
    from grader.render.figures import points

    return points(cents)


def _text(title: str, points: str, said: str) -> str:
    return "\n".join(part for part in (f"{title} ({points})", *(["", said] if said else [])))
