"""A person comes in by a launch whose every check held: the rows are made or brought up to date, a session begins."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from grader.errors import CourseError
from grader.render import clean
from grader.web.lti.launch import Launch
from grader.web.work import audit, outbox
from grader.web.work.assignments import offered
from grader.web.work.middleware import RETURN, lms_origin, policy
from grader.web.work.models import Attempt, Course, Link, Member
from grader.web.work.visitors import MEMBERS

__all__ = ["arrive"]

PEOPLE = "people"
"""In a session: by platform, who came from it."""

MOST_KEPT = 50
"""Courses that one session knows."""

NOTHING = "Nothing to look at yet"
NOT_HERE = "This person has handed in nothing for this assignment."


class _Unusable(Exception):
    """A link's parameters don't say what to open; the text is for the instructor."""


def arrive(request: HttpRequest, launch: Launch) -> HttpResponse:
    """Let a person in and show them the page that they came for."""
    if launch.message == "review":
        return _review(request, launch)
    try:
        with transaction.atomic():
            course = _course(launch)
            member = _member(course, launch)
            link = _link(course, launch) if launch.resource_link_id else None
    except _Unusable as error:
        return _problem(request, launch, "This link can't be opened", str(error), 400)
    _begin(request, course, member, launch)
    if link is None:
        text = "Open the grader from an assignment of your course."
        return _problem(request, launch, "No assignment was chosen", text, 400)
    return redirect("work:roster" if member.instructor else "work:student", course.id, link.id)


def _review(request: HttpRequest, launch: Launch) -> HttpResponse:
    """Show one learner's submission, as it is opened from the gradebook: the attempt whose score counts, or the last.

    A review says little of the link, so that it changes neither link nor course: both are there, or there is nothing
    to look at. A learner looks at their own only, whomever the message names.
    """
    course = Course.objects.filter(**_where(launch)).first()
    link = _reviewed(course, launch) if course is not None else None
    if course is None or link is None:
        return _problem(request, launch, NOTHING, "Nobody has opened this assignment yet.", 404)
    with transaction.atomic():
        member = _member(course, launch)
    _begin(request, course, member, launch)
    if not launch.for_user:
        return redirect("work:roster" if member.instructor else "work:student", course.id, link.id)
    whose = Member.objects.filter(course=course, user=launch.for_user[:255]).first()
    if whose is None or not (member.instructor or whose == member):
        return _problem(request, launch, NOTHING, NOT_HERE, 404, course=course, link=link, member=member)
    mine = Attempt.objects.filter(course=course, link=link, member=whose).order_by("-number")
    shown = outbox.counting(link, whose) or mine.first()
    if shown is None:
        return _problem(request, launch, NOTHING, NOT_HERE, 404, course=course, link=link, member=member)
    return redirect("work:attempt", course.id, shown.id)


def _reviewed(course: Course, launch: Launch) -> Link | None:
    """Return the link whose submission is meant: by its own name, or where that isn't said, by its column."""
    links = Link.objects.filter(course=course)
    if launch.resource_link_id:
        return links.filter(resource_link_id=launch.resource_link_id[:255]).first()
    return links.filter(lineitem=launch.lineitem[:2000]).first() if launch.lineitem else None


def _where(launch: Launch) -> dict[str, Any]:
    """Return what names a course among all of them."""
    return {
        "platform_id": launch.platform_id,
        "deployment_id": launch.deployment_id[:255],
        # Without a course, a link stands for itself: two of them never share people.
        "context_id": launch.context_id[:255] or f"link:{launch.resource_link_id}"[:255],
    }


def _course(launch: Launch) -> Course:
    course, _ = Course.objects.get_or_create(**_where(launch))
    _keep(course, title=_line(launch.context_title) or course.title, memberships=launch.memberships[:2000])
    return course


