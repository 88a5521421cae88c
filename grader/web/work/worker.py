"""A worker: takes attempts and grades them, one at a time; beside it, a thread sends scores to the LMS.

Nothing that it knows is needed by anybody else. If it is killed, its attempt's lease runs out, and another one grades
it; if the database is away, it holds on to what it has and writes it down when the database is back.
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
from grader.web.work import queue
from grader.web.work.grading import Graders, end, give_up, put_back
from grader.web.work.models import Attempt
from grader.web.work.outbox import send_next
from grader.web.work.queue import Taken, heartbeat, take

__all__ = ["Worker", "worker_name"]

log = logging.getLogger("grader.web.worker")

POLL_SECONDS = 0.3
"""Between two looks at a queue that was empty; PostgreSQL rings a bell, so there it is longer."""
BELL_SECONDS = 3.0
TROUBLED_SECONDS = 10.0
OUTBOX_SECONDS = 0.5

T = TypeVar("T")


def worker_name() -> str:
    """Return a name that no other worker has."""
    return f"{platform.node()[:60] or 'host'}-{os.getpid()}-{secrets.token_hex(3)}"


class Worker:
    """Grades until it is told to stop.

    Args:
        name: Its own.
        parent: The process that started it and without which it ends; 0 if it stands on its own.
    """

    def __init__(self, name: str, *, parent: int = 0) -> None:
        self._name, self._parent = name, parent
        self._graders = Graders()
        self._stopped = threading.Event()
        self._taken: Taken | None = None
        self._told = 0.0
        self._why = ""

    def run(self) -> None:
        """Work until `stop`, Ctrl-C, or the end of the process that started us."""
        sender = threading.Thread(target=self._send, daemon=True)
        sender.start()
        try:
            while not self._over():
                self._step()
        finally:
            self._stopped.set()
            self._leave()
            sender.join(timeout=5.0)

    def stop(self) -> None:
        """End after what is being graded now."""
        self._stopped.set()

    def _over(self) -> bool:
        return self._stopped.is_set() or bool(self._parent and os.getppid() != self._parent)

    def _step(self) -> None:
        self._sign_of_life()
        self._taken = self._held(lambda: take(self._name))
        if self._taken is None:
            self._wait()
            return
        taken = self._taken
        attempt = self._held(
            lambda: Attempt.objects.select_related("link", "course", "member").filter(id=taken.id).first()
        )
        if attempt is None:  # deleted meanwhile
            self._taken = None
        elif attempt.tries > queue.MAX_TRIES:
            reason = "the processes that graded it were lost again and again"
            self._held(lambda: give_up(taken, reason))
            self._taken = None
        else:
            self._grade(taken, attempt)
            self._taken = None

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
        """Wait for the answer, with signs of life. Raises Lost."""
        every = settings.GRADE.lease / 4
        while True:
            try:
                return future.result(timeout=every)
            except FutureTimeout:
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

    def _wait(self) -> None:
        """Wait for work: for PostgreSQL's bell, or a moment."""
        if connection.vendor == "postgresql":
            try:
                with connection.cursor() as cursor:
                    cursor.execute(f"LISTEN {queue.CHANNEL}")
                # What came in before we listened rings no bell for us: at the latest, we look after a while.
                for _ in connection.connection.notifies(timeout=BELL_SECONDS, stop_after=1):
                    return
                return
            except Error:
                with contextlib.suppress(Error):
                    connection.close()
        self._stopped.wait(POLL_SECONDS)

    def _send(self) -> None:
        """Send scores, one after the other. A thread of its own: an LMS that is slow keeps nobody from being graded."""
        while not self._stopped.is_set():
            try:
                if send_next():
                    continue
            except Error as error:
                log.warning("the outbox can't be read (%s)", type(error).__name__)
                with contextlib.suppress(Error):
                    connection.close()
            self._stopped.wait(OUTBOX_SECONDS)
        connection.close()

    def _leave(self) -> None:
        """Give back what isn't done, and be gone."""
        with contextlib.suppress(Error):
            if self._taken is not None:
                put_back(self._taken, blame=False)
            queue.gone(self._name)
        self._graders.close()
