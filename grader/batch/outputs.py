"""What is written of a whole run when it ends, and after each change: gradebook, class page, files for an LMS."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from grader.batch.entries import title_of
from grader.batch.messages import Row
from grader.batch.roll import Roll
from grader.batch.told import grade_of, standing_of
from grader.core.standing import Standing
from grader.course import find_course, load_assignment
from grader.errors import OutputError
from grader.lms.out.export import Options
from grader.lms.out.exports import export
from grader.model.gradebook import Gradebook
from grader.render.class_page import build_class
from grader.render.html import class_page
from grader.store.files import make_folder, write_file
from grader.store.journal import Entry, Journal

__all__ = ["CLASS_PAGE", "Written", "gradebook_of", "write_class_page", "write_export", "write_outputs"]

CLASS_PAGE = "index.html"

Written = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Names of files, what to know of them, and whose grade isn't in them."""


def gradebook_of(roll: Roll, out: Path) -> Gradebook:
    """Return all grades of a run whose output folder is ``out``, in its order. What has not ended isn't graded."""
    facts, titles = roll.facts, dict(roll.facts.tasks)
    return Gradebook(
        assignment=facts.assignment,
        title=facts.title,
        max_cents=facts.max_cents,
        grades=tuple(
            grade_of(_row(roll, entry), entry.attempt, titles=titles, reports=out / entry.folder)
            for entry in roll.entries
        ),
    )


def write_outputs(journal: Journal, roll: Roll) -> tuple[str, ...]:
    """Write what every run has for its instructor, and return the names of the files.

    Raises:
        CourseError: If the run's course can't be used any more.
        OutputError: If a file can't be written.
    """
    files, _, _ = write_export(journal, roll, "csv", Options())
    return (write_class_page(journal, roll), *files)


def write_class_page(journal: Journal, roll: Roll) -> str:
    """Write ``index.html`` and return its name. Raises CourseError, OutputError."""
    facts = roll.facts
    course = find_course(Path(facts.course) if facts.course else None)
    assignment = load_assignment(course, facts.assignment)
    titles = {entry.number: title_of(entry.attempt) for entry in roll.entries}
    view = build_class(
        [_standing(_row(roll, entry), entry, titles) for entry in roll.entries],
        assignment,
        ready=_ready(journal, roll),
        sentences=journal.named_failures(),
        run="RUN",  # the folder may be moved
    )
    write_file(journal.out / CLASS_PAGE, class_page(view, course.template_dirs))
    return CLASS_PAGE


def _row(roll: Roll, entry: Entry) -> Row:
    """Return how an entry ended, or that it hasn't."""
    return roll.rows.get(entry.number) or Row(
        number=entry.number, name="", folder=entry.folder, status="not_graded", reason="the run ended before it"
    )


def _standing(row: Row, entry: Entry, titles: Mapping[int, str]) -> Standing:
    duplicate_of = "" if row.same_as is None else titles.get(row.same_as, "")
    return standing_of(row, entry.attempt, name=titles[entry.number], duplicate_of=duplicate_of)


def _ready(journal: Journal, roll: Roll) -> tuple[str, ...]:
    """Say whether grades can go to the LMS, and what is in the way."""
    said: list[str] = []
    if journal.unfinished:
        said.append(f"Not ready: {journal.unfinished} was interrupted, so grades are mixed. Run grade regrade again.")
    open_ = sum(entry.number not in roll.rows for entry in roll.entries)
    if open_:
        said.append(f"Not ready: {open_} have not been graded yet. Go on with --resume.")
    exported = journal.exported()
    for to, revision in sorted(exported.items()):
        if to == "csv":
            continue
        if revision == journal.revision:
            said.append(f"Ready: the files in {to} hold these grades.")
        else:
            said.append(f"Not ready: grades have changed since the files in {to} were made. Use grade export again.")
    if not said:
        said.append("Grades are in gradebook.csv; grade export RUN --to moodle (or another LMS) makes its files.")
    return tuple(said)


def write_export(journal: Journal, roll: Roll, to: str, options: Options) -> Written:
    """Write the files for an LMS into the run's folder.

    Args:
        journal: Of the run.
        roll: What it holds.
        to: A name that `grader.lms.out.exports.export` knows.
        options: What was asked for.

    Raises:
        UsageError, ArchiveError, OutputError: As the writer says, or if a file can't be written.
    """
    made = export(to, gradebook_of(roll, journal.out), options)
    names: list[str] = []
    notes = made.notes
    if to == "moodle":
        notes += _without_old_parts(journal, options)
    for name, content in made.files:
        path = journal.out / name
        _no_link(path.parent)
        make_folder(path.parent)
        write_file(path, content)
        names.append(name)
    journal.note_export(to)
    return tuple(names), notes, tuple(dict.fromkeys(made.unplaced))


def _without_old_parts(journal: Journal, options: Options) -> tuple[str, ...]:
    """Remove what an earlier export made and this one won't: it would be uploaded with the rest. Say so of a sheet."""
    folder = journal.out / "moodle"
    _no_link(folder)
    old = list(folder.glob("feedback-*.zip"))
    notes: tuple[str, ...] = ()
    if options.sheet is None and journal.exported().get("moodle") != journal.revision:
        sheets = [path for name in ("worksheet.csv", "dry-run.txt") if (path := folder / name).exists()]
        old += sheets
        notes = (
            (("The worksheet is of older results, and was removed: --worksheet FILE makes it again.",))
            if sheets
            else ()
        )
    for path in old:
        with contextlib.suppress(OSError):
            path.unlink()
    return notes


def _no_link(folder: Path) -> None:
    if folder.is_symlink():
        raise OutputError(f"{folder} is a link, and nothing is written through links.", hint="Remove it.")
