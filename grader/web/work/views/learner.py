"""A learner's pages: hand in, wait, read the report, look at earlier ones."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from grader.core.changes import changes_of, read_marks
from grader.errors import CourseError
from grader.web.work import outbox
from grader.web.work.assignments import Offered, offered, the_course
from grader.web.work.grading import unpacked
from grader.web.work.handing_in import NotTaken, attempts_left, hand_in
from grader.web.work.middleware import frame_ancestors
from grader.web.work.models import Attempt, Link, Report, ScoreDelivery
from grader.web.work.receipts import receipt_of
from grader.web.work.visitors import Visitor, visitor_of
from grader.web.work.waiting import place_of

__all__ = ["attempt", "attempt_state", "hand_in_file", "receipt", "report", "starter", "student"]

Context = dict[str, Any]


@require_GET
def student(request: HttpRequest, course_id: UUID, link_id: UUID) -> HttpResponse:
    """An assignment: the form, and what was handed in before."""
    visitor = visitor_of(request, course_id)
    return render(request, "work/student.html", _student(visitor, visitor.link(link_id)))


@require_POST
def hand_in_file(request: HttpRequest, course_id: UUID, link_id: UUID) -> HttpResponse:
    """Take a file and show its attempt; or the form again with what is wrong."""
    visitor = visitor_of(request, course_id)
    link = visitor.link(link_id)
    file = request.FILES.get("file")
    try:
        if file is None:
            raise NotTaken("Choose a file first.")
        handed, _ = hand_in(link, visitor.member, file.name or "", file.read())
    except NotTaken as error:
        context = {**_student(visitor, link), "problem": error.sentence}
        return render(request, "work/student.html", context, status=error.status)
    return redirect("work:attempt", course_id, handed.id)


@require_GET
def attempt(request: HttpRequest, course_id: UUID, attempt_id: UUID) -> HttpResponse:
    """One attempt: its place in the queue, or its report with what changed since the one before."""
    visitor = visitor_of(request, course_id)
    shown = visitor.attempt(attempt_id)
    reports = _reports(shown)
    latest = reports[0] if reports else None
    context: Context = {
        **_about(visitor, shown.link),
        "attempt": shown,
        "place": place_of(shown) if shown.waits else None,
        "report": latest,
        "changes": _changes(shown, latest) if latest else None,
        "delivery": ScoreDelivery.objects.filter(link=shown.link, member=shown.member, attempt=shown).first(),
        "again_score": _delta(reports),
    }
    if shown.member_id == visitor.member.id and not shown.waits:
        context |= _chances(visitor, shown.link)
    if visitor.member.instructor:
        as_student = request.GET.get("as") == "student"
        context |= {
            "as_student": as_student,
            "criteria": [] if latest is None else _criteria(latest, shown),
            "overrides": shown.overrides.order_by("criterion"),
            "others": Attempt.objects.filter(link=shown.link, member=shown.member).order_by("-number"),
        }
    return render(request, "work/attempt.html", context)


@require_GET
def attempt_state(request: HttpRequest, course_id: UUID, attempt_id: UUID) -> JsonResponse:
    """What the page asks while it waits."""
    shown = visitor_of(request, course_id).attempt(attempt_id)
    if shown.state != Attempt.QUEUED:
        sentence = "Your file is being graded."
    elif shown.reason:
        sentence = "This assignment can't be graded at the moment; your instructor sees why."
    else:
        sentence = place_of(shown).sentence
    return JsonResponse({"waits": shown.waits, "sentence": sentence if shown.waits else "Done."})


@require_GET
def report(request: HttpRequest, course_id: UUID, attempt_id: UUID) -> HttpResponse:
    """The report itself, as a document that may load nothing, run nothing and belongs to no origin."""
    visitor = visitor_of(request, course_id)
    found = next(iter(_reports(visitor.attempt(attempt_id))), None)
    if found is None:
        raise Http404
    whole = visitor.member.instructor and request.GET.get("as") == "instructor"
    response = HttpResponse(unpacked(found.instructor if whole else found.learner))
    response["Content-Security-Policy"] = (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"frame-ancestors {frame_ancestors(request)}"
    )
    return response


@require_GET
def receipt(request: HttpRequest, course_id: UUID, attempt_id: UUID) -> HttpResponse:
    """The signed receipt, as a file."""
    shown = visitor_of(request, course_id).attempt(attempt_id)
    response = HttpResponse(receipt_of(shown), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="receipt-{shown.number}.txt"'
    return response


@require_GET
def starter(request: HttpRequest, course_id: UUID, link_id: UUID, name: str) -> HttpResponse:
    """A file of the handout."""
    link = visitor_of(request, course_id).link(link_id)
    try:
        known = offered(link.assignment)
    except CourseError as error:
        raise Http404 from error
    if name not in known.starters:
        raise Http404
    content = (the_course().handout(link.assignment) / name).read_bytes()
    response = HttpResponse(content, content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _student(visitor: Visitor, link: Link) -> Context:
    mine = list(Attempt.objects.filter(link=link, member=visitor.member).order_by("-number"))
    counts = outbox.counting(link, visitor.member)
    return {
        **_about(visitor, link),
        "attempts": mine,
        **_chances(visitor, link),
        "counts": counts,
        "delivery": ScoreDelivery.objects.filter(link=link, member=visitor.member).first(),
        "limit": settings.MAX_UPLOAD // 1_000_000,
    }


def _chances(visitor: Visitor, link: Link) -> Context:
    """Say whether, and how often, the visitor may hand in."""
    left = attempts_left(link, visitor.member)
    closed = link.deadline is not None and timezone.now() > link.deadline and not visitor.member.instructor
    return {"left": left, "closed": closed, "open": not closed and left != 0}


def _about(visitor: Visitor, link: Link) -> Context:
    try:
        known: Offered | None = offered(link.assignment)
    except CourseError:
        known = None  # what was graded can still be read
    return {"course": visitor.course, "member": visitor.member, "link": link, "known": known}


def _reports(shown: Attempt) -> list[Report]:
    """Return the reports of an attempt, the latest first, without the files that a page doesn't show."""
    rows = shown.reports.order_by("-token").defer("transcript", "fragment")
    return list(rows[:2])


