"""A course's own solution: its functions, variants of it, and which function refers to which."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from grader.core.assignment import Assignment
from grader.course.load import load_module
from grader.errors import CourseError

__all__ = ["Function", "Solution", "module_of"]

Function = Callable[..., Any]

_numbers = itertools.count()


class Solution:
    """``reference/<id>/solution.py``.

    Attributes:
        path: The file.
        source: Its text.
        functions: The tasks' functions, by their names.
    """

    def __init__(self, folder: Path, assignment: Assignment) -> None:
        """Load it. Raises CourseError if it can't be imported, or a task's function isn't there."""
        self.path = folder / "solution.py"
        module = load_module(folder, assignment.digest, "solution")
        self._package = str(module.__package__)
        self._assignment = assignment
        self.source = self.path.read_text(encoding="utf-8")
        self.functions = self._functions(module)
        self._names = _references(ast.parse(self.source))

    def linked(self, replaced: Mapping[str, Function]) -> dict[str, Function]:
        """Return the functions of a copy in which those of ``replaced`` are what every caller of that name gets."""
        module = module_of(self.source, self._package)
        vars(module).update(replaced)
        return self._functions(module)

    def variant(self, source: str, names: Mapping[str, Any]) -> dict[str, Function]:
        """Return the functions of the module that ``source`` makes, in which ``names`` are known too.

        What goes wrong while it is made is raised.
        """
        return self._functions(module_of(source, self._package, names))

    def callers(self, task_id: str) -> tuple[str, ...]:
        """Return the ids of the other tasks whose functions call the one of this task, themselves or through others."""
        name = self._assignment.task(task_id).function
        return tuple(
            task.id for task in self._assignment.tasks if task.id != task_id and name in self._reached(task.function)
        )

    def affected(self, name: str) -> tuple[str, ...]:
        """Return the ids of the tasks that a change of ``name`` is to show in.

        For a task's own function it is that task alone: whoever calls it isn't there to test it.
        """
        own = tuple(task.id for task in self._assignment.tasks if task.function == name)
        return own or tuple(task.id for task in self._assignment.tasks if name in self._reached(task.function))

    def _reached(self, name: str) -> set[str]:
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for other in self._names.get(waiting.pop(), frozenset()) - found:
                found.add(other)
                waiting.append(other)
        return found

    def _functions(self, module: ModuleType) -> dict[str, Function]:
        functions = {}
        for task in self._assignment.tasks:
            function = getattr(module, task.function, None)
            if not callable(function):
                raise CourseError(
                    str(self.path),
                    task.function,
                    f"there is no function of this name, which the task '{task.id}' asks for.",
                )
            functions[task.function] = function
        return functions


def module_of(source: str, package: str, names: Mapping[str, Any] | None = None) -> ModuleType:
    """Make a module of trusted source, within ``package``; what it raises is raised."""
    module = ModuleType(f"{package}._variant{next(_numbers)}")
    module.__package__ = package
    vars(module).update(names or {})
    # Dataclasses look their module up while they are made.
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, f"<{module.__name__}>", "exec"), vars(module))  # noqa: S102 - the course's own solution
    finally:
        del sys.modules[module.__name__]
    return module


def _references(tree: ast.Module) -> dict[str, frozenset[str]]:
    """Return, for each name defined at the top, the names that its definition mentions."""
    names: dict[str, frozenset[str]] = {}
    for node in tree.body:
        mentioned = frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
        for name in defined_by(node):
            names[name] = mentioned - {name}
    return names


def defined_by(node: ast.stmt) -> tuple[str, ...]:
    """Return the names that a statement defines."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return (node.name,)
        case ast.Assign():
            return tuple(part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            return (name,)
        case _:
            return ()
