"""A course's own templates, where it has some: copies of ours that are too old for this grader are told at once."""

from __future__ import annotations

import re
from pathlib import Path

from grader.course.find import Course, engine_reports
from grader.errors import CourseError

__all__ = ["check_templates", "version_of"]

MARK = re.compile(rb"numgrade's pages, version (\d{1,9})\b", re.IGNORECASE)
"""Stands in the first line of each file of ours. The number is raised when older copies can't be used any more."""

FIRST_BYTES = 200


def check_templates(course: Course) -> None:
    """Compare the course's own templates with those that they stand in for.

    One without a mark wasn't copied: nothing is known of it before it is rendered.

    Raises:
        CourseError: If one of them was copied from another version of ours.
    """
    own, ours = course.template_dirs[0], engine_reports()
    if len(course.template_dirs) == 1 or own.resolve() == ours.resolve():
        return
    for path in sorted(ours.iterdir()):
        theirs, wanted = version_of(own / path.name), version_of(path)
        if None not in (theirs, wanted) and theirs != wanted:
            raise CourseError(
                str(own / path.name),
                "",
                f"it was copied from version {theirs} of our pages; this grader has {wanted}.",
                hint="Delete it if nothing in it is yours; else copy ours again and put what is yours into it.",
            )


def version_of(path: Path) -> int | None:
    """Return the version in a file's first line, or None if there is none, or no such file."""
    try:
        with path.open("rb") as file:
            first, _, _ = file.read(FIRST_BYTES).partition(b"\n")
    except OSError:
        return None
    found = MARK.search(first)
    return int(found[1]) if found else None
