"""The seam where a worker is started; everything that differs between systems lies behind it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

from grader.model._data import data

__all__ = ["Backend", "Closing", "End", "Launch", "Usage", "Worker", "end_of", "usage_of"]


@data
class Launch:
    """Where a worker lives. ``folder`` is its private scratch, with the companions in it."""

    folder: Path


@data
class End:
    """How a worker's process ended.

    Attributes:
        kind: ``exit`` with a status, ``signal`` with a name, ``killed`` by us, or ``scratch``: by us, since it had
            filled its folder.
        detail: The status or the name.
        note: What the process itself said when it couldn't start; nothing of a learner's.
    """

    kind: Literal["exit", "signal", "killed", "scratch"]
    detail: str = ""
    note: str = ""


def end_of(code: int, note: str = "") -> End:
    """Return the end of a process with this exit code, which is negative for a signal."""
    if code >= 0:
        return End(kind="exit", detail=str(code), note=note)
    try:
        return End(kind="signal", detail=signal.Signals(-code).name, note=note)
    except ValueError:
        return End(kind="signal", detail=str(-code), note=note)


@data
class Usage:
    """What a worker's process has used, and whether its main thread waits for something."""

    cpu_seconds: float
    asleep: bool


def usage_of(pid: int) -> Usage | None:
    """Return what a process has used; None where the system doesn't tell."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        return Usage(cpu_seconds=ticks / os.sysconf("SC_CLK_TCK"), asleep=fields[0] == b"S")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


class Worker(Protocol):
    """A running worker. Nothing it sends is trusted."""

    def send(self, frame: bytes) -> None:
        """Hand a request over; never blocks."""
        ...

    def receive(self, seconds: float) -> tuple[bytes, bytes] | None:
        """Return header and payload of the next reply, or None after ``seconds``. Raises EOFError at the end."""
        ...

    def usage(self) -> Usage | None:
        """CPU time so far, and whether it sleeps; None where the system doesn't tell."""
        ...

    def interrupt(self) -> bool:
        """Ask the running code to stop (KeyboardInterrupt); False where that can't be done."""
        ...

    def close(self) -> End:
        """End the process and all that it started, and say how it had ended if it already had."""
        ...


class Backend(Protocol):
    """A way to run student code. ``name`` stands in results."""

    @property
    def name(self) -> str:
        """``process``, ``landlock`` or ``namespaces``."""
        ...

    def start(self, launch: Launch) -> Worker:
        """Start a worker. Raises IsolationError."""
        ...

    def close(self) -> None:
        """End what workers are started from, and every worker."""
        ...

    def __enter__(self) -> Self:
        """Return the backend; it is closed at the end of the block."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Closing:
    """What makes a backend a context manager."""

    def close(self) -> None:
        """Nothing to end, unless a backend says otherwise."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
