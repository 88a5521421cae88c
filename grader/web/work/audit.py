"""Notes every change: who, when, what, from, to."""

from __future__ import annotations

from grader.web.work.models import AuditEntry, Course, Member

__all__ = ["GRADER", "note", "who"]

GRADER = "grader"
"""Who did what nobody asked for."""


def who(member: Member) -> str:
    """Return what the log calls a person."""
    return f"{member} ({member.id})"


def note(course: Course, by: Member | str, what: str, target: object, *, was: object = "", now: object = "") -> None:
    """Add one line to the log of a course; call it in the transaction of the change."""
    AuditEntry.objects.create(
        course=course,
        who=by if isinstance(by, str) else who(by),
        what=what,
        target=str(target)[:200],
        was=str(was)[:500],
        now=str(now)[:500],
    )
