"""What differs from run to run is taken out of texts: the scratch folder's path and addresses of objects."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["without_places"]

OURS = ("life-", "grade-")
"""Folders that we made begin so; above them lie the user's own."""

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")


def without_places(text: str, folder: Path) -> str:
    """Return ``text`` with paths below the scratch ``folder`` as seen from there, and without addresses of objects.

    So the same seed gives the same report, and a learner reads the name of a file that lay beside theirs.
    """
    if "/" not in text and "\\" not in text and "0x" not in text:
        return text
    text = _without_cut_place(text, folder)
    seen = "."
    while folder.name.startswith(OURS):
        for slash in "/\\":
            text = text.replace(f"{folder}{slash}", "" if seen == "." else f"{seen}{slash}")
        text = text.replace(str(folder), seen)
        folder, seen = folder.parent, ".." if seen == "." else f"../{seen}"
    return _ADDRESS.sub("0x...", text)


def _without_cut_place(text: str, folder: Path) -> str:
    """Take out a path that ends in the middle of our folders' names, where a text was cut to its length."""
    ours = folder
    while ours.parent.name.startswith(OURS):
        ours = ours.parent
    whole, least = str(folder), len(str(ours.parent)) + 2
    for length in range(len(whole) - 1, least, -1):
        if text.endswith(whole[:length]):
            return f"{text[:-length]}..."
    return text
