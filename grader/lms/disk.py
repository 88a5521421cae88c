"""Reads folders as they lie on disk. No link is followed, and nothing is copied."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from grader.errors import UsageError
from grader.lms.junk import SKIPPED_FOLDERS, is_environment
from grader.lms.tree import MAX_ENTRIES, MAX_FILE, NO_LINKS, NOT_ORDINARY, Entry, Unreadable, quoted, too_large

__all__ = ["FolderTree"]

_MAX_DEPTH = 30


class FolderTree:
    """A folder.

    Raises:
        UsageError: If it can't be read, or holds too much.
    """

    def __init__(self, path: Path) -> None:
        self.title = path.resolve().name
        self._root = path
        self._places: list[Path] = []
        self._entries: list[Entry] = []
        self._folders: list[str] = []
        self._closed: dict[str, str] = {}
        self._others: list[str] = []
        try:
            self._scan(path, "", 0)
        except OSError as error:
            raise UsageError(
                f"The folder '{path}' can't be read ({error.strerror or error}).", hint="Check its permissions."
            ) from error
        self.entries, self.folders = tuple(self._entries), tuple(self._folders)
        self.closed: Mapping[str, str] = self._closed
        self.others = tuple(self._others)

    def _scan(self, folder: Path, start: str, depth: int) -> None:
        with os.scandir(folder) as found:
            items = sorted(found, key=lambda item: item.name)
        for item in items:
            name = start + os.fsencode(item.name).decode("utf-8", "backslashreplace")
            mode = item.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                self._enter(Path(item.path), name, depth)
                continue
            if len(self._entries) == MAX_ENTRIES:
                raise UsageError(
                    f"There are more than {MAX_ENTRIES:,} files in '{self._root}'.",
                    hint="Name the folder that holds what was handed in, and nothing else.",
                )
            trouble = NO_LINKS if stat.S_ISLNK(mode) else "" if stat.S_ISREG(mode) else NOT_ORDINARY
            self._entries.append(Entry(name=name, number=len(self._places), trouble=trouble))
            self._places.append(Path(item.path))

    def _enter(self, folder: Path, name: str, depth: int) -> None:
        base = folder.name
        if base in SKIPPED_FOLDERS or (depth and base.startswith(".")) or is_environment(folder):
            return
        self._folders.append(name)
        if depth == _MAX_DEPTH:
            self._others.append(f"{quoted(name)} wasn't looked into: it lies too deep.")
            return
        try:
            self._scan(folder, f"{name}/", depth + 1)
        except OSError as error:
            # One folder that can't be entered must not hide the others.
            self._closed[name] = f"{error.strerror or error}"
            self._others.append(f"{quoted(name)} can't be read ({self._closed[name]}).")

    def read(self, entry: Entry, limit: int) -> bytes:
        """Return the entry's bytes. Raises Unreadable."""
        if entry.trouble:
            raise Unreadable(entry.trouble)
        try:
            # It may have become a link, or a pipe, since we looked.
            flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            handle = os.open(self._places[entry.number], flags | getattr(os, "O_BINARY", 0))
            with open(handle, "rb") as file:
                content = file.read(limit + 1)
        except OSError as error:
            raise Unreadable(f"it can't be read ({error.strerror or error})") from error
        if len(content) > limit:
            raise Unreadable(too_large(limit))
        return content

    def place(self, entry: Entry) -> Path | None:
        """Return the entry's path. Raises Unreadable if it may not be opened, or is too large to be graded."""
        if entry.trouble:
            raise Unreadable(entry.trouble)
        path = self._places[entry.number]
        try:
            size = path.lstat().st_size
        except OSError as error:
            raise Unreadable(f"it can't be read ({error.strerror or error})") from error
        if size > MAX_FILE:
            raise Unreadable(too_large(MAX_FILE))
        return path
