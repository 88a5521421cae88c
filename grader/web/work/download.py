"""Everything of one link as the files of a batch: a folder for each attempt that counts, and the class's tables."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import IO

from django.conf import settings

from grader.batch.entries import folder_name
from grader.batch.messages import Row as Ended
from grader.batch.messages import row_of
from grader.batch.told import grade_of, standing_of
from grader.core.standing import Standing
from grader.course import load_assignment
from grader.errors import GraderError
from grader.lms.out.export import Options
from grader.lms.out.exports import export
from grader.model import attempt
from grader.model._data import replace
from grader.model.gradebook import Grade, Gradebook
from grader.render.class_page import build_class
from grader.render.html import class_page
from grader.store.layout import transcript_path
from grader.web.work.assignments import offered, the_course
from grader.web.work.grading import unpacked
from grader.web.work.models import Attempt, Link, Report
from grader.web.work.roster import Row, roster_of

__all__ = ["class_files"]

IN_MEMORY = 32 << 20


def class_files(link: Link) -> IO[bytes]:
    """Return a ZIP archive, opened at its beginning."""
    rows = [row for row in roster_of(link) if row.latest is not None]
    archive: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - whoever sends it closes it
    grades, standings = [], []
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for row in rows:
            folder = folder_name(f"{row.member} {row.member.id}")
            shown = row.counts or row.latest
            assert shown is not None
            report = shown.reports.order_by("-token").first()
            suffix = ".ipynb" if shown.name.lower().endswith(".ipynb") else ".py"
            made.writestr(f"submissions/{folder}{suffix}", bytes(shown.file.content))
            if report is not None:
                made.writestr(f"{folder}/report.html", unpacked(report.learner))
                made.writestr(f"{folder}/fragment.html", unpacked(report.fragment))
                made.writestr(f"{folder}/result.json", unpacked(report.result))
                made.writestr(transcript_path(Path(), folder).as_posix(), unpacked(report.transcript))
            how, learner = _ended(shown, report, folder), _learner(row, shown)
            grades.append(grade_of(how, learner, titles={}, reports=Path(settings.GRADE.folder) / folder))
            standings.append(standing_of(how, learner, name=str(row.member)))
        try:
            for name, content in _tables(link, tuple(grades), standings):
                made.writestr(name, content)
        except GraderError as error:
            made.writestr("README.txt", f"The class's tables can't be made: {error}\n")
    archive.seek(0)
    return archive


def _tables(link: Link, grades: tuple[Grade, ...], standings: list[Standing]) -> list[tuple[str, bytes | str]]:
    """Return gradebook and class page. Raises CourseError if the course can't be used any more."""
    known = offered(link.assignment)
    book = Gradebook(assignment=known.id, title=known.title, max_cents=known.max_cents, grades=grades)
    course = the_course()
    view = build_class(
        standings,
        load_assignment(course, link.assignment),
        ready=("Scores go to the LMS by themselves; the class's page there says how far they are.",),
        sentences={},
        run="RUN",
    )
    files = [(name, content) for name, content in export("csv", book, Options()).files]
    return [*files, ("index.html", class_page(view, course.template_dirs))]


def _learner(row: Row, shown: Attempt) -> attempt.Attempt:
    ids = (("lti", row.member.user), ("email", row.member.email))
    return attempt.Attempt(
        key=str(row.member.id),
        learners=(attempt.Learner(name=str(row.member), ids=tuple(pair for pair in ids if pair[1])),),
        files=(),
        submitted=shown.handed_in_at.isoformat(timespec="seconds"),
        number=shown.number,
    )


def _ended(shown: Attempt, report: Report | None, folder: str) -> Ended:
    """Return how an attempt ended, as a batch tells it."""
    if report is None:
        reason = shown.reason or "it isn't graded yet"
        return Ended(number=shown.number, name=shown.name, folder=folder, status="not_graded", reason=reason)
    return replace(row_of(report.row), folder=folder)
