"""``grade worker``: a process that grades what servers took, on this machine or another one."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Sequence

from grader.cli.options import Parser
from grader.errors import EnvironmentFault

__all__ = ["parser", "run"]

PATIENCE = 120.0
"""Seconds that a worker waits for a database that a server is about to make."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade worker``."""
    return Parser(
        prog="grade worker",
        description="Grade what a server took, and send scores to the LMS: one attempt at a time, until Ctrl-C. It "
        "needs the server's DATABASE_URL, GRADE_SECRET_KEY and course. Start as many as you like, on as many machines.",
    )


def run(words: Sequence[str]) -> int:
    """Work until Ctrl-C; return the exit code."""
    parser().parse_args(words)
    from grader.web.start import set_up

    set_up()
    from grader.web.work import tickets
    from grader.web.work.bench import worker_name

    _wait_for_tables()
    name = os.environ.get("GRADE_WORKER") or worker_name()
    parent = int(os.environ.get("GRADE_PARENT") or 0)
    if not parent:
        print(f"grade: worker {name} waits for work; Ctrl-C ends it", file=sys.stderr, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        if tickets.in_use() and not parent:
            from grader.web.work.ticket_worker import TicketWorker

            TicketWorker(name).run()
        else:
            from grader.web.work.worker import Worker

            Worker(name, parent=parent).run()
    return 0


def _wait_for_tables() -> None:
    """Wait until the tables are those that we know. Raises EnvironmentFault if they don't become so."""
    from django.db import DatabaseError, connection

    from grader.web.start import pending

    until = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(DatabaseError):
            if not pending():
                connection.close()
                return
        connection.close()
        if time.monotonic() > until:
            raise EnvironmentFault(
                "The database doesn't answer, or its tables are those of another version.",
                hint="Start a server of this version: it brings them up to date.",
            )
        time.sleep(1.0)
