"""What both ``grade`` and ``grade regrade`` do with a result: write it, print it, choose the exit code."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from grader.core.assignment import Assignment
from grader.core.changes import Marks, changes_of, marks_of
from grader.core.redact import Audience, redact
from grader.course import Course
from grader.errors import OutputError
from grader.model import Result
from grader.model._data import data
from grader.render.document import to_json
from grader.render.html import fragment, report
from grader.render.terminal import brief, summary
from grader.render.view import build
from grader.run.stopwatch import Stopwatch
from grader.store.files import make_folder, write_file

__all__ = ["Shown", "course_options", "prepare", "show"]

ALL_HINTS = 3
"""What an instructor sees, whatever the assignment shows."""


@data
class Shown:
    """Where a result goes and how it is printed."""

    out: Path | None
    path: Path
    options: str
    beside: Path
    format: str
    hints: int | None  # None: as the assignment has it; in a terminal none
    open: bool
    fail_under: float | None
    before: Marks | None = None  # an earlier result, for what changed since
    audience: Audience = "learner"
    brief: bool = False  # print what changed, and no more


def course_options(course: Path | None, assignment: str) -> str:
    """Return the options that choose a course and an assignment, as they are typed again."""
    words = (["--course", str(course)] if course else []) + (["--assignment", assignment] if assignment else [])
    return shlex.join(words)


def prepare(out: Path | None) -> None:
    """Make the output folder before anything runs, so that nobody waits for a report that can't be written."""
    if out is not None:
        make_folder(out)


def show(result: Result, assignment: Assignment, course: Course, shown: Shown, watch: Stopwatch | None = None) -> int:
    """Write and print what its audience may see of ``result``; return the exit code."""
    watch = watch or Stopwatch()
    with watch.stage("render"):
        public = redact(result, shown.audience)
        hints = ALL_HINTS if shown.hints is None and shown.audience == "instructor" else shown.hints
        changes = None if shown.before is None else changes_of(shown.before, marks_of(public))
        view = build(public, assignment, hints=hints, changes=changes, audience=shown.audience)
        page = report(view, course.template_dirs)
        document = "" if shown.out is None and shown.format == "text" else to_json(public, assignment, hints=hints)
        # Everything is made before anything is written.
        if shown.out is None:
            place = shown.beside
            files = {place: page}
        else:
            place = shown.out / "report.html"
            part = fragment(view, course.template_dirs)
            files = {place: page, shown.out / "fragment.html": part, shown.out / "result.json": document}
    text = document
    if shown.brief:
        text = brief(view, colour=_wants_colour(), unicode=_speaks_unicode())
    elif shown.format == "text":
        # The terminal shows no hint that wasn't asked for.
        text = summary(
            view,
            colour=_wants_colour(),
            unicode=_speaks_unicode(),
            hints=shown.hints or 0,
            report=str(place),
            path=str(shown.path),
            options=shown.options,
        )
    elif shown.format != "json":
        from grader.render.platforms import WRITERS, tell

        text = WRITERS[shown.format](tell(result, assignment, hints=shown.hints or 0))
    unprinted: OSError | None = None
    try:
        _print(text.rstrip("\n"))
    except BrokenPipeError:
        pass  # whoever read along has seen enough; the report is written all the same
    except OSError as error:
        unprinted = error
    with watch.stage("write"):
        for path, content in files.items():
            # Whoever loses a report when the power fails can have it again, with the same seed.
            write_file(path, content, lasting=False)
    if unprinted is not None:
        raise OutputError(f"The summary can't be printed ({unprinted.strerror}).", hint=f"The report is {place}.")
    if shown.open:
        import webbrowser

        webbrowser.open(place.resolve().as_uri())
    if result.status == "not_graded":
        return 4
    return 1 if shown.fail_under is not None and result.cents < shown.fail_under * 100 else 0


def _print(text: str) -> None:
    sys.stdout.flush()
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")
    sys.stdout.flush()


def _speaks_unicode() -> bool:
    try:
        "✓◐✗⏸√".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _wants_colour() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")
