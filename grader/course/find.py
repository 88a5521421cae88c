"""Where a course lies: three folders, beside the package in a checkout and below it when installed."""

from __future__ import annotations

from pathlib import Path

from grader.errors import CourseError
from grader.model._data import data

__all__ = ["Course", "engine_reports", "find_course"]

PACKAGE = Path(__file__).resolve().parents[1]


@data
class Course:
    """A folder with ``exercises/``, ``reference/`` and, if it has a look of its own, ``reports/``."""

    root: Path

    @property
    def assignments(self) -> tuple[str, ...]:
        """Ids of the assignments, in order of their names."""
        return tuple(sorted(path.parent.name for path in self.root.glob("reference/*/assignment.toml")))

    def reference(self, assignment: str) -> Path:
        """Return the folder of an assignment's solution and checks."""
        return self.root / "reference" / assignment

    def handout(self, assignment: str) -> Path:
        """Return the folder of what learners are given."""
        return self.root / "exercises" / assignment

    @property
    def secrets(self) -> tuple[Path, ...]:
        """Files that student code must not be able to read: they tell the answers."""
        return tuple(path.resolve() for name in self.assignments for path in sorted(self.reference(name).glob("*.py")))

    @property
    def template_dirs(self) -> tuple[Path, ...]:
        """Folders of templates, the course's own first."""
        own = self.root / "reports"
        return tuple(dict.fromkeys([*([own] if own.is_dir() else []), engine_reports()]))


def engine_reports() -> Path:
    """Return the folder of the templates and texts that come with the grader."""
    below = PACKAGE / "reports"
    return below if below.is_dir() else PACKAGE.parent / "reports"


def find_course(path: Path | None = None) -> Course:
    """Return the course at ``path``, or the one that comes with the grader.

    Raises:
        CourseError: If there is no ``reference`` folder with an assignment in it.
    """
    root = path if path is not None else PACKAGE if (PACKAGE / "reference").is_dir() else PACKAGE.parent
    course = Course(root=root)
    if not course.assignments:
        raise CourseError(
            str(root), "", "there is no reference/<id>/assignment.toml in it, so this isn't a course.",
            hint="Give --course the folder that holds exercises/ and reference/.",
        )  # fmt: skip
    return course
