"""The files that lie beside a submission and that it names: its companions."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from grader.intake.source import clean
from grader.model import Companion, Note

__all__ = ["MAX_BYTES", "MAX_FILES", "companions", "companions_among"]

MAX_FILES = 20
MAX_BYTES = 5_000_000
"""Of all companions together."""

_SUFFIXES = frozenset({".py", ".csv", ".tsv", ".txt", ".json", ".npy", ".npz", ".md"})
# What a test runner or Python itself runs unasked, and what would stand in for a module that is there anyway.
_NEVER = frozenset({"conftest", "sitecustomize", "usercustomize", "grader", "numpy"}) | sys.stdlib_module_names
_WORD = re.compile(r"\w+")


def companions(path: Path, source: bytes) -> tuple[tuple[Companion, ...], tuple[Note, ...]]:
    """Return the files beside ``path`` that ``source`` names, sorted, and a note when some were left out.

    A data file counts by its whole name, a Python file by its stem too. What a counted Python file names, counts.

    Args:
        path: The submission.
        source: Its text as UTF-8; anything else is read as far as it goes.
    """
    return _chosen({name: partial(_read, found) for name, found in _candidates(path).items()}, source)


def companions_among(
    name: str, source: bytes, files: Mapping[str, bytes | None]
) -> tuple[tuple[Companion, ...], tuple[Note, ...]]:
    """Return those of ``files`` that ``source`` names, as `companions` does for files on disk.

    Args:
        name: Of the submission.
        source: Its text as UTF-8.
        files: What was handed in with it, by name without folders; None is too large to look at.
    """
    possible = sorted(found for found in files if _may_be(found, Path(name)))
    return _chosen({found: partial(files.get, found) for found in possible}, source)


def _chosen(
    candidates: dict[str, Callable[[], bytes | None]], source: bytes
) -> tuple[tuple[Companion, ...], tuple[Note, ...]]:
    """Take what is named, and what is named by a Python file that was taken."""
    chosen: dict[str, bytes | None] = {}
    texts = [source]
    while texts and candidates:
        for name in _named(candidates, texts.pop().decode("utf-8", "replace")):
            read = candidates.pop(name)
            content = read() if len(chosen) < 2 * MAX_FILES else None
            chosen[name] = content
            if content is not None and name.lower().endswith(".py"):
                texts.append(content)
    return _within_limits(chosen)


def _within_limits(chosen: dict[str, bytes | None]) -> tuple[tuple[Companion, ...], tuple[Note, ...]]:
    kept: list[Companion] = []
    left_out: list[str] = []
    room = MAX_BYTES
    for name, content in sorted(chosen.items()):
        if content is None or len(kept) == MAX_FILES or len(content) > room:
            left_out.append(name)
        else:
            room -= len(content)
            kept.append(Companion(name=name, content=content))
    if not left_out:
        return tuple(kept), ()
    shown = ", ".join(f"`{clean(name)}`" for name in left_out[:3]) + (" ..." if len(left_out) > 3 else "")
    params = (("names", shown), ("files", MAX_FILES), ("limit", MAX_BYTES // 1_000_000))
    return tuple(kept), (Note(text="intake.left_out", params=params),)


def _candidates(path: Path) -> dict[str, Path]:
    """Files of the folder that could be companions, by name."""
    found = {}
    try:
        with os.scandir(path.parent) as entries:
            for entry in entries:
                if _may_be(entry.name, path) and entry.is_file(follow_symlinks=False):
                    found[entry.name] = Path(entry.path)
    except OSError:
        return {}
    return dict(sorted(found.items()))


def _may_be(name: str, path: Path) -> bool:
    stem, suffix = os.path.splitext(name)
    if suffix.lower() not in _SUFFIXES or name.startswith((".", "__")) or not name.isprintable():
        return False
    if name.lower() == path.name.lower():
        return False
    # A module of the submission's own name would be the submission to whoever imports it.
    return suffix.lower() != ".py" or (stem.lower() != path.stem.lower() and stem.lower() not in _NEVER)


def _named(candidates: Mapping[str, object], text: str) -> list[str]:
    """Names of the candidates that occur in ``text`` as words."""
    words = frozenset(_WORD.findall(text))
    found = []
    for name in candidates:
        stem, suffix = os.path.splitext(name)
        by_stem = suffix.lower() == ".py" and stem in words
        # The look at single words spares a search of the whole text for most names of a large folder.
        possible = words.issuperset(_WORD.findall(name))
        if by_stem or (possible and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)):
            found.append(name)
    return found


def _read(path: Path) -> bytes | None:
    """Return a file's bytes; None if it is too large or can't be read."""
    try:
        # O_NOFOLLOW: it may have become a link since we looked.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError:
        return None
    return content if len(content) <= MAX_BYTES else None
