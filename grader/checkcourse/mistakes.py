"""Each misconception is caught, named, and paid for in its own task alone."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from grader.checkcourse.rehearsals import Rehearsals, Rehearsed, lost, misconceptions_of
from grader.checkcourse.report import Problem, Proof
from grader.checkcourse.solution import Function, Solution, module_of
from grader.core.assignment import Assignment
from grader.core.misconceptions import Misconception
from grader.course.load import load_module
from grader.errors import CourseError

__all__ = ["Maker", "maker_of", "own_arguments", "prove_misconceptions"]

Maker = Callable[[Misconception], Function]
"""Turns a misconception into the function that a learner who has it would hand in."""


class NotRehearsable(Exception):
    """Why a misconception can't be turned into a function."""


def prove_misconceptions(rehearsals: Rehearsals, solution: Solution, folder: Path, seeds: Iterable[int]) -> Proof:
    """Hand each misconception in as a learner would, for every seed."""
    assignment = rehearsals.assignment
    entries = assignment.misconceptions
    if not entries:
        return Proof(name="misconceptions", says="there are none")
    try:
        make = maker_of(assignment, folder)
    except CourseError as error:
        problem = Problem(file=Path(error.file), key=error.key, says=str(error).partition(": ")[2])
        return Proof(name="misconceptions", says="caught, named, and lost in their own task", problems=(problem,))
    problems: list[Problem] = []
    seeds = tuple(seeds)
    for entry in entries:
        complaints = (_complaints(rehearsals, solution, make, entry, seed, alone=seed != seeds[0]) for seed in seeds)
        found = next(itertools.chain.from_iterable(complaints), "")
        if found:
            problems.append(Problem(file=folder / "misconceptions.py", key=entry.id, says=found))
    held = len(entries) - len(problems)
    says = f"{held} of {len(entries)} caught, named, and paid for in their own task alone"
    return Proof(name="misconceptions", says=says, problems=tuple(problems))


def maker_of(assignment: Assignment, folder: Path) -> Maker:
    """Return the course's ``as_function``, or what uses a reference of the function's own arguments as it is.

    Raises:
        CourseError: If ``rehearsal.py`` is there and can't be used.
    """
    if not (folder / "rehearsal.py").is_file():
        return lambda entry: own_arguments(entry, assignment.task(entry.task).signature)
    module: Any = load_module(folder, assignment.digest, "rehearsal")
    make = getattr(module, "as_function", None)
    if not callable(make):
        raise CourseError(str(folder / "rehearsal.py"), "as_function", "there is no function of this name.")
    made: Maker = make
    return made


def own_arguments(entry: Misconception, signature: str) -> Function:
    """Return the wrong reference itself, if it takes what the task's function takes.

    Raises:
        NotRehearsable: If it doesn't, or yields several candidates.
    """
    predict: Function = entry.predict() if entry.fresh else entry.predict
    wanted = _parameters(signature)
    takes = list(inspect.signature(predict).parameters)
    if entry.many or takes != wanted:
        raise NotRehearsable(
            f"can't be rehearsed: it takes ({', '.join(takes)}) in place of what {signature} takes. "
            "Write rehearsal.py with as_function(entry)."
        )
    return predict


def _parameters(signature: str) -> list[str]:
    try:
        (node,) = ast.parse(f"def {signature}: ...").body
    except (SyntaxError, ValueError):
        return []
    assert isinstance(node, ast.FunctionDef)
    return [part.arg for part in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def _complaints(
    rehearsals: Rehearsals, solution: Solution, make: Maker, entry: Misconception, seed: int, *, alone: bool
) -> Iterator[str]:
    """Say what is wrong with how ``entry`` is judged with this seed: its task ``alone``, or all that call it too."""
    try:
        function = make(entry)
    except NotRehearsable as error:
        yield str(error)
        return
    except Exception as error:  # noqa: BLE001 - a course's function may raise anything, and is told of
        yield f"rehearsal.py gives no function: {type(error).__name__}: {error}"
        return
    callers = () if alone else solution.callers(entry.task)
    rehearsed = _handed_in(rehearsals, solution, entry, function, seed, callers)
    if rehearsed.fault:
        yield f"a check fails on it (seed {seed}): {rehearsed.fault}"
        return
    losing = {task.id: task for task in lost(rehearsed)}
    if entry.task not in losing:
        yield f"isn't caught: with seed {seed} it gets all points of '{entry.task}'."
        return
    for task_id, task in losing.items():
        if task_id != entry.task:
            yield f"loses points in '{task_id}' too (seed {seed}): {rehearsals.says(task)}"
    named = misconceptions_of(rehearsed.result)
    others = sorted(set(named) - {entry.id})
    if others:
        yield f"is taken for '{others[0]}' (seed {seed})."
    if entry.task not in named.get(entry.id, ()):
        said = rehearsals.says(losing[entry.task])
        yield f"is caught with seed {seed} and isn't named. What is said: {said}"


def _handed_in(
    rehearsals: Rehearsals,
    solution: Solution,
    entry: Misconception,
    function: Function,
    seed: int,
    callers: tuple[str, ...],
) -> Rehearsed:
    """Judge the solution with one function wrong; who calls it is judged as the engine does, with a stand-in."""
    assignment = rehearsals.assignment
    name = assignment.task(entry.task).function
    if not callers:
        return rehearsals.judge({name: function}, seed, (entry.task,))
    functions = solution.linked({name: function})
    if name not in assignment.stand_ins:
        return rehearsals.judge(functions, seed, (entry.task, *callers))
    right = getattr(module_of(assignment.stand_ins[name], "_stand_in"), name)
    helped = {**solution.linked({name: right}), name: function}
    return rehearsals.judge_followed(functions, helped, seed, (entry.task, *callers))
