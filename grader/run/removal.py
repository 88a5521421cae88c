"""Removes a folder that a stranger filled: however deep, whatever its modes, and never through a link."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

__all__ = ["remove_tree"]


def remove_tree(folder: Path) -> None:
    """Remove ``folder`` and all below it; what can't be removed stays, without an error.

    Nobody may write to it any more.
    """
    if os.rename not in os.supports_dir_fd or os.open not in os.supports_dir_fd:
        shutil.rmtree(folder, ignore_errors=True)  # Windows: paths have an end there
        return
    with contextlib.suppress(OSError):
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            _empty(top)
        finally:
            os.close(top)
        folder.rmdir()


def _empty(top: int) -> None:
    """Empty an open folder. What lies deeper is moved up first, so that no path gets long and nothing recurs."""
    todo = _take(top, top, 0)
    made = len(todo)
    while todo:
        name = todo.pop()
        with contextlib.suppress(OSError):
            os.chmod(name, 0o700, dir_fd=top)
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                found = _take(below, top, made)
            finally:
                os.close(below)
            made += len(found)
            todo += found
            os.rmdir(name, dir_fd=top)


def _take(folder: int, top: int, made: int) -> list[str]:
    """Remove the files of a folder and move its folders into ``top``, under new names; return those."""
    names: list[str] = []
    for entry in list(os.scandir(folder)):
        with contextlib.suppress(OSError):
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.name, dir_fd=folder)
                continue
            new = f".grade-{made + len(names)}"
            # Only a folder that we may write to can be moved away from where it is.
            os.chmod(entry.name, 0o700, dir_fd=folder)
            os.rename(entry.name, new, src_dir_fd=folder, dst_dir_fd=top)
            names.append(new)
    return names
