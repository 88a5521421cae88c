"""Canvas's gradebook as CSV: the downloaded one filled, or the smallest that its import takes.

The rules are those of ``lib/gradebook_importer.rb``: the student columns end with Section, ``(id)`` at the end of a
header decides which assignment it is, an unknown header offers to make a new one, the last ``.`` or ``,`` of a number
is its decimal point, and a change below 0.01 is none.
"""

from __future__ import annotations

import re
from fractions import Fraction

from grader.errors import ArchiveError, UsageError
from grader.lms.out.people import learners_of, left_out, plain, who
from grader.lms.out.points import decimal, number, scaled
from grader.lms.out.sheet import Cell, Row, Sheet, cell, read_sheet, write_sheet
from grader.model.attempt import Learner
from grader.model.gradebook import Grade, Gradebook

__all__ = ["fill_gradebook", "new_gradebook"]

PLACES = 2
"""Decimals that Canvas's gradebook shows and compares."""

_COLUMN = re.compile(r".*\S \([0-9]+\)", re.S)
_IDS = (("canvas", "ID"), ("sis", "SIS User ID"), ("username", "SIS Login ID"), ("email", "SIS Login ID"))


def new_gradebook(book: Gradebook, column: str) -> tuple[bytes, tuple[str, ...]]:
    """Make the smallest file that Canvas imports, from Canvas's user ids; points are ours, on our scale.

    Args:
        column: ``Title (id)``, as in the header of a downloaded gradebook.

    Returns:
        The file, and who isn't in it, each a sentence.

    Raises:
        UsageError: If the column has no id: Canvas would offer to make a new assignment.
    """
    if not _COLUMN.fullmatch(column.strip()):
        raise UsageError(
            f"The column {plain(column) or '(none)'} has no Canvas id at its end.",
            hint='Name it as in a downloaded gradebook: --column "HW1 (1234)".',
        )
    rows = [_cells(["Student", "ID", "Section", column.strip()])]
    unplaced: list[str] = []
    seen: set[str] = set()
    for grade, learner in learners_of(book):
        number_ = learner.id("canvas")
        if why := left_out(grade):
            unplaced.append(why)
        elif not re.fullmatch(r"[0-9]{1,18}", number_):
            unplaced.append(f"{who(grade.attempt)}: Canvas's user id isn't known.")
        elif number_ in seen:
            unplaced.append(f"{who(grade.attempt)}: another attempt has the same user id.")
        else:
            seen.add(number_)
            rows.append(_cells([plain(learner.name), number_, "", _score(grade, None)]))
    sheet = Sheet(name="", bom=False, separator=",", newline="\n", rows=())
    return write_sheet(sheet, rows), tuple(dict.fromkeys(unplaced))


def fill_gradebook(
    content: bytes, book: Gradebook, column: str = "", name: str = "the gradebook"
) -> tuple[bytes, tuple[str, ...]]:
    """Fill a downloaded gradebook, scaled to its Points Possible.

    What goes back are the columns that say who it is, ours, and the rows that have a grade of ours: other columns hold
    what stood in Canvas at the time of the download, and would be put back to that.

    Args:
        column: ``Title (id)``, the title or the id; not needed if the title is ours or there is only one.

    Returns:
        The file, and who isn't in it, each a sentence.

    Raises:
        ArchiveError: If it is no gradebook of Canvas's, or the column can't be written.
        UsageError: If the column isn't there, or it isn't clear which one it is.
    """
    sheet = read_sheet(content, name, separators=",;")
    header = [one.text.strip() for one in sheet.rows[0]]
    last = _last_info(sheet, header)
    at = _find(header, last, column, book)
    full: Fraction | None = None
    rows: list[Row] = [sheet.rows[0]]
    students: list[Row] = []
    for row in sheet.rows[1:]:
        if "Points Possible" in row[0].text:
            if "read only" in row[at].text:
                raise ArchiveError(f"{sheet.name}: the column {plain(header[at])} can't be written to (read only).")
            full = number(row[at].text)
        elif any(one.text.strip() and not re.match(r"\s*(Muted|Manual Posting)", one.text, re.I) for one in row):
            students.append(row)
            continue
        rows.append(row)
    grades, unplaced = _place(header, students, book)
    for index, grade in sorted(grades.items()):
        row = students[index]
        if row[at].text.strip().upper() == "EX":
            unplaced.append(f"{who(grade.attempt)}: excused in Canvas, which stays so.")
        else:
            score = cell(_score(grade, full), sheet.separator)
            rows.append((*row[:at], score, *row[at + 1 :]))
    kept = [*range(last + 1), at]
    return write_sheet(sheet, ([row[i] for i in kept] for row in rows)), tuple(dict.fromkeys(unplaced))


