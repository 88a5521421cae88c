"""Where a worker grades: it takes one attempt, has it graded, and writes down how it ended.

Every kind of worker stands at such a bench; they differ in what wakes them. Nothing that it knows is needed by anybody
else. If its process is killed, its attempt's lease runs out, and another one grades it; if the database is away, it
holds on to what it has and writes it down when the database is back.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TypeVar

from django.conf import settings
from django.db import Error, connection

from grader.batch.executor import Lost
from grader.batch.messages import Answer, Failed, decode
from grader.errors import CourseError, GraderError
from grader.web.work import queue, tickets
from grader.web.work.grading import Graders, end, give_up, put_back
from grader.web.work.models import Attempt
from grader.web.work.queue import Taken, heartbeat, take

__all__ = ["Bench", "worker_name"]

log = logging.getLogger("grader.web.worker")

TROUBLED_SECONDS = 10.0
STOP_SECONDS = 0.5
"""What is graded goes on for so long at most when the worker is told to stop."""

T = TypeVar("T")


def worker_name() -> str:
    """Return a name that no other worker has."""
    return f"{platform.node()[:60] or 'host'}-{os.getpid()}-{secrets.token_hex(3)}"


class _Stopped(Exception):
    """The worker is told to stop, in the middle of an attempt."""


class Bench:
    """Grades one attempt at a time. One thread works at it, always the same one; `leave` comes after that.

    Args:
        name: The worker's.
        stopped: Set when the worker is told to stop: what is being graded then goes back into the queue.
    """

    def __init__(self, name: str, stopped: threading.Event) -> None:
        self._name, self._stopped = name, stopped
        self._graders = Graders()
        self._taken: Taken | None = None
        self._told = 0.0
        self._why = ""

    def step(self) -> bool:
        """Grade the attempt that is next; False if there was none, or we are told to stop."""
        if self._stopped.is_set():
            return False
        self._sign_of_life()
        self._taken = taken = self._held(lambda: take(self._name))
        if taken is None:
            return False
        attempt = self._held(
            lambda: Attempt.objects.select_related("link", "course", "member").filter(id=taken.id).first()
        )
        if attempt is None:
            pass  # deleted meanwhile
        elif attempt.tries > queue.MAX_TRIES:
            self._held(lambda: give_up(taken, "the processes that graded it were lost again and again"))
        else:
            try:
                self._grade(taken, attempt)
            except _Stopped:
                return True  # `leave` gives it back
        self._taken = None
        return True

    def rest(self) -> None:
        """Do what has to be done now and then while there is nothing to grade."""
        self._sign_of_life()
        self._held(tickets.balance)

    def leave(self) -> None:
        """Give back what isn't done, and be gone."""
        with contextlib.suppress(Error):
            if self._taken is not None:
                put_back(self._taken, blame=False)
            queue.gone(self._name)
        self._graders.close()

    def _grade(self, taken: Taken, attempt: Attempt) -> None:
        began = time.monotonic()
        try:
            future = self._held(lambda: self._graders.start(attempt))
            answer = decode(self._answer(taken, future))
        except Lost as error:
            log.warning("attempt %s ended the process that graded it (%s)", attempt.id, error)
            if attempt.tries >= queue.MAX_TRIES:
                reason = f"the process that graded it was lost {attempt.tries} times ({error})"
                self._held(lambda: give_up(taken, reason))
            else:
                self._held(lambda: put_back(taken, blame=True))
            return
        except CourseError as error:
            self._course_trouble(taken, str(error))
            return
        except (GraderError, OSError) as error:
            self._trouble(taken, str(error))
            return
        if isinstance(answer, Answer):
            self._why = ""
            seconds = time.monotonic() - began
            row = answer
            if not self._held(lambda: end(taken, row, seconds)):
                log.warning("attempt %s was taken by another worker meanwhile", attempt.id)
            return
        assert isinstance(answer, Failed)
        if answer.code == CourseError.exit_code:
            self._course_trouble(taken, answer.message)
        elif answer.code:
            self._trouble(taken, f"{answer.message} {answer.hint}".strip())
        elif attempt.tries < queue.MAX_TRIES:  # the backend broke; a new one may do better
            self._held(lambda: put_back(taken, blame=True))
        else:
            reason = answer.message.rstrip(".")
            self._held(lambda: give_up(taken, reason))

    def _answer(self, taken: Taken, future: Future[bytes]) -> bytes:
        """Wait for the answer, with signs of life. Raises Lost, or _Stopped."""
        every = settings.GRADE.lease / 4
        beat = time.monotonic()
        while True:
            try:
                return future.result(timeout=min(every, STOP_SECONDS))
            except FutureTimeout:
                if self._stopped.is_set():
                    raise _Stopped from None
                if time.monotonic() - beat < every:
                    continue
                beat = time.monotonic()
                # The database may be away: then nobody can take the attempt either.
                with contextlib.suppress(Error):
                    heartbeat(taken)
                    self._sign_of_life()

    def _course_trouble(self, taken: Taken, why: str) -> None:
        """This assignment can't be graded as its course is now; others can, and go first for a while."""
        log.error("can't grade: %s", why)
        said = f"it waits, since the course can't be used: {why}"
        self._held(lambda: put_back(taken, blame=False, why=said, seconds=TROUBLED_SECONDS))

    def _trouble(self, taken: Taken, why: str) -> None:
        """We can't work: the attempt is another's, and the page doesn't count on us until we have graded something."""
        log.error("can't grade: %s", why)
        self._held(lambda: put_back(taken, blame=False))
        self._why, self._told = why, 0.0
        self._sign_of_life()
        self._graders.close()
        self._stopped.wait(TROUBLED_SECONDS)

    def _sign_of_life(self) -> None:
        if time.monotonic() - self._told > settings.GRADE.lease / 4 or not self._told:
            self._held(lambda: queue.seen(self._name, self._why))
            self._told = time.monotonic()

    def _held(self, do: Callable[[], T]) -> T:
        """Do something with the database; while it is away, wait and try again, for as long as it takes."""
        pause = 0.2
        while True:
            try:
                return do()
            except Error as error:
                if self._stopped.is_set():
                    raise
                log.warning("the database doesn't answer (%s); trying again", type(error).__name__)
                with contextlib.suppress(Error):
                    connection.close()
                self._stopped.wait(pause)
                pause = min(pause * 2, 5.0)
