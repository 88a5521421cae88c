"""What the course offers: titles and starter files, without loading any of its checks."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from django.conf import settings

from grader.course import find_course
from grader.course.find import Course, engine_reports
from grader.course.load import choose_assignment
from grader.course.spec import read_spec
from grader.course.texts import read_texts
from grader.model._data import data

__all__ = ["Offered", "offered", "the_course"]


@data
class Offered:
    """An assignment as a learner sees it before anything is handed in.

    Attributes:
        max_cents: Its points, in hundredths.
        tasks: Title and function of each task.
        starters: Names of the files that learners begin with.
    """

    id: str
    title: str
    max_cents: int
    tasks: tuple[tuple[str, str], ...]
    starters: tuple[str, ...]

    @property
    def maximum(self) -> str:
        """The points that can be had, as decimal text."""
        return f"{self.max_cents / 100:g}"


def the_course() -> Course:
    """Return the course of this server. Raises CourseError."""
    return find_course(Path(settings.GRADE.course) if settings.GRADE.course else None)


def offered(assignment: str = "") -> Offered:
    """Return what is known of an assignment; without an id, of the only or the default one.

    Raises:
        CourseError: If there is no such assignment, or its files can't be used.
    """
    course = the_course()
    name = choose_assignment(course, assignment)
    folder = course.reference(name)
    files = (folder / "assignment.toml", *sorted(folder.glob("feedback.*.toml")))
    return _read(course, name, tuple(path.stat().st_mtime_ns for path in files))


@lru_cache(maxsize=64)
def _read(course: Course, name: str, stamps: tuple[int, ...]) -> Offered:
    del stamps  # a file that has changed is read again
    folder = course.reference(name)
    spec = read_spec(folder / "assignment.toml")
    texts = {
        **read_texts(engine_reports() / f"texts.{spec.language}.toml"),
        **read_texts(folder / f"feedback.{spec.language}.toml"),
    }
    handout = course.handout(name)
    return Offered(
        id=name,
        title=texts.get("title", name),
        max_cents=100 * sum(task.points for task in spec.tasks),
        tasks=tuple((texts.get(f"{task.id}.title", task.id), task.function) for task in spec.tasks),
        starters=tuple(path.name for path in sorted(handout.glob("*")) if path.is_file()),
    )
