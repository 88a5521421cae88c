"""Grades attempts with the code that grades a batch: what to ask a worker's process, and what to do with its answer."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from grader.batch.executor import LocalExecutor
from grader.batch.messages import Answer, File, Isolation, Override, Request, Setup, encode
from grader.batch.work import work
from grader.course import find_course
from grader.course.load import choose_assignment, digest_of
from grader.model._data import replace
from grader.web.environment import KEY_FILE
from grader.web.work import audit, outbox
from grader.web.work.clock import now
from grader.web.work.models import Attempt, Member, Report
from grader.web.work.queue import Taken, ring

__all__ = ["Graders", "end", "give_up", "lock_member", "put_back", "setup_for", "unpacked"]

SECONDS = 300.0
"""What one attempt may take; a run keeps its own deadline, which is shorter."""

MOST_KEPT = 3
"""Assignments for which a process is kept ready."""


class Graders:
    """Processes that grade, one for each assignment; each keeps its backend and its course."""

    def __init__(self) -> None:
        self._kept: dict[str, LocalExecutor] = {}

    def start(self, attempt: Attempt) -> Future[bytes]:
        """Have an attempt graded. Raises CourseError if there is no such assignment, OSError."""
        setup, request = encode(setup_for(attempt.link.assignment)), encode(_request(attempt))
        executor = self._kept.pop(attempt.link.assignment, None)
        if executor is None:
            executor = LocalExecutor(1, seconds=SECONDS)
            while len(self._kept) >= MOST_KEPT:
                self._kept.pop(next(iter(self._kept))).shutdown(wait=False)
        self._kept[attempt.link.assignment] = executor
        return executor.submit(work, setup, request)

    def close(self) -> None:
        """End the processes, in the middle of their work if need be."""
        for executor in self._kept.values():
            executor.shutdown(wait=True, cancel_futures=True)
        self._kept.clear()


def setup_for(assignment: str) -> Setup:
    """Return what a process has to know of an assignment, as the course is now.

    Raises:
        CourseError: If there is no course, or no such assignment.
    """
    environment = settings.GRADE
    course = find_course(Path(environment.course) if environment.course else None)
    choose_assignment(course, assignment)
    key, hidden = _seed_keys()
    return Setup(
        isolation=cast(Isolation, environment.isolation),
        course=environment.course or None,
        assignment=assignment,
        key=key,
        hidden=hidden,
        out="",
        # The canaries try to read them: learners' files, and the key that seeds and signatures follow from.
        secrets=tuple(
            str(path) for path in (environment.folder / KEY_FILE, environment.folder / "grade.sqlite3") if path.exists()
        ),
        # A course that has changed is another setup, so that the process loads it anew.
        digest=digest_of(course.reference(assignment)),
        instructor=True,
    )


@lru_cache(maxsize=1)
def _seed_keys() -> tuple[str, str]:
    """Return the keys of seeds, visible and hidden: the same on every host, and on no page."""
    visible, hidden = (salted_hmac(f"grade.web.{name}", "1", algorithm="sha256") for name in ("seeds", "hidden"))
    return visible.hexdigest(), hidden.hexdigest()


def _request(attempt: Attempt) -> Request:
    report = attempt.reports.order_by("-token").first() if attempt.work == Attempt.JUDGE else None
    transcript = b"" if report is None else unpacked(report.transcript)
    content = None if transcript else bytes(attempt.file.content)
    return Request(
        number=attempt.number,
        folder="attempt",
        files=(File.of(attempt.name, attempt.sha256, content),),
        transcript=base64.b64encode(transcript).decode(),
        overrides=tuple(
            Override(criterion=one.criterion, cents=one.cents, reason=one.reason, by=one.by)
            for one in attempt.overrides.order_by("made_at")
        ),
    )


def end(taken: Taken, answer: Answer, seconds: float) -> bool:
    """Write down how an attempt ended; False if it wasn't ours any more, and then nothing is written.

    Args:
        taken: Ours.
        answer: Of the process that graded it.
        seconds: What it took.
    """
    row = answer.row
    if row.status != "graded":
        return give_up(taken, row.reason)
    titles = _titles(answer.files.get("result.json", ""))
    with transaction.atomic():
        attempt = _ours(taken)
        if attempt is None:
            return False
        before = attempt.score
        Report.objects.create(
            attempt=attempt,
            token=taken.token,
            made_at=timezone.now(),
            row=json.loads(encode(replace(row, profile={})))[1],
            result=_packed(answer.files["result.json"].encode()),
            learner=_packed(answer.files["report.html"].encode()),
            instructor=_packed(answer.files["instructor.html"].encode()),
            fragment=_packed(answer.files["fragment.html"].encode()),
            transcript=_packed(base64.b64decode(answer.transcript)),
        )
        if attempt.work == Attempt.RUN and not before:
            attempt.seconds = seconds
        attempt.cents, attempt.max_cents = row.cents, row.max_cents
        attempt.look = [list(look) for look in row.look if look[0] != "note"]
        attempt.misconceptions = sorted({titles.get(name, name) for _, name in row.misconceptions})
        _ended(attempt, Attempt.GRADED, "nothing in this file could be run" if row.unloaded else "")
        audit.note(attempt.course, audit.GRADER, "graded", attempt.id, was=before, now=attempt.score)
        outbox.settle_score(attempt.link, attempt.member)
    return True


def give_up(taken: Taken, reason: str) -> bool:
    """End an attempt without a grade: it is our fault, and a report that it has stays. False if it isn't ours."""
    with transaction.atomic():
        attempt = _ours(taken)
        if attempt is None:
            return False
        if attempt.cents is not None:
            _ended(attempt, Attempt.GRADED, f"it couldn't be graded again: {reason}")
        else:
            _ended(attempt, Attempt.NOT_GRADED, reason)
        audit.note(attempt.course, audit.GRADER, "not graded", attempt.id, was=attempt.score, now=reason)
    return True


