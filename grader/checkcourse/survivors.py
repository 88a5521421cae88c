"""Small mistakes in the solution: which of them does no check catch?

Survivors are no failure: some mistakes change nothing that could be asked for, and some of them are right, too.
"""

from __future__ import annotations

from collections.abc import Iterable

from grader.checkcourse.mutate import STEP, Mutant, mutants, with_steps
from grader.checkcourse.rehearsals import Rehearsals, Rehearsed, reviews_of
from grader.checkcourse.report import Problem, Proof
from grader.checkcourse.solution import Function, Solution

__all__ = ["Steps", "TooManySteps", "prove_mutants"]

PATIENCE = 20
"""A mutant may take so many times the steps of the solution."""

ROOM = 100_000
"""And as many more, so that short programs aren't stopped too early."""


class TooManySteps(BaseException):
    """Ends a mutant that would go on for long. No ``except Exception`` of anybody's catches it."""


class Steps:
    """Counts the steps of a program and ends it at a limit: the same one on every machine, unlike a time."""

    def __init__(self) -> None:
        self.count = 0
        self.limit = 1 << 62

    def __call__(self) -> None:
        """Count one. Raises TooManySteps."""
        self.count += 1
        if self.count > self.limit:
            raise TooManySteps

    def restart(self, limit: int) -> None:
        """Begin anew, with this limit."""
        self.count, self.limit = 0, limit


def prove_mutants(rehearsals: Rehearsals, solution: Solution, seeds: Iterable[int]) -> Proof:
    """Make every small mistake and list those that cost no point. A check that fails on one is a problem."""
    seeds = tuple(seeds)
    steps = Steps()
    limit = PATIENCE * _usual_steps(rehearsals, solution, steps, seeds[0]) + ROOM
    made = 0
    survivors: list[str] = []
    problems: list[Problem] = []
    for mutant in mutants(solution.source):
        affected = solution.affected(mutant.name)
        if not affected:
            continue
        made += 1
        outcome = _judged(rehearsals, solution, mutant, steps, limit, seeds, affected)
        if outcome is None:
            continue
        shown = f"{solution.path}:{mutant.line}: {mutant.after}   [{mutant.what}; was: {mutant.before}]"
        if outcome.fault:
            problems.append(
                Problem(file=solution.path.with_name("checks.py"), key="", says=f"fails on {shown}: {outcome.fault}")
            )
        else:
            survivors.append(shown + (" (the instructor is asked to look)" if reviews_of(outcome.result) else ""))
    caught = made - len(survivors) - len(problems)
    head = f"no check catches {len(survivors)}; look whether each of them is right, too:"
    listed = (head, *survivors) if survivors else ()
    says = f"{caught} of {made} small mistakes in the solution are caught"
    return Proof(name="mutants", says=says, problems=tuple(problems), listed=listed)


def _usual_steps(rehearsals: Rehearsals, solution: Solution, steps: Steps, seed: int) -> int:
    steps.restart(1 << 62)
    rehearsals.judge(solution.variant(with_steps(solution.source), {STEP: steps}), seed)
    return steps.count


def _judged(
    rehearsals: Rehearsals,
    solution: Solution,
    mutant: Mutant,
    steps: Steps,
    limit: int,
    seeds: tuple[int, ...],
    affected: tuple[str, ...],
) -> Rehearsed | None:
    """Return what became of a mutant that wasn't caught, or on which a check failed; None if it was caught."""
    last = None
    for seed in seeds:
        steps.restart(limit)
        try:
            functions = _functions(solution, mutant, steps)
            last = rehearsals.judge(functions, seed, affected)
        except TooManySteps:
            return None
        if last.fault:
            return last
        if not last.full:
            return None
    return last


def _functions(solution: Solution, mutant: Mutant, steps: Steps) -> dict[str, Function]:
    try:
        return solution.variant(with_steps(mutant.source), {STEP: steps})
    except Exception as error:  # noqa: BLE001 - a mistake in a default value may raise while it is defined
        return dict.fromkeys(solution.functions, _raising(error))


def _raising(error: Exception) -> Function:
    def function(*args: object, **kwargs: object) -> object:
        raise error

    return function
