"""What the process for student code gives up before any of it runs: files, rights, system calls, more than its share.

The order matters: Landlock needs descriptors of its own, limits cut those, and the filter denies all that came before.
"""

from __future__ import annotations

import base64
import contextlib
import os
import stat
import sys
from typing import Any

from . import landlock, limits, seccomp, system


class Lockdown:
    """A policy, with the files that it names opened: made once, applied in every child.

    The policy's ``library`` may be read, of ``packages`` those that an assignment allows; ``folders`` can be listed;
    ``devices`` can be read and written. ``filter`` is the program for the kernel, in base64.
    """

    def __init__(self, policy: dict[str, Any]) -> None:
        self.strict = bool(policy["strict"])
        self._abi = landlock.version() if sys.platform == "linux" and policy["landlock"] else 0
        self._filter = seccomp.Filter(base64.b64decode(policy["filter"])) if policy["filter"] else None
        self._rules: list[tuple[int, int, bool]] = []
        self._packages: dict[str, list[tuple[int, int, bool]]] = {}
        if not self._abi:
            return
        self._rules += _opened(policy["library"], landlock.READ)
        self._rules += _opened(policy["folders"], landlock.LIST)
        self._rules += _opened(policy["devices"], landlock.READ_FILE | landlock.WRITE_FILE)
        for name, paths in policy["packages"].items():
            self._packages[name] = _opened(paths, landlock.READ)

    def apply(self, start: dict[str, Any], pipes: tuple[int, int]) -> None:
        """Lock this process down, for good.

        Args:
            start: What the parent said first: ``folder``, the scratch and the only place that can be written to;
                ``packages`` that may be imported, and ``more`` paths of such that the policy doesn't know; ``memory``
                of address space, in bytes; ``cpu`` in seconds, after which the kernel ends the process.
            pipes: Descriptors that stay open, beside the standard streams.

        Raises:
            OSError: If the policy is strict and the kernel refuses a part of it.
        """
        linux = sys.platform == "linux"
        with self._leniently():
            if linux:
                # If whoever started this process is killed, nothing of a submission's goes on.
                system.die_with_parent()
        with self._leniently():
            if linux:
                system.forbid_new_privileges()
            if self._abi:
                rules = [rule for name in start["packages"] for rule in self._packages.get(name, ())]
                rules += _opened(start["more"], landlock.READ)
                rules += _opened([start["folder"]], landlock.WRITE)
                landlock.restrict([*self._rules, *rules], self._abi)
        limits.apply(start["memory"], start["cpu"])
        if not linux:
            return
        with self._leniently():
            system.drop_capabilities()
        os.closerange(max(pipes) + 1, 1 << 16)
        with self._leniently():
            if self._filter is not None:
                self._filter.restrict()

    def _leniently(self) -> contextlib.AbstractContextManager[object]:
        """Go on without what the kernel doesn't have, where the policy lets us."""
        return contextlib.nullcontext() if self.strict else contextlib.suppress(OSError, AttributeError, ValueError)


def _opened(paths: list[str], rights: int) -> list[tuple[int, int, bool]]:
    """Open what is there; what isn't can't be read either."""
    found = []
    for path in paths:
        try:
            descriptor = landlock.open_path(path)
        except OSError:
            continue
        found.append((descriptor, rights, stat.S_ISDIR(os.fstat(descriptor).st_mode)))
    return found