def put_back(taken: Taken, *, blame: bool, why: str = "", seconds: float = 0.0) -> None:
    """Let another worker take an attempt of ours.

    Args:
        taken: Ours.
        blame: It may be its own fault; otherwise it counts as not taken.
        why: What the instructor should know of it while it waits.
        seconds: It isn't taken before so long.
    """
    with transaction.atomic():
        attempt = _ours(taken)
        if attempt is not None:
            attempt.state, attempt.worker, attempt.reason = Attempt.QUEUED, "", why[:500]
            attempt.lease_until = now() + seconds if seconds else 0
            attempt.tries -= 0 if blame else 1
            attempt.save(update_fields=["state", "worker", "lease_until", "tries", "reason"])
            if not seconds:
                ring()  # later, whoever rests at the bench sees that its time has come


def unpacked(content: bytes | memoryview) -> bytes:
    """Return a file of a report as it was."""
    return zlib.decompress(bytes(content)) if content else b""


def _packed(content: bytes) -> bytes:
    return zlib.compress(content, 6)


def _ours(taken: Taken) -> Attempt | None:
    """Lock an attempt and its learner's row; None if somebody else has it. In a transaction."""
    member = Attempt.objects.filter(id=taken.id).values_list("member_id", flat=True).first()
    if member is None:
        return None
    # The learner first, always: whoever hands in or ends something of theirs waits here, and nobody in a circle.
    lock_member(member)
    rows = Attempt.objects.select_for_update(of=("self",)).select_related("course", "link", "member")
    return rows.filter(id=taken.id, token=taken.token, state=Attempt.RUNNING).first()


def lock_member(member: UUID) -> None:
    """Let nobody else change what belongs to this person until the transaction ends."""
    list(Member.objects.select_for_update().filter(id=member).values_list("id"))


def _ended(attempt: Attempt, state: str, reason: str) -> None:
    attempt.state, attempt.reason = state, reason[:500]
    attempt.ended_at, attempt.tries, attempt.lease_until = timezone.now(), 0, 0
    attempt.work = Attempt.RUN
    attempt.save()


def _titles(result: str) -> dict[str, str]:
    """Return the misconceptions' titles as the report has them."""
    tasks: Iterable[Any] = json.loads(result)["tasks"] if result else ()
    return {one["id"]: one["title"] for task in tasks for one in task["misconceptions"]}
