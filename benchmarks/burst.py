"""A burst of hand-ins against a real server: is anything lost, is the order fair, and how long does it take?

Run ``python -m benchmarks.burst`` from the checkout. Everybody opens the assignment, hands a file of their own in and
goes; they come at random moments of the window. One in twenty hands in three times in a row. Afterwards the rows tell.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Any

from benchmarks.hand_ins import write
from tests.web.work.servers import KEY, Browser, Postgres, Server, postgres, until

GREEDY = 20
TIMES = 3
CLIENTS = 32
APART = 0.1
"""Seconds that a hand-in and a worker's look may overlap."""


def main() -> None:
    """Measure and print."""
    options = _options()
    chance = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="burst-") as folder, contextlib.ExitStack() as stack:
        pg: Postgres | None = None
        environment = {"GRADE_DEMO": "1", "GRADE_SECRET_KEY": KEY, "GRADE_LEASE": "10"}
        if options.postgresql:
            pg = stack.enter_context(postgres(synced=True))
            environment["DATABASE_URL"] = pg.url
        server = Server(Path(folder) / "data", environment=environment)
        files = write(Path(folder) / "files", options.learners * TIMES)
        server.start(workers=options.workers)
        stack.callback(server.stop)
        elsewhere = [server.worker() for _ in range(options.elsewhere)]
        until(lambda: server.health()["workers"] == options.workers + options.elsewhere, "all workers")
        done = threading.Event()
        if options.kill:
            threading.Thread(
                target=_kill, args=(server, pg, options.workers, elsewhere, options.seconds, done), daemon=True
            ).start()
        began = time.monotonic()
        moments = sorted((chance.uniform(0, options.seconds), number) for number in range(options.learners))
        with ThreadPoolExecutor(CLIENTS) as pool:
            told = [pool.submit(_learner, server, began + at, number, files) for at, number in moments]
            answers = [moment for one in told for moment in one.result()]
        sent = time.monotonic() - began
        done.set()
        until(lambda: not _rows(server, pg, "state IN ('queued', 'running')"), "all grades", seconds=1800)
        rows = _rows(server, pg, "state IN ('graded', 'not_graded')")
        scores = _count(server, pg, "work_scoredelivery WHERE version <> sent_version")
        until(lambda: not _count(server, pg, "work_scoredelivery WHERE version <> sent_version"), "all scores")
        _tell(options, rows, answers, sent, scores, _count(server, pg, "work_report"))


def _learner(server: Server, at: float, number: int, files: list[Path]) -> list[float]:
    """Hand in at a moment, again and again until it is taken; return what the page took, in seconds."""
    time.sleep(max(0.0, at - time.monotonic()))
    answers = []
    for time_ in range(TIMES if number % GREEDY == 0 else 1):
        content = files[number * TIMES + time_].read_bytes()
        while True:
            browser = Browser(server.address)
            began = time.monotonic()
            with contextlib.suppress(OSError, HTTPException, AssertionError):
                browser.get("/demo/")
                browser.post("/demo/", {"person": "another", "number": str(number + 1)})
                began = time.monotonic()
                browser.hand_in("mine.py", content)
                if browser.status == 200 and "/attempt/" in browser.url:
                    answers.append(time.monotonic() - began)
                    break
            time.sleep(0.5)
    return answers


def _kill(
    server: Server,
    pg: Postgres | None,
    workers: int,
    elsewhere: list[subprocess.Popen[bytes]],
    seconds: float,
    done: threading.Event,
) -> None:
    """Kill a worker now and then, the server once and PostgreSQL once, as nobody would in a measurement of speed."""
    chance = random.Random(2)
    for number in range(8):
        if done.wait(seconds / 9):
            return
        if number == 3:
            server.kill()
            server.start(workers=workers, wait=False)
            # Without a database it wouldn't start, and nobody would start it again.
            until(server.health, "the server, started anew")
        elif number == 5 and pg is not None:
            pg.stop()
            pg.start()
        elif elsewhere and (number % 2 or not workers):
            elsewhere.pop(0).kill()
            elsewhere.append(server.worker())
        else:
            with contextlib.suppress(ProcessLookupError, IndexError):
                os.kill(chance.choice(server.workers()), signal.SIGKILL)


def _query(server: Server, pg: Postgres | None, query: str) -> list[tuple[Any, ...]]:
    if pg is None:
        with contextlib.closing(sqlite3.connect(server.folder / "grade.sqlite3", timeout=30)) as connection:
            return connection.execute(query).fetchall()
    import psycopg

    with psycopg.connect(pg.url) as connected:
        return connected.execute(query).fetchall()


def _rows(server: Server, pg: Postgres | None, which: str) -> list[tuple[Any, ...]]:
    seconds = "(julianday({}) - 2440587.5) * 86400.0" if pg is None else "extract(epoch from {})::double precision"
    columns = f"member_id, number, state, due, started, {seconds.format('handed_in_at')}, {seconds.format('ended_at')}"
    return _query(server, pg, f"SELECT {columns}, cents, token FROM work_attempt WHERE {which}")


def _count(server: Server, pg: Postgres | None, what: str) -> int:
    return int(_query(server, pg, f"SELECT count(*) FROM {what}")[0][0])


def _tell(
    options: argparse.Namespace, rows: list[tuple[Any, ...]], answers: list[float], sent: float, late: int, reports: int
) -> None:
    wanted = options.learners + len(range(0, options.learners, GREEDY)) * (TIMES - 1)
    # Somebody was passed: another one, with a later place, was taken while they were waiting. What was taken again
    # after a kill counts by its first time.
    behind = sum(
        other[4] < row[4] and other[3] > row[3] and row[5] < other[4] - APART for row in rows for other in rows
    )
    span = max(row[6] for row in rows) - min(row[5] for row in rows)
    print(f"{options.learners} learners within {options.seconds:g} s, {wanted} attempts, "
          f"{options.workers} workers of the server, {options.elsewhere} elsewhere, "
          f"{'PostgreSQL' if options.postgresql else 'SQLite'}{', with kills' if options.kill else ''}, "
          f"load {os.getloadavg()[0]:.1f}")  # fmt: skip
    again = sum(row[8] > 1 for row in rows)
    print(f"  lost {wanted - len(rows)}, not graded {sum(row[2] != 'graded' for row in rows)}, "
          f"reports {reports}, taken more than once {again}, passed by others {behind}")  # fmt: skip
    print(f"  last hand-in after {sent:.1f} s; hand-in's answer: median {statistics.median(answers):.2f} s, "
          f"p99 {_part(sorted(answers), 0.99):.2f} s")  # fmt: skip
    for name, of in (
        ("wait from hand-in to report, first attempts", [row for row in rows if row[1] == 1]),
        ("further attempts of who didn't wait for the first", [row for row in rows if row[1] > 1]),
    ):
        waits = sorted(row[6] - row[5] for row in of)
        print(f"  {name}: median {statistics.median(waits):.1f} s, p99 {_part(waits, 0.99):.1f} s, "
              f"longest {waits[-1]:.1f} s")  # fmt: skip
    print(f"  rate {len(rows) / span:.2f} a second over {span:.1f} s; scores still on their way at the end: {late}")


def _part(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learners", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--elsewhere", type=int, default=0, help="as many `grade worker` beside those of the server")
    parser.add_argument("--postgresql", action="store_true", help="in place of SQLite")
    parser.add_argument("--kill", action="store_true", help="kill workers, the server and PostgreSQL meanwhile")
    return parser.parse_args()


if __name__ == "__main__":
    main()
