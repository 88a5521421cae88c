"""The zygote: a process that has NumPy loaded and forks a child for each request. It never runs student code itself.

It is exec'd with a clean environment and knows nothing secret. Requests come over a socket of whole messages, with the
descriptors that the child is to have; each child's number goes back as a descriptor of the process, and how it ended
goes into a pipe of its own. When the other end of the socket is closed, every child is killed and the zygote ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import os
import select
import signal
import socket
import sys
from typing import Any, NoReturn

from . import limits, lockdown, namespaces, system, tape, wire, worker

MAX_MESSAGE = 1 << 17
MAX_DESCRIPTORS = 32
FAILED = 71
"""Exit status of a child that couldn't lock itself down; no student code has run in it."""

REQUESTS, REPLIES = 3, 4

_WARM = b"""import numpy as np

def f(x, axis=-1):
    rng = np.random.default_rng(1)
    e = np.exp(x - x.max(axis=axis, keepdims=True)) + 0 * rng.normal(size=x.shape)
    print(e.mean(), np.random.randn(2).std())
    return e / e.sum(axis=axis, keepdims=True), x @ x.T
"""


def warm() -> None:
    """Go through a worker's life once with a source of ours, so that no child pays for what comes first."""
    requests, ours = os.pipe()
    theirs, replies = os.pipe()
    start = {"folder": "/", "notebook": False, "name": "warm.py", "stdout": 4096, "stand_ins": {}}
    kept = sys.stdin, sys.stdout, sys.stderr, sys.argv
    load = {"op": "cell", "id": "warm", "number": 0, "encoding": "utf-8", "seed": 1, "draws": "none"}
    call = {
        "op": "call",
        "id": "warm",
        "name": "f",
        "seed": 1,
        "watch": True,
        "readonly": False,
        "draws": "values",
        "arrays": [["<f8", [2, 2], "ndarray", False]],
        "args": [{"a": 0}],
        "kwargs": [["axis", {"i": "0x1"}]],
    }
    wire.write_all(ours, wire.frame(load, [_WARM]))
    wire.write_all(ours, wire.frame(call, [bytes(32)]) * 2)
    os.close(ours)
    worker.Worker(requests, replies, start).serve()
    for descriptor in (requests, replies, theirs):
        os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr, sys.argv = kept
    sys.modules.pop("submission", None)
    tape.TAPE.clear()
    limits.environment()


class Zygote:
    """Answers requests for children and tells how they ended."""

    def __init__(self, control: socket.socket, policy: dict[str, Any]) -> None:
        self._control = control
        self._own = namespaces.enter(policy["hide"]) if policy["namespaces"] else None
        # Before a child is locked down it needs its rights to make namespaces; else nobody needs any.
        if self._own is None:
            system.forbid_new_privileges()
            system.drop_capabilities()
        self._locks = lockdown.Lockdown(policy)
        self._pid = os.getpid()
        self._children: dict[int, tuple[int, int]] = {}
        """By descriptor of the process: its number, and where to tell how it ended."""

    def serve(self) -> None:
        """Fork and reap until the other end of the socket is closed."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor in self._children:
                    poll.unregister(descriptor)
                    self._reap(descriptor)
                    continue
                message, descriptors, _, _ = socket.recv_fds(self._control, MAX_MESSAGE, MAX_DESCRIPTORS)
                if not message:
                    return
                born = self._answer(json.loads(message), descriptors)
                if born is not None:
                    poll.register(born, select.POLLIN)

    def end(self) -> None:
        """Kill every child."""
        for pid, _ in self._children.values():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def _reap(self, descriptor: int) -> None:
        pid, status = self._children.pop(descriptor)
        _, code = os.waitpid(pid, 0)
        with contextlib.suppress(OSError):
            os.write(status, b"%d" % os.waitstatus_to_exitcode(code))
        os.close(status)
        os.close(descriptor)

    def _answer(self, request: dict[str, Any], descriptors: list[int]) -> int | None:
        """Fork a child; return a descriptor of it, or None if that failed."""
        requests, replies, status, *files = descriptors
        companions = dict(zip(request["companions"], files, strict=True))
        born = None
        try:
            if self._own is not None:
                namespaces.before_fork()
            pid = os.fork()
            if pid == 0:
                self._become(requests, replies, status, request["folder"], companions)
            if self._own is not None:
                namespaces.after_fork(self._own)
            born = os.pidfd_open(pid)
            self._children[born] = pid, status
            socket.send_fds(self._control, [b"{}"], [born])
        except OSError as error:
            self._control.send(json.dumps({"failed": str(error)}).encode())
        for descriptor in (requests, replies, *files, *((status,) if born is None else ())):
            os.close(descriptor)
        return born

    def _become(self, requests: int, replies: int, status: int, folder: str, companions: dict[str, int]) -> NoReturn:
        """Be the child: lock down, then work. Never returns."""
        try:
            system.die_with_parent()
            if self._own is None and os.getppid() != self._pid:
                os._exit(FAILED)  # it ended before we could ask for that
            os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            if self._own is not None:
                namespaces.settle(companions)
                folder = namespaces.SCRATCH
            for name in ("HOME", "TMPDIR", "TEMP", "MPLCONFIGDIR"):
                os.environ[name] = folder
            start, _ = wire.read_frame(requests)
            start["folder"] = folder
            requests, replies, status = _move(requests, replies, status)
            self._locks.apply(start, (requests, replies))
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.write(status, f"{error}\n".encode("utf-8", "replace"))
            os._exit(FAILED)
        worker.begin(requests, replies, start)


def _move(requests: int, replies: int, status: int) -> tuple[int, int, int]:
    """Bring the pipes to the numbers that stay open; all above is closed when the process locks itself down."""
    # First out of the way, so that neither takes the other's place.
    requests, replies, status = (
        fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, REPLIES + 1) for descriptor in (requests, replies, status)
    )
    os.dup2(requests, REQUESTS, inheritable=False)
    os.dup2(replies, REPLIES, inheritable=False)
    return REQUESTS, REPLIES, status


def main() -> None:
    """Take the policy, get ready, and serve."""
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null, descriptor)
    # Ctrl-C is for whoever started us: we end when they do.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    policy = json.loads(control.recv(MAX_MESSAGE))
    tape.install()
    warm()
    try:
        zygote = Zygote(control, policy)
    except OSError as error:
        control.send(json.dumps({"failed": str(error)}).encode())
        return
    os.dup2(null, 2)
    os.close(null)
    # What is there now stays: without it the collector would touch, and so copy, every page in every child.
    gc.collect()
    gc.freeze()
    control.send(b"{}")
    try:
        zygote.serve()
    finally:
        zygote.end()
        os._exit(0)
