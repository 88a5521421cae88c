"""Removes a folder that student code has filled: whatever is in it, however deep, and never through a link."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import stat
from pathlib import Path

__all__ = ["remove_tree"]

_KNOWS_HANDLES = {os.open, os.rename, os.unlink, os.rmdir, os.stat, os.chmod} <= os.supports_dir_fd


def remove_tree(folder: Path) -> None:
    """Remove ``folder`` and all below it, as far as the system lets us; never raises.

    ``shutil.rmtree`` calls itself for each level, so a thousand nested folders end it with a RecursionError. Here
    what lies deeper is moved up, and no path gets longer than two names.
    """
    if not _KNOWS_HANDLES:
        with contextlib.suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        _empty(top)
    finally:
        os.close(top)
    with contextlib.suppress(OSError):
        folder.rmdir()


def _empty(top: int) -> None:
    numbers = itertools.count()
    waiting = _lift(top, top, numbers)
    while waiting:
        name = waiting.pop()
        with contextlib.suppress(OSError):
            child = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                waiting += _lift(child, top, numbers)
            finally:
                os.close(child)
            os.rmdir(name, dir_fd=top)


def _lift(folder: int, top: int, numbers: itertools.count[int]) -> list[str]:
    """Delete the files in ``folder`` and move its folders to ``top`` under new names; return these."""
    lifted = []
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=folder)
                continue
            # A folder that can't be written can't be moved either.
            os.chmod(name, 0o700, dir_fd=folder)
            new = f".{os.urandom(8).hex()}-{next(numbers)}"
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=top)
            lifted.append(new)
    return lifted
