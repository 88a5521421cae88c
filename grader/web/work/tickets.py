"""Tickets: jobs of procrastinate that bring ``grade worker`` to the queue, on PostgreSQL.

A ticket says that there is something to grade, and neither what nor whose. Whoever draws one takes the attempt that is
next by our own order, with our own lease; where none is left, the ticket was one too many, and that is all. So a ticket
that is lost, or there twice, changes nothing of what is graded: `balance` puts the number right.
"""

from __future__ import annotations

from django.apps import apps
from django.db import OperationalError, connection, transaction

from grader.web.work.clock import now_sql

__all__ = ["APP", "QUEUE", "TICKET", "add", "balance", "in_use"]

APP = "procrastinate.contrib.django"
QUEUE = "grade"
TICKET = "grade.next"

LOCK = 0x7469636B
"""PostgreSQL's number of the lock that whoever counts holds."""

MOST_AT_ONCE = 200


def in_use() -> bool:
    """Whether there are tickets here: on PostgreSQL."""
    return apps.is_installed(APP)


def add(count: int) -> None:
    """Add tickets, in the transaction that makes so many attempts ready to be taken.

    Raises:
        django.db.OperationalError: If the database doesn't take them.
    """
    if not count or not in_use():
        return
    from procrastinate.contrib.django import app
    from procrastinate.exceptions import ConnectorException

    try:
        app.configure_task(TICKET, queue=QUEUE).batch_defer(*[{} for _ in range(count)])
    except ConnectorException as error:
        # Nobody else here has to know whose tables they are.
        raise OperationalError("no ticket could be written") from error


def balance() -> int:
    """Let there be a ticket for each attempt that can be taken; return how many were added, below 0 if taken away.

    Attempts whose lease ran out, or that had to wait for a while, have none yet; nor has one whose ticket was drawn
    by a worker that was killed then. There are too many when workers of ``grade serve`` took attempts, which need none.
    """
    if not in_use():
        return 0
    from procrastinate.contrib.django import app
    from procrastinate.exceptions import ConnectorException

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        if not cursor.fetchone()[0]:
            return 0  # another one is at it
        # One statement, so that it sees attempts and tickets at one moment: they come in one transaction.
        cursor.execute(
            "SELECT (SELECT count(*) FROM work_attempt"  # noqa: S608 - a constant of ours
            f"        WHERE state IN ('queued', 'running') AND lease_until < {now_sql()}),"
            "       (SELECT count(*) FROM procrastinate_jobs WHERE task_name = %s AND status = 'todo')",
            [TICKET],
        )
        ready, waiting = cursor.fetchone()
        if ready >= waiting:
            add(ready - waiting)
            return int(ready - waiting)
        cursor.execute(
            "SELECT id FROM procrastinate_jobs WHERE task_name = %s AND status = 'todo' ORDER BY id DESC LIMIT %s",
            [TICKET, min(waiting - ready, MOST_AT_ONCE)],
        )
        try:
            # One that is drawn at this moment is no longer there to be taken away.
            return -sum(app.job_manager.cancel_job_by_id(found, delete_job=True) for (found,) in cursor.fetchall())
        except ConnectorException as error:
            raise OperationalError("no ticket could be taken away") from error
