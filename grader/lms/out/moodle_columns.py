"""Which column of Moodle's offline grading worksheet is which: its headers are in the language of who downloaded it.

English headers are known. For the others, what Moodle always does is enough (the order in which
``mod/assign/gradingtable.php`` of 4.5 and before adds columns): Identifier first; then whatever says who it is and the
Status; then Grade, Maximum grade, perhaps the marking workflow's state, Grade can be changed, Last modified
(submission), the submission's texts, Last modified (grade), and last what the feedback types add.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.errors import ArchiveError, UsageError
from grader.lms.out.people import plain
from grader.lms.out.points import number
from grader.lms.out.sheet import Sheet
from grader.model._data import data

__all__ = ["NAMES", "Columns", "find_columns", "participant"]

NAMES = ("identifier", "grade", "maximum", "modified", "feedback")
"""What ``--columns`` may name."""

_ENGLISH = {
    "identifier": "identifier",
    "status": "status",
    "group": "group",
    "grade": "grade",
    "maximum grade": "maximum",
    "scale": "scale",
    "grade can be changed": "changeable",
    "last modified (submission)": "submitted",
    "last modified (grade)": "modified",
    "feedback comments": "feedback",
}
_PAIR = re.compile(r"(.*\S)\s*[(\uff08]([^()\uff08\uff09]+)[)\uff09]")
_SHOWN = 20
_BLIND_STATUS = 1
"""Where the status stands if marking is blind."""


@data
class Columns:
    """Positions in the header, from 0.

    Attributes:
        feedback: None where comments aren't switched on.
        changeable: Whether the grade can be changed; None where it can't be told.
        fullname: The name's, or the first of two; None where marking is blind.
        groups: Those that may hold a group's name: at most one in English, all between who it is and the grade else.
    """

    identifier: int
    grade: int
    maximum: int
    modified: int
    feedback: int | None
    changeable: int | None
    fullname: int | None
    groups: tuple[int, ...]


def participant(identifier: str) -> str:
    """Return the number at the end of an identifier, by which Moodle finds the row's learner, or ``""``."""
    found = re.search(r"(?<![0-9])0*([0-9]{1,18})\s*$", identifier)
    return found[1] if found else ""


def find_columns(sheet: Sheet, named: Mapping[str, str] | None = None) -> Columns:
    """Find the columns of a worksheet.

    Args:
        named: Headers that somebody has named, by a word of ``NAMES``.

    Raises:
        ArchiveError: If it is no worksheet, grades by a scale, or a column can't be told with certainty.
        UsageError: If a named header isn't there, or several times.
    """
    header = [one.text.strip() for one in sheet.rows[0]]
    found = {_ENGLISH[text.casefold()]: index for index, text in enumerate(header) if text.casefold() in _ENGLISH}
    english = {"identifier", "modified"} <= found.keys()
    if english:
        _refuse_twins(sheet, header)
        _refuse_advanced_grading(sheet, found, named or {})
        if found.get("status", 0) > 1:
            found["fullname"] = 1
    else:
        # One English word among others may be any language's: "Status" is German too.
        found = _by_structure(sheet)
    for word, text in (named or {}).items():
        found[word] = _named(header, word, text)
    missing = [word for word in ("identifier", "grade", "maximum", "modified") if word not in found]
    after = [index for index in range(found.get("modified", len(header)) + 1, len(header)) if not english]
    if "feedback" not in found and len(after) == 1:
        found["feedback"] = after[0]
    elif "feedback" not in found and after:
        missing.append("feedback")
    if missing:
        raise ArchiveError(
            f"{sheet.name}: it can't be told for certain which column is {_listed(missing)}.",
            hint=f"Name them, as in --columns {','.join(f'{word}=...' for word in missing)} with these headers: "
            f"{'; '.join(plain(text) for text in header[:_SHOWN])}.",
        )
    _check_identifiers(sheet, found["identifier"])
    first = found.get("fullname", _BLIND_STATUS) + 1
    return Columns(
        identifier=found["identifier"],
        grade=found["grade"],
        maximum=found["maximum"],
        modified=found["modified"],
        feedback=found.get("feedback"),
        changeable=found.get("changeable"),
        fullname=found.get("fullname"),
        groups=tuple(index for index in range(first, found["grade"]) if not english or index == found.get("group")),
    )


