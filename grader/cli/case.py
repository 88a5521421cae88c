"""A case as lines of a terminal: what was called with what, and what came back. All of it is text from outside."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.core.values import to_python
from grader.model import Array, Call, Opaque, Outcome, Seq, Value
from grader.render import clean
from grader.render.lines import COLUMNS, hanging, split

__all__ = ["asked"]

MAX_SHOWN = 400
MAX_ENTRIES = 24
"""Larger arrays are told by their shape."""

MAX_ITEMS = 6
MAX_DEPTH = 4


def asked(call: Call, outcome: Outcome | None) -> list[str]:
    """Return what was asked in a call, and what came back."""
    return [line.rstrip() for line in _asked(call, outcome)]


def _asked(call: Call, outcome: Outcome | None) -> Iterator[str]:
    head = f"  call {call.id} (seed {call.seed}):"
    arguments = [_lines(arg, COLUMNS - 6) for arg in call.args]
    arguments += [_named(_shown(name), arg) for name, arg in call.kwargs]
    whole = _joined(f"{_shown(call.name)}(", ")", arguments, COLUMNS - 4)
    if len(whole) == 1 and clean.width(f"{head} {whole[0]}") <= COLUMNS:
        yield f"{head} {whole[0]}"
    else:
        yield head
        yield from (f"    {line}" for line in whole)
    if outcome is None:
        return
    failure = outcome.failure
    if failure is not None:
        where = f", line {failure.line}" if failure.line else ""
        yield from hanging(_shown(f"{outcome.kind}: {failure.kind} {failure.message}{where}"), 4)
    else:
        lines = _lines(outcome.value, COLUMNS - 6)
        if len(lines) == 1 and clean.width(f"    {outcome.kind}: {lines[0]}") <= COLUMNS:
            yield f"    {outcome.kind}: {lines[0]}"
        else:
            yield f"    {outcome.kind}:"
            yield from (f"      {line}" for line in lines)
    if outcome.stdout:
        yield from hanging(_shown(f"printed: {outcome.stdout[:MAX_SHOWN]}"), 4)


def _shown(text: str) -> str:
    return clean.terminal(text)


def _named(name: str, value: Value) -> list[str]:
    first, *more = _lines(value, COLUMNS - 7 - len(name))
    return [f"{name}={first}", *more]


def _joined(start: str, end: str, parts: list[list[str]], columns: int) -> list[str]:
    """Put parts between ``start`` and ``end``: on one line if they fit, else each below."""
    whole = start + ", ".join(part[0] for part in parts) + end
    if all(len(part) == 1 for part in parts) and clean.width(whole) <= columns:
        return [whole]
    return [start, *(f"  {line}" for part in parts for line in part), end]


def _lines(value: Value, columns: int, depth: int = 0) -> list[str]:
    """Return a value as lines of at most so many columns."""
    match value:
        case Array():
            return _array(value, columns)
        case Seq() if depth == MAX_DEPTH:
            return [f"{_shown(value.kind)} of {len(value.items)}"]
        case Seq():
            parts = [_lines(item, columns - 2, depth + 1) for item in value.items[:MAX_ITEMS]]
            if len(value.items) > MAX_ITEMS:
                parts.append([f"and {len(value.items) - MAX_ITEMS} more"])
            return _joined(f"{_shown(value.kind)}(", ")", parts, columns)
        case Opaque():
            return split(f"something of the type {_shown(value.kind)}", columns)
    return split(_shown(repr(value))[:MAX_SHOWN], columns) or [""]


def _array(value: Array, columns: int) -> list[str]:
    array = to_python(value)
    kind = f"array{value.shape}"
    if isinstance(array, Opaque):
        return split(f"{kind} of {_shown(value.dtype[1:])}", columns)
    numbers = np.asarray(array)
    if numbers.size > MAX_ENTRIES:
        return split(f"{kind} of {numbers.dtype.name}", columns)
    text = np.array2string(numbers, precision=6, separator=", ", max_line_width=columns)
    lines = [line.rstrip() for line in text.split("\n")]
    if value.kind == "scalar" and not value.shape:
        return lines
    return [f"{kind} {text}"] if len(lines) == 1 and len(kind) + 1 + len(text) <= columns else [kind, *lines]
