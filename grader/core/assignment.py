"""An assignment as the engine sees it: data from ``assignment.toml``, texts, and the checks of each task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from grader.core.misconceptions import Misconception
from grader.core.observed import Case, Inputs, Observed
from grader.model import Finding, Limits, Task
from grader.model._data import data, field

__all__ = ["Assignment", "TaskChecks"]


class TaskChecks(Protocol):
    """What ``checks.py`` gives for a task. Both functions are pure."""

    def plan(self, inputs: Inputs, seen: Observed) -> Iterable[Case]:
        """Name the cases to run next, given what was seen so far; none means enough."""
        ...

    def judge(self, inputs: Inputs, seen: Observed) -> Iterable[Finding]:
        """Say what the outcomes show: one Finding for each criterion of the task."""
        ...


@data
class Assignment:
    """One assignment, loaded and validated.

    Attributes:
        language: Of the texts, such as ``"en"``.
        digest: SHA-256 over the files of the course that judging depends on.
        packages: What student code may import besides the standard library.
        inert_modules: Modules that get an inert stand-in when they aren't installed.
        texts: The catalogue: key to text, the course's over the engine's own.
        checks: By task id.
        misconceptions: The wrong references of ``misconceptions.py``; none if there is no such file.
        stand_ins: Source of right functions that the course is willing to show, by the function's name.
        hints_shown: Up to which level hints are shown where nobody asks for another one, 0 to 3.
    """

    id: str
    version: str
    language: str
    digest: str
    tasks: tuple[Task, ...]
    limits: Limits
    packages: tuple[str, ...]
    inert_modules: tuple[str, ...]
    texts: Mapping[str, str]
    checks: Mapping[str, TaskChecks]
    misconceptions: tuple[Misconception, ...] = ()
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    hints_shown: int = 3

    @property
    def points(self) -> int:
        """Points of all tasks together."""
        return sum(task.points for task in self.tasks)

    def task(self, task_id: str) -> Task:
        """Return the task of that id. Raises KeyError."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise KeyError(task_id)
