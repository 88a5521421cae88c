"""The first proofs: the solution gets everything, the handout nothing, the points are what they seem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.checkcourse.rehearsals import Rehearsals, lost, misconceptions_of, reviews_of
from grader.checkcourse.report import Problem, Proof
from grader.checkcourse.solution import Solution
from grader.core.assignment import Assignment
from grader.intake import read_submission
from grader.model import Result, Status
from grader.pipeline import grade
from grader.run.process import ProcessBackend
from grader.run.runner import Scratch

__all__ = ["prove_handout", "prove_points", "prove_solution"]

HANDOUT_SUFFIXES = (".py", ".ipynb")


def prove_points(assignment: Assignment, spec: Path) -> Proof:
    """Say what can be earned; a task or a whole assignment without points is a mistake."""
    problems = [
        Problem(file=spec, key=task.id, says="this task has no points.") for task in assignment.tasks if not task.points
    ]
    parts = ", ".join(f"{task.id} {task.points}" for task in assignment.tasks)
    return Proof(name="points", says=f"{assignment.points}: {parts}", problems=tuple(problems))


def prove_solution(rehearsals: Rehearsals, solution: Solution, seeds: Iterable[int]) -> Proof:
    """The solution gets all points for every seed, nobody has to look at it, and no mistake is named in it."""
    problems: list[Problem] = []
    seeds = tuple(seeds)
    for seed in seeds:
        rehearsed = rehearsals.judge(solution.functions, seed)
        if rehearsed.fault:
            problems.append(
                Problem(file=solution.path.with_name("checks.py"), key=f"seed {seed}", says=rehearsed.fault)
            )
            break
        problems += [
            Problem(
                file=solution.path,
                key=task.function,
                says=f"gets {_points(task.cents)} of {_points(task.max_cents)} points with seed {seed}: "
                f"{rehearsals.says(task)}",
            )
            for task in lost(rehearsed)
        ]
        problems += [
            Problem(file=solution.path, key=", ".join(sorted(tasks)), says=f"'{name}' is named in it (seed {seed}).")
            for name, tasks in misconceptions_of(rehearsed.result).items()
        ]
        problems += [
            Problem(file=solution.path, key=text, says=f"the instructor is asked to look at it (seed {seed}).")
            for text in reviews_of(rehearsed.result)
        ]
    return Proof(name="solution", says=f"all points, for {len(seeds)} seeds", problems=tuple(problems))


def prove_handout(assignment: Assignment, folder: Path, seed: int) -> Proof:
    """Every starter file, run as a learner's would be, gets nothing: each of its tasks is missing."""
    files = sorted(path for path in folder.glob("*") if path.suffix in HANDOUT_SUFFIXES) if folder.is_dir() else []
    if not files:
        problem = Problem(file=folder, key="", says="there is no handout in it: a .py file or a notebook is needed.")
        return Proof(name="handout", says="no points, every task missing", problems=(problem,))
    problems: list[Problem] = []
    for path in files:
        problems += _handout_problems(assignment, path, seed)
    names = ", ".join(path.name for path in files)
    return Proof(name="handout", says=f"no points, every task missing ({names})", problems=tuple(problems))


def _handout_problems(assignment: Assignment, path: Path, seed: int) -> Iterator[Problem]:
    submission = read_submission(path)
    scratch = Scratch(ProcessBackend(), submission)
    try:
        _, result = grade(assignment, submission, seed, scratch)
    finally:
        scratch.close()
    yield from _not_missing(path, result)


def _not_missing(path: Path, result: Result) -> Iterator[Problem]:
    for task in result.tasks:
        if task.status is not Status.MISSING or task.cents:
            says = f"is {task.status} with {_points(task.cents)} points, where it should be missing with none."
            yield Problem(file=path, key=task.function, says=says)


def _points(cents: int) -> str:
    return f"{cents / 100:g}"
