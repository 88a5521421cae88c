"""Who looks at a page: known by the session that a launch began, in each course on its own."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from grader.model._data import data
from grader.web.work.models import Attempt, Course, Link, Member

__all__ = ["MEMBERS", "Visitor", "instructor_of", "visitor_of"]

MEMBERS = "members"
"""In a session: the visitor's member id by course id."""


@data
class Visitor:
    """A person in a course. Whatever a page shows is asked for through these, so that no other course's is found."""

    course: Course
    member: Member

    def link(self, link_id: UUID) -> Link:
        """Return a link of this course. Raises Http404."""
        return get_object_or_404(Link.objects.select_related("course"), id=link_id, course=self.course)

    def attempt(self, attempt_id: UUID) -> Attempt:
        """Return an attempt that this person may see: a learner's own, an instructor's whole course. Raises Http404."""
        rows = Attempt.objects.select_related("course", "link", "member").filter(course=self.course)
        if not self.member.instructor:
            rows = rows.filter(member=self.member)
        return get_object_or_404(rows, id=attempt_id)


def visitor_of(request: HttpRequest, course_id: UUID) -> Visitor:
    """Return who is there. A course that this browser hasn't been let into isn't found: Http404."""
    member_id = request.session.get(MEMBERS, {}).get(str(course_id))
    if member_id is None:
        raise Http404
    member = get_object_or_404(Member.objects.select_related("course"), id=member_id, course_id=course_id)
    if not member.active:
        raise Http404
    return Visitor(course=member.course, member=member)


def instructor_of(request: HttpRequest, course_id: UUID) -> Visitor:
    """Return the instructor who is there. Raises Http404 for anybody else."""
    visitor = visitor_of(request, course_id)
    if not visitor.member.instructor:
        raise Http404
    return visitor
