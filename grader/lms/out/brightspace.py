"""Brightspace's grades as CSV. Experimental: its rules are known from documentation and other programs only."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from grader.errors import ArchiveError, UsageError
from grader.lms.out.people import folded, learners_of, left_out, plain, who
from grader.lms.out.points import decimal
from grader.lms.out.sheet import Sheet, cell, read_sheet, write_sheet
from grader.model.attempt import Learner
from grader.model.gradebook import Gradebook

__all__ = ["NOTE", "brightspace_csv"]

NOTE = (
    "Brightspace: experimental. Nobody has imported such a file into a real one yet, so try it with one learner, and "
    "look at the preview that the import shows."
)
END = "End-of-Line Indicator"


def brightspace_csv(
    book: Gradebook, item: str, export: bytes | None = None, name: str = "the export"
) -> tuple[bytes, tuple[str, ...]]:
    """Make a file for Grades, "Import": a row for each graded learner, in our points.

    Args:
        item: The grade item's name.
        export: A grades export with OrgDefinedId, Username, Last Name and First Name. The folders of a download hold
            neither id, so without an export nobody of one can be placed; namesakes never are.

    Returns:
        The file, and who isn't in it, each a sentence.

    Raises:
        UsageError: If there is no item.
        ArchiveError: If the export can't be read or has no ids.
    """
    if not plain(item):
        raise UsageError("The grade item isn't named.", hint='Name it as in Brightspace: --column "HW1".')
    known = _known(export, name) if export is not None else {}
    header = ["OrgDefinedId", "Username", f"{plain(item)} Points Grade", END]
    rows = [tuple(cell(text) for text in header)]
    unplaced: list[str] = []
    seen: set[tuple[str, str]] = set()
    namesakes = Counter(folded(learner.name) for _, learner in learners_of(book))
    for grade, learner in learners_of(book):
        ids = _ids(learner, known if namesakes[folded(learner.name)] == 1 else {})
        if why := left_out(grade):
            unplaced.append(why)
        elif not any(ids):
            unplaced.append(f"{who(grade.attempt)}: neither OrgDefinedId nor username is known for certain.")
        elif ids in seen:
            unplaced.append(f"{who(grade.attempt)}: another attempt has the same ids.")
        else:
            seen.add(ids)
            texts = [*(f"#{value}" if value else "" for value in ids), decimal(Fraction(grade.cents, 100), 2), "#"]
            rows.append(tuple(cell(text) for text in texts))
    sheet = Sheet(name="", bom=False, separator=",", newline="\r\n", rows=())
    return write_sheet(sheet, rows), tuple(dict.fromkeys(unplaced))


def _ids(learner: Learner, known: dict[str, tuple[str, str]]) -> tuple[str, str]:
    own = plain(learner.id("sis")).lstrip("#"), plain(learner.id("username")).lstrip("#")
    return own if any(own) else known.get(folded(learner.name), ("", ""))


def _known(export: bytes, name: str) -> dict[str, tuple[str, str]]:
    """Return the ids by name, without the names that two people have."""
    sheet = read_sheet(export, name)
    header = [one.text.strip() for one in sheet.rows[0]]
    if not {"Last Name", "First Name"} <= set(header) or not {"OrgDefinedId", "Username"} & set(header):
        raise ArchiveError(
            f"{sheet.name} lacks names or ids.",
            hint='Export with "Both" as key field and tick "Last Name" and "First Name".',
        )
    rows = [{key: one.text.strip() for key, one in zip(header, row, strict=True)} for row in sheet.rows[1:]]
    names = [folded(row["First Name"] + row["Last Name"]) for row in rows]
    often = Counter(names)
    return {
        key: (row.get("OrgDefinedId", "").lstrip("#"), row.get("Username", "").lstrip("#"))
        for key, row in zip(names, rows, strict=True)
        if key and often[key] == 1
    }