def _refuse_twins(sheet: Sheet, header: list[str]) -> None:
    for text in header:
        places = [index for index, one in enumerate(header, 1) if one.casefold() == text.casefold()]
        if len(places) > 1 and _ENGLISH.get(text.casefold()) in NAMES:
            raise ArchiveError(
                f"{sheet.name} has {len(places)} columns {plain(text)}.", hint="Give the worksheet as Moodle made it."
            )


def _refuse_advanced_grading(sheet: Sheet, found: Mapping[str, int], named: Mapping[str, str]) -> None:
    if "scale" in found and "maximum" not in found and found["scale"] == found.get("grade", -2) + 1:
        raise _scale(sheet)
    if "grade" not in found and "grade" not in named:
        raise ArchiveError(
            f"{sheet.name} has no column Grade.",
            hint='With a rubric or a marking guide Moodle takes no worksheet: set "Grading method" to "Simple direct '
            'grading" and "Type" of the grade to "Point", and download it again.',
        )


def _scale(sheet: Sheet) -> ArchiveError:
    return ArchiveError(
        f"{sheet.name}: this assignment is graded by a scale, and points can't be written as its words.",
        hint='Set "Type" of the grade to "Point" in the assignment\'s settings, and download the worksheet again.',
    )


def _by_structure(sheet: Sheet) -> dict[str, int]:
    """Return what is certain whatever the language. See the module for what it relies on."""
    header = [one.text.strip() for one in sheet.rows[0]]
    rows = [[one.text.strip() for one in row] for row in sheet.rows[1:]]
    found: dict[str, int] = {}
    if rows and all(participant(row[0]) for row in rows):
        found["identifier"] = 0
        # Blind marking leaves out the name, and then the status follows, whose parts are joined by " - ".
        if not all(" - " in row[1] for row in rows):
            found["fullname"] = 1
    pair = _dates(header)
    if pair is None or not rows:
        return found
    submitted, found["modified"] = pair
    grades = [
        index
        for index in (submitted - 2, submitted - 3)
        if index >= 2 and _is_maximum([row[index] for row in rows], [row[index - 1] for row in rows])
    ]
    if len(grades) == 1:
        found |= {"maximum": grades[0], "grade": grades[0] - 1, "changeable": submitted - 1}
    elif not grades and any(
        index >= 2 and len({row[index] for row in rows}) == 1 and "\n" in rows[0][index]
        for index in (submitted - 2, submitted - 3)
    ):
        raise _scale(sheet)
    return found


def _dates(header: list[str]) -> tuple[int, int] | None:
    """Return the columns of the two dates, "X (submission)" and "X (grade)", if there are just two such headers."""
    stems: dict[str, list[int]] = {}
    for index, text in enumerate(header):
        if match := _PAIR.fullmatch(text):
            stems.setdefault(match[1].casefold(), []).append(index)
    pairs = [places for places in stems.values() if len(places) == 2]
    return (pairs[0][0], pairs[0][1]) if len(pairs) == 1 else None


def _is_maximum(values: list[str], before: list[str]) -> bool:
    return (
        len(set(values)) == 1
        and number(values[0]) is not None
        and all(not text or number(text) is not None for text in before)
    )


def _named(header: list[str], word: str, text: str) -> int:
    if word not in NAMES:
        raise UsageError(f"--columns knows no {plain(word)}.", hint=f"It knows {_listed(NAMES)}.")
    places = [index for index, one in enumerate(header) if one.casefold() == text.strip().casefold()]
    if len(places) != 1:
        often = "no column has" if not places else "several columns have"
        raise UsageError(
            f"--columns {word}={plain(text)}: {often} this header.",
            hint=f"The headers are: {'; '.join(plain(one) for one in header[:_SHOWN])}.",
        )
    return places[0]


def _check_identifiers(sheet: Sheet, column: int) -> None:
    for index, row in enumerate(sheet.rows[1:], 2):
        if not participant(row[column].text):
            raise ArchiveError(
                f"{sheet.name}, row {index}: the identifier {plain(row[column].text)[:40] or '(empty)'} doesn't end "
                "in a participant's number.",
                hint="Give the worksheet as Moodle made it.",
            )


def _listed(words: list[str] | tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
