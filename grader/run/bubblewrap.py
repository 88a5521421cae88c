"""Bubblewrap's command line: a root that holds Python, the packages and nothing else, and no network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from grader.errors import IsolationError
from grader.run.inside.namespaces import SCRATCH
from grader.run.library import DEVICES, is_packages, library

__all__ = ["INSIDE", "program", "wrapped"]

INSIDE = Path(__file__).parent / "inside"


def program() -> str | None:
    """Return the path of bubblewrap, or None where it isn't installed."""
    return shutil.which("bwrap")


def wrapped(python: str, inside: str) -> list[str]:
    """Return what stands before a command to run it in such a root; the worker's code appears at ``inside``.

    Raises:
        IsolationError: If bubblewrap isn't installed.
    """
    found = program()
    if found is None:
        raise IsolationError("Bubblewrap isn't installed.", hint="Install the package bubblewrap.")
    return [
        found,
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-ipc", "--unshare-cgroup-try"),
        *("--hostname", "worker", "--tmpfs", "/", "--proc", "/proc", "--dir", SCRATCH),
        *(word for device in DEVICES for word in ("--dev-bind", device, device)),
        *_binds(python),
        *("--ro-bind", str(INSIDE), inside, "--chdir", "/", "--remount-ro", "/"),
    ]


def _binds(python: str) -> Iterator[str]:
    """Bind whole folders where that can be done, cover the packages in them, and bind those that may be read."""
    known = library()
    covered = [folder for folder in known.folders if is_packages(folder)]
    whole = [folder for folder in known.folders if folder not in covered]
    for place in ("/lib", "/lib64"):
        if os.path.islink(place):
            yield from ("--symlink", os.readlink(place), place)
    shown: list[str] = []
    for path in sorted({*whole, *known.readable, python}, key=lambda path: (len(Path(path).parts), path)):
        # What lies below a folder that is shown is there already.
        if any(path.startswith(f"{above}/") for above in shown) or not os.path.exists(path):
            continue
        shown.append(path)
        yield from ("--ro-bind", path, path)
        if os.path.isdir(path):
            for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
                if is_packages(entry.name) and entry.is_dir(follow_symlinks=False):
                    yield from ("--tmpfs", entry.path)
    for path in dict.fromkeys(path for paths in known.packages.values() for path in paths):
        yield from ("--ro-bind", path, path)
