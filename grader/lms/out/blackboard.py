"""Blackboard's grade centre as CSV. Experimental: its rules are known from documentation and other programs only."""

from __future__ import annotations

import re
from fractions import Fraction

from grader.errors import UsageError
from grader.lms.out.people import learners_of, left_out, plain, who
from grader.lms.out.points import decimal
from grader.lms.out.sheet import Sheet, cell, write_sheet
from grader.model.gradebook import Gradebook

__all__ = ["NOTE", "blackboard_csv"]

NOTE = (
    "Blackboard: experimental. Nobody has uploaded such a file to a real one yet, so try it with one learner, and look "
    "at what the upload says it will change."
)


def blackboard_csv(book: Gradebook, column: str) -> tuple[bytes, tuple[str, ...]]:
    """Make a file for "Work Offline", "Upload": a row for each graded learner, in our points.

    Args:
        column: The column's whole header as in a download, with its id: ``HW1 [Total Pts: 100 Score] |12345``.

    Returns:
        The file, and who isn't in it, each a sentence.

    Raises:
        UsageError: If the column has no id: Blackboard would make a new column of text, with 0 points.
    """
    if not re.fullmatch(r".*\S\s*\|[0-9_]+", column.strip()):
        raise UsageError(
            f"The column {plain(column) or '(none)'} has no Blackboard id at its end.",
            hint='Name it as in a download: --column "HW1 [Total Pts: 100 Score] |12345".',
        )
    rows = [tuple(cell(text) for text in ("Username", plain(column)))]
    unplaced: list[str] = []
    seen: set[str] = set()
    for grade, learner in learners_of(book):
        user = plain(learner.id("username"))
        if why := left_out(grade):
            unplaced.append(why)
        elif not user:
            unplaced.append(f"{who(grade.attempt)}: the username isn't known.")
        elif user in seen:
            unplaced.append(f"{who(grade.attempt)}: another attempt has the same username.")
        else:
            seen.add(user)
            rows.append((cell(user), cell(decimal(Fraction(grade.cents, 100), 2))))
    sheet = Sheet(name="", bom=True, separator=",", newline="\r\n", rows=())
    return write_sheet(sheet, rows), tuple(dict.fromkeys(unplaced))
