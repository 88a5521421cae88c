"""An attempt: a file that was handed in, where it stands in the queue, and what came of it."""

from __future__ import annotations

import uuid

from django.db import models

from grader.web.work.models.people import Course, Link, Member

__all__ = ["Attempt", "HandedFile", "Override", "Report", "WorkerSeen"]


class Attempt(models.Model):
    """The row is the truth: who has it, until when, and how it ended.

    Times of the queue are seconds since 1970 by the database's clock, which all workers share.

    Attributes:
        work: What is to be done: run the file, or judge again what it did.
        due: Its place in the queue. A learner's second one that waits counts as handed in later.
        worker, lease_until: Who has it, and until when they may keep it without a sign of life. Of one that waits, a
            time before which it isn't taken: its assignment can't be graded at the moment, and others go first.
        reason: Why it isn't graded, or why it waits.
        token: Counts how often it was taken: who had it before can't end it any more.
        tries: How often it was taken without an end.
        started: When it was taken first.
    """

    QUEUED, RUNNING, GRADED, NOT_GRADED = "queued", "running", "graded", "not_graded"
    RUN, JUDGE = "run", "judge"
    UNFINISHED = (QUEUED, RUNNING)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    course = models.ForeignKey(Course, on_delete=models.CASCADE, related_name="attempts")
    link = models.ForeignKey(Link, on_delete=models.CASCADE, related_name="handed_in")
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="handed_in")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField()
    handed_in_at = models.DateTimeField()
    state = models.CharField(max_length=12, default=QUEUED)
    work = models.CharField(max_length=8, default=RUN)
    due = models.FloatField()
    worker = models.CharField(max_length=100, blank=True)
    lease_until = models.FloatField(default=0)
    token = models.PositiveIntegerField(default=0)
    tries = models.PositiveIntegerField(default=0)
    started = models.FloatField(default=0)
    seconds = models.FloatField(default=0, help_text="what running it took")
    ended_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    cents = models.IntegerField(null=True, blank=True)
    max_cents = models.IntegerField(null=True, blank=True)
    look = models.JSONField(default=list)
    misconceptions = models.JSONField(default=list)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("link", "member", "number"), name="attempts_are_numbered"),)
        indexes = (
            models.Index(fields=("state", "due"), name="the_queue"),
            models.Index(fields=("state", "ended_at"), name="what_ended"),
        )

    def __str__(self) -> str:
        return str(self.id)

    @property
    def waits(self) -> bool:
        """Whether something is still to be done."""
        return self.state in self.UNFINISHED

    @property
    def score(self) -> str:
        """The points as decimal text, or nothing."""
        return "" if self.cents is None else f"{self.cents / 100:g}"

    @property
    def maximum(self) -> str:
        """The points that can be had, as decimal text, or nothing."""
        return "" if self.max_cents is None else f"{self.max_cents / 100:g}"


class HandedFile(models.Model):
    """The bytes of an attempt, apart from its row: only who grades it needs them."""

    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, primary_key=True, related_name="file")
    content = models.BinaryField()

    def __str__(self) -> str:
        return str(self.attempt_id)


class Report(models.Model):
    """What grading gave, once for each time that it was done; the latest counts. Files are compressed with zlib.

    Attributes:
        token: The attempt's, when it ended: two who had it can't both leave a report.
        row: How it ended, as a batch notes it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="reports")
    token = models.PositiveIntegerField()
    made_at = models.DateTimeField()
    row = models.JSONField()
    result = models.BinaryField()
    learner = models.BinaryField()
    instructor = models.BinaryField()
    fragment = models.BinaryField()
    transcript = models.BinaryField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("attempt", "token"), name="ended_once"),)

    def __str__(self) -> str:
        return str(self.id)


class Override(models.Model):
    """An instructor's own points for one criterion of one attempt, in hundredths, with the reason."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="overrides")
    criterion = models.CharField(max_length=200)
    cents = models.IntegerField()
    reason = models.CharField(max_length=500)
    by = models.CharField(max_length=500)
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("attempt", "criterion"), name="one_override_each"),)

    def __str__(self) -> str:
        return f"{self.attempt_id} {self.criterion}"


class WorkerSeen(models.Model):
    """A worker's last sign of life, in seconds since 1970 by the database's clock; or why it can't work."""

    name = models.CharField(max_length=100, primary_key=True)
    seen = models.FloatField()
    trouble = models.CharField(max_length=500, blank=True)

    def __str__(self) -> str:
        return self.name
