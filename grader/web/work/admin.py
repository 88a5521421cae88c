"""The admin: for whoever runs the server. What learners handed in is shown by number, never as text."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from grader.web.work.models import Attempt, AuditEntry, Course, Link, Member, ScoreDelivery, WorkerSeen

__all__: list[str] = []


class _Shown(admin.ModelAdmin):  # type: ignore[type-arg]  # Django's own class takes no arguments at run time
    """Rows that the server keeps: to be looked at, not to be changed behind its back."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nothing is added by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nothing is changed by hand."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nothing is deleted by hand; ``grade web purge`` deletes what is older than a term."""
        return False


class CourseAdmin(_Shown):
    """Courses."""

    list_display = ("title", "platform_id", "deployment_id", "context_id", "made_at")
    search_fields = ("title", "context_id")


class LinkAdmin(_Shown):
    """Links."""

    list_display = ("title", "course", "assignment", "attempts", "deadline", "counts")
    list_filter = ("assignment",)


class MemberAdmin(_Shown):
    """People."""

    list_display = ("id", "course", "learner", "instructor", "active", "seen_at")


class AttemptAdmin(_Shown):
    """Attempts."""

    list_display = ("id", "course", "number", "state", "work", "handed_in_at", "ended_at", "tries", "reason")
    list_filter = ("state",)


class ScoreDeliveryAdmin(_Shown):
    """Scores on their way."""

    list_display = ("id", "course", "state", "tries", "version", "sent_version", "sent_at", "reason")
    list_filter = ("state",)


class AuditEntryAdmin(_Shown):
    """The log."""

    list_display = ("at", "course", "who", "what", "target", "was", "now")
    list_filter = ("what",)


class WorkerSeenAdmin(_Shown):
    """Workers."""

    list_display = ("name", "seen", "trouble")


for model, shown in (
    (Course, CourseAdmin),
    (Link, LinkAdmin),
    (Member, MemberAdmin),
    (Attempt, AttemptAdmin),
    (ScoreDelivery, ScoreDeliveryAdmin),
    (AuditEntry, AuditEntryAdmin),
    (WorkerSeen, WorkerSeenAdmin),
):
    admin.site.register(model, shown)
