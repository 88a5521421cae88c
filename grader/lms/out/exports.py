"""Names after ``--to``, and what writes each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from grader.errors import UsageError
from grader.lms.out.blackboard import NOTE as BLACKBOARD
from grader.lms.out.blackboard import blackboard_csv
from grader.lms.out.brightspace import NOTE as BRIGHTSPACE
from grader.lms.out.brightspace import brightspace_csv
from grader.lms.out.canvas_csv import fill_gradebook, new_gradebook
from grader.lms.out.export import Export, Options
from grader.lms.out.moodle_checklist import checklist
from grader.lms.out.moodle_feedback import feedback_zips
from grader.lms.out.moodle_worksheet import TICK, fill_worksheet, plan_text
from grader.lms.out.people import plain
from grader.lms.out.table import gradebook_csv
from grader.model.gradebook import Gradebook

__all__ = ["WRITERS", "export"]


def export(to: str, book: Gradebook, options: Options | None = None) -> Export:
    """Make the files for a platform.

    Raises:
        UsageError: If there is no such name, or an option is missing or wrong.
        ArchiveError: If the downloaded sheet can't be used.
    """
    if to not in WRITERS:
        raise UsageError(f"--to knows no {plain(to)[:40]}.", hint=f"It knows {', '.join(WRITERS)}.")
    return WRITERS[to](book, options or Options())


def _table(book: Gradebook, options: Options) -> Export:
    return Export(files=[("gradebook.csv", gradebook_csv(book))], unplaced=[])


def _moodle(book: Gradebook, options: Options) -> Export:
    unplaced: list[str] = []
    notes: tuple[str, ...] = ()
    first: list[tuple[str, bytes]] = []
    stale = 0
    if options.sheet is not None:
        filled = fill_worksheet(
            options.sheet,
            book,
            name=options.sheet_name,
            columns=options.columns,
            comments=options.comments,
            update_modified=options.update_modified,
            latest=options.latest,
        )
        first = [("worksheet.csv", filled.content), ("dry-run.txt", plan_text(filled.plan).encode())]
        unplaced += filled.unplaced
        stale = sum(row.written and TICK in row.why for row in filled.plan)
        notes = (plan_text(filled.plan).partition("\n")[0],)

    def files() -> Iterator[tuple[str, bytes]]:
        yield from ((f"moodle/{name}", content) for name, content in first)
        names = []
        for name, content in feedback_zips(book, options.upload_limit, unplaced):
            names.append(name)
            yield f"moodle/{name}", content
        steps = checklist(book.title, names, worksheet=options.sheet is not None, stale=stale)
        yield "moodle/checklist.txt", steps.encode()

    return Export(files=files(), unplaced=unplaced, notes=notes)


def _canvas(book: Gradebook, options: Options) -> Export:
    if options.sheet is not None:
        content, unplaced = fill_gradebook(options.sheet, book, options.column, options.sheet_name)
    else:
        content, unplaced = new_gradebook(book, options.column)
    note = "Canvas takes no comments and no files by CSV: they need a token."
    return Export(files=[("canvas/gradebook.csv", content)], unplaced=list(unplaced), notes=(note,))


def _brightspace(book: Gradebook, options: Options) -> Export:
    content, unplaced = brightspace_csv(book, options.column, options.sheet, options.sheet_name)
    return Export(files=[("brightspace/grades.csv", content)], unplaced=list(unplaced), notes=(BRIGHTSPACE,))


def _blackboard(book: Gradebook, options: Options) -> Export:
    content, unplaced = blackboard_csv(book, options.column)
    return Export(files=[("blackboard/grades.csv", content)], unplaced=list(unplaced), notes=(BLACKBOARD,))


WRITERS: Mapping[str, Callable[[Gradebook, Options], Export]] = MappingProxyType(
    {
        "csv": _table,
        "moodle": _moodle,
        "canvas": _canvas,
        "brightspace": _brightspace,
        "blackboard": _blackboard,
    }
)
"""By name after ``--to``. Canvas with a token is ``canvas_rest.send``: it sends, rather than makes files."""
