"""Deletes what is older than a term: files, reports, scores, people who weren't seen since, and the log."""

from __future__ import annotations

import datetime as dt

from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from grader.web.work.models import Attempt, AuditEntry, Course, Link, Member, WorkerSeen

__all__ = ["purge"]

BATCH = 200
"""Rows that go in one transaction: nobody has to wait long for the database."""


def purge(days: int, *, dry: bool = False) -> dict[str, int]:
    """Delete what is older than so many days; return how many rows of each kind.

    What waits or is being graded stays. A person stays while anything of theirs does.
    """
    before = timezone.now() - dt.timedelta(days=days)
    kinds = {
        "attempts": Attempt.objects.filter(handed_in_at__lt=before).exclude(state__in=Attempt.UNFINISHED),
        "people": Member.objects.filter(Q(seen_at__lt=before) | Q(seen_at=None, made_at__lt=before), handed_in=None),
        "links": Link.objects.filter(made_at__lt=before, handed_in=None, course__members=None),
        "courses": Course.objects.filter(made_at__lt=before, members=None),
        "log": AuditEntry.objects.filter(at__lt=before),
        "sessions": Session.objects.filter(expire_date__lt=timezone.now()),
    }
    gone: dict[str, int] = {}
    for name, rows in kinds.items():
        if dry:
            gone[name] = rows.count()
            continue
        gone[name] = 0
        while ids := list(rows.values_list("pk", flat=True)[:BATCH]):
            with transaction.atomic():
                # Asked once more: what was put into the queue meanwhile stays.
                found = rows.filter(pk__in=ids)
                count = found.count()
                found.delete()
            gone[name] += count
            if not count:
                break
    if not dry:
        WorkerSeen.objects.filter(seen__lt=before.timestamp()).delete()
    return gone
