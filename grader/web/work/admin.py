"""The admin: for whoever runs the server. What learners handed in is shown by number, never as text."""

from __future__ import annotations

from django.apps import apps
from django.contrib import admin

from grader.web.shown import Shown
from grader.web.work.models import Attempt, AuditEntry, Course, Link, Member, ScoreDelivery, WorkerSeen

__all__: list[str] = []


class CourseAdmin(Shown):
    """Courses."""

    list_display = ("title", "platform_id", "deployment_id", "context_id", "made_at")
    search_fields = ("title", "context_id")


class LinkAdmin(Shown):
    """Links."""

    list_display = ("title", "course", "assignment", "attempts", "deadline", "counts")
    list_filter = ("assignment",)


class MemberAdmin(Shown):
    """People."""

    list_display = ("id", "course", "learner", "instructor", "active", "seen_at")


class AttemptAdmin(Shown):
    """Attempts."""

    list_display = ("id", "course", "number", "state", "work", "handed_in_at", "ended_at", "tries", "reason")
    list_filter = ("state",)


class ScoreDeliveryAdmin(Shown):
    """Scores on their way."""

    list_display = ("id", "course", "state", "tries", "version", "sent_version", "sent_at", "reason")
    list_filter = ("state",)


class AuditEntryAdmin(Shown):
    """The log."""

    list_display = ("at", "course", "who", "what", "target", "was", "now")
    list_filter = ("what",)


class WorkerSeenAdmin(Shown):
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

if apps.is_installed("procrastinate.contrib.django"):
    from procrastinate.contrib.django.admin import ProcrastinateJobAdmin
    from procrastinate.contrib.django.models import ProcrastinateJob

    class TicketAdmin(ProcrastinateJobAdmin):
        """Tickets that call workers: shown as procrastinate shows them, without its buttons."""

        actions = []

    admin.site.unregister(ProcrastinateJob)
    admin.site.register(ProcrastinateJob, TicketAdmin)
