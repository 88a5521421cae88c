"""A file is handed in: it is checked, numbered and put into the queue, all in one transaction."""

from __future__ import annotations

import datetime as dt
import hashlib
import time
from pathlib import PurePosixPath

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from grader.render import clean
from grader.web.work import audit
from grader.web.work.grading import lock_member
from grader.web.work.models import Attempt, HandedFile, Link, Member
from grader.web.work.queue import due_for, ring

__all__ = ["NotTaken", "attempts_left", "file_name", "hand_in"]

SUFFIXES = (".py", ".ipynb")
MAX_WAITING = 3
MOST_A_MINUTE = 6


class NotTaken(Exception):
    """A file isn't taken: why, as a sentence, and the status of the answer."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status


def hand_in(link: Link, member: Member, name: str, content: bytes) -> tuple[Attempt, bool]:
    """Take a file; return its attempt, and whether it is a new one.

    The same bytes as the learner's last attempt are that attempt: a form that was sent twice costs none.

    Raises:
        NotTaken: If it is no such file, too late, one too many, or too soon after others.
    """
    shown = file_name(name)
    if not shown.lower().endswith(SUFFIXES):
        raise NotTaken("Hand in one .py file or one notebook (.ipynb).")
    if not content:
        raise NotTaken("This file is empty. Save it and hand it in again.")
    if len(content) > settings.MAX_UPLOAD:
        raise NotTaken(
            f"This file is larger than {settings.MAX_UPLOAD // 1_000_000} MB. Clear the notebook's outputs first.", 413
        )
    sha256 = hashlib.sha256(content).hexdigest()
    with transaction.atomic():
        lock_member(member.id)
        mine = Attempt.objects.filter(link=link, member=member)
        last = mine.order_by("-number").first()
        if last is not None and last.sha256 == sha256 and last.name == shown and last.state != Attempt.NOT_GRADED:
            return last, False
        moment = timezone.now()
        _allowed(link, member, moment)
        attempt = Attempt.objects.create(
            course_id=link.course_id,
            link=link,
            member=member,
            number=(mine.aggregate(most=Max("number"))["most"] or 0) + 1,
            name=shown,
            sha256=sha256,
            size=len(content),
            handed_in_at=moment,
            due=due_for(member.id, time.time()),
        )
        HandedFile.objects.create(attempt=attempt, content=content)
        audit.note(link.course, member, "handed in", attempt.id, now=sha256)
        ring()
    return attempt, True


def attempts_left(link: Link, member: Member) -> int | None:
    """Return how many attempts a learner still has; None if there is no limit. What we couldn't grade costs none."""
    if not link.attempts or member.instructor:
        return None
    used = Attempt.objects.filter(link=link, member=member).exclude(state=Attempt.NOT_GRADED).count()
    return max(0, link.attempts - used)


def file_name(name: str) -> str:
    """Return the last part of a name, as it may be shown."""
    last = PurePosixPath(name.replace("\\", "/")).name
    shown = " ".join(clean.html(last).split())
    suffix = next((end for end in SUFFIXES if shown.lower().endswith(end)), "")
    return f"{shown.removesuffix(suffix)[:80]}{suffix}" if len(shown) > 100 else shown


def _allowed(link: Link, member: Member, moment: dt.datetime) -> None:
    mine = Attempt.objects.filter(member=member)
    if not member.instructor:
        if link.deadline is not None and moment > link.deadline:
            raise NotTaken("The deadline has passed, so nothing is taken any more.", 403)
        if attempts_left(link, member) == 0:
            raise NotTaken("You have handed in as often as this assignment allows.", 403)
    if mine.filter(state__in=Attempt.UNFINISHED).count() >= MAX_WAITING:
        raise NotTaken("Your earlier files are still waiting. Hand in again when one of them is graded.", 429)
    if mine.filter(handed_in_at__gte=moment - dt.timedelta(minutes=1)).count() >= MOST_A_MINUTE:
        raise NotTaken("You have handed in several files within a minute. Wait a moment before the next one.", 429)
