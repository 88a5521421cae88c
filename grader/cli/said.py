"""Lines that a command says: clean, and no wider than a terminal where a person reads them there."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from grader.render import clean
from grader.render.lines import hanging

__all__ = ["shortened", "shown", "told"]

MAX_NAME = 60
BEGIN, END = 40, 15


def shown(name: str | Path) -> str:
    """Clean a name for the terminal."""
    return clean.terminal(str(name)) or "?"


def shortened(name: str) -> str:
    """Clean a name for a list, and leave its middle out if it is long."""
    text = shown(name)
    if clean.width(text) <= MAX_NAME:
        return text
    head, tail = text[:BEGIN], text[-END:]
    while clean.width(head) > BEGIN:
        head = head[:-1]
    while clean.width(tail) > END:
        tail = tail[1:]
    return f"{head} ... {tail}"


def told(lines: Iterable[str], stream: TextIO | None = None) -> Iterator[str]:
    """Yield cleaned lines: each as one into a pipe, for a terminal broken at 80 columns.

    Args:
        lines: Spaces before one are kept.
        stream: Where they go; None: standard output.
    """
    wide = not (stream or sys.stdout).isatty()
    for line in lines:
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        text = clean.terminal(text)
        yield from [" " * indent + text] if wide or not text else hanging(text, indent, paths=True)
