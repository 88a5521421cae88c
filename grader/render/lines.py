"""Text broken into lines of a terminal, by the columns that it takes there."""

from __future__ import annotations

from grader.render import clean

__all__ = ["COLUMNS", "hanging", "split"]

COLUMNS = 80


def split(text: str, columns: int, indent: str = "", *, paths: bool = False) -> list[str]:
    """Break a cleaned ``text`` at its spaces, and cut a word that is longer than a line.

    Args:
        text: One paragraph.
        columns: How many a line may take.
        indent: Stands before each line, and counts.
        paths: Leave a word with a slash in it whole, however long it is: it may be copied.
    """
    lines, line = [], ""
    for word in text.split():
        while word:
            candidate = f"{line} {word}" if line else indent + word
            if clean.width(candidate) <= columns or (not line and paths and "/" in word):
                line, word = candidate, ""
            elif line:
                lines.append(line)
                line = ""
            else:
                room = max(1, columns - len(indent))
                at = next((n for n in range(len(word), 0, -1) if clean.width(word[:n]) <= room), 1)
                lines.append(indent + word[:at])
                word = word[at:]
    return [*lines, line] if line else lines


def hanging(text: str, indent: int = 0, *, paths: bool = False) -> list[str]:
    """Break a cleaned ``text`` into lines that begin at ``indent``, all but the first two columns further in."""
    lines = split(text, COLUMNS - indent - 2, paths=paths)
    return [" " * (indent + 2 * bool(number)) + line for number, line in enumerate(lines)]
