"""Notes what student code does that no honest answer needs: for an instructor to look at, never a verdict.

A submission can mislead it, as everything that runs in its process; what it can't do is get points by that.
"""

from __future__ import annotations

import builtins
import math
import os
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from . import wire

__all__ = ["Watch"]

MAX_EVENTS = 100
MAX_DETAIL = 100
MAX_FRAMES = 50

_PROCESS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty")
_NETWORK = ("socket.__new__", "socket.getaddrinfo", "socket.gethostbyname")
_FRAMES = ("sys._getframe", "sys._current_frames", "gc.get_objects", "gc.get_referrers", "gc.get_referents")
_SYSTEM = ("ctypes.dlopen", "ctypes.dlsym", "ctypes.string_at", "ctypes.call_function", "ctypes.cdata/buffer")

KINDS: dict[str, str] = {
    "open": "files", "os.listdir": "files", "os.scandir": "files",
    "os.remove": "files", "os.rename": "files", "os.symlink": "files", "os.link": "files",
    **dict.fromkeys(_PROCESS, "process"), **dict.fromkeys(_NETWORK, "network"),
    "os.kill": "signal", "os.killpg": "signal", "signal.pthread_kill": "signal",
    **dict.fromkeys(_FRAMES, "frames"), **dict.fromkeys(_SYSTEM, "ctypes"),
    "sys.settrace": "hooks", "sys.setprofile": "hooks", "sys.addaudithook": "hooks",
}  # fmt: skip
"""Audit events that are noted, and under which kind."""

_INTERNET = (2, 10)
"""Address families: event loops make pairs of another one."""

_HARMLESS = ("/dev/null", "/dev/urandom", "/dev/random")
_PATCHABLE: tuple[ModuleType, ...] = (np, np.linalg, np.random, builtins, math)

_DIRECT = ("inspect", "traceback", "ctypes")
"""Modules that exist for such things: to call them is to do it."""

_getframe = sys._getframe
_abspath, _fsdecode, _text = os.path.abspath, os.fsdecode, wire.text


class Watch:
    """Listens to audit events while it is armed."""

    def __init__(self, folder: str, ours: Callable[[str], bool]) -> None:
        """Listen from now on.

        Args:
            folder: The submission's own folder, where it may open what it likes.
            ours: Whether a code's file name is one of the submission's cells.
        """
        self.armed = self._busy = False
        self._ours = ours
        self._roots = tuple(
            {_abspath(root) + os.sep for root in (folder, sys.prefix, sys.base_prefix, *sys.path) if root}
        )
        self._events: list[list[str]] = []
        self._known: set[tuple[str, str]] = set()
        self._before = {module: dict(vars(module)) for module in _PATCHABLE}
        sys.addaudithook(self._hear)

    def take(self) -> list[list[str]]:
        """Return what is new since the last time: pairs of a kind and a detail."""
        taken, self._events = self._events, []
        return taken

    def compare(self) -> None:
        """Note functions of NumPy and of Python that are others than they were."""
        for module, before in self._before.items():
            now = vars(module)
            for name, item in before.items():
                if now.get(name) is not item:
                    self._note("patched", f"{module.__name__}.{name}")

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.armed or self._busy:
            return
        kind = KINDS.get(event)
        if kind is None:
            return
        self._busy = True
        try:
            detail = self._detail(event, kind, args)
            if detail:
                self._note(kind, detail)
        except BaseException:
            # Whatever a submission did to us: nothing of it reaches the code that runs.
            return
        finally:
            self._busy = False

    def _note(self, kind: str, detail: str) -> None:
        pair = (kind, _text(detail, MAX_DETAIL))
        if len(self._known) < MAX_EVENTS and pair not in self._known:
            self._known.add(pair)
            self._events.append(list(pair))

    def _detail(self, event: str, kind: str, args: tuple[Any, ...]) -> str:
        """Say what an event was about; nothing if it isn't the submission's doing, or harmless."""
        frame = _getframe(2)
        if kind in ("frames", "hooks", "ctypes"):
            # Libraries do these too: only its own line counts, or the module that exists for it.
            direct = self._ours(frame.f_code.co_filename) or frame.f_globals.get("__name__") in _DIRECT
            return event if direct and self._caused(frame) else ""
        if not self._caused(frame):
            return ""
        if kind == "files":
            return self._path(args[0] if args else "")
        if event == "socket.__new__" and args[1] not in _INTERNET:
            return ""
        return event

    def _path(self, path: object) -> str:
        if type(path) not in (str, bytes):
            return ""
        full = _abspath(_fsdecode(path))  # type: ignore[arg-type]  # exactly a str or bytes by now
        return "" if full in _HARMLESS or (full + os.sep).startswith(self._roots) else full

    def _caused(self, frame: FrameType | None) -> bool:
        """Whether a line of the submission is behind it, and no import."""
        for _ in range(MAX_FRAMES):
            if frame is None or "importlib" in frame.f_code.co_filename:
                return False
            if self._ours(frame.f_code.co_filename):
                return True
            frame = frame.f_back
        return False
