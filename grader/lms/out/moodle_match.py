"""Whose row of a worksheet an attempt belongs to: by participant, or for a team by the group's name."""

from __future__ import annotations

from grader.lms.out.moodle_columns import Columns, participant
from grader.lms.out.people import folded, plain
from grader.lms.out.sheet import Sheet
from grader.model.attempt import Learner
from grader.model.gradebook import Grade, Gradebook

__all__ = ["place"]

_STATUS = 1
"""Where the status stands if marking is blind."""


def place(sheet: Sheet, at: Columns, book: Gradebook) -> tuple[dict[int, Grade], list[tuple[Grade, str]]]:
    """Find the rows of each attempt.

    A number alone isn't enough: it is only meaningful within one assignment, and for a team it is the group's, which
    may be another learner's too. So the names must agree where both sides have one. A team's grade goes to every row
    that names the group.

    Returns:
        Grades by the row's position in ``sheet.rows``, and those that are in no row, with a sentence.
    """
    numbers: dict[str, int] = {}
    for index, row in enumerate(sheet.rows[1:], 1):
        numbers.setdefault(participant(row[at.identifier].text), index)
    placed: dict[int, Grade] = {}
    lost: list[tuple[Grade, str]] = []
    for grade in book.grades:
        for learner in grade.attempt.learners or (Learner(name=""),):
            rows, why = _rows_of(sheet, at, learner, numbers)
            taken = [index for index in rows if index in placed and placed[index] is not grade]
            if taken:
                why = f"another attempt has {plain(sheet.rows[taken[0]][at.identifier].text)} already."
            for index in rows:
                placed.setdefault(index, grade)
            if why:
                lost.append((grade, why))
    return placed, lost


def _rows_of(sheet: Sheet, at: Columns, learner: Learner, numbers: dict[str, int]) -> tuple[list[int], str]:
    number = participant(learner.id("participant"))
    index = numbers.get(number)
    name = folded(learner.name)
    if index is not None and name and name in _names(sheet, at, index):
        return [index], ""
    team = _team(sheet, at, name) if name else []
    if team:
        return team, ""
    if not number:
        return [], "the source gives no participant's number for them, so there is no row to fill."
    if index is None:
        return [], f"no row of the sheet is of participant {number}: is it another assignment's, or another group's?"
    if name and at.fullname is not None:
        called = plain(sheet.rows[index][at.fullname].text)
        return [], f"the sheet calls participant {number} {called}: is it another assignment's? No group has this name."
    if name and at.grade > _STATUS + 1:
        # Blind, with a column more than needed: it may be the group, and then the number may be the group's.
        return [], f"no group of the sheet has this name, so {number} may be a group's number."
    return [index], ""


def _names(sheet: Sheet, at: Columns, index: int) -> set[str]:
    """Return what the row's learner may be called: the name stands in one cell, or in two, in either order."""
    if at.fullname is None:
        return set()
    first, second = (folded(one.text) for one in sheet.rows[index][at.fullname : at.fullname + 2])
    return {first, first + second, second + first}


def _team(sheet: Sheet, at: Columns, name: str) -> list[int]:
    """Return the rows whose group has this name: it stands between the status and the grade."""
    first = 1 if at.fullname is None else at.fullname + 1
    places = [
        (column, index)
        for index, row in enumerate(sheet.rows[1:], 1)
        for column in range(first, at.grade)
        if folded(row[column].text) == name
    ]
    columns = {column for column, _ in places}
    return [index for _, index in places] if len(columns) == 1 else []