def _last_info(sheet: Sheet, header: list[str]) -> int:
    joined = ["Student"] if "Student" in header[0] else header[:2]
    if joined not in (["Student"], ["LastName", "FirstName"]) or header[len(joined) : len(joined) + 1] != ["ID"]:
        raise ArchiveError(
            f"{sheet.name} is no gradebook of Canvas's: it doesn't begin with Student and ID.",
            hint='Export it in Canvas: Grades, "Export", "Export Entire Gradebook".',
        )
    if "Section" not in header:
        raise ArchiveError(f"{sheet.name}: the column Section is missing, and Canvas wouldn't take the file.")
    return header.index("Section")


def _find(header: list[str], last: int, column: str, book: Gradebook) -> int:
    """Return the position of the assignment's column."""
    places = {index: text for index, text in enumerate(header) if index > last and _COLUMN.fullmatch(text)}
    wanted = column.strip()
    for ways in ([wanted], [book.title, book.assignment]) if wanted else ([book.title, book.assignment],):
        for want in filter(None, ways):
            found = [
                index
                for index, text in places.items()
                if want in (text, text.rpartition(" (")[0], text.rpartition(" (")[2][:-1])
            ]
            if len(found) == 1:
                return found[0]
        if wanted:
            break
    if not wanted and len(places) == 1:
        return next(iter(places))
    listed = "; ".join(plain(text) for text in list(places.values())[:20]) or "none"
    raise UsageError(
        f"It isn't clear which column of the gradebook is {plain(wanted) or 'this assignment'}.",
        hint=f'Name it with --column "Title (id)"; the assignments there are: {listed}.',
    )


def _place(header: list[str], students: list[Row], book: Gradebook) -> tuple[dict[int, Grade], list[str]]:
    known: dict[tuple[str, str], list[int]] = {}
    for column in {column for _, column in _IDS} & set(header):
        for index, row in enumerate(students):
            known.setdefault((column, row[header.index(column)].text.strip().casefold()), []).append(index)
    placed: dict[int, Grade] = {}
    unplaced: list[str] = []
    for grade, learner in learners_of(book):
        found = _rows_of(learner, known)
        if why := left_out(grade):
            unplaced.append(why)
        elif len(found) != 1:
            what = "several rows have" if found else "no row has"
            unplaced.append(f"{who(grade.attempt)}: {what} their Canvas id, SIS id or login.")
        elif placed.setdefault(found[0], grade) is not grade:
            unplaced.append(f"{who(grade.attempt)}: another attempt has the same row.")
    return placed, unplaced


def _rows_of(learner: Learner, known: dict[tuple[str, str], list[int]]) -> list[int]:
    for kind, column in _IDS:
        value = learner.id(kind).strip().casefold()
        if value and (column, value) in known:
            return known[column, value]
    return []


def _score(grade: Grade, full: Fraction | None) -> str:
    native = Fraction(grade.max_cents, 100)
    return decimal(scaled(grade.cents, grade.max_cents, full or native), PLACES)


def _cells(texts: list[str]) -> tuple[Cell, ...]:
    return tuple(cell(text) for text in texts)
