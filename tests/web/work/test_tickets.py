"""Workers of other machines are called by tickets: they are killed, tickets are lost, PostgreSQL is restarted."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.work.servers import KEY, ROOT, Browser, Postgres, Server, postgres, until

QUICK = b"import time\n\nimport numpy as np\n\ntime.sleep(0.4)\n"
LEARNERS, EACH = 9, 3
WORKERS = 3


@pytest.fixture(scope="module")
def database_server() -> Iterator[Postgres]:
    """A real PostgreSQL 15."""
    with postgres() as made:
        yield made


def asked(pg: Postgres, query: str) -> list[tuple[Any, ...]]:
    """Ask behind the server's back."""
    import psycopg

    with psycopg.connect(pg.url) as connection:
        return connection.execute(query.encode()).fetchall()


def count(pg: Postgres, what: str) -> int:
    """Count rows."""
    return int(asked(pg, f"SELECT count(*) FROM {what}")[0][0])


@pytest.mark.slow
def test_the_queue_and_its_tickets_on_postgresql(database_server: Postgres, tmp_path: Path) -> None:
    """The rules of the queue, and those of tickets, in a process whose database is PostgreSQL."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("GRADE_", "DJANGO_", "PYTEST_"))}
    files = [str(ROOT / "tests" / "web" / "work" / name) for name in ("test_queue.py", "on_postgresql.py")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", f"--basetemp={tmp_path}/b", *files],
        env={**plain, "DATABASE_URL": database_server.url, "GRADE_SECRET_KEY": KEY}, cwd=ROOT, check=False,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def test_sqlite_has_no_tickets(database: Path) -> None:
    """Neither the app nor its tables, and nothing that could fail for want of them."""
    del database
    from django.apps import apps
    from django.db import connection

    from grader.web.work import tickets
    from grader.web.work.queue import ring

    ring()
    assert tickets.balance() == 0
    assert not apps.is_installed(tickets.APP)
    assert not [name for name in connection.introspection.table_names() if "procrastinate" in name]


def handed_in(server: Server) -> None:
    """Have all learners hand in, several times each; the same file twice is one attempt."""
    for learner in range(LEARNERS):
        browser = Browser(server.address)
        browser.get("/demo/")
        browser.post("/demo/", {"person": "another", "number": str(learner + 1)})
        home = browser.url
        for number in (0, *range(EACH)):
            browser.hand_in("mine.py", QUICK + f"# {learner} {number}\n".encode())
            assert browser.status == 200, browser.text[:300]
            browser.get(home)


def chaos(server: Server, pg: Postgres) -> None:
    """Kill workers in the middle of their work, restart PostgreSQL, start one worker more, lose and add tickets."""
    chance = random.Random(11)
    for _ in range(WORKERS):
        server.worker()
    for number in range(4):
        if number == 2:
            pg.stop()
            time.sleep(1.0)
            pg.start()
            spare = "SELECT 'grade', 'grade.next' FROM generate_series(1, 9)"
            asked(pg, f"INSERT INTO procrastinate_jobs (queue_name, task_name) {spare} RETURNING id")
        else:
            killed = grading(server, pg, chance)
            killed.kill()
            killed.wait()
        server.worker()
    # One is told to go: it gives back what it has.
    told = grading(server, pg, chance)
    told.terminate()
    assert told.wait(20) == 0, server.log


def grading(server: Server, pg: Postgres, chance: random.Random) -> subprocess.Popen[bytes]:
    """Wait for workers that grade, and choose one of them."""

    def found() -> list[subprocess.Popen[bytes]]:
        names = [name for (name,) in asked(pg, "SELECT worker FROM work_attempt WHERE state = 'running'")]
        busy = {int(name.split("-")[-2]) for name in names}
        return [one for one in server.others if one.pid in busy and one.poll() is None]

    return chance.choice(until(found, "somebody who grades"))


@pytest.mark.slow
def test_workers_of_other_machines_grade_each_attempt_once_and_in_order(
    tmp_path: Path, database_server: Postgres
) -> None:
    """Many attempts wait; three workers are killed and replaced while they grade them, and PostgreSQL restarts."""
    pg = database_server
    server = Server(tmp_path / "data", environment={"GRADE_DEMO": "1", "GRADE_SECRET_KEY": KEY, "DATABASE_URL": pg.url})
    try:
        server.start(workers=0)
        handed_in(server)
        todo = "procrastinate_jobs WHERE status = 'todo'"
        assert (count(pg, "work_attempt"), count(pg, todo)) == (LEARNERS * EACH, LEARNERS * EACH)
        assert server.health()["status"] == "no workers"
        asked(
            pg, f"DELETE FROM procrastinate_jobs WHERE id IN (SELECT id FROM {todo} ORDER BY id LIMIT 10) RETURNING 1"
        )
        chaos(server, pg)
        until(lambda: not count(pg, "work_attempt WHERE state NOT IN ('graded', 'not_graded')"), "all grades")
        until(lambda: not count(pg, todo), "no ticket too many")
        until(lambda: server.health()["status"] == "ok", "a worker that lives")
        until(lambda: not count(pg, "work_scoredelivery WHERE version <> sent_version"), "all scores")
        attempts = asked(pg, "SELECT id, state, due, started, token FROM work_attempt ORDER BY due, id")
        reports = asked(pg, "SELECT attempt_id FROM work_report")
        last = asked(pg, "SELECT attempt_id FROM work_scoredelivery")
        numbers = dict(asked(pg, "SELECT id, number FROM work_attempt"))
    finally:
        server.stop()

    assert [row for row in attempts if row[4] > 1], "nobody was killed in the middle"
    assert [row for row in attempts if row[1] != "graded"] == []
    assert sorted(reports) == sorted((row[0],) for row in attempts)
    assert [numbers[found] for (found,) in last] == [EACH] * LEARNERS
    # Workers that take at the same moment may pass each other, and nobody else may.
    places = {row[0]: place for place, row in enumerate(attempts)}
    taken = sorted(attempts, key=lambda row: row[3])
    assert [row[0] for place, row in enumerate(taken) if abs(places[row[0]] - place) > WORKERS] == []
    assert "Traceback" not in server.log
    assert "@" not in server.log
