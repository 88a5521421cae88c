"""The queue: attempts are taken one by one, kept for as long as there are signs of life, and ended once.

Taking is one statement, so that no two workers get the same row: SQLite has one writer at a time, and PostgreSQL
skips rows that somebody else is about to take. A token rises each time that a row is taken; whoever had it before, and
wakes up late, ends nothing.
"""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from grader.model._data import data
from grader.web.work import tickets
from grader.web.work.clock import now_sql
from grader.web.work.models import Attempt, WorkerSeen

__all__ = [
    "CHANNEL",
    "MAX_TRIES",
    "SPACING",
    "Taken",
    "due_for",
    "give_back",
    "gone",
    "heartbeat",
    "ring",
    "seen",
    "take",
]

MAX_TRIES = 5
"""So often an attempt is taken; what ended as many workers is not taken again."""

SPACING = 60.0
"""Seconds by which a further attempt of a learner who already waits counts as handed in later."""

CHANNEL = "grade_attempt"
"""PostgreSQL's name for the bell that wakes workers. A bell that nobody hears loses nothing."""


@data
class Taken:
    """An attempt that we have, and the token that says so."""

    id: UUID
    token: int


def due_for(member_id: UUID, moment: float) -> float:
    """Return the place in the queue of something that a learner hands in at ``moment``.

    First come, first served; but whoever has something waiting stands as if they had come a minute after it, so that
    one learner's many attempts go in between the others' first ones. It never moves afterwards: nobody starves.
    """
    waiting = Attempt.objects.filter(member_id=member_id, state__in=Attempt.UNFINISHED)
    last = waiting.order_by("-due").values_list("due", flat=True).first()
    return moment if last is None else max(moment, last + SPACING)


def take(worker: str) -> Taken | None:
    """Take the next attempt: one that waits, or one whose worker gave no sign of life for a whole lease."""
    moment, lease = now_sql(), settings.GRADE.lease
    skip = "FOR UPDATE SKIP LOCKED" if connection.vendor == "postgresql" else ""
    # Everything put into the text is a constant of ours; values go as parameters.
    statement = f"""
        UPDATE work_attempt
           SET state = 'running', worker = %s, token = token + 1, tries = tries + 1,
               lease_until = {moment} + %s,
               started = CASE WHEN started > 0 THEN started ELSE {moment} END
         WHERE id = (SELECT id FROM work_attempt
                      WHERE state IN ('queued', 'running') AND lease_until < {moment}
                      ORDER BY due, id LIMIT 1 {skip})
        RETURNING id, token
    """  # noqa: S608 - see above
    with connection.cursor() as cursor:
        cursor.execute(statement, [worker, lease])
        row = cursor.fetchone()
    if row is None:
        return None
    found, token = row
    return Taken(id=found if isinstance(found, UUID) else UUID(found), token=token)


def heartbeat(taken: Taken) -> bool:
    """Give a sign of life; False if somebody else has the attempt by now."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE work_attempt SET lease_until = {now_sql()} + %s"  # noqa: S608 - a constant of ours
            " WHERE id = %s AND token = %s AND state = 'running'",
            [settings.GRADE.lease, _key(taken.id), taken.token],
        )
        return bool(cursor.rowcount == 1)


def give_back(worker: str) -> int:
    """Let what a worker had be taken at once, without waiting for its lease: it is known to have ended."""
    with transaction.atomic():
        count = Attempt.objects.filter(worker=worker, state=Attempt.RUNNING).update(lease_until=0)
        ring(count)
    return count


def seen(worker: str, trouble: str = "") -> None:
    """Note that a worker lives; with ``trouble``, that it can't work and why."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO work_workerseen (name, seen, trouble) VALUES (%s, {now_sql()}, %s)"  # noqa: S608 - as above
            " ON CONFLICT (name) DO UPDATE SET seen = excluded.seen, trouble = excluded.trouble",
            [worker, trouble[:500]],
        )


def gone(worker: str) -> None:
    """Forget a worker that has ended, and let what it had be taken at once."""
    give_back(worker)
    WorkerSeen.objects.filter(name=worker).delete()


def ring(count: int = 1) -> None:
    """Wake workers that wait, where the database can; call it in the transaction that put so many attempts in."""
    tickets.add(count)
    if count and connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, '')", [CHANNEL])


def _key(found: UUID) -> UUID | str:
    """Return an id as this database keeps it."""
    return found if connection.features.has_native_uuid_field else found.hex
