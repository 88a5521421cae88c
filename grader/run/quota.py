"""How much a worker may keep on disk. Where its scratch is a file system of its own, the kernel counts."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["MAX_BYTES", "MAX_FILES", "over_quota"]

MAX_BYTES = 64 << 20
MAX_FILES = 4_096
MAX_DEPTH = 64
"""Deeper folders take longer to look at than they are worth."""


def over_quota(folder: Path, pid: int) -> bool:
    """Whether what is below ``folder``, and what process ``pid`` holds open, is too much, too many or too deep.

    Links aren't followed. What can't be looked at because it was just removed doesn't count.
    """
    room, count = MAX_BYTES, 0
    todo = [(str(folder), 0)]
    while todo:
        path, depth = todo.pop()
        if depth > MAX_DEPTH:
            return True
        try:
            entries = os.scandir(path)
        except OSError:
            continue
        with entries:
            for entry in entries:
                count += 1
                if count > MAX_FILES:
                    return True
                try:
                    about = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                room -= about.st_blocks * 512
                if stat.S_ISDIR(about.st_mode):
                    todo.append((entry.path, depth + 1))
    return room < 0 or sum(_held(folder, pid).values()) > room


def _held(folder: Path, pid: int) -> dict[tuple[int, int], int]:
    """Return the bytes of files that have no name any more and are still open or mapped, by device and number."""
    found: dict[tuple[int, int], int] = {}
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")
        lines = Path(f"/proc/{pid}/maps").read_bytes().splitlines()
    except OSError:
        return found
    # A mapping keeps its file when the last descriptor is closed. Nobody tells how much is written: it counts whole.
    below = os.fsencode(folder) + b"/"
    for line in lines:
        place, _, offset, device, number, *path = line.split(maxsplit=5)
        if path and path[0].startswith(below) and path[0].endswith(b" (deleted)"):
            first, _, last = place.partition(b"-")
            major, _, minor = device.partition(b":")
            key = os.makedev(int(major, 16), int(minor, 16)), int(number)
            found[key] = max(found.get(key, 0), int(offset, 16) + int(last, 16) - int(first, 16))
    for descriptor in numbers:
        try:
            about = os.stat(f"/proc/{pid}/fd/{descriptor}")
        except OSError:
            continue
        if stat.S_ISREG(about.st_mode) and about.st_nlink == 0:
            found[about.st_dev, about.st_ino] = about.st_blocks * 512
    return found
