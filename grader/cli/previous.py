"""``--previous``: an older ``result.json``, for what changed since."""

from __future__ import annotations

import json
from pathlib import Path

from grader.core.assignment import Assignment
from grader.core.changes import Marks, read_marks
from grader.errors import UsageError
from grader.render import clean

__all__ = ["read_previous"]

MAX_BYTES = 16 << 20
MAX_SHOWN = 40


def read_previous(path: Path, assignment: Assignment) -> Marks:
    """Read the file at ``path``.

    Raises:
        UsageError: If there is none, it is no result, or one that can't be compared with a result of ``assignment``.
    """
    shown = clean.terminal(str(path))
    before = _read(path, shown)
    if before.assignment != assignment.id:
        raise UsageError(
            f"{shown}: it is a result of the assignment '{_short(before.assignment)}', and this is '{assignment.id}'.",
            hint="Give --previous a result of the same assignment, or leave it out.",
        )
    if before.version != assignment.version:
        raise UsageError(
            f"{shown}: it was graded with version {_short(before.version)} of the assignment, "
            f"and this is version {assignment.version}.",
            hint="Grade the older file again with --out, or leave --previous out.",
        )
    if not before.graded:
        raise UsageError(
            f"{shown}: the grader failed in that run, so there is nothing to compare with.",
            hint="Leave --previous out.",
        )
    return before


def _read(path: Path, shown: str) -> Marks:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{shown} can't be read ({said}).", hint="Give --previous a result.json.") from error
    try:
        if len(content) > MAX_BYTES:
            raise ValueError("size")
        return read_marks(json.loads(content))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{shown} isn't a result that can be read.", hint="Give --previous a result.json, as --out writes it."
        ) from error


def _short(text: str) -> str:
    return clean.terminal(text)[:MAX_SHOWN]
