"""Moodle's offline grading worksheet: filled in the way that its import reads, and what that import will do.

The rules are those of ``mod/assign/feedback/offline`` in Moodle 4.5: rows are found by the number at the end of
Identifier; a grade above the maximum or below 0 is dropped while its comment is stored; a row whose record changed more
than a minute after its "Last modified (grade)" is passed over; an empty comment deletes the stored one. All of that
happens without a word, so it is said here beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from html import unescape
from typing import Literal

from grader.lms.out.moodle_columns import Columns, find_columns, participant
from grader.lms.out.moodle_match import place
from grader.lms.out.people import plain, ungraded, who
from grader.lms.out.points import decimal, number, points, scaled
from grader.lms.out.reports import comment_html
from grader.lms.out.sheet import Cell, Row, Sheet, cell, read_sheet, write_sheet
from grader.model._data import data
from grader.model.gradebook import Grade, Gradebook

__all__ = ["Filled", "RowPlan", "fill_worksheet", "plan_text", "plan_worksheet"]

PLACES = 5
"""Decimals that Moodle stores."""

TICK = 'tick "Allow updating records that have been modified more recently in Moodle than in the spreadsheet"'
NOT_OURS = "nothing of theirs was graded here, and Moodle keeps what it has."
_ENGLISH_DATE = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?"
    r"(?:[0-9]{1,2} (?P<a>[a-z]+)|(?P<b>[a-z]+) [0-9]{1,2}),? [0-9]{4},? [0-9]{1,2}:[0-9]{2}(?: ?[ap]m)?"
)
_MONTHS = frozenset(
    {"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"}
    | {"december"}
)
_NO = frozenset({"no", "nein", "non", "nee", "nej", "nei", "não", "ei", "ne", "nie", "hayır", "нет", "いいえ", "否"})


@data
class RowPlan:
    """What becomes of a row of the sheet, or of an attempt that is in no row.

    Attributes:
        identifier: As in the sheet; ``""`` for an attempt without a row.
        name: The learner's.
        will: ``fill``: Moodle takes grade and comment. ``cut``: it takes them, and something that it has is lost.
            ``skip``: it keeps what it has.
        why: A sentence; ``""`` for a row that is simply filled.
        written: Whether the row stands in the file; also one that Moodle passes over unless a box is ticked.
    """

    identifier: str
    name: str
    will: Literal["fill", "skip", "cut"]
    why: str = ""
    written: bool = False


@data
class Filled:
    """A worksheet for the upload, what Moodle will do with each row, and who isn't in it, each a sentence."""

    content: bytes
    plan: tuple[RowPlan, ...]
    unplaced: tuple[str, ...]


def plan_worksheet(
    content: bytes,
    book: Gradebook,
    *,
    name: str = "the worksheet",
    columns: Mapping[str, str] | None = None,
    comments: bool = True,
    update_modified: bool = False,
    latest: bytes | None = None,
) -> tuple[RowPlan, ...]:
    """Say what Moodle would do with each row of the filled sheet. Arguments and errors are those of fill_worksheet."""
    return fill_worksheet(
        content,
        book,
        name=name,
        columns=columns,
        comments=comments,
        update_modified=update_modified,
        latest=latest,
    ).plan


def fill_worksheet(
    content: bytes,
    book: Gradebook,
    *,
    name: str = "the worksheet",
    columns: Mapping[str, str] | None = None,
    comments: bool = True,
    update_modified: bool = False,
    latest: bytes | None = None,
) -> Filled:
    """Fill a downloaded worksheet with the grades of a run.

    The header, the byte-order mark, the separator, the line ends and every cell that isn't ours stay as they are. A
    row without a grade of ours is left out: Moodle leaves such a learner alone, while the row itself would put a
    comment without its formatting in the stored one's place. Columns of other feedback types are left out for the same
    reason, and with ``comments=False`` that of the comments.

    Args:
        content: The worksheet as downloaded.
        name: Its name, for messages.
        columns: Headers that somebody has named, by a word of ``moodle_columns.NAMES``.
        update_modified: Whether the box for records that were modified more recently will be ticked.
        latest: The worksheet downloaded again now, which shows what was changed since.

    Raises:
        ArchiveError: If it can't be read, or its columns can't be told for certain.
        UsageError: If a header that was named isn't there.
    """
    sheet = read_sheet(content, name)
    at = find_columns(sheet, columns)
    now = _latest(latest, columns)
    placed, lost = place(sheet, at, book)
    plans: list[RowPlan] = []
    unplaced: list[str] = []
    rows: list[Row] = [sheet.rows[0]]
    seen: set[str] = set()
    for index, row in enumerate(sheet.rows[1:], 1):
        learner = participant(row[at.identifier].text)
        grade = placed.get(index)
        refusal = "another row has the same identifier." if learner in seen else _refusal(row, at, grade)
        seen.add(learner)
        plan, filled = _plan(row, at, grade, refusal, comments)
        if plan.written and (stale := _stale(row, at, now)):
            # With the box ticked Moodle takes it all the same.
            plan = RowPlan(
                identifier=plan.identifier,
                name=plan.name,
                will=plan.will if update_modified else "skip",
                why=f"{plan.why} {stale}".strip() if update_modified else stale,
                written=True,
            )
        plans.append(plan)
        if plan.will == "skip" and grade is not None:
            unplaced.append(f"{who(grade.attempt)}: {plan.why}")
        if plan.written:
            rows.append(tuple(_render(sheet, at, row, filled)))
    for grade, why in lost:
        plans.append(RowPlan(identifier="", name=who(grade.attempt), will="skip", why=why))
        unplaced.append(f"{who(grade.attempt)}: {why}")
    wanted = {at.identifier, at.grade, at.maximum, at.modified, at.feedback if comments else None}
    kept = [i for i in range(len(sheet.rows[0])) if i in wanted or (i < at.modified and i != at.feedback)]
    return Filled(
        content=write_sheet(sheet, ([row[i] for i in kept] for row in rows)),
        plan=tuple(plans),
        unplaced=tuple(unplaced),
    )


