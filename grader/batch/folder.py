"""A flat folder of files handed in: which of them are submissions, and where the results of each go."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from pathlib import Path

from grader.errors import UsageError
from grader.model._data import data

__all__ = ["Entry", "Folder", "folder_name", "list_folder"]

SUFFIXES = (".py", ".ipynb")
MAX_SLUG = 40


@data
class Entry:
    """A file to grade.

    Attributes:
        path: Where it lies.
        folder: Name of the folder that its results go to: made by us, whatever the file's name is.
        trouble: Why it isn't even opened, or ``""``.
    """

    path: Path
    folder: str
    trouble: str = ""


@data
class Folder:
    """The submissions of a folder, by name, and how many other things lie there."""

    entries: tuple[Entry, ...]
    others: int


def list_folder(path: Path) -> Folder:
    """Find the submissions that lie directly in ``path``. Hidden files and folders aren't looked at.

    Raises:
        UsageError: If there is no such folder, it can't be read, or nothing in it can be graded.
    """
    try:
        with os.scandir(path) as found:
            items = sorted((item.name, _trouble(item)) for item in found if not item.name.startswith("."))
    except (FileNotFoundError, ValueError) as error:
        raise UsageError(f"There is no folder '{path}'.", hint="Check the spelling.") from error
    except NotADirectoryError as error:
        raise UsageError(f"'{path}' is a file, not a folder.", hint=f"Use: grade {path}") from error
    except OSError as error:
        raise UsageError(
            f"The folder '{path}' can't be read ({error.strerror or error}).", hint="Check its permissions."
        ) from error
    wanted = [
        (name, trouble) for name, trouble in items if Path(name).suffix.lower() in SUFFIXES and trouble != "folder"
    ]
    if not wanted:
        raise UsageError(f"There is no .py or .ipynb file in '{path}'.", hint="Name the folder that holds them.")
    entries, taken = [], set[str]()
    for name, trouble in wanted:
        folder = folder_name(name)
        # 24 bits may agree by chance, and nobody's report may take another's place.
        attempt = 0
        while folder in taken:
            attempt += 1
            folder = folder_name(name, attempt)
        taken.add(folder)
        entries.append(Entry(path=path / name, folder=folder, trouble=trouble))
    return Folder(entries=tuple(entries), others=len(items) - len(entries))


def folder_name(name: str, attempt: int = 0) -> str:
    """Return a name that is safe on any disk: what plain letters the file's name has, and six hex digits of it."""
    stem = unicodedata.normalize("NFKD", Path(name).stem).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", stem)[:MAX_SLUG].strip("-") or "submission"
    raw = os.fsencode(name) + (b"\0%d" % attempt if attempt else b"")
    return f"{slug}-{hashlib.sha256(raw).hexdigest()[:6]}"


def _trouble(item: os.DirEntry[str]) -> str:
    """Say why a thing isn't opened: a link may lead anywhere, to the solution too, and a pipe never ends."""
    try:
        mode = item.stat(follow_symlinks=False).st_mode
    except OSError as error:
        return f"it can't be looked at ({error.strerror or error})"
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISLNK(mode):
        return "it is a symbolic link, and links aren't followed"
    return "" if stat.S_ISREG(mode) else "it is not an ordinary file"
