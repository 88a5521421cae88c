"""Processes that need no start: a Python with the command line in its memory forks one for each ``grade``.

Starting Python and loading all modules is most of what a short command takes. A fork has its own arguments, folder,
environment, streams and end, as any process; what it doesn't have is a start. Tests of that, and of what a start
decides (closed streams, limits, Python's own settings), have ``tests.cli.shell`` start a new one.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["Forks"]

ROOT = Path(__file__).resolve().parents[2]
LOADED = (
    "grader.cli.main", "grader.cli.grade", "grader.cli.batch", "grader.cli.regrade", "grader.cli.regrade_run",
    "grader.cli.start", "grader.cli.override", "grader.cli.name_group", "grader.cli.appeal", "grader.cli.export",
)  # fmt: skip
"""What tests ask for often, with all that it loads at its head."""
LARGEST = 1 << 20
"""Bytes of a request: arguments and an environment."""


class Forks:
    """The process that forks, started when the first fork is asked for."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._one = threading.Lock()

    def run(
        self, words: Sequence[str], *, cwd: Path | None, env: Mapping[str, str], timeout: float
    ) -> tuple[int, bytes, bytes]:
        """Fork and wait; return the exit code and what came out of standard output and standard error."""
        request = json.dumps({"words": list(words), "cwd": os.fspath(cwd or Path.cwd()), "env": dict(env)})
        with self._one, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            line = self._ready()
            line.settimeout(timeout)
            message = request.encode("utf-8", "surrogatepass")
            socket.send_fds(line, [len(message).to_bytes(4, "big")], [out.fileno(), err.fileno()])
            line.sendall(message)
            try:
                told = line.recv(64)
            except TimeoutError:
                assert self._process is not None
                os.killpg(self._process.pid, signal.SIGKILL)
                self.close()
                raise
            out.seek(0)
            err.seek(0)
            return int(told), out.read(), err.read()

    def close(self) -> None:
        """Let it end."""
        line, self._line = self._line, None
        if line is not None and self._process is not None:
            line.close()
            self._process.wait()

    def _ready(self) -> socket.socket:
        if self._line is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "tests.cli.forks", str(theirs.fileno())],
                    env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            self._line = ours
            atexit.register(self.close)
        return self._line


def _serve(line: socket.socket) -> int | None:
    """Fork for each request, and say how the fork ended; in the fork, return its exit code."""
    while True:
        size, descriptors, _, _ = socket.recv_fds(line, 4, 2)
        if not size:
            return None
        message = bytearray()
        while len(message) < int.from_bytes(size, "big"):
            message += line.recv(LARGEST)
        pid = os.fork()
        if not pid:
            line.close()
            return _grade(json.loads(message.decode("utf-8", "surrogatepass")), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(pid, 0)
        line.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def _grade(request: dict, descriptors: Sequence[int]) -> int:
    """Be the process that was asked for."""
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    for number, descriptor in enumerate(descriptors, start=1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays open to the end
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115 - so does it
    # Python puts the folder that it is started in before all others.
    sys.path.insert(0, request["cwd"])
    sys.argv = ["grade", *request["words"]]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main = importlib.import_module("grader.cli.main").main
    return int(main())


if __name__ == "__main__":
    for name in LOADED:
        importlib.import_module(name)
    # Nobody looks for cycles in what all forks share.
    gc.freeze()
    with contextlib.closing(socket.socket(fileno=int(sys.argv[1]))) as made:
        sys.exit(_serve(made))
