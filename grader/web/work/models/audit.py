"""What was changed: who, when, what, from, to."""

from __future__ import annotations

from django.db import models

from grader.web.work.models.people import Course

__all__ = ["AuditEntry"]


class AuditEntry(models.Model):
    """One change. Rows are only ever added; a purge takes what is older than its term.

    Attributes:
        who: The person's name in the course and their id, or ``grader``.
        what: A word for the change.
        target: Id of what was changed.
        was, now: Before and after, in plain words or numbers.
    """

    course = models.ForeignKey(Course, on_delete=models.CASCADE, related_name="audit")
    at = models.DateTimeField(auto_now_add=True)
    who = models.CharField(max_length=600)
    what = models.CharField(max_length=50)
    target = models.CharField(max_length=200)
    was = models.CharField(max_length=500, blank=True)
    now = models.CharField(max_length=500, blank=True)

    class Meta:
        indexes = (models.Index(fields=("course", "at"), name="the_log"),)

    def __str__(self) -> str:
        return f"{self.what} {self.target}"
