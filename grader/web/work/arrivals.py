"""A person comes in by a launch whose every check held: the rows are made or brought up to date, a session begins."""

from __future__ import annotations

import datetime as dt
from urllib.parse import urlsplit

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
from grader.web.work.middleware import FRAMES
from grader.web.work.models import Attempt, Course, Link, Member
from grader.web.work.visitors import MEMBERS, RETURN

__all__ = ["arrive"]

MOST_KEPT = 50
"""Courses that one session knows."""


class _Unusable(Exception):
    """A link's parameters don't say what to open; the text is for the instructor."""


def arrive(request: HttpRequest, launch: Launch) -> HttpResponse:
    """Let a person in and show them the page that they came for."""
    _frame(request, launch)
    try:
        with transaction.atomic():
            course = _course(launch)
            member = _member(course, launch)
            link = _link(course, launch) if launch.resource_link_id else None
    except _Unusable as error:
        return render(
            request, "work/problem.html", {"title": "This link can't be opened", "text": str(error)}, status=400
        )
    _begin(request, course, member, launch)
    if launch.message == "review" and launch.for_user and link is not None:
        shown = Attempt.objects.filter(course=course, link=link, member__user=launch.for_user[:255])
        if not member.instructor:
            shown = shown.filter(member=member)
        attempt = shown.order_by("-number").first()
        if attempt is not None:
            return redirect("work:attempt", course.id, attempt.id)
    if link is None:
        return render(request, "work/problem.html", {
            "title": "No assignment was chosen",
            "text": "Open the grader from an assignment of your course.",
        }, status=400)  # fmt: skip
    return redirect("work:roster" if member.instructor else "work:student", course.id, link.id)


def _course(launch: Launch) -> Course:
    course, _ = Course.objects.get_or_create(
        platform_id=launch.platform_id,
        deployment_id=launch.deployment_id[:255],
        # Without a course, a link stands for itself: two of them never share people.
        context_id=launch.context_id[:255] or f"link:{launch.resource_link_id}"[:255],
    )
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
    request.session.cycle_key()
    for name, value in ((MEMBERS, str(member.id)), (RETURN, launch.return_url)):
        kept = dict(list(request.session.get(name, {}).items())[-MOST_KEPT:])
        kept.pop(str(course.id), None)
        request.session[name] = {**kept, str(course.id): value}


def _frame(request: HttpRequest, launch: Launch) -> None:
    """Let the LMS show our pages in a frame, also the one that says why there is nothing else."""
    parts = urlsplit(launch.return_url)
    if parts.scheme in ("http", "https") and parts.hostname and not set(parts.netloc) & set(" ;,'\"@"):
        origin = f"{parts.scheme}://{parts.netloc}"
        request.session[FRAMES] = list(dict.fromkeys([*request.session.get(FRAMES, []), origin]))[-10:]


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
