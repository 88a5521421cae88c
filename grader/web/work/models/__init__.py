"""The rows of the server.

Every row hangs on a course, and every query of a page goes through it: what belongs to another one isn't found.
Numbers that stand in addresses are drawn at random.
"""

from __future__ import annotations

from grader.web.work.models.attempts import Attempt, HandedFile, Override, Report, WorkerSeen
from grader.web.work.models.audit import AuditEntry
from grader.web.work.models.people import Course, Link, Member
from grader.web.work.models.scores import ScoreDelivery

__all__ = [
    "Attempt",
    "AuditEntry",
    "Course",
    "HandedFile",
    "Link",
    "Member",
    "Override",
    "Report",
    "ScoreDelivery",
    "WorkerSeen",
]
