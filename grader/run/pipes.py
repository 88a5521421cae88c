"""Two pipes to a worker, which speak in frames: no full or silent one can hold us up or fill our memory."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import threading
import time
from typing import Protocol

from grader.run.inside.frames import HEAD, MAGIC, MAX_HEADER, MAX_PAYLOAD

__all__ = ["Frame", "Pipes", "PolledPipes", "ThreadedPipes", "open_pipes"]

Frame = tuple[bytes, bytes]
"""Header and payload."""

MAX_WAITING = 4
"""Replies that nobody has asked for yet, which threads hold; whoever replies without end fills the pipe."""
_BUSY = 1 << 20


class Pipes(Protocol):
    """What both kinds can do.

    Attributes:
        ended: No more replies will come.
        garbled: Since what came wasn't a frame.
    """

    ended: bool
    garbled: bool

    def send(self, frame: bytes) -> None:
        """Hand a request over; never blocks."""
        ...

    def receive(self, seconds: float) -> Frame | None:
        """Return the next reply, or None after ``seconds``. Raises EOFError at the end."""
        ...

    def close(self) -> None:
        """Close both. The process is dead by now; one that escaped it may still hold the other ends."""
        ...


def open_pipes(requests: int, replies: int, max_payload: int = MAX_PAYLOAD) -> Pipes:
    """Return pipes over two descriptors, which it takes over."""
    # Windows can't wait for a pipe.
    kind = PolledPipes if hasattr(select, "poll") else ThreadedPipes
    return kind(requests, replies, max_payload)


class PolledPipes:
    """Pipes that are waited for: no thread has to be woken, which takes as long as a small call."""

    def __init__(self, requests: int, replies: int, max_payload: int = MAX_PAYLOAD) -> None:
        self._requests, self._replies, self._max_payload = requests, replies, max_payload
        self._waiting = memoryview(b"")
        self._buffer = bytearray()
        self.ended = self.garbled = False
        os.set_blocking(requests, False)
        os.set_blocking(replies, False)

    def send(self, frame: bytes) -> None:
        """Hand a request over; never blocks. What doesn't fit into the pipe goes on while a reply is waited for."""
        self._waiting = memoryview(bytes(self._waiting) + frame if self._waiting else frame)
        self._write()

    def receive(self, seconds: float) -> Frame | None:
        """Return the next reply, or None after ``seconds``. Raises EOFError at the end."""
        until = time.monotonic() + seconds
        while True:
            frame = self.take()
            if frame is not None:
                return frame
            if self.ended:
                raise EOFError
            left = until - time.monotonic()
            if left <= 0:
                return None
            self.wait(left)

    def take(self) -> Frame | None:
        """Return the next reply if all of it is there."""
        while not self.ended:
            wanted, header = HEAD.size, 0
            if len(self._buffer) >= HEAD.size:
                magic, header, payload = HEAD.unpack_from(self._buffer)
                if magic != MAGIC or header > MAX_HEADER or payload > self._max_payload:
                    self.garbled = self.ended = True
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
            self.ended = not part
            self._buffer += part
        return None

    def wait(self, seconds: float, *others: int) -> set[int]:
        """Wait until something can be read, or ``seconds`` are over; return what can, replies or one of ``others``."""
        poll = select.poll()
        for descriptor in (self._replies, *others):
            poll.register(descriptor, select.POLLIN)
        if self._waiting:
            poll.register(self._requests, select.POLLOUT)
        ready = {descriptor for descriptor, _ in poll.poll(max(0.0, seconds) * 1000)}
        if self._requests in ready:
            self._write()
        return ready - {self._requests}

    def close(self) -> None:
        """Close both."""
        for descriptor in (self._requests, self._replies):
            os.close(descriptor)

    def _write(self) -> None:
        try:
            while self._waiting:
                self._waiting = self._waiting[os.write(self._requests, self._waiting[:_BUSY]) :]
        except BlockingIOError:
            pass
        except OSError:
            self._waiting = memoryview(b"")


class ThreadedPipes:
    """Pipes with a thread each that moves bytes, so that no full or silent one can hold us up."""

    def __init__(self, requests: int, replies: int, max_payload: int = MAX_PAYLOAD) -> None:
        self._requests, self._replies, self._max_payload = requests, replies, max_payload
        self.ended = self.garbled = False
        self._incoming: queue.Queue[Frame | None] = queue.Queue(MAX_WAITING)
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._write)]
        for thread in self._threads:
            thread.start()

    def send(self, frame: bytes) -> None:
        """Hand a request over; never blocks."""
        self._outgoing.put(frame)

    def receive(self, seconds: float) -> Frame | None:
        """Return the next reply, or None after ``seconds``. Raises EOFError at the end."""
        try:
            reply = self._incoming.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None
        if reply is None:
            raise EOFError
        return reply

    def close(self) -> None:
        """Let both threads end; each closes its own pipe, so that no descriptor is closed while it is in use.

        A process that escaped may hold a pipe open: then its thread is left waiting.
        """
        self._outgoing.put(None)
        until = time.monotonic() + 1
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < until:
            with contextlib.suppress(queue.Empty):
                self._incoming.get(timeout=0.001)

    def _read(self) -> None:
        try:
            while True:
                magic, header, payload = HEAD.unpack(_exactly(self._replies, HEAD.size))
                if magic != MAGIC or header > MAX_HEADER or payload > self._max_payload:
                    self.garbled = True
                    break
                self._incoming.put((_exactly(self._replies, header), _exactly(self._replies, payload)))
        except (EOFError, OSError):
            pass
        self.ended = True
        with contextlib.suppress(OSError):
            os.close(self._replies)
        self._incoming.put(None)

    def _write(self) -> None:
        with contextlib.suppress(OSError):
            while (frame := self._outgoing.get()) is not None:
                view = memoryview(frame)
                while len(view):
                    view = view[os.write(self._requests, view) :]
        with contextlib.suppress(OSError):
            os.close(self._requests)


def _exactly(descriptor: int, count: int) -> bytes:
    parts = []
    while count:
        part = os.read(descriptor, min(count, _BUSY))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
