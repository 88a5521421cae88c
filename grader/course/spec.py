"""``assignment.toml``: read, and every mistake in it named by its key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from grader.core.find import LOAD
from grader.course.texts import read_toml
from grader.errors import CourseError
from grader.model import Criterion, Limits, Task
from grader.model._data import data, fields_of

__all__ = ["Spec", "read_spec"]

_ID = re.compile(r"[a-z][a-z0-9_]*")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED = LOAD.rstrip("/")
HINT_LEVELS = 3
_TOP = {"id", "version", "default", "language", "packages", "inert_modules", "hints_shown", "limits", "task"}
_TASK = {"id", "function", "signature", "criteria", "uses"}
_CRITERION = {"id", "points", "core", "requires", "hidden"}


@data
class Spec:
    """What stands in ``assignment.toml``."""

    id: str
    version: str
    default: bool
    language: str
    tasks: tuple[Task, ...]
    limits: Limits
    packages: tuple[str, ...]
    inert_modules: tuple[str, ...]
    hints_shown: int


class _Reader:
    """Takes values out of a table and complains with the whole key."""

    def __init__(self, path: Path, key: str, table: object, known: set[str]) -> None:
        self.path, self.key = path, key
        if not isinstance(table, dict):
            raise CourseError(str(path), key, "a table is needed.")
        self.table: dict[str, Any] = table
        for name in table:
            if name not in known:
                self.fail(name, f"is unknown here; known are {', '.join(sorted(known))}.")

    def fail(self, name: str, message: str) -> None:
        raise CourseError(str(self.path), f"{self.key}.{name}" if self.key else name, message)

    def text(self, name: str, default: str | None = None, pattern: re.Pattern[str] | None = None) -> str:
        value = self.table.get(name, default)
        if not isinstance(value, str):
            self.fail(name, "is missing." if value is None else "must be a text in quotation marks.")
        if pattern and not pattern.fullmatch(str(value)):
            self.fail(name, f"'{value}' isn't allowed: use letters, digits and _, a letter first.")
        return str(value)

    def flag(self, name: str) -> bool:
        value = self.table.get(name, False)
        if not isinstance(value, bool):
            self.fail(name, "must be true or false.")
        return bool(value)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.table.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.fail(name, "must be a list of texts.")
        return tuple(value)

    def level(self, name: str, most: int) -> int:
        value = self.table.get(name, most)
        if type(value) is not int or not 0 <= value <= most:
            self.fail(name, f"must be a whole number from 0 to {most}.")
        return int(value)

    def tables(self, name: str) -> list[Any]:
        value = self.table.get(name)
        if not isinstance(value, list) or not value:
            self.fail(name, "must be a list with at least one table.")
        return list(value or [])


def read_spec(path: Path) -> Spec:
    """Read and validate ``assignment.toml``.

    Raises:
        CourseError: With the file and the key that is wrong.
    """
    top = _Reader(path, "", read_toml(path), _TOP)
    tasks = tuple(_task(path, index, table) for index, table in enumerate(top.tables("task")))
    _unique(path, "task", [task.id for task in tasks])
    earlier: set[str] = set()
    for index, task in enumerate(tasks):
        for name in task.uses:
            if name not in earlier:
                raise CourseError(str(path), f"task[{index}].uses", f"'{name}' is no task before this one.")
        earlier.add(task.id)
    _unique(path, "task.function", [task.function for task in tasks])
    return Spec(
        id=top.text("id", pattern=_ID),
        version=top.text("version"),
        default=top.flag("default"),
        language=top.text("language", "en"),
        tasks=tasks,
        limits=_limits(path, top.table.get("limits", {})),
        packages=top.texts("packages"),
        inert_modules=top.texts("inert_modules"),
        hints_shown=top.level("hints_shown", HINT_LEVELS),
    )


def _task(path: Path, index: int, table: object) -> Task:
    key = f"task[{index}]"
    reader = _Reader(path, key, table, _TASK)
    criteria = tuple(_criterion(path, f"{key}.criteria[{n}]", item) for n, item in enumerate(reader.tables("criteria")))
    if reader.table.get("id") == RESERVED:
        reader.fail("id", f"'{RESERVED}' isn't allowed: calls that load a file have this name.")
    _unique(path, f"{key}.criteria", [criterion.id for criterion in criteria])
    earlier: set[str] = set()
    for criterion in criteria:
        if criterion.requires and criterion.requires not in earlier:
            raise CourseError(
                str(path),
                f"{key}.criteria",
                f"'{criterion.id}' requires '{criterion.requires}', which isn't before it.",
            )
        earlier.add(criterion.id)
    return Task(
        id=reader.text("id", pattern=_ID),
        function=reader.text("function", pattern=_IDENTIFIER),
        signature=reader.text("signature"),
        criteria=criteria,
        uses=reader.texts("uses"),
    )


def _criterion(path: Path, key: str, table: object) -> Criterion:
    reader = _Reader(path, key, table, _CRITERION)
    points = reader.table.get("points")
    if type(points) is not int or points < 0:
        reader.fail("points", "must be a whole number, not below 0.")
    return Criterion(
        id=reader.text("id", pattern=_ID),
        points=int(points or 0),
        core=reader.flag("core"),
        requires=reader.text("requires", ""),
        hidden=reader.flag("hidden"),
    )


def _limits(path: Path, table: object) -> Limits:
    known = fields_of(Limits)
    reader = _Reader(path, "limits", table, set(known))
    for name, value in reader.table.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
            reader.fail(name, "must be a number above 0.")
        if isinstance(known[name], int) and not isinstance(value, int):
            reader.fail(name, "must be a whole number.")
    return Limits(**reader.table)


def _unique(path: Path, key: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise CourseError(str(path), key, f"'{name}' stands there twice.")
