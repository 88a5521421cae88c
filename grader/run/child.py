"""A worker that a zygote has forked: two pipes, a descriptor of its process, and no threads of ours."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path

from grader.errors import IsolationError
from grader.run.backend import End, Usage, end_of, usage_of
from grader.run.pipes import PolledPipes

__all__ = ["ChildWorker"]

ENDS_ITSELF_SECONDS = 0.5
DIES_SECONDS = 10.0
TOLD_SECONDS = 5.0


class ChildWorker:
    """A child of a zygote. Every wait has an end; what it sends is read a frame at a time, so memory is bounded."""

    def __init__(
        self,
        *,
        requests: int,
        replies: int,
        status: int,
        process: int,
        over_quota: Callable[[int], bool] | None = None,
    ) -> None:
        """Take over the descriptors.

        Args:
            requests: To write to.
            replies: To read from.
            status: A pipe into which the zygote tells how the process ended.
            process: A descriptor of the process.
            over_quota: Says whether the process of this number has filled its scratch; asked now and then.
        """
        self._pipes = PolledPipes(requests, replies)
        self._status, self._process = status, process
        self._over_quota = over_quota
        self._pid = _pid_of(process)
        self._too_much = False
        self._look_at = time.monotonic() + 0.1
        self._told: str | None = None
        self._patience = ENDS_ITSELF_SECONDS
        self._end: End | None = None

    # ------------------------------------------------------------ talking

    def send(self, frame: bytes) -> None:
        """Hand a request over; never blocks."""
        self._pipes.send(frame)

    def receive(self, seconds: float) -> tuple[bytes, bytes] | None:
        """Return header and payload of the next reply, or None after ``seconds``.

        Raises:
            EOFError: At the end, whatever the reason.
            IsolationError: If the zygote has ended: that was nobody's program.
        """
        until = time.monotonic() + seconds
        while True:
            if self._pipes.ended:
                raise EOFError
            frame = self._pipes.take()
            if frame is not None:
                return frame
            if self._pipes.ended:
                self._ask_why()
                raise EOFError
            now = time.monotonic()
            if now >= self._look_at:
                self._check_quota(now)
                continue
            if now >= until:
                return None
            self._wait(min(until, self._look_at if self._over_quota else until) - now)

    def _wait(self, seconds: float) -> None:
        if self._pipes.wait(seconds, self._process) == {self._process}:
            # It is dead and has left nothing: whoever may still hold the pipe isn't our worker.
            self._pipes.ended = True
            self._ask_why()

    def _ask_why(self) -> None:
        """Raise IsolationError if the process is dead and nobody can tell how: the zygote has gone as well."""
        self._patience = 0.0
        if _readable(self._process, ENDS_ITSELF_SECONDS) and not self._pipes.garbled and not self._how_it_ended():
            raise IsolationError(
                "The process that starts workers has ended.",
                hint="Perhaps the machine ran out of memory; grade the file again.",
            )

    # ------------------------------------------------------------ watching

    def _check_quota(self, now: float) -> None:
        if self._over_quota is None:
            self._look_at = now + 3600.0
            return
        if self._pid is not None and self._over_quota(self._pid):
            self._too_much = self._pipes.ended = True
            self._kill()
        # Looking takes at most a tenth of the time.
        after = time.monotonic()
        self._look_at = after + max(0.1, 9 * (after - now))

    def usage(self) -> Usage | None:
        """CPU time so far, and whether it sleeps; None where the system doesn't tell."""
        return None if self._pid is None else usage_of(self._pid)

    def interrupt(self) -> bool:
        """Ask the running code to stop (KeyboardInterrupt); False where that can't be done."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._process, signal.SIGINT)
        return True

    # ------------------------------------------------------------ ending

    def close(self) -> End:
        """End the process and all that it started, and say how it had ended if it already had."""
        if self._end is None:
            self._end = self._finish()
            self._pipes.close()
            os.close(self._status)
            os.close(self._process)
        return self._end

    def _finish(self) -> End:
        # A worker that closed its pipe is about to end by itself: its status says how.
        waits = self._pipes.ended and not (self._pipes.garbled or self._too_much)
        killed = not _readable(self._process, self._patience if waits else 0.0)
        if killed:
            self._kill()
            _readable(self._process, DIES_SECONDS)
        told = self._how_it_ended()
        if self._too_much:
            return End(kind="scratch")
        if killed or self._pipes.garbled or not told:
            return End(kind="killed")
        note, _, code = told.rpartition("\n")
        return end_of(int(code), note) if code.lstrip("-").isdigit() else End(kind="killed")

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)

    def _how_it_ended(self) -> str:
        """Return what the zygote tells of the process's end; nothing if the zygote is gone."""
        if self._told is None:
            parts: list[bytes] = []
            until = time.monotonic() + TOLD_SECONDS
            while _readable(self._status, until - time.monotonic()):
                part = os.read(self._status, 4096)
                if not part or len(parts) > 4:
                    break
                parts.append(part)
            self._told = b"".join(parts).decode("utf-8", "replace")
        return self._told


def _readable(descriptor: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def _pid_of(process: int) -> int | None:
    """Return the number by which we know a process that has another one in its own namespace."""
    try:
        for line in Path(f"/proc/self/fdinfo/{process}").read_text(encoding="ascii").splitlines():
            key, _, value = line.partition(":")
            if key == "Pid":
                return int(value) if int(value) > 0 else None
    except (OSError, ValueError):
        return None
    return None
