"""The backends that fork workers from a zygote: ``landlock`` and ``namespaces``."""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

from grader.errors import IsolationError
from grader.run.backend import Closing, Launch
from grader.run.bubblewrap import wrapped
from grader.run.child import ChildWorker
from grader.run.library import policy
from grader.run.process import command, environment
from grader.run.quota import over_quota
from grader.run.zygote import Zygote

__all__ = ["LandlockBackend", "NamespacesBackend"]

HIDDEN = "/inside"
"""Where a root of its own shows the zygote's code."""


class _Forking(Closing):
    """Starts its zygote at once, and another one if that has gone."""

    name = ""

    def __init__(self, changes: Mapping[str, Any] | None = None) -> None:
        """Start the zygote.

        Args:
            changes: To the policy; for tests, which check that a hole is noticed.

        Raises:
            IsolationError: If no process can be started.
        """
        self._policy = {**self._own_policy(), **(changes or {})}
        self._lock = threading.Lock()
        self._zygote = self._started()

    def _own_policy(self) -> dict[str, Any]:
        raise NotImplementedError

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _started(self) -> Zygote:
        return Zygote(self._command(), environment(None), self._policy)

    def start(self, launch: Launch) -> ChildWorker:
        """Start a worker. Raises IsolationError."""
        zygote = self._zygote
        try:
            return self._child(zygote, launch)
        except IsolationError:
            # Gone, or stuck: no student code has run in it, so another one does as well.
            with self._lock:
                if self._zygote is zygote:
                    zygote.close()
                    self._zygote = self._started()
            return self._child(self._zygote, launch)

    def _child(self, zygote: Zygote, launch: Launch) -> ChildWorker:
        raise NotImplementedError

    def close(self) -> None:
        """End the zygote and every worker."""
        self._zygote.close()


class LandlockBackend(_Forking):
    """Landlock, a filter of system calls and limits. Needs no rights and no package, and works in containers.

    The scratch lies on disk; what is in it is counted now and then.
    """

    name = "landlock"

    def _own_policy(self) -> dict[str, Any]:
        return policy(strict=True)

    def _command(self) -> list[str]:
        return command("zygote")

    def _child(self, zygote: Zygote, launch: Launch) -> ChildWorker:
        return zygote.child(launch.folder, over_quota=functools.partial(over_quota, launch.folder))


class NamespacesBackend(_Forking):
    """A root with little in it, made by bubblewrap; each worker has processes, mounts and a scratch of its own.

    Landlock, the filter and the limits come on top.
    """

    name = "namespaces"

    def _own_policy(self) -> dict[str, Any]:
        return {**policy(strict=True, namespaces=True), "hide": [HIDDEN]}

    def _command(self) -> list[str]:
        # By its real path: a virtual environment's links would lead out of the new root.
        python = os.path.realpath(sys.executable)
        return [*wrapped(python, HIDDEN), *command("zygote", python=python, inside=HIDDEN)]

    def _child(self, zygote: Zygote, launch: Launch) -> ChildWorker:
        return zygote.child(launch.folder, over_quota=None, carry=True)