def plan_text(plan: tuple[RowPlan, ...]) -> str:
    """Return a plan as lines for people, the rows that Moodle skips or cuts first."""
    filled = sum(row.will != "skip" for row in plan)
    lines = [f"{filled} of {sum(bool(row.identifier) for row in plan)} rows will be taken by Moodle."]
    groups = (
        ("Skipped:", [row for row in plan if row.will == "skip" and row.why != NOT_OURS]),
        ("Taken, with a loss:", [row for row in plan if row.will == "cut"]),
        ("Taken if the box is ticked:", [row for row in plan if row.will == "fill" and row.why]),
        (f"Left out: {NOT_OURS}", [row for row in plan if row.why == NOT_OURS]),
    )
    for title, rows in groups:
        if rows:
            lines += ["", title]
        for row in rows:
            said = " ".join(filter(None, (plain(row.identifier), row.name)))
            lines.append(f"  {said}" if row.why == NOT_OURS else f"  {said}: {row.why}")
    return "\n".join(lines) + "\n"


def _latest(content: bytes | None, columns: Mapping[str, str] | None) -> dict[str, tuple[str, str]]:
    if content is None:
        return {}
    sheet = read_sheet(content, "the worksheet that was downloaded again")
    at = find_columns(sheet, columns)
    return {
        participant(row[at.identifier].text): (row[at.grade].text.strip(), row[at.modified].text.strip())
        for row in sheet.rows[1:]
    }


def _refusal(row: Row, at: Columns, grade: Grade | None) -> str:
    """Say why a row can't be filled, or nothing."""
    if grade is None:
        return NOT_OURS
    if why := ungraded(grade):
        return why
    full = number(row[at.maximum].text)
    if full is None:
        return f'the maximum grade "{plain(row[at.maximum].text)[:40]}" isn\'t a number.'
    if full == 0:
        return 'the maximum grade is 0, so Moodle takes no points: set "Type" of the grade to "Point".'
    if not 0 <= grade.cents <= grade.max_cents:
        return (
            f"{points(grade.cents)} of {points(grade.max_cents)} points is outside the range, and Moodle would drop "
            "the grade but store its comment."
        )
    if at.changeable is not None and row[at.changeable].text.strip().casefold() in _NO:
        return "the grade can't be changed: it is locked or overridden in the gradebook."
    return ""


def _plan(row: Row, at: Columns, grade: Grade | None, refusal: str, comments: bool) -> tuple[RowPlan, dict[int, str]]:
    identifier = row[at.identifier].text
    name = plain(row[at.fullname].text) if at.fullname is not None else ""
    if refusal or grade is None:
        return RowPlan(identifier=identifier, name=name, will="skip", why=refusal), {}
    value = scaled(grade.cents, grade.max_cents, number(row[at.maximum].text) or Fraction(0))
    filled = {at.grade: decimal(value, PLACES)}
    why = ""
    if comments and at.feedback is not None:
        filled[at.feedback] = comment_html(grade)
        stored = row[at.feedback].text
        if stored.strip() and _letters(stored) != _letters(re.sub(r"<[^>]*>", "", filled[at.feedback])):
            why = "the comment that Moodle has is replaced by ours."
    return RowPlan(identifier=identifier, name=name, will="cut" if why else "fill", why=why, written=True), filled


def _letters(text: str) -> str:
    return "".join(char for char in unescape(text) if char.isalnum())


def _stale(row: Row, at: Columns, now: Mapping[str, tuple[str, str]]) -> str:
    """Say why Moodle takes a row for older than what it has, or nothing."""
    graded, modified = row[at.grade].text.strip(), row[at.modified].text.strip()
    before = now.get(participant(row[at.identifier].text), (graded, modified))
    if before != (graded, modified):
        when = "" if before[1] in ("", "-") else f" on {plain(before[1])}"
        return f"graded or commented{when}, after this sheet was downloaded: fill a newer one, or {TICK}."
    if modified in ("", "-"):
        return f"already graded, and the sheet doesn't say when: {TICK}." if graded else ""
    date = _ENGLISH_DATE.fullmatch(modified.casefold())
    if date is None or (date["a"] or date["b"]) not in _MONTHS:
        return f'graded or commented before, and Moodle can\'t read back the date "{plain(modified)}": {TICK}.'
    return ""


def _render(sheet: Sheet, at: Columns, row: Row, filled: Mapping[int, str]) -> list[Cell]:
    """Put our cells into a row.

    Moodle reads CSV with a backslash as escape but doesn't write it so: a text that holds one before a quotation mark
    would spoil the whole import. In columns that the import doesn't look at, such a cell is emptied.
    """
    cells = []
    for index, one in enumerate(row):
        if index in filled:
            cells.append(cell(filled[index], sheet.separator))
        elif '\\"' in one.raw and index not in (at.identifier, at.modified):
            cells.append(Cell(raw="", text=""))
        else:
            cells.append(one)
    return cells
