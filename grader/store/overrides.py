"""``overrides.toml``: points that an instructor decided on. It is written by ``grade override``, and by hand."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from grader.errors import UsageError
from grader.model._data import data
from grader.store.files import write_file

__all__ = ["NAME", "OverrideLine", "add_override", "read_overrides"]

NAME = "overrides.toml"
MAX_TEXT = 500
MAX_KEY = 10_000

_HEAD = """\
# Points that an instructor decided on. They stay when the run is judged again: grade regrade RUN takes changes over.
"""


@data
class OverrideLine:
    """One decision.

    Attributes:
        student: Key of the attempt: the LMS's number, or the file's name in a plain folder.
        criterion: ``"<task>/<criterion>"``.
        cents: Points, in hundredths.
        reason: Shown to the learner.
        by: Who answers for it.
        file: How the SHA-256 of the file begins that it is of: a later file is another one. ``""``: any.
    """

    student: str
    criterion: str
    cents: int
    reason: str
    by: str
    file: str = ""


def read_overrides(out: Path) -> tuple[OverrideLine, ...]:
    """Return the overrides of a run; of several for one criterion of one student the last counts.

    Raises:
        UsageError: If the file can't be read or an entry isn't complete.
    """
    path = out / NAME
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: it is no file.", hint="Remove it.")
    try:
        return _parsed(path.read_text(encoding="utf-8-sig"), str(path))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: it can't be read ({error}).", hint="Mend that line.") from error


def add_override(out: Path, line: OverrideLine) -> None:
    """Write one more override, in place of an earlier one of the same student and criterion.

    Raises:
        UsageError: If the file that is there can't be read, or this can't be written so that it can be.
        OutputError: If it can't be written.
    """
    kept = [old for old in read_overrides(out) if (old.student, old.criterion) != (line.student, line.criterion)]
    text = _text([*kept, line])
    try:
        _parsed(text, NAME)
    except ValueError as error:
        raise UsageError(
            "This attempt's name can't be written into a file.", hint="Rename its file and grade it again."
        ) from error
    write_file(out / NAME, text)


def _parsed(text: str, where: str) -> tuple[OverrideLine, ...]:
    """Return the overrides in a text. Raises ValueError if it isn't TOML, UsageError if an entry isn't complete."""
    document = tomllib.loads(text)
    lines: dict[tuple[str, str], OverrideLine] = {}
    found = document.get("override", [])
    if not isinstance(found, list) or set(document) - {"override"}:
        raise UsageError(f"{where}: it holds something else than [[override]] tables.", hint="Remove that.")
    for number, item in enumerate(found, 1):
        line = _line(item, f"{where}, override {number}")
        lines.pop((line.student, line.criterion), None)
        lines[line.student, line.criterion] = line
    return tuple(lines.values())


def _line(item: object, where: str) -> OverrideLine:
    if not isinstance(item, dict):
        raise UsageError(f"{where}: it isn't a table.", hint="Begin it with [[override]].")
    texts = {}
    for name in ("student", "criterion", "reason", "by"):
        value = item.get(name, "")
        # A student's key is whatever the source calls them; the others are ours to restrict.
        most, empty = (MAX_KEY, not value) if name == "student" else (MAX_TEXT, not str(value).strip())
        if not isinstance(value, str) or empty or len(value) > most:
            raise UsageError(
                f"{where}: '{name}' is missing or isn't a short text.",
                hint="student, criterion, points, reason and by are needed.",
            )
        texts[name] = value
    file = item.get("file", "")
    if not isinstance(file, str) or not re.fullmatch(r"[0-9a-f]{0,64}", file):
        raise UsageError(f"{where}: 'file' isn't the beginning of a file's SHA-256.", hint="Leave it out: any file.")
    points = item.get("points")
    try:
        if isinstance(points, bool) or not isinstance(points, int | float):
            raise ValueError
        cents = int((Decimal(str(points)) * 100).to_integral_value())
        if cents < 0:
            raise ValueError
    except (ValueError, InvalidOperation, OverflowError) as error:
        raise UsageError(f"{where}: 'points' isn't a number of points.", hint="Write points = 7.5.") from error
    return OverrideLine(cents=cents, file=file, **texts)


def _text(lines: Sequence[OverrideLine]) -> str:
    parts = [_HEAD]
    for line in lines:
        points = line.cents // 100 if line.cents % 100 == 0 else line.cents / 100
        parts.append(
            f"\n[[override]]\nstudent = {_quoted(line.student)}\ncriterion = {_quoted(line.criterion)}\n"
            f"points = {points}\nreason = {_quoted(line.reason)}\nby = {_quoted(line.by)}\n"
            + (f"file = {_quoted(line.file)}\n" if line.file else "")
        )
    return "".join(parts)


def _quoted(text: str) -> str:
    """Return a TOML string; what nobody would see in an editor stands there as its number."""
    return '"' + "".join(_escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return char if char.isprintable() else f"\\U{ord(char):08x}"
