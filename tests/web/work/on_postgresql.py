"""What holds of tickets on PostgreSQL. `test_tickets.py` has these run in a process whose database is one."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.web.work import rows

pytestmark = pytest.mark.usefixtures("database")


def tickets() -> int:
    """Count those that wait to be drawn."""
    from procrastinate.contrib.django.models import ProcrastinateJob

    return ProcrastinateJob.objects.filter(status="todo", task_name="grade.next").count()


def lose(count: int) -> None:
    """Delete tickets as no program of ours would."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM procrastinate_jobs WHERE id IN (SELECT id FROM procrastinate_jobs LIMIT %s)", [count]
        )


def handed_in(user: str, content: bytes = rows.RIGHT) -> Any:
    """Hand a file in by our rules."""
    from grader.web.work.handing_in import hand_in
    from grader.web.work.models import Course

    course = Course.objects.first() or rows.course()
    return hand_in(course.links.get(), rows.member(course, user), "mine.py", content)[0]


def test_a_ticket_comes_with_its_attempt_and_goes_with_it() -> None:
    """Both or neither: they are written in one transaction."""
    from django.db import transaction

    from grader.web.work.models import Attempt

    @transaction.atomic
    def fail() -> None:
        handed_in("b")
        assert tickets() == 2
        raise RuntimeError

    handed_in("a")
    assert (Attempt.objects.count(), tickets()) == (1, 1)
    with pytest.raises(RuntimeError):
        fail()

    assert (Attempt.objects.count(), tickets()) == (1, 1)


def test_a_ticket_tells_nothing() -> None:
    """Neither whose attempt it is nor what was handed in."""
    from procrastinate.contrib.django.models import ProcrastinateJob

    handed_in("a")

    assert ProcrastinateJob.objects.get().args == {}


def test_the_same_file_twice_is_one_ticket() -> None:
    """A form that is sent twice makes no more work."""
    from grader.web.work.handing_in import hand_in

    attempt = handed_in("a")
    assert hand_in(attempt.link, attempt.member, "mine.py", rows.RIGHT) == (attempt, False)

    assert tickets() == 1


def test_lost_tickets_are_replaced_and_spare_ones_taken_away() -> None:
    """There are as many as attempts that can be taken, whatever happened to them."""
    from grader.web.work.queue import ring, take
    from grader.web.work.tickets import balance

    for user in "abc":
        handed_in(user)
    lose(2)
    assert (balance(), tickets()) == (2, 3)
    ring(4)
    assert (balance(), tickets()) == (-4, 3)
    assert take("of the server") is not None  # which draws no ticket
    assert (balance(), tickets()) == (-1, 2)
    assert balance() == 0


def test_what_nobody_grades_any_more_gets_a_ticket_at_its_time() -> None:
    """At once if it is given back or its worker is known to be gone; after its lease or its delay otherwise."""
    from grader.web.work.grading import put_back
    from grader.web.work.models import Attempt
    from grader.web.work.queue import gone, take
    from grader.web.work.tickets import balance

    attempt = handed_in("a")
    lose(1)
    first = take("one")
    assert first is not None
    assert (balance(), tickets()) == (0, 0)
    put_back(first, blame=False)
    assert tickets() == 1
    lose(1)
    assert take("two") is not None
    gone("two")
    assert tickets() == 1
    lose(1)
    third = take("three")
    assert third is not None
    put_back(third, blame=False, why="it waits", seconds=30.0)
    assert (balance(), tickets()) == (0, 0)
    Attempt.objects.filter(id=attempt.id).update(lease_until=time.time() - 1)
    assert (balance(), tickets()) == (1, 1)


def test_a_regrade_of_many_brings_as_many_tickets(client: Any) -> None:
    """One for each attempt that is graded again, and none for those that wait anyway."""
    course = rows.course()
    for user in "abc":
        rows.graded(course, rows.member(course, user))
    rows.attempt(course, rows.member(course, "z"))
    rows.enter(client, rows.member(course, "i", instructor=True, learner=False))
    page = f"/c/{course.id}/a/{course.links.get().id}/class"
    rows.post(client, page, f"{page}/regrade", {"work": "judge"})

    assert tickets() == 3


def test_tickets_of_killed_workers_end_and_old_ones_go() -> None:
    """A ticket whose worker gave no sign of life has failed; what was used a day ago is deleted, the rest stays."""
    import asyncio

    from django.db import connection
    from procrastinate.contrib.django.models import ProcrastinateJob, ProcrastinateWorker

    from grader.web.work.ticket_worker import TicketWorker

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now()), (now() - interval '1 day') RETURNING id"
        )
        (lives,), (killed,) = cursor.fetchall()
        cursor.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, status, worker_id, args) VALUES"
            " ('grade', 'grade.next', 'doing', %s, '{\"n\": 1}'), ('grade', 'grade.next', 'doing', %s, '{\"n\": 2}'),"
            " ('grade', 'grade.next', 'todo', NULL, '{\"n\": 3}'), ('grade', 'grade.next', 'todo', NULL, '{\"n\": 4}'),"
            " ('grade', 'grade.next', 'todo', NULL, '{\"n\": 5}')",
            [lives, killed],
        )
        cursor.execute("UPDATE procrastinate_jobs SET status = 'succeeded' WHERE args->>'n' IN ('4', '5')")
        cursor.execute(
            "UPDATE procrastinate_events SET at = at - interval '2 days'"
            " WHERE job_id = (SELECT id FROM procrastinate_jobs WHERE args->>'n' = '5')"
        )
    worker = TicketWorker("tidy")

    async def tidy() -> None:
        async with worker._app.open_async():
            await worker._tidy()

    asyncio.run(tidy())

    found = {job.args["n"]: job.status for job in ProcrastinateJob.objects.all()}
    assert found == {1: "doing", 2: "failed", 3: "todo", 4: "succeeded"}
    assert [one.id for one in ProcrastinateWorker.objects.all()] == [lives]


def test_the_admin_shows_tickets_and_changes_none(client: Any) -> None:
    """Their list, with how many wait, and no button of procrastinate's."""
    from django.contrib.auth.models import User

    handed_in("a")
    client.force_login(User.objects.get_or_create(username="root", is_staff=True, is_superuser=True)[0])
    page = client.get("/admin/procrastinate/procrastinatejob/").content.decode()

    assert "1 procrastinate job" in page
    assert "Todo" in page
    assert 'name="action"' not in page
    assert client.get("/admin/procrastinate/procrastinatejob/add/").status_code == 403
