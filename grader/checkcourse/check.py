"""All proofs of one assignment, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader.checkcourse.mistakes import prove_misconceptions
from grader.checkcourse.rehearsals import Rehearsals
from grader.checkcourse.report import Problem, Proof
from grader.checkcourse.solution import Solution
from grader.checkcourse.sure import prove_handout, prove_points, prove_solution
from grader.checkcourse.survivors import prove_mutants
from grader.checkcourse.texts import prove_texts
from grader.course import Course, load_assignment
from grader.errors import CourseError

__all__ = ["check_assignment"]


def check_assignment(course: Course, assignment_id: str, seeds: int) -> Iterator[Proof]:
    """Yield the proofs as they are made; an assignment that can't be loaded has one proof, which fails.

    The texts come last, since all that was said before tells which of them are used, and with which parameters.
    """
    folder = course.reference(assignment_id)
    try:
        assignment = load_assignment(course, assignment_id)
        solution = Solution(folder, assignment)
    except CourseError as error:
        problem = Problem(file=Path(error.file), key=error.key, says=_bare(error))
        yield Proof(name="course", says="can't be used", problems=(problem,))
        return
    numbers = range(1, seeds + 1)
    rehearsals = Rehearsals(assignment)
    yield prove_points(assignment, folder / "assignment.toml")
    right = prove_solution(rehearsals, solution, numbers)
    yield right
    yield prove_handout(assignment, course.handout(assignment_id), numbers[0])
    if right.holds:
        # Beside a wrong solution every mistake would seem to cost points elsewhere.
        yield prove_misconceptions(rehearsals, solution, folder, numbers)
        yield prove_mutants(rehearsals, solution, numbers)
    yield prove_texts(assignment, folder, rehearsals.said)


def _bare(error: CourseError) -> str:
    """Return the message without file and key in front, and with its hint."""
    where = f"{error.file}, {error.key}" if error.key else error.file
    return str(error).removeprefix(f"{where}: ")
