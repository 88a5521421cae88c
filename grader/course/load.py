"""Loads an assignment: its data is validated, its checks are imported as a private package named by their digest."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.core.assignment import Assignment, TaskChecks
from grader.core.misconceptions import Book, Misconception
from grader.course.find import Course, engine_reports
from grader.course.modules import PREFIX, install, package_of
from grader.course.spec import read_spec
from grader.course.templates import check_templates
from grader.course.texts import read_texts
from grader.errors import CourseError
from grader.model import Task

__all__ = ["choose_assignment", "digest_of", "load_assignment", "load_module"]


def load_assignment(course: Course, assignment_id: str = "", language: str = "") -> Assignment:
    """Load an assignment of ``course``: that of the id, or the one that ``choose_assignment`` takes.

    Raises:
        CourseError: If there is no such assignment, or it can't be used; the message names file and key.
    """
    check_templates(course)
    assignment_id = choose_assignment(course, assignment_id)
    folder = course.reference(assignment_id)
    spec = read_spec(folder / "assignment.toml")
    if spec.id != assignment_id:
        raise CourseError(str(folder / "assignment.toml"), "id", f"is '{spec.id}'; the folder is '{assignment_id}'.")
    lang = language or spec.language
    texts = {**read_texts(engine_reports() / f"texts.{lang}.toml"), **read_texts(folder / f"feedback.{lang}.toml")}
    for key in ["title", *(f"{task.id}.title" for task in spec.tasks)]:
        if key not in texts:
            raise CourseError(str(folder / f"feedback.{lang}.toml"), key, "this text is missing.")
    for task in spec.tasks:
        for criterion in task.criteria:
            key = f"{task.id}.{criterion.id}.title"
            if key not in texts:
                raise CourseError(str(folder / f"feedback.{lang}.toml"), key, "this text is missing.")
    digest = digest_of(folder)
    checks = _read_checks(load_module(folder, digest, "checks"), folder)
    missing = [task.id for task in spec.tasks if task.id not in checks]
    if missing:
        raise CourseError(str(folder / "checks.py"), "TASKS", f"has no checks for the task '{missing[0]}'.")
    misconceptions: tuple[Misconception, ...] = ()
    if (folder / "misconceptions.py").is_file():
        misconceptions = _read_book(load_module(folder, digest, "misconceptions"), folder, spec.tasks)
    return Assignment(
        id=spec.id,
        version=spec.version,
        language=lang,
        digest=digest,
        tasks=spec.tasks,
        limits=spec.limits,
        packages=spec.packages,
        inert_modules=spec.inert_modules,
        texts=texts,
        checks=checks,
        misconceptions=misconceptions,
        stand_ins=_read_stand_ins(folder, spec.tasks),
        hints_shown=spec.hints_shown,
    )


def choose_assignment(course: Course, assignment_id: str = "") -> str:
    """Return ``assignment_id`` if there is such an assignment; without one, the only or the default one.

    Raises:
        CourseError: If there is none of that id, or none of several is the default.
    """
    known = course.assignments
    if assignment_id in known:
        return assignment_id
    if assignment_id:
        raise CourseError(
            str(course.root), "", f"there is no assignment '{assignment_id}'.", hint=f"There is: {', '.join(known)}."
        )
    if len(known) == 1:
        return known[0]
    default = [name for name in known if read_spec(course.reference(name) / "assignment.toml").default]
    if len(default) != 1:
        raise CourseError(
            str(course.root), "", f"there are several assignments ({', '.join(known)}).",
            hint="Choose one with --assignment, or write default = true into the assignment.toml of just one.",
        )  # fmt: skip
    return default[0]


def digest_of(folder: Path) -> str:
    """Return the SHA-256 over names and contents of a reference folder's files that judging depends on."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".toml") and "__pycache__" not in path.parts:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def load_module(folder: Path, digest: str, name: str) -> Any:
    """Import ``<folder>/<name>.py`` as part of a private package, so that ``from . import solution`` works inside.

    Raises:
        CourseError: If the file is missing or fails while it is imported.
    """
    install()
    package_name = f"{PREFIX}{digest[:16]}"
    if package_name not in sys.modules:
        init = folder / "__init__.py"
        spec = package_of(package_name, folder)
        if spec is None:
            raise CourseError(str(init), "", "this file is missing; it may be empty but for a docstring.")
        package = importlib.util.module_from_spec(spec)
        # Registered before anything of it runs: relative imports look here.
        sys.modules[package_name] = package
        if spec.loader is not None and init.is_file():
            try:
                spec.loader.exec_module(package)
            except Exception as error:
                del sys.modules[package_name]
                raise _not_imported(init, error) from error
    if not (folder / f"{name}.py").is_file():
        raise CourseError(str(folder / f"{name}.py"), "", "this file is missing.")
    try:
        return importlib.import_module(f"{package_name}.{name}")
    except Exception as error:
        sys.modules.pop(f"{package_name}.{name}", None)
        raise _not_imported(folder / f"{name}.py", error) from error


def _not_imported(path: Path, error: Exception) -> CourseError:
    return CourseError(str(path), "", f"it can't be imported: {type(error).__name__}: {error}.")


def _read_checks(module: Any, folder: Path) -> Mapping[str, TaskChecks]:
    tasks = getattr(module, "TASKS", None)
    if not isinstance(tasks, Mapping):
        raise CourseError(str(folder / "checks.py"), "TASKS", "there must be a mapping from task id to its checks.")
    for name, checks in tasks.items():
        if not callable(getattr(checks, "plan", None)) or not callable(getattr(checks, "judge", None)):
            raise CourseError(str(folder / "checks.py"), f"TASKS[{name!r}]", "it needs the methods plan and judge.")
    return tasks


def _read_book(module: Any, folder: Path, tasks: tuple[Task, ...]) -> tuple[Misconception, ...]:
    book = getattr(module, "BOOK", None)
    if not isinstance(book, Book):
        raise CourseError(str(folder / "misconceptions.py"), "BOOK", "there must be a Book of misconceptions.")
    targets = {f"{task.id}/{criterion.id}" for task in tasks for criterion in task.criteria}
    for entry in book:
        if entry.target not in targets:
            raise CourseError(str(folder / "misconceptions.py"), entry.id, f"there is no criterion '{entry.target}'.")
    return tuple(book)


def _read_stand_ins(folder: Path, tasks: tuple[Task, ...]) -> dict[str, str]:
    """Read ``stand_ins/<function>.py`` of every task that another one uses."""
    used = {name for task in tasks for name in task.uses}
    sources = {}
    for task in tasks:
        if task.id in used:
            path = folder / "stand_ins" / f"{task.function}.py"
            if not path.is_file():
                raise CourseError(str(path), "", f"this file is missing: another task uses '{task.id}'.")
            sources[task.function] = path.read_text(encoding="utf-8")
    return sources
