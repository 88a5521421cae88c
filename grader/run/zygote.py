"""The trusted side of a zygote: starts it, asks it for children, starts it again when it is gone."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from grader.errors import IsolationError
from grader.run.child import ChildWorker

__all__ = ["Zygote"]

READY_SECONDS = 60.0
ANSWER_SECONDS = 15.0
ENDS_SECONDS = 5.0
MAX_MESSAGE = 1 << 17


class Zygote:
    """A running zygote. Several threads may ask it."""

    def __init__(self, command: list[str], environment: Mapping[str, str], policy: Mapping[str, object]) -> None:
        """Start it; it gets ready while we go on.

        Raises:
            IsolationError: If no process can be started.
        """
        self._lock = threading.Lock()
        self._ready = False
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd="/",
                env=environment,
                start_new_session=True,  # Ctrl-C in a terminal is for us alone
            )
            self._control.send(json.dumps(policy).encode())
        except OSError as error:
            self._control.close()
            raise IsolationError(
                f"No process could be started for workers ({error.strerror or error}).",
                hint="Check that the machine has memory and processes left, then try again.",
            ) from error
        finally:
            theirs.close()

    def lives(self) -> bool:
        """Whether the zygote still holds its end of the socket."""
        try:
            poll = select.poll()
            poll.register(self._control, 0)
            return not poll.poll(0)
        except (OSError, ValueError):
            return False

    def child(self, folder: Path, *, over_quota: Callable[[int], bool] | None, carry: bool = False) -> ChildWorker:
        """Ask for a child whose scratch is ``folder``, or with ``carry`` a place of its own that gets the files in it.

        Raises:
            IsolationError: If there is none in time.
        """
        ours: list[int] = []
        theirs: list[int] = []
        try:
            requests_read, requests = os.pipe()
            replies, replies_write = os.pipe()
            status, status_write = os.pipe()
            ours += [requests, replies, status]
            theirs += [requests_read, replies_write, status_write]
            names = []
            for entry in sorted(os.scandir(folder) if carry else (), key=lambda entry: entry.name):
                theirs.append(os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC))
                names.append(entry.name)
            message = json.dumps({"folder": str(folder), "companions": names}).encode()
            with self._lock:
                self._wait_until_ready()
                socket.send_fds(self._control, [message], theirs)
                process = self._answer()
        except OSError as error:
            for descriptor in ours:
                os.close(descriptor)
            raise IsolationError(
                f"No worker could be started ({error.strerror or error}).", hint="Grade the file again."
            ) from error
        except BaseException:
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return ChildWorker(
            requests=requests,
            replies=replies,
            status=status,
            process=process,
            zygote_lives=self.lives,
            over_quota=over_quota,
        )

    def close(self) -> None:
        """End it, and with it every child."""
        self._control.close()
        try:
            self._process.wait(ENDS_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _wait_until_ready(self) -> None:
        if not self._ready:
            self._said(READY_SECONDS)
            self._ready = True

    def _answer(self) -> int:
        _, descriptors = self._said(ANSWER_SECONDS)
        if len(descriptors) != 1:
            raise IsolationError("The process that starts workers gave no worker.", hint="Grade the file again.")
        return descriptors[0]

    def _said(self, seconds: float) -> tuple[object, list[int]]:
        """Wait for a message. Raises IsolationError with what went wrong over there."""
        self._control.settimeout(seconds)
        try:
            message, descriptors, _, _ = socket.recv_fds(self._control, MAX_MESSAGE, 1)
        except TimeoutError:
            raise IsolationError(
                f"The process that starts workers gave no answer for {seconds:.0f} s.", hint="Grade the file again."
            ) from None
        if not message:
            raise IsolationError(f"The process that starts workers ended{self._last_words()}.")
        said = json.loads(message)
        if "failed" in said:
            raise IsolationError(f"A worker could not be set up ({said['failed']}).")
        return said, descriptors

    def _last_words(self) -> str:
        """Return what a program that failed said, as the end of a sentence."""
        stream = self._process.stderr
        if stream is None:
            return ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDS_SECONDS)
        os.set_blocking(stream.fileno(), False)
        text = b""
        until = time.monotonic() + 1
        while len(text) < 1 << 16 and time.monotonic() < until:
            try:
                part = os.read(stream.fileno(), 1 << 14)
            except BlockingIOError:
                break
            if not part:
                break
            text += part
        lines = text.decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1][:200]}" if lines else ""
