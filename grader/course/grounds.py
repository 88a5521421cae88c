"""What the verdict on each task rests on, as one digest: where that is as it was, a verdict that was kept still holds.

Judging is a pure function. Beside the transcript it knows the task and its rubric, the modules of the course that the
task's checks import, our own code, Python and NumPy. Imports are read from the sources. Checks that import something
else, or read files, rest on what isn't known here: such a task has no digest, and is judged each time.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from grader import __version__
from grader.core.assignment import Assignment
from grader.course.find import Course
from grader.course.modules import PREFIX
from grader.kept import keep, kept, place_of
from grader.model import Task

__all__ = ["grounds_of"]

KNOWN = frozenset(
    {"__future__", "bisect", "cmath", "collections", "dataclasses", "decimal", "enum", "fractions", "functools"}
    | {"grader", "hashlib", "heapq", "itertools", "math", "numpy", "operator", "re", "statistics", "string", "typing"}
)
"""Modules that change with the versions that are part of the digest, and with nothing else."""

READS = frozenset(
    {"__import__", "eval", "exec", "fromfile", "genfromtxt", "import_module", "load", "loadtxt", "memmap", "open"}
)
"""Names by which code comes to what no import tells."""


def grounds_of(course: Course, assignment: Assignment) -> dict[str, str]:
    """Return, by task id, the SHA-256 of all that the verdict on a task rests on beside the transcript."""
    sources = _Sources(course.reference(assignment.id))
    common = repr(
        (
            __version__,
            _engine(),
            platform.python_version(),
            platform.machine(),
            np.__version__,
            [(task.id, task.function, task.uses) for task in assignment.tasks],
            sorted(assignment.stand_ins.items()),
            assignment.texts.get("engine.snippet.stand_in"),
        )
    )
    grounds = {}
    for task in assignment.tasks:
        parts = [task, *(assignment.task(name) for name in task.uses)]
        files = sources.of(["__init__", *(_module_of(assignment, part) for part in parts)])
        if files is not None:
            grounds[task.id] = hashlib.sha256(f"{common} {parts!r} {sorted(files.items())!r}".encode()).hexdigest()
    return grounds


def _module_of(assignment: Assignment, task: Task) -> str:
    """Return the module of the course in which a task's checks are written, or ``checks`` if they are made there."""
    checks = assignment.checks[task.id]
    package, _, module = type(checks).__module__.partition(".")
    # What an object was made with stands where it was made.
    return module if module and package.startswith(PREFIX) and not getattr(checks, "__dict__", None) else "checks"


def _engine() -> str:
    """Return the SHA-256 of our own code: a version number stays the same while something is being developed."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _Sources:
    """The modules of a reference folder, and what each of them imports."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, tuple[str, list[str] | None] | None] = {}

    def of(self, modules: Iterable[str]) -> Mapping[str, str] | None:
        """Return the SHA-256 of these modules and of all that they import; None if they rest on more than that."""
        found: dict[str, str] = {}
        waiting = list(modules)
        while waiting:
            name = waiting.pop()
            source = self._source(name)
            if name in found or source is None:
                continue
            digest, imports = source
            if imports is None:
                return None
            found[name] = digest
            waiting += imports
        return found

    def _source(self, name: str) -> tuple[str, list[str] | None] | None:
        """Return a module's SHA-256 and what it imports of the course; None if there is no such module."""
        if name not in self._read:
            path = self._folder.joinpath(*name.split("."))
            path = path / "__init__.py" if path.is_dir() else path.with_name(f"{path.name}.py")
            self._read[name] = _read_module(path, name) if path.is_file() else None
        return self._read[name]


def _read_module(path: Path, name: str) -> tuple[str, list[str] | None]:
    content = path.read_bytes()
    digest = hashlib.sha256(name.encode() + b"\0" + content).hexdigest()
    place = place_of(path, "imports")
    imports = None
    try:
        before, imports = json.loads(kept(place) or b"[0, 0]")
    except ValueError:
        before = ""
    if before != digest:
        package = name.split(".") if path.name == "__init__.py" and name != "__init__" else name.split(".")[:-1]
        imports = _imports(ast.parse(content), package)
        keep(place, json.dumps([digest, imports]).encode())
    return digest, imports


def _imports(tree: ast.Module, package: list[str]) -> list[str] | None:
    """Return the modules of the course that a module may import; None if it comes to anything that isn't known."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(level=level) if level:
                base = [*package[: len(package) - level + 1], *(node.module or "").split(".")]
                if level > len(package) + 1:
                    return None
                base = [part for part in base if part]
                found.update(".".join(base[:end]) for end in range(1, len(base) + 1))
                found.update(".".join([*base, alias.name]) for alias in node.names)
            case ast.Import() | ast.ImportFrom():
                named = [node.module or ""] if isinstance(node, ast.ImportFrom) else [part.name for part in node.names]
                if any(part.partition(".")[0] not in KNOWN for part in named):
                    return None
            case ast.Name(id=word) | ast.Attribute(attr=word) if word in READS:
                return None
    return sorted(found)