def _member(course: Course, launch: Launch) -> Member:
    member, _ = Member.objects.get_or_create(course=course, user=launch.user[:255])
    _keep(
        member,
        name=_line(launch.name) or member.name,
        email=_line(launch.email) or member.email,
        learner="learner" in launch.roles,
        instructor="instructor" in launch.roles,
        active=True,
        seen_at=timezone.now(),
    )
    return member


def _link(course: Course, launch: Launch) -> Link:
    # A variable that the LMS doesn't know comes as its name.
    custom = {name: value for name, value in launch.custom if not value.startswith("$")}
    try:
        assignment = offered(custom.get("assignment", ""))
    except CourseError as error:
        raise _Unusable(f"Its parameter 'assignment' names nothing that is here: {error.message}") from error
    wanted = {
        "title": _line(launch.resource_title) or assignment.title,
        "assignment": assignment.id,
        "attempts": _attempts(custom.get("attempts", "")),
        "deadline": _deadline(custom.get("deadline", "")),
        "counts": _counts(custom.get("counts", "")),
        "lineitem": launch.lineitem[:2000],
        "lineitems": launch.lineitems[:2000],
    }
    link, new = Link.objects.get_or_create(
        course=course, resource_link_id=launch.resource_link_id[:255], defaults=wanted
    )
    if new:
        return link
    if not wanted["lineitem"]:
        wanted["lineitem"] = link.lineitem  # a launch may come without it; that we have found it stays true
    before = {name: getattr(link, name) for name in ("assignment", "attempts", "deadline", "counts")}
    had = bool(link.lineitem or link.lineitems)
    _keep(link, **wanted)
    for name, value in before.items():
        if getattr(link, name) != value:
            audit.note(course, "LMS", f"link: {name}", link.id, was=value, now=getattr(link, name))
    if not had and (link.lineitem or link.lineitems):
        outbox.gradebook_found(link)
    return link


def _begin(request: HttpRequest, course: Course, member: Member, launch: Launch) -> None:
    people = request.session.get(PEOPLE, {})
    if people.get(str(launch.platform_id), launch.user) != launch.user:
        # Somebody else has logged in to the LMS in this browser: what was open to the one before isn't any more.
        request.session.flush()
        people = {}
    request.session.cycle_key()
    request.session[PEOPLE] = {**people, str(launch.platform_id): launch.user}
    for name, value in ((MEMBERS, str(member.id)), (RETURN, launch.return_url)):
        kept = dict(list(request.session.get(name, {}).items())[-MOST_KEPT:])
        before = kept.pop(str(course.id), "")
        request.session[name] = {**kept, str(course.id): value or before}


def _problem(request: HttpRequest, launch: Launch, title: str, text: str, status: int, **more: object) -> HttpResponse:
    """Show a page that says why there is nothing else, also in the frame of the LMS that the launch came from."""
    response = render(request, "work/problem.html", {"title": title, "text": text, **more}, status=status)
    response["Content-Security-Policy"] = policy(f"'self' {lms_origin(launch.return_url)}".strip())
    return response


def _keep(row: Course | Member | Link, **wanted: object) -> None:
    """Write what differs: most launches change nothing but the time."""
    changed = [name for name, value in wanted.items() if getattr(row, name) != value]
    for name in changed:
        setattr(row, name, wanted[name])
    if changed:
        row.save(update_fields=changed)


def _line(text: str) -> str:
    return " ".join(clean.html(text).split())[:500]


def _attempts(text: str) -> int:
    if not text:
        return 0
    if not text.isascii() or not text.isdigit() or int(text[:6]) > 1000 or len(text) > 6:
        raise _Unusable("Its parameter 'attempts' isn't a number from 0 to 1000; 0 means as many as they like.")
    return int(text)


def _deadline(text: str) -> dt.datetime | None:
    if not text:
        return None
    try:
        found = parse_datetime(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise _Unusable("Its parameter 'deadline' isn't a time such as 2026-12-24T18:00:00+01:00.")
    return found


def _counts(text: str) -> str:
    if text not in ("", "last", "best"):
        raise _Unusable("Its parameter 'counts' is neither 'last' nor 'best'.")
    return text or "last"
