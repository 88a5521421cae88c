"""Whose row of a worksheet an attempt belongs to: by participant, or for a team by the group's name."""

from __future__ import annotations

from collections import Counter

from grader.lms.out.moodle_columns import Columns, participant
from grader.lms.out.people import folded, learners_of, plain
from grader.lms.out.sheet import Sheet
from grader.model.attempt import Learner
from grader.model.gradebook import Grade, Gradebook

__all__ = ["place"]

_SHOWN = 80
"""Letters of a name in a sentence."""


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
    every = learners_of(book)
    # A name stands for a group only if nobody is found by number and name: a marker may be a learner's namesake.
    own = any(_is_own(sheet, at, one, numbers.get(participant(one.id("participant")))) for _, one in every)
    teams = Counter[str]() if own else Counter(filter(None, (folded(one.name) for _, one in every)))
    placed: dict[int, Grade] = {}
    lost: list[tuple[Grade, str]] = []
    for grade, learner in every:
        rows, why = _rows_of(sheet, at, learner, numbers, teams)
        taken = [index for index in rows if index in placed and placed[index] is not grade]
        if taken:
            why = f"another attempt has {plain(sheet.rows[taken[0]][at.identifier].text)} already."
        for index in rows:
            placed.setdefault(index, grade)
        if why:
            lost.append((grade, why))
    return placed, lost


def _rows_of(
    sheet: Sheet, at: Columns, learner: Learner, numbers: dict[str, int], teams: Counter[str]
) -> tuple[list[int], str]:
    number = participant(learner.id("participant"))
    index = numbers.get(number)
    name = folded(learner.name)
    if _is_own(sheet, at, learner, index):
        assert index is not None
        return [index], ""
    team = _team(sheet, at, name) if teams[name] else []
    if team and (teams[name] > 1 or len({sheet.rows[row][column].text for column, row in team}) > 1):
        return [], "several groups have a name like this one, and it can't be told which of them it is."
    if team:
        return [row for _, row in team], ""
    if not number:
        return [], "the source gives no participant's number for them, so there is no row to fill."
    if index is None:
        return [], f"no row of the sheet is of participant {number}: is it another assignment's, or another group's?"
    if name and at.fullname is not None:
        called = plain(sheet.rows[index][at.fullname].text)[:_SHOWN]
        return [], f"the sheet calls participant {number} {called}: is it another assignment's? No group has this name."
    if name and at.groups:
        # Blind, with a column more than needed: it may be the group, and then the number may be the group's.
        return [], f"no group of the sheet has this name, so {number} may be a group's number."
    return [index], ""


def _is_own(sheet: Sheet, at: Columns, learner: Learner, index: int | None) -> bool:
    """Whether a row is this very learner's: the number's, and with the same name in one cell, or in two."""
    name = folded(learner.name)
    if index is None or at.fullname is None or not name:
        return False
    first, second = (folded(one.text) for one in sheet.rows[index][at.fullname : at.fullname + 2])
    return name in (first, first + second, second + first)


def _team(sheet: Sheet, at: Columns, name: str) -> list[tuple[int, int]]:
    """Return column and row of the cells that name this group, if they are in one column."""
    places = [
        (column, index)
        for index, row in enumerate(sheet.rows[1:], 1)
        for column in at.groups
        if folded(row[column].text) == name
    ]
    return places if len({column for column, _ in places}) == 1 else []
