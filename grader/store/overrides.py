"""``overrides.toml``: points that an instructor decided on. It is written by ``grade override``, and by hand."""

from __future__ import annotations

import json
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
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: it can't be read ({error}).", hint="Mend that line.") from error
    lines: dict[tuple[str, str], OverrideLine] = {}
    found = document.get("override", [])
    if not isinstance(found, list) or set(document) - {"override"}:
        raise UsageError(f"{path}: it holds something else than [[override]] tables.", hint="Remove that.")
    for number, item in enumerate(found, 1):
        line = _line(item, f"{path}, override {number}")
        lines.pop((line.student, line.criterion), None)
        lines[line.student, line.criterion] = line
    return tuple(lines.values())


def add_override(out: Path, line: OverrideLine) -> None:
    """Write one more override, in place of an earlier one of the same student and criterion.

    Raises:
        UsageError: If the file that is there can't be read, or the student's key is no printable text.
        OutputError: If it can't be written.
    """
    if not line.student.isprintable():
        raise UsageError(
            "This attempt's name can't be written into a file.", hint="Rename its file and grade it again."
        )
    kept = [old for old in read_overrides(out) if (old.student, old.criterion) != (line.student, line.criterion)]
    write_file(out / NAME, _text([*kept, line]))


def _line(item: object, where: str) -> OverrideLine:
    if not isinstance(item, dict):
        raise UsageError(f"{where}: it isn't a table.", hint="Begin it with [[override]].")
    texts = {}
    for name in ("student", "criterion", "reason", "by"):
        value = item.get(name, "")
        if not isinstance(value, str) or not value.strip() or len(value) > MAX_TEXT:
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
        # A JSON string is a TOML string too, as long as it is ASCII.
        points = line.cents // 100 if line.cents % 100 == 0 else line.cents / 100
        parts.append(
            f"\n[[override]]\nstudent = {json.dumps(line.student)}\ncriterion = {json.dumps(line.criterion)}\n"
            f"points = {points}\nreason = {json.dumps(line.reason)}\nby = {json.dumps(line.by)}\n"
            + (f"file = {json.dumps(line.file)}\n" if line.file else "")
        )
    return "".join(parts)
