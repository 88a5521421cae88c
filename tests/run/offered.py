"""The backends that this machine offers, and one for comparison that has no code of ours in its namespaces."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from grader.run.backend import Backend, Closing, Launch, Usage
from grader.run.bubblewrap import wrapped
from grader.run.forked import LandlockBackend, NamespacesBackend
from grader.run.inside import landlock
from grader.run.inside.frames import encode_policy
from grader.run.library import policy
from grader.run.process import ProcessBackend, ProcessWorker, command

__all__ = ["CONFINING", "ISOLATED", "OFFERED", "opened"]


class _Wrapped(ProcessWorker):
    """A worker whose process is bubblewrap's: what that one uses says nothing of the worker."""

    def usage(self) -> Usage | None:
        """Return nothing, as where the system doesn't tell."""
        return None


class BubblewrapBackend(Closing):
    """Bubblewrap for each worker, and no zygote: slow, and with nothing home-made about its namespaces."""

    name = "bubblewrap"

    def start(self, launch: Launch) -> ProcessWorker:
        """Start a worker whose scratch alone can be written to."""
        python = os.path.realpath(sys.executable)
        root = wrapped(python, "/inside", scratch=str(launch.folder))
        worker = _Wrapped(launch, start=[*root, *command("worker", python=python, inside="/inside")])
        worker.send(encode_policy(policy(strict=True)))
        return worker


def _namespaces_allowed() -> bool:
    found = shutil.which("bwrap")
    if found is None:
        return False
    words = [found, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


_MADE: dict[str, type[Backend]] = {"process": ProcessBackend}
if sys.platform == "linux" and landlock.version():
    _MADE["landlock"] = LandlockBackend
if sys.platform == "linux" and _namespaces_allowed():
    _MADE |= {"namespaces": NamespacesBackend, "bubblewrap": BubblewrapBackend}

OFFERED = tuple(_MADE)
"""All that this machine offers."""

ISOLATED = tuple(name for name in ("landlock", "namespaces") if name in _MADE)
"""Those that the grader offers for other people's files."""

CONFINING = OFFERED if sys.platform == "linux" and landlock.version() else ()
"""Those that confine files here: with Landlock, even the plain process does."""


def opened(name: str) -> Backend:
    """Open a backend."""
    return _MADE[name]()
