"""What a learner gets of a submission: two pages and ``result.json``, made only where they would come out otherwise."""

from __future__ import annotations

import hashlib
import stat
from functools import cached_property
from pathlib import Path

from grader.core.assignment import Assignment
from grader.course import Course
from grader.model import Result
from grader.model._data import replace

__all__ = ["REPORTS", "Pages", "is_whole"]

REPORTS = ("report.html", "fragment.html", "result.json")
"""Files of each submission, for its learner."""


class Pages:
    """Makes them of results.

    Args:
        course: Whose templates are used.
        assignment: Whose texts they show.
        hints: Up to which level hints are shown; None: as the assignment has it.
    """

    def __init__(self, course: Course, assignment: Assignment, hints: int | None) -> None:
        self._course, self._assignment, self._hints = course, assignment, hints

    def of(self, public: Result) -> dict[str, str]:
        """Return all files of a result."""
        from grader.render.html import fragment, report
        from grader.render.view import build

        view = build(public, self._assignment, hints=self._hints, counts=True)
        return {
            "report.html": report(view, self._course.template_dirs),
            "fragment.html": fragment(view, self._course.template_dirs),
            "result.json": self._document(public),
        }

    def changed(self, public: Result, before: str, now: str) -> dict[str, str]:
        """Return the files that aren't as they were when they were made of what ``before`` says (see ``made_of``)."""
        if before == now:
            return {}
        # Pages don't say by which course they were judged: often they are as good as they were.
        same_pages = before.partition(" ")[0] == now.partition(" ")[0]
        return {"result.json": self._document(public)} if same_pages else self.of(public)

    def made_of(self, public: Result) -> str:
        """Return of what the files are made: the SHA-256 of all that pages show, and that of the course."""
        pages = f"{self._look} {replace(public, digest='')!r}".encode("utf-8", "replace")
        return f"{hashlib.sha256(pages).hexdigest()} {public.digest}"

    @cached_property
    def _look(self) -> str:
        """The SHA-256 of what is the same in all pages."""
        assignment = self._assignment
        paths = [path for folder in self._course.template_dirs for path in sorted(folder.iterdir()) if path.is_file()]
        hints = assignment.hints_shown if self._hints is None else self._hints
        catalogue = [(entry.id, entry.catalogue) for entry in assignment.misconceptions]
        words = (hints, assignment.language, sorted(assignment.texts.items()), assignment.tasks, catalogue)
        look = b"".join(path.read_bytes() for path in paths) + repr(words).encode("utf-8", "replace")
        return hashlib.sha256(look).hexdigest()

    def _document(self, public: Result) -> str:
        from grader.render.document import to_json

        return to_json(public, self._assignment, hints=self._hints)


def is_whole(folder: Path, digest: str) -> bool:
    """Whether a submission's three files are there, and its ``result.json`` is the one with this SHA-256."""
    try:
        found = [(folder / name).lstat() for name in REPORTS]
        whole = all(stat.S_ISREG(file.st_mode) and file.st_size for file in found) and not folder.is_symlink()
        return whole and hashlib.sha256((folder / "result.json").read_bytes()).hexdigest() == digest
    except OSError:
        return False
