"""``grade serve``: the web server in this process, and beside it processes that grade."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from django.db import Error, connection

from grader.errors import EnvironmentFault
from grader.web.work.bench import worker_name
from grader.web.work.queue import gone

__all__ = ["Workers", "serve_forever"]

log = logging.getLogger("grader.web.serve")

THREADS = 8
CONNECTIONS = 500
"""Connections that are held at a time: slow ones cost a little memory each, and keep nobody else out."""
LOOK_SECONDS = 0.5
AT_ONCE_SECONDS = 2.0
END_SECONDS = 15.0
MAX_BODY = 8_000_000
"""Bytes of a request: a file that is too large to be graded still gets a page that says so."""

# `python -m` would put the folder that we are in before all others, and it may hold somebody's numpy.py.
_BOOTSTRAP = """\
import sys
sys.path[:] = sys.argv[1:]
del sys.argv[1:]
from grader.cli import main
sys.exit(main(["worker"]))
"""


class Workers:
    """Worker processes of this server: whoever ends is replaced, and what it had is free at once."""

    def __init__(self, count: int) -> None:
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._since: dict[str, float] = {}
        self._count = count
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Start them. Raises EnvironmentFault."""
        for _ in range(self._count):
            try:
                self._start_one()
            except OSError as error:
                raise EnvironmentFault(f"No worker can be started ({error.strerror or error}).") from error
        self._thread.start()

    def stop(self) -> None:
        """End them, kindly first; attempts that they had go back into the queue."""
        self._stopped.set()
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._thread.join(timeout=END_SECONDS)

    def _start_one(self) -> None:
        name = worker_name()
        here = str(Path(__file__).resolve().parents[2])
        search = list(dict.fromkeys(path if path else here for path in sys.path))
        self._since[name] = time.monotonic()
        self._running[name] = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOTSTRAP, *search],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "GRADE_WORKER": name, "GRADE_PARENT": str(os.getpid())},
            start_new_session=True,  # Ctrl-C is ours to hear
        )

    def _watch(self) -> None:
        pause = 0.0
        while not self._stopped.wait(LOOK_SECONDS + pause):
            ended = [name for name, process in self._running.items() if process.poll() is not None]
            # If they end as soon as they begin, something is wrong that haste makes no better.
            at_once = any(time.monotonic() - self._since[name] < AT_ONCE_SECONDS for name in ended)
            pause = min(2 * pause + 1.0, 30.0) if at_once else 0.0
            for name in ended:
                code = self._running.pop(name).returncode
                del self._since[name]
                log.warning("worker %s ended (%s); another one takes its place", name, code)
                try:
                    gone(name)
                except Error:
                    with contextlib.suppress(Error):
                        connection.close()  # its lease runs out by itself
                with contextlib.suppress(OSError):
                    self._start_one()
        connection.close()


def serve_forever(host: str, port: int, workers: int, *, https: bool) -> None:
    """Serve until Ctrl-C. Raises EnvironmentFault if the port isn't free."""
    import waitress

    from grader.web.wsgi import application

    try:
        server = waitress.create_server(
            application,
            host=host,
            port=port,
            threads=THREADS,
            max_request_body_size=MAX_BODY,
            channel_timeout=60,
            connection_limit=CONNECTIONS,
            asyncore_use_poll=True,
            ident="",
            url_scheme="https" if https else "http",
            clear_untrusted_proxy_headers=False,
        )
    except OSError as error:
        raise EnvironmentFault(
            f"Nothing can be served at {host}:{port} ({error.strerror or error}).", hint="Choose another --port."
        ) from error
    started = Workers(workers)
    started.start()
    try:
        server.run()
    finally:
        started.stop()
        server.close()