def _delta(reports: list[Report]) -> tuple[str, str] | None:
    """Return points before and after, where the latest report is of another judgement and gave other points."""
    if len(reports) < 2 or reports[0].row["cents"] == reports[1].row["cents"]:
        return None
    return f"{reports[1].row['cents'] / 100:g}", f"{reports[0].row['cents'] / 100:g}"


def _changes(shown: Attempt, latest: Report) -> Context | None:
    """Compare with the learner's attempt before this one, where both are graded by the same assignment."""
    earlier = (
        Report.objects.filter(attempt__link=shown.link, attempt__member=shown.member, attempt__number__lt=shown.number)
        .order_by("-attempt__number", "-token")
        .only("result", "attempt")
        .select_related("attempt")
        .first()
    )
    if earlier is None:
        return None
    now, before = json.loads(unpacked(latest.result)), json.loads(unpacked(earlier.result))
    try:
        found = changes_of(read_marks(before), read_marks(now))
    except ValueError:
        return None
    titles = {
        f"{task['id']}/{one['id']}": f"{task['function']}: {one['title']}"
        for task in now["tasks"]
        for one in task["criteria"]
    }
    return {
        "number": earlier.attempt.number,
        "before": f"{found.before / 100:g}",
        "now": f"{found.now / 100:g}",
        "right": [titles[name] for name in found.right if name in titles],
        "wrong": [titles[name] for name in found.wrong if name in titles],
        "none": found.none,
    }


def _criteria(latest: Report, shown: Attempt) -> list[Context]:
    decided = {one.criterion: one for one in shown.overrides.all()}
    return [
        {
            "id": name,
            "status": status,
            "points": f"{cents / 100:g}",
            "maximum": f"{most / 100:g}",
            "override": decided.get(name),
        }
        for name, status, cents, most in latest.row["criteria"]
    ]
