"""A worker with a loop of its own: those of ``grade serve``, and all of them on SQLite.

It looks into the queue by itself, and PostgreSQL wakes it; beside it, a thread sends scores to the LMS.
"""

from __future__ import annotations

import contextlib
import os
import threading

from django.conf import settings
from django.db import Error, connection

from grader.web.work import outbox, queue
from grader.web.work.bench import Bench

__all__ = ["Worker"]

POLL_SECONDS = 0.3
"""Between two looks at a queue that was empty; PostgreSQL rings a bell, so there it is longer."""
BELL_SECONDS = 3.0


class Worker:
    """Grades until Ctrl-C, or the end of the process that started it.

    Args:
        name: Its own.
        parent: The process that started it and without which it ends; 0 if it stands on its own.
    """

    def __init__(self, name: str, *, parent: int = 0) -> None:
        self._parent = parent
        self._stopped = threading.Event()
        self._bench = Bench(name, self._stopped)

    def run(self) -> None:
        """Work."""
        sender = threading.Thread(target=outbox.keep_sending, args=(self._stopped,), daemon=True)
        sender.start()
        try:
            while not (self._parent and os.getppid() != self._parent):
                if not self._bench.step():
                    self._bench.rest()
                    self._wait()
        finally:
            self._stopped.set()
            self._bench.leave()
            sender.join(timeout=5.0)

    def _wait(self) -> None:
        """Wait for work: for PostgreSQL's bell, or a moment."""
        if connection.vendor == "postgresql":
            try:
                with connection.cursor() as cursor:
                    cursor.execute(f"LISTEN {queue.CHANNEL}")
                # What came in before we listened rings no bell for us: at the latest, we look after a while.
                for _ in connection.connection.notifies(timeout=min(BELL_SECONDS, settings.GRADE.lease), stop_after=1):
                    return
                return
            except Error:
                with contextlib.suppress(Error):
                    connection.close()
        self._stopped.wait(POLL_SECONDS)
