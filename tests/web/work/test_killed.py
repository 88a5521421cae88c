"""Workers and server are killed in the middle: nothing is lost and nothing is done twice.

On SQLite; `test_tickets.py` and the whole walk do the same with PostgreSQL.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import threading
import time
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.web.work.servers import KEY, ROOT, Browser, Server, until

pytestmark = pytest.mark.slow

RIGHT = (ROOT / "examples" / "right.py").read_bytes() + b"\nimport time\n\ntime.sleep(0.8)\n"
LEARNERS = 12
EACH = 2


def rows(server: Server, table: str, columns: str) -> list[tuple[Any, ...]]:
    """Read rows behind the server's back."""
    with contextlib.closing(sqlite3.connect(server.folder / "grade.sqlite3", timeout=30)) as connection:
        return connection.execute(f"SELECT {columns} FROM {table}").fetchall()


def launch(server: Server, user: int, number: int) -> tuple[str, bytes]:
    """Hand a file in as one of many learners, with as many tries as a person would make; return its address."""
    browser = Browser(server.address)
    content = RIGHT + f"\n# {user} {number}\n".encode()
    end = time.monotonic() + 60
    while True:
        with contextlib.suppress(OSError, HTTPException, AssertionError):
            browser.get("/demo/")
            browser.post("/demo/", {"person": "another", "number": str(user)})
            address = browser.hand_in("mine.py", content)
            if browser.status == 200 and "/attempt/" in address:
                return address, content
        assert time.monotonic() < end, (browser.status, browser.text[:300])
        time.sleep(0.3)


def chaos(server: Server, done: threading.Event) -> None:
    """Kill a worker now and then, and the server once."""
    chance = random.Random(7)
    time.sleep(2.0)
    for number in range(4):
        if done.is_set():
            return
        if number == 1:
            server.kill()
            server.start(workers=2, wait=False)
            until(lambda: server.health()["workers"], "the server, started anew")
        else:
            with contextlib.suppress(ProcessLookupError, IndexError):
                os.kill(chance.choice(server.workers()), signal.SIGKILL)
        time.sleep(1.5)


def test_every_attempt_is_graded_exactly_once(tmp_path: Path) -> None:
    """Twelve learners hand in twice each while workers and the server are killed."""
    server = Server(tmp_path / "data", environment={"GRADE_DEMO": "1", "GRADE_SECRET_KEY": KEY})
    try:
        server.start(workers=2)
        done = threading.Event()
        killer = threading.Thread(target=chaos, args=(server, done))
        killer.start()
        for number in range(EACH):
            for learner in range(LEARNERS):
                launch(server, learner + 1, number)
        killer.join()
        done.set()
        if not server.workers():
            server.start(workers=2)
        until(
            lambda: all(state in ("graded", "not_graded") for (state,) in rows(server, "work_attempt", "state")),
            "all grades",
        )
        attempts = rows(server, "work_attempt", "id, state, number, member_id, cents, token")
        reports = rows(server, "work_report", "attempt_id")
        until(
            lambda: all(
                version == sent for version, sent in rows(server, "work_scoredelivery", "version, sent_version")
            ),
            "all scores",
        )
        scores = rows(server, "work_scoredelivery", "attempt_id, member_id, sent_cents")
    finally:
        server.stop()

    assert [row for row in attempts if row[5] > 1], "nobody was killed in the middle"
    assert len(attempts) == LEARNERS * EACH
    assert [row for row in attempts if row[1] != "graded" or row[4] != 10000] == []
    assert sorted(reports) == sorted((row[0],) for row in attempts)
    # The gradebook has each learner's last attempt.
    last = {row[3]: row[0] for row in attempts if row[2] == EACH}
    assert {member: attempt for attempt, member, _ in scores} == last
    assert {cents for _, _, cents in scores} == {10000}
    assert "Traceback" not in server.log
