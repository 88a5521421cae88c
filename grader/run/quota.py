"""How much a worker may keep on disk. Where its scratch is a file system of its own, the kernel counts."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["MAX_BYTES", "MAX_FILES", "over_quota"]

MAX_BYTES = 64 << 20
MAX_FILES = 4_096


def over_quota(folder: Path, pid: int) -> bool:
    """Whether the files below ``folder``, and those that process ``pid`` holds open, are too many or too large.

    Links aren't followed. What can't be looked at because it was just removed doesn't count.
    """
    room, count = MAX_BYTES, 0
    todo = [str(folder)]
    while todo:
        try:
            entries = list(os.scandir(todo.pop()))
        except OSError:
            continue
        for entry in entries:
            count += 1
            try:
                about = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            room -= about.st_blocks * 512
            if stat.S_ISDIR(about.st_mode):
                todo.append(entry.path)
        if room < 0 or count > MAX_FILES:
            return True
    return _held(pid) > room


def _held(pid: int) -> int:
    """Count the bytes of files that have no name any more and are still open."""
    total = 0
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return 0
    for number in numbers:
        try:
            about = os.stat(f"/proc/{pid}/fd/{number}")
        except OSError:
            continue
        if stat.S_ISREG(about.st_mode) and about.st_nlink == 0:
            total += about.st_blocks * 512
    return total
