"""How long the queue is, in words that are true: a place, and a time that is measured rather than hoped for."""

from __future__ import annotations

import math
import statistics

from django.conf import settings
from django.db.models import Q

from grader.model._data import data
from grader.web.work.clock import now
from grader.web.work.models import Attempt, WorkerSeen

__all__ = ["Place", "live_workers", "place_of"]

REMEMBERED = 20
FIRST_GUESS = 5.0
"""Seconds that one attempt is said to take before any was measured."""


@data
class Place:
    """Where an attempt stands.

    Attributes:
        ahead: How many are graded before it.
        seconds: When it will about be done; None if no worker gives a sign of life.
    """

    ahead: int
    seconds: int | None

    @property
    def sentence(self) -> str:
        """What the learner reads."""
        if self.ahead == 0:
            queue = "Your file is next."
        elif self.ahead == 1:
            queue = "One file is graded before yours."
        else:
            queue = f"{self.ahead} files are graded before yours."
        if self.seconds is None:
            return f"{queue} Nothing is being graded at the moment; your file is kept and will be graded."
        return f"{queue} It will be done in about {_span(self.seconds)}."


def live_workers() -> int:
    """Return how many workers gave a sign of life within a lease, and have no trouble."""
    since = now() - settings.GRADE.lease
    return WorkerSeen.objects.filter(seen__gte=since, trouble="").count()


def place_of(attempt: Attempt) -> Place:
    """Return where an attempt that isn't finished stands."""
    if attempt.state == Attempt.RUNNING:
        ahead = 0
    else:
        # What is running counts with its worker: it will be free before long.
        before = Q(due__lt=attempt.due) | Q(due=attempt.due, id__lt=attempt.id)
        ahead = Attempt.objects.filter(before, state=Attempt.QUEUED).count()
    workers = live_workers()
    if not workers:
        return Place(ahead=ahead, seconds=None)
    recent = list(
        Attempt.objects.filter(state=Attempt.GRADED, link__assignment=attempt.link.assignment, seconds__gt=0)
        .order_by("-ended_at")
        .values_list("seconds", flat=True)[:REMEMBERED]
    )
    each = statistics.fmean(recent) if recent else FIRST_GUESS
    rounds = 1 if attempt.state == Attempt.RUNNING else 1 + (ahead + 1) / workers
    return Place(ahead=ahead, seconds=max(1, math.ceil(each * rounds)))


def _span(seconds: int) -> str:
    if seconds < 10:
        return f"{seconds} s"
    if seconds < 90:
        return f"{math.ceil(seconds / 10) * 10} s"
    minutes = math.ceil(seconds / 60)
    return f"{minutes} minutes" if minutes < 90 else f"{math.ceil(minutes / 60)} hours"
