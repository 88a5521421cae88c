"""What a source holds, before anyone asks whose it is: entries with names, and a way to their bytes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from grader.model._data import data

__all__ = [
    "MAX_ENTRIES",
    "MAX_FILE",
    "NOT_ORDINARY",
    "NO_LINKS",
    "Entry",
    "Tree",
    "Unreadable",
    "View",
    "nfc",
    "quoted",
    "refusal",
    "too_large",
    "without_wrapper",
]

MAX_ENTRIES = 200_000
"""An archive or a folder with more is no class's."""

MAX_FILE = 5_000_000
"""Bytes of a file; what is larger can't be graded and isn't unpacked."""

NO_LINKS = "it is a symbolic link, and links aren't followed"
NOT_ORDINARY = "it is not an ordinary file"

MAX_NAME = 2_000
"""Letters; no system takes longer paths from a learner, and patterns take their time with them."""

_DRIVE = re.compile(r"[A-Za-z]:")


class Unreadable(Exception):
    """An entry's bytes can't be had; the message says why and follows its name and a colon."""


@data
class Entry:
    """A file of a source.

    Attributes:
        name: As the source has it, ``/`` between folders: text from outside that never becomes a path.
        number: Its place in the tree that it comes from.
        trouble: Why its bytes can't be had, known before anyone tries, or ``""``.
    """

    name: str
    number: int
    trouble: str = ""


class Tree(Protocol):
    """An archive or a folder.

    Attributes:
        title: Its name without suffix.
        entries: Its files, in its own order.
        folders: Names of its folders as far as they stand in it, empty ones too.
        closed: Those of its folders that can't be read, and why.
        others: What was left out, each a sentence.
    """

    title: str
    entries: tuple[Entry, ...]
    folders: tuple[str, ...]
    closed: Mapping[str, str]
    others: tuple[str, ...]

    def read(self, entry: Entry, limit: int) -> bytes:
        """Return the entry's bytes. Raises Unreadable if there are more than ``limit``, or they can't be had."""

    def place(self, entry: Entry) -> Path | None:
        """Return where the entry lies on disk as a file of its own, or None. Raises Unreadable if it is no use."""


@data
class View:
    """A tree with the names that count: without a folder around everything, if there was one (``around``)."""

    tree: Tree
    entries: tuple[Entry, ...]
    folders: tuple[str, ...]
    around: str = ""

    def why_closed(self, folder: str) -> str:
        """Say why a folder can't be read, or nothing."""
        return self.tree.closed.get(self.around + folder, "")


def without_wrapper(view: View) -> View | None:
    """Return the view from inside the one folder that holds everything, or None if there is no such folder."""
    entries = [entry for entry in view.entries if not entry.name.startswith(("__MACOSX/", "."))]
    tops = {name.partition("/")[0] for name in (*(entry.name for entry in entries), *view.folders)} - {"__MACOSX"}
    if len(tops) != 1 or any("/" not in entry.name for entry in entries):
        return None
    start = f"{tops.pop()}/"
    inside = [
        Entry(name=entry.name.removeprefix(start), number=entry.number, trouble=entry.trouble) for entry in entries
    ]
    folders = tuple(name.removeprefix(start) for name in view.folders if name.startswith(start))
    return View(tree=view.tree, entries=tuple(inside), folders=folders, around=view.around + start)


def refusal(name: str) -> str:
    """Say why an entry of this name is left out of an archive, or return ``""``.

    Nothing is ever written under such a name. But who makes one means no good, or has made it with a tool whose
    other names can't be trusted either.
    """
    if len(name) > MAX_NAME:
        return "its name is too long"
    if "\0" in name:
        return "its name holds a NUL"
    if "\\" in name:
        return "its name holds a backslash"
    if name.startswith("/") or _DRIVE.match(name):
        return "its name is an absolute path"
    parts = name.removesuffix("/").split("/")
    if ".." in parts:
        return "its name leads out of the archive"
    return "its name has an empty part" if "" in parts or "." in parts else ""


def nfc(name: str) -> str:
    """Return a name in the form in which names are compared: macOS writes letters and accents apart."""
    return unicodedata.normalize("NFC", name)


def quoted(name: str) -> str:
    """Return a name for a sentence, cut if it is long; whoever shows the sentence cleans it."""
    return f"'{name}'" if len(name) <= 80 else f"'{name[:50]}...{name[-27:]}'"


def too_large(limit: int) -> str:
    """Say that a file is larger than ``limit`` bytes."""
    return f"it is larger than {limit / 1e6:g} MB"
