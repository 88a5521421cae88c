"""What is written of a whole run when it ends, and after each change: gradebook, class page, files for an LMS."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from grader.batch.entries import title_of
from grader.batch.messages import Row
from grader.batch.start import rows_of
from grader.batch.tally import NOTHING_RAN
from grader.core.standing import Look, Part, Standing
from grader.course import find_course, load_assignment
from grader.errors import OutputError
from grader.lms.out.export import Options
from grader.lms.out.exports import export
from grader.model import Status
from grader.model.gradebook import Grade, Gradebook, TaskGrade
from grader.render.class_page import build_class
from grader.render.html import class_page
from grader.store.files import make_folder, write_file
from grader.store.journal import Entry, Journal

__all__ = ["Written", "gradebook_of", "write_class_page", "write_export", "write_outputs"]

Written = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Names of files, what to know of them, and whose grade isn't in them."""


def gradebook_of(journal: Journal) -> Gradebook:
    """Return all grades of a run, in its order. What has not ended isn't graded."""
    facts, rows = journal.facts, rows_of(journal)
    titles = dict(facts.tasks)
    return Gradebook(
        assignment=facts.assignment,
        title=facts.title,
        max_cents=facts.max_cents,
        grades=tuple(_grade(entry, rows.get(entry.number), titles, journal.out) for entry in journal.entries()),
    )


def write_outputs(journal: Journal) -> tuple[str, ...]:
    """Write what every run has for its instructor, and return the names of the files.

    Raises:
        CourseError: If the run's course can't be used any more.
        OutputError: If a file can't be written.
    """
    files, _, _ = write_export(journal, "csv", Options())
    return (write_class_page(journal), *files)


def write_class_page(journal: Journal) -> str:
    """Write ``index.html`` and return its name. Raises CourseError, OutputError."""
    facts, rows, entries = journal.facts, rows_of(journal), journal.entries()
    course = find_course(Path(facts.course) if facts.course else None)
    assignment = load_assignment(course, facts.assignment)
    titles = {entry.number: title_of(entry.attempt) for entry in entries}
    view = build_class(
        [_standing(entry, rows.get(entry.number), titles) for entry in entries],
        assignment,
        ready=_ready(journal, entries, rows),
        sentences=journal.named_failures(),
        run="RUN",  # the folder may be moved
    )
    write_file(journal.out / "index.html", class_page(view, course.template_dirs))
    return "index.html"


def _standing(entry: Entry, row: Row | None, titles: Mapping[int, str]) -> Standing:
    attempt, name = entry.attempt, titles[entry.number]
    texts = (NOTHING_RAN, *attempt.remarks) if row is not None and row.unloaded else attempt.remarks
    remarks: tuple[Look, ...] = tuple(("note", text) for text in texts)
    if row is None or row.status != "graded":
        return Standing(
            key=attempt.key,
            name=name,
            status="not_graded",
            reason=_reason(row),
            late=attempt.late,
            submitted=attempt.submitted,
            look=remarks,
        )
    return Standing(
        key=attempt.key,
        name=name,
        folder=row.folder,
        cents=row.cents,
        max_cents=row.max_cents,
        late=attempt.late,
        submitted=attempt.submitted,
        tasks=tuple(_part(part) for part in row.tasks),
        criteria=tuple(_part(part) for part in row.criteria),
        misconceptions=row.misconceptions,
        look=(*row.look, *remarks),
        unexplained=row.unexplained,
        adjusted=row.adjusted,
        duplicate_of="" if row.same_as is None else titles.get(row.same_as, ""),
    )


def _reason(row: Row | None) -> str:
    return "the run ended before it" if row is None else row.reason


def _part(part: tuple[str, str, int, int]) -> Part:
    id_, status, cents, most = part
    return Part(id=id_, status=Status(status), cents=cents, max_cents=most)


def _ready(journal: Journal, entries: tuple[Entry, ...], rows: Mapping[int, Row]) -> tuple[str, ...]:
    """Say whether grades can go to the LMS, and what is in the way."""
    said: list[str] = []
    if journal.unfinished:
        said.append(f"Not ready: {journal.unfinished} was interrupted, so grades are mixed. Run grade regrade again.")
    open_ = sum(entry.number not in rows for entry in entries)
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


def write_export(journal: Journal, to: str, options: Options) -> Written:
    """Write the files for an LMS into the run's folder.

    Args:
        journal: Of the run.
        to: A name that `grader.lms.out.exports.export` knows.
        options: What was asked for.

    Raises:
        UsageError, ArchiveError, OutputError: As the writer says, or if a file can't be written.
    """
    made = export(to, gradebook_of(journal), options)
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


def _grade(entry: Entry, row: Row | None, titles: Mapping[str, str], out: Path) -> Grade:
    if row is None or row.status != "graded":
        return Grade(
            attempt=entry.attempt,
            status="not_graded",
            reason=_reason(row),
            folder=entry.folder,
            look=entry.attempt.remarks,
        )
    return Grade(
        attempt=entry.attempt,
        status="graded",
        cents=row.cents,
        max_cents=row.max_cents,
        tasks=tuple(
            TaskGrade(id=id_, title=titles.get(id_, id_), status=status, cents=cents, max_cents=most)
            for id_, status, cents, most in row.tasks
        ),
        folder=row.folder,
        reports=out / row.folder,
        look=(*([NOTHING_RAN] if row.unloaded else []), *(text for _, text in row.look), *entry.attempt.remarks),
    )
