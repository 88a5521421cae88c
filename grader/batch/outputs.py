"""What is written of a whole run when it ends, and again after each change: the gradebook and files for an LMS."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from grader.batch.messages import Row
from grader.batch.start import rows_of
from grader.errors import OutputError
from grader.lms.out.export import Options
from grader.lms.out.exports import export
from grader.model.gradebook import Grade, Gradebook, TaskGrade
from grader.store.files import make_folder, write_file
from grader.store.journal import Entry, Journal

__all__ = ["Written", "gradebook_of", "write_export", "write_outputs"]

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
    """Write what every run has for its instructor, and return the names of the files. Raises OutputError."""
    files, _, _ = write_export(journal, "csv", Options())
    return files


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
    if to == "moodle":
        # A part of an earlier export that isn't made any more would be uploaded with the others.
        for old in (journal.out / "moodle").glob("feedback-*.zip"):
            with contextlib.suppress(OSError):
                old.unlink()
    for name, content in made.files:
        path = journal.out / name
        if path.parent.is_symlink():
            raise OutputError(f"{path.parent} is a link, and nothing is written through links.")
        make_folder(path.parent)
        write_file(path, content)
        names.append(name)
    return tuple(names), made.notes, tuple(made.unplaced)


def _grade(entry: Entry, row: Row | None, titles: Mapping[str, str], out: Path) -> Grade:
    if row is None or row.status != "graded":
        reason = "the run ended before it" if row is None else row.reason
        return Grade(attempt=entry.attempt, status="not_graded", reason=reason, folder=entry.folder)
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
        look=row.look,
    )
