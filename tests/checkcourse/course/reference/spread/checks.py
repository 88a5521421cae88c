"""Two tasks with one check each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from grader.api import Case, Finding, Inputs, Observation, Observed, Status

from . import solution
from .misconceptions import BOOK

CASES = {"three": 3, "five": 5}


class Checks:
    """Compares one function with the solution's."""

    def __init__(self, task: str, right: Callable[..., Any]) -> None:
        self.task, self.right = task, right

    def plan(self, inputs: Inputs, seen: Observed) -> Iterator[Case]:
        """Ask for a few numbers."""
        for name, size in CASES.items():
            yield Case(id=name, args=(inputs.rng(name).standard_normal(size) + 3,), watch=True)

    def judge(self, inputs: Inputs, seen: Observed) -> Iterator[Finding]:
        """Compare all of them."""
        criterion = f"{self.task}/values"
        calls = list(seen)
        observed = [Observation.of(call, call.args) for call in calls]
        wrong = [call for call in calls if not call.returned or not self.agrees(call.value, call.args)]
        named = BOOK.explain(self.task, observed) if wrong else ""
        if wrong:
            got = str(wrong[0].value) if wrong[0].returned else "nothing"
            text = f"misconception.{named}.text" if named else f"{self.task}.values.wrong"
            yield Finding(
                criterion=criterion,
                status=Status.FAILED,
                text=text,
                params=(("got", got), ("count", len(wrong))),
                misconceptions=(named,) if named else (),
            )
        else:
            yield Finding(criterion=criterion, status=Status.PASSED)
        if self.task == "centre":
            kept = all(np.array_equal(np.array(call.args_after), np.array(call.args)) for call in calls)
            text = "" if kept else "centre.kept.changed"
            yield Finding(criterion="centre/kept", status=Status.PASSED if kept else Status.FAILED, text=text)

    def agrees(self, value: object, args: tuple[Any, ...]) -> bool:
        """Whether an answer is the solution's, up to rounding."""
        right = np.asarray(self.right(*args))
        return isinstance(value, (float, np.ndarray)) and np.shape(value) == right.shape and np.allclose(value, right)


TASKS = {"centre": Checks("centre", solution.centre), "spread": Checks("spread", solution.spread)}
