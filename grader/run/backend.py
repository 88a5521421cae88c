"""The seam where a worker is started. One method; everything that differs between systems lies behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

from grader.model._data import data

__all__ = ["Backend", "End", "Launch", "Usage", "Worker"]


@data
class Launch:
    """Where a worker lives. ``folder`` is its private scratch, with the companions in it."""

    folder: Path


@data
class End:
    """How a worker's process ended: ``exit`` with a status, ``signal`` with a name, or ``killed`` by us."""

    kind: Literal["exit", "signal", "killed"]
    detail: str = ""


@data
class Usage:
    """What a worker's process has used, and whether its main thread waits for something."""

    cpu_seconds: float
    asleep: bool


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
