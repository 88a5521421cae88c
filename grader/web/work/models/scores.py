"""The outbox: for each learner of a link, the score that the LMS should have, and whether it has it."""

from __future__ import annotations

import uuid

from django.db import models

from grader.web.work.models.attempts import Attempt
from grader.web.work.models.people import Course, Link, Member

__all__ = ["ScoreDelivery"]


class ScoreDelivery(models.Model):
    """One row for each learner of a link, so that scores of one learner go one after the other, and the last one last.

    Attributes:
        attempt: Whose score counts.
        version: Rises with each score that should go out; ``sent_version`` is the one that arrived.
        token, lease_until: As of an attempt: who is sending it.
        stamp: The latest timestamp that went out, in seconds since 1970; the next is later by a second or more.
        reason: What the LMS said when it refused, or what is being waited for.
    """

    WAITING, SENDING, SENT, REFUSED, NOWHERE = "waiting", "sending", "sent", "refused", "nowhere"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    course = models.ForeignKey(Course, on_delete=models.CASCADE, related_name="deliveries")
    link = models.ForeignKey(Link, on_delete=models.CASCADE, related_name="deliveries")
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="deliveries")
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="deliveries")
    cents = models.IntegerField()
    max_cents = models.IntegerField()
    version = models.PositiveIntegerField(default=1)
    sent_version = models.PositiveIntegerField(default=0)
    sent_cents = models.IntegerField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=10, default=WAITING)
    tries = models.PositiveIntegerField(default=0)
    next_at = models.FloatField(default=0)
    lease_until = models.FloatField(default=0)
    token = models.PositiveIntegerField(default=0)
    stamp = models.FloatField(default=0)
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("link", "member"), name="one_score_each"),)
        indexes = (models.Index(fields=("state", "next_at"), name="the_outbox"),)

    def __str__(self) -> str:
        return str(self.id)
