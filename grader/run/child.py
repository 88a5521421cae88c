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
from grader.run.inside.frames import HEAD, MAGIC, MAX_HEADER, MAX_PAYLOAD

__all__ = ["ChildWorker"]

ENDS_ITSELF_SECONDS = 0.5
DIES_SECONDS = 10.0
TOLD_SECONDS = 5.0
_BUSY = 1 << 20


class ChildWorker:
    """A child of a zygote. Every wait has an end; what it sends is read a frame at a time, so memory is bounded."""

    def __init__(
        self,
        *,
        requests: int,
        replies: int,
        status: int,
        process: int,
        zygote_lives: Callable[[], bool],
        over_quota: Callable[[int], bool] | None = None,
    ) -> None:
        """Take over the descriptors.

        Args:
            requests: To write to.
            replies: To read from.
            status: A pipe into which the zygote tells how the process ended.
            process: A descriptor of the process.
            zygote_lives: Says whether the zygote is still there.
            over_quota: Says whether the process of this number has filled its scratch; asked now and then.
        """
        self._requests, self._replies, self._status, self._process = requests, replies, status, process
        self._zygote_lives, self._over_quota = zygote_lives, over_quota
        self._pid = _pid_of(process)
        self._waiting = memoryview(b"")
        self._buffer = bytearray()
        self._ended = self._garbled = self._too_much = False
        self._look_at = time.monotonic() + 0.1
        self._end: End | None = None
        os.set_blocking(requests, False)
        os.set_blocking(replies, False)

    # ------------------------------------------------------------ talking

    def send(self, frame: bytes) -> None:
        """Hand a request over; never blocks."""
        self._waiting = memoryview(bytes(self._waiting) + frame if self._waiting else frame)
        self._write()

    def receive(self, seconds: float) -> tuple[bytes, bytes] | None:
        """Return header and payload of the next reply, or None after ``seconds``.

        Raises:
            EOFError: At the end, whatever the reason.
            IsolationError: If the zygote has ended: that was nobody's program.
        """
        until = time.monotonic() + seconds
        while True:
            if self._ended:
                raise EOFError
            frame = self._read()
            if frame is not None:
                return frame
            if self._ended:
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
        poll = select.poll()
        poll.register(self._replies, select.POLLIN)
        poll.register(self._process, select.POLLIN)
        if self._waiting:
            poll.register(self._requests, select.POLLOUT)
        ready = dict(poll.poll(max(0.0, seconds) * 1000))
        if self._requests in ready:
            self._write()
        if self._process in ready and self._replies not in ready:
            # It is dead and has left nothing: whoever may still hold the pipe isn't our worker.
            self._ended = True
            self._ask_why()

    def _write(self) -> None:
        try:
            while self._waiting:
                self._waiting = self._waiting[os.write(self._requests, self._waiting[:_BUSY]) :]
        except BlockingIOError:
            pass
        except OSError:
            self._waiting = memoryview(b"")

    def _read(self) -> tuple[bytes, bytes] | None:
        """Read what is there, up to the end of a frame."""
        while True:
            wanted, header = HEAD.size, 0
            if len(self._buffer) >= HEAD.size:
                magic, header, payload = HEAD.unpack_from(self._buffer)
                if magic != MAGIC or header > MAX_HEADER or payload > MAX_PAYLOAD:
                    self._garbled = self._ended = True
                    return None
                wanted += header + payload
                if len(self._buffer) == wanted:
                    frame = bytes(self._buffer)
                    self._buffer = bytearray()
                    return frame[HEAD.size : HEAD.size + header], frame[HEAD.size + header :]
            try:
                part = os.read(self._replies, min(wanted - len(self._buffer), _BUSY))
            except BlockingIOError:
                return None
            except OSError:
                part = b""
            if not part:
                self._ended = True
                return None
            self._buffer += part

    def _ask_why(self) -> None:
        """Raise IsolationError if the process ended because the zygote did."""
        if not self._zygote_lives():
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
            self._too_much = self._ended = True
            self._kill()
        # Looking takes at most a twentieth of the time.
        after = time.monotonic()
        self._look_at = after + max(0.1, 20 * (after - now))

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
            for descriptor in (self._requests, self._replies, self._status, self._process):
                os.close(descriptor)
        return self._end

    def _finish(self) -> End:
        # A worker that closed its pipe is about to end by itself: its status says how.
        patience = ENDS_ITSELF_SECONDS if self._ended and not (self._garbled or self._too_much) else 0.0
        killed = not _readable(self._process, patience)
        if killed:
            self._kill()
            _readable(self._process, DIES_SECONDS)
        told = self._told()
        if self._too_much:
            return End(kind="scratch")
        if killed or self._garbled or not told:
            return End(kind="killed")
        note, _, code = told.rpartition("\n")
        return end_of(int(code), note) if code.lstrip("-").isdigit() else End(kind="killed")

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)

    def _told(self) -> str:
        """Read what the zygote tells of the process's end; nothing if the zygote is gone."""
        parts: list[bytes] = []
        until = time.monotonic() + TOLD_SECONDS
        while _readable(self._status, until - time.monotonic()):
            part = os.read(self._status, 4096)
            if not part or len(parts) > 4:
                break
            parts.append(part)
        return b"".join(parts).decode("utf-8", "replace")


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
