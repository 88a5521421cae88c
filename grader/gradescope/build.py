"""Builds ``autograder.zip``: our own package, the course, and the two scripts that Gradescope asks for.

The package travels as its files, not as a wheel: they are there in a checkout and in an installation alike, so
what the instructor tried is what grades, in the same version, and nothing has to be built to make the archive.
What the package needs is installed by ``setup.sh``, from the package index that pip uses anyway.
"""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from grader import __version__
from grader.core.assignment import Assignment
from grader.course import Course, find_course, load_assignment
from grader.course.find import PACKAGE, engine_reports
from grader.errors import EnvironmentFault
from grader.run.isolation import Isolation

__all__ = ["SETTINGS", "build_autograder"]

DISTRIBUTION = "numgrade"
HERE = Path(__file__).parent
SCRIPTS = ("setup.sh", "run_autograder")
SETTINGS = "settings.json"
DEFAULT_HINTS = 1
DATE = (1980, 1, 1, 0, 0, 0)
"""Of every file: the same content is the same archive."""

_COURSE = ("exercises", "reference", "reports")


def build_autograder(
    course_dir: Path | None = None, assignment: str = "", *, isolation: Isolation = "auto", hints: int | None = None
) -> bytes:
    """Return the bytes of ``autograder.zip`` for one assignment; the same ones for the same files.

    Args:
        course_dir: The course; the one that comes with the grader by default.
        assignment: Its id, where a course has several.
        isolation: How student code is kept apart there. ``auto`` refuses to grade where nothing holds.
        hints: How many levels of hints the feedback has. They aren't folded there, so by default it is one at most.

    Raises:
        CourseError: If the course can't be used.
        EnvironmentFault: If this installation doesn't know what it needs.
    """
    course = find_course(course_dir)
    loaded = load_assignment(course, assignment)
    settings = {
        "assignment": loaded.id,
        "course": "" if course_dir is None else "course",
        "hints": min(DEFAULT_HINTS, loaded.hints_shown) if hints is None else hints,
        "isolation": isolation,
        "version": __version__,
    }
    files: dict[str, bytes] = {
        **{name: (HERE / name).read_bytes() for name in SCRIPTS},
        "requirements.txt": "".join(f"{line}\n" for line in _requirements(loaded)).encode(),
        SETTINGS: (json.dumps(settings, indent=1, sort_keys=True) + "\n").encode(),
    }
    for path, name in _package():
        files[f"package/grader/{name}"] = path.read_bytes()
    for path in _files(engine_reports()):
        files[f"package/grader/reports/{path.relative_to(engine_reports()).as_posix()}"] = path.read_bytes()
    place = "package/grader" if course_dir is None else "course"
    for path in _of_assignment(course, loaded.id):
        files[f"{place}/{path.relative_to(course.root).as_posix()}"] = path.read_bytes()
    return _zipped(files)


def _zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, DATE)
            entry.create_system = 3  # Unix: only then the mode counts
            entry.external_attr = (0o100755 if name in SCRIPTS else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def _package() -> Iterator[tuple[Path, str]]:
    """Yield the files of our package with their places in it, without a course that is installed below it."""
    for path in _files(PACKAGE):
        name = path.relative_to(PACKAGE)
        if name.parts[0] not in _COURSE:
            yield path, name.as_posix()


def _of_assignment(course: Course, assignment: str) -> Iterator[Path]:
    """Yield the files of one assignment, and the look of its course if it has one of its own."""
    folders = [course.handout(assignment), course.reference(assignment)]
    own = course.root / "reports"
    if own.resolve() != engine_reports().resolve():
        folders.append(own)
    for folder in folders:
        yield from _files(folder)


def _files(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.suffix != ".pyc"
        and not any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
    ]


def _requirements(assignment: Assignment) -> list[str]:
    """Return what pip has to install: what we need, and the packages that the assignment allows."""
    ours = _own_requirements()
    named = {_name(line) for line in ours}
    known = metadata.packages_distributions()
    allowed = [known.get(package, [package])[0] for package in assignment.packages if package not in _STANDARD]
    return sorted(ours) + sorted({name for name in allowed if _name(name) not in named})


_STANDARD = frozenset(sys.stdlib_module_names)


def _name(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def _own_requirements() -> Iterable[str]:
    """Read them where they stand: in the project's file beside a checkout's package, else in the installation."""
    project = PACKAGE.parent / "pyproject.toml"
    if project.is_file():
        import tomllib

        found = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {})
        if found.get("name") == DISTRIBUTION:
            return [str(line) for line in found["dependencies"]]
    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        raise EnvironmentFault(
            "This copy of the grader doesn't know which packages it needs.", hint="Install it with pip and try again."
        ) from None
    return [line for line in lines if "extra ==" not in line]
