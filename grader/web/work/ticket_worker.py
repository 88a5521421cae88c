"""``grade worker`` on PostgreSQL: procrastinate's worker, which draws tickets and has the bench grade what is next.

The loop of procrastinate ends when the database goes away; it is started anew until we are told to stop. Whatever was
being graded stays at the bench meanwhile, in a thread of its own, and is written down when the database is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import psycopg
from django.conf import settings
from django.db import Error, connection
from procrastinate import App, PsycopgConnector
from procrastinate.contrib.django import connector_params
from procrastinate.exceptions import ProcrastinateException
from procrastinate.jobs import Status

from grader.web.work import outbox
from grader.web.work.bench import Bench
from grader.web.work.tickets import QUEUE, TICKET

__all__ = ["TicketWorker"]

log = logging.getLogger("grader.web.worker")

TIDY = "grade.tidy"
KEPT_HOURS = 24
"""Tickets that were used are kept for so long, to be looked at."""

REST_SECONDS = 3.0
POOL_SECONDS = 5.0
"""How long to wait for a connection before the database counts as away."""

FIRST_PAUSE, LAST_PAUSE = 0.2, 5.0
WELL_SECONDS = 30.0
"""After so long without trouble, the next one begins with a short pause again."""

T = TypeVar("T")


class TicketWorker:
    """Grades until it is told to stop by a signal. Beside it, a thread sends scores to the LMS.

    Args:
        name: Its own.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._stopped = threading.Event()
        self._bench = Bench(name, self._stopped)
        # One thread, so that the bench has one connection to the database, and one attempt.
        self._hand = ThreadPoolExecutor(1, "bench")
        self._app = self._made()

    def run(self) -> None:
        """Work until Ctrl-C, SIGTERM or SIGHUP."""
        sender = threading.Thread(target=outbox.keep_sending, args=(self._stopped,), daemon=True)
        sender.start()
        try:
            asyncio.run(self._until_stopped())
        finally:
            self._stopped.set()
            self._hand.submit(connection.close)
            self._hand.shutdown(wait=True)
            self._bench.leave()
            sender.join(timeout=5.0)

    def _made(self) -> App:
        """Return procrastinate's app with our two tasks, and few connections: there may be many workers."""
        app = App(connector=PsycopgConnector(kwargs=connector_params(), min_size=1, max_size=2, timeout=POOL_SECONDS))

        @app.task(name=TICKET, queue=QUEUE)
        async def grade_next() -> None:
            await self._at_bench(self._bench.step)

        @app.periodic(cron="* * * * *")
        @app.task(name=TIDY, queue=QUEUE, queueing_lock=TIDY, priority=1)
        async def tidy(timestamp: int) -> None:
            del timestamp
            await self._tidy()

        return app

    async def _until_stopped(self) -> None:
        loop = asyncio.get_running_loop()
        # Procrastinate doesn't look at what became of a ticket that couldn't be ended while the database was away.
        loop.set_exception_handler(_told)
        work = asyncio.create_task(self._work())

        def stop() -> None:
            self._stopped.set()
            work.cancel()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, stop)
        with contextlib.suppress(asyncio.CancelledError):
            await work

    async def _work(self) -> None:
        """Run procrastinate's worker, again and again: it ends by itself only if the database went away."""
        pause = FIRST_PAUSE
        while not self._stopped.is_set():
            # Waits until the database answers.
            await self._at_bench(self._bench.rest)
            began = time.monotonic()
            try:
                await self._draw()
            except (ProcrastinateException, psycopg.Error, Error, OSError) as error:
                log.warning("the database doesn't answer (%s); trying again", type(error).__name__)
            if time.monotonic() - began > WELL_SECONDS:
                pause = FIRST_PAUSE
            await asyncio.sleep(pause)
            pause = min(2 * pause, LAST_PAUSE)

    async def _draw(self) -> None:
        """Draw tickets until the database goes away or we are cancelled; then end after what is at the bench."""
        lease = settings.GRADE.lease
        async with self._app.open_async():
            resting = asyncio.create_task(self._rest())
            try:
                await self._app.run_worker_async(
                    queues=[QUEUE],
                    name=self._name,
                    concurrency=1,
                    fetch_job_polling_interval=min(REST_SECONDS, lease),
                    update_heartbeat_interval=lease / 4,
                    stalled_worker_timeout=lease,
                    install_signal_handlers=False,
                )
            finally:
                resting.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await resting

    async def _rest(self) -> None:
        """Between attempts, show that we live, and put the number of tickets right."""
        while True:
            await asyncio.sleep(min(REST_SECONDS, settings.GRADE.lease / 4))
            await self._at_bench(self._bench.rest)

    async def _tidy(self) -> None:
        """End tickets of workers that were killed, and delete old ones. What they graded is the lease's business."""
        jobs, lease = self._app.job_manager, settings.GRADE.lease
        for job in await jobs.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=lease):
            await jobs.finish_job(job, Status.FAILED, delete_job=False)
        await jobs.prune_stalled_workers(lease)
        await jobs.delete_old_jobs(
            KEPT_HOURS, queue=QUEUE, include_failed=True, include_cancelled=True, include_aborted=True
        )

    async def _at_bench(self, do: Callable[[], T]) -> T:
        """Do something in the bench's thread, after what is being done there."""
        return await asyncio.get_running_loop().run_in_executor(self._hand, do)


def _told(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tell of an error that nobody waited for: what the loop says of it, and its kind."""
    del loop
    log.warning("%s (%s)", context["message"], type(context.get("exception")).__name__)
