"""An instructor's pages: the class, and what can be done about it. Every change goes into the log."""

from __future__ import annotations

import time
from decimal import Decimal, InvalidOperation
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.db.models import Max
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from grader.web.lti import roster as lti_roster
from grader.web.work import audit, outbox
from grader.web.work.download import class_files
from grader.web.work.grading import lock_member
from grader.web.work.models import Attempt, AuditEntry, Link, Override, ScoreDelivery
from grader.web.work.queue import ring
from grader.web.work.roster import roster_of, take_over
from grader.web.work.visitors import Visitor, instructor_of, visitor_of

__all__ = ["download", "handed_in_file", "log", "override", "refresh", "regrade", "roster", "send_again"]

LOG_ROWS = 200
AFTER_HAND_INS = 600.0
"""Seconds that judging a whole class again lets hand-ins go first; then it goes on among them."""

MAX_REASON = 500


@require_GET
def roster(request: HttpRequest, course_id: UUID, link_id: UUID) -> HttpResponse:
    """The class: who handed in what, how it stands, what needs you, and whether the LMS has the scores."""
    visitor = instructor_of(request, course_id)
    link = visitor.link(link_id)
    rows = roster_of(link)
    only = request.GET.get("show") == "needs"
    context = {
        "course": visitor.course,
        "member": visitor.member,
        "link": link,
        "links": visitor.course.links.order_by("title"),
        "rows": [row for row in rows if row.needs] if only else rows,
        "only": only,
        "needing": sum(bool(row.needs) for row in rows),
        "everybody": len(rows),
        "waiting": Attempt.objects.filter(link=link, state__in=Attempt.UNFINISHED).count(),
        "unsent": sum(row.delivery is not None and row.delivery.state != ScoreDelivery.SENT for row in rows),
    }
    return render(request, "work/roster.html", context)


@require_POST
def refresh(request: HttpRequest, course_id: UUID, link_id: UUID) -> HttpResponse:
    """Ask the LMS who is in the course."""
    visitor = instructor_of(request, course_id)
    link = visitor.link(link_id)
    if not visitor.course.memberships:
        messages.warning(request, "The LMS gives no roster for this course; people appear when they come.")
        return redirect("work:roster", course_id, link_id)
    try:
        found = lti_roster.members(visitor.course.platform_id, visitor.course.memberships)
    except Exception as error:  # noqa: BLE001 - whatever the LMS does, the page says so
        reason = getattr(error, "reason", "") or type(error).__name__
        messages.error(request, f"The LMS didn't give the roster: {reason}")
        return redirect("work:roster", course_id, link_id)
    with transaction.atomic():
        new, gone = take_over(visitor.course, found)
        audit.note(visitor.course, visitor.member, "roster", link.id, now=f"{new} new, {gone} not active any more")
    messages.success(request, f"The roster is up to date: {new} new, {gone} not active any more.")
    return redirect("work:roster", course_id, link_id)


@require_POST
def regrade(request: HttpRequest, course_id: UUID, link_id: UUID) -> HttpResponse:
    """Judge one attempt or all that count again; or run one again."""
    visitor = instructor_of(request, course_id)
    link = visitor.link(link_id)
    work = Attempt.RUN if request.POST.get("work") == "run" else Attempt.JUDGE
    one = request.POST.get("attempt", "")
    if one:
        attempt = visitor.attempt(_uuid(one))
        count = _again(visitor, link, [attempt.id], work, due=time.time())
    else:
        latest = Attempt.objects.filter(link=link).values("member").annotate(most=Max("number"))
        numbers = {row["member"]: row["most"] for row in latest}
        ids = [
            found
            for found, member, number in Attempt.objects.filter(link=link).values_list("id", "member_id", "number")
            if link.counts == "best" or numbers[member] == number
        ]
        count = _again(visitor, link, ids, work, due=time.time() + AFTER_HAND_INS)
    messages.success(request, f"{count} will be graded again." if count != 1 else "One attempt will be graded again.")
    return _back(request, course_id, link_id, one)


def _again(visitor: Visitor, link: Link, ids: list[UUID], work: str, *, due: float) -> int:
    """Put attempts that have ended into the queue once more; return how many. Those that wait are left alone."""
    with transaction.atomic():
        ended = Attempt.objects.filter(link=link, id__in=ids, state__in=(Attempt.GRADED, Attempt.NOT_GRADED))
        count = 0
        for attempt in ended.only("id", "state", "cents").order_by("handed_in_at"):
            # What has no report has nothing to be judged: it is run.
            what = work if attempt.cents is not None else Attempt.RUN
            count += Attempt.objects.filter(id=attempt.id, state=attempt.state).update(
                state=Attempt.QUEUED, work=what, due=due, tries=0, worker="", lease_until=0
            )
            audit.note(visitor.course, visitor.member, f"regrade: {what}", attempt.id, was=attempt.score)
        ring(count)
    return count


@require_POST
def override(request: HttpRequest, course_id: UUID, attempt_id: UUID) -> HttpResponse:
    """Give a criterion other points, with a reason that the learner reads; or take that back."""
    visitor = instructor_of(request, course_id)
    attempt = visitor.attempt(attempt_id)
    report = attempt.reports.order_by("-token").only("row").first()
    most = {} if report is None else {name: top for name, _, _, top in report.row["criteria"]}
    criterion = request.POST.get("criterion", "")
    problem = ""
    if criterion not in most:
        problem = "Choose a criterion."
    elif attempt.waits:
        problem = "This attempt is being graded. Try again when it is done."
    elif request.POST.get("remove"):
        _decide(visitor, attempt, criterion, None, "")
    else:
        cents = _cents(request.POST.get("points", ""))
        reason = " ".join(request.POST.get("reason", "").split())
        if cents is None or cents > most[criterion]:
            problem = f"Give from 0 to {most[criterion] / 100:g} points, with at most two decimals."
        elif not reason or len(reason) > MAX_REASON or not reason.isprintable():
            problem = f"Say why, in 1 to {MAX_REASON} letters: the learner reads it."
        else:
            _decide(visitor, attempt, criterion, cents, reason)
    if problem:
        messages.error(request, problem)
    else:
        messages.success(request, "Noted. The report and the score follow in a moment.")
    return redirect("work:attempt", course_id, attempt_id)


def _decide(visitor: Visitor, attempt: Attempt, criterion: str, cents: int | None, reason: str) -> None:
    with transaction.atomic():
        lock_member(attempt.member_id)
        before = Override.objects.filter(attempt=attempt, criterion=criterion).first()
        was = "" if before is None else f"{before.cents / 100:g}: {before.reason}"
        if cents is None:
            Override.objects.filter(attempt=attempt, criterion=criterion).delete()
        else:
            Override.objects.update_or_create(
                attempt=attempt,
                criterion=criterion,
                defaults={"cents": cents, "reason": reason, "by": visitor.member.name or "the instructor"},
            )
        now = "" if cents is None else f"{cents / 100:g}: {reason}"
        audit.note(visitor.course, visitor.member, f"override: {criterion}"[:50], attempt.id, was=was, now=now)
        ended = Attempt.objects.filter(id=attempt.id).exclude(state__in=Attempt.UNFINISHED)
        ring(ended.update(state=Attempt.QUEUED, work=Attempt.JUDGE, due=time.time(), tries=0, worker="", lease_until=0))


@require_POST
def send_again(request: HttpRequest, course_id: UUID, link_id: UUID) -> HttpResponse:
    """Send one score, or all that the LMS hasn't taken, once more."""
    visitor = instructor_of(request, course_id)
    link = visitor.link(link_id)
    with transaction.atomic():
        rows = ScoreDelivery.objects.select_for_update(of=("self",)).select_related("link__course")
        rows = rows.filter(course=visitor.course, link=link)
        one = request.POST.get("delivery", "")
        rows = rows.filter(id=_uuid(one)) if one else rows.exclude(state=ScoreDelivery.SENT)
        count = 0
        for row in rows:
            audit.note(visitor.course, visitor.member, "send again", row.member_id, was=row.state)
            outbox.send_again(row)
            count += 1
    if one and not count:
        raise Http404
    messages.success(request, f"{count} will be sent again." if count != 1 else "One score will be sent again.")
    return redirect("work:roster", course_id, link_id)


@require_GET
def download(request: HttpRequest, course_id: UUID, link_id: UUID) -> FileResponse:
    """Everything of a link, as the files of a batch."""
    visitor = instructor_of(request, course_id)
    link = visitor.link(link_id)
    audit.note(visitor.course, visitor.member, "download", link.id)
    return FileResponse(class_files(link), as_attachment=True, filename=f"{link.assignment}.zip")


@require_GET
def handed_in_file(request: HttpRequest, course_id: UUID, attempt_id: UUID) -> HttpResponse:
    """The file as it was handed in: a learner's own, or any for an instructor."""
    attempt = visitor_of(request, course_id).attempt(attempt_id)
    suffix = ".ipynb" if attempt.name.lower().endswith(".ipynb") else ".py"
    response = HttpResponse(bytes(attempt.file.content), content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="attempt-{attempt.number}{suffix}"'
    return response


@require_GET
def log(request: HttpRequest, course_id: UUID) -> HttpResponse:
    """Who changed what, the latest first."""
    visitor = instructor_of(request, course_id)
    try:
        page = max(0, int(request.GET.get("page", "0")))
    except ValueError:
        page = 0
    rows = AuditEntry.objects.filter(course=visitor.course).order_by("-at", "-id")
    shown = list(rows[page * LOG_ROWS : (page + 1) * LOG_ROWS + 1])
    return render(request, "work/log.html", {
        "course": visitor.course, "member": visitor.member, "rows": shown[:LOG_ROWS],
        "link": visitor.course.links.order_by("made_at").first(),
        "older": page + 1 if len(shown) > LOG_ROWS else None, "newer": page - 1 if page else None,
        "first": page == 1,
    })  # fmt: skip


def _back(request: HttpRequest, course_id: UUID, link_id: UUID, attempt: str) -> HttpResponse:
    if attempt and request.POST.get("from") == "attempt":
        return redirect("work:attempt", course_id, _uuid(attempt))
    return redirect("work:roster", course_id, link_id)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise Http404 from error


def _cents(text: str) -> int | None:
    try:
        cents = Decimal(text.strip().replace(",", ".")) * 100
        if not cents.is_finite() or not 0 <= cents <= 100_000_000 or cents != int(cents):
            return None
        return int(cents)
    except (InvalidOperation, OverflowError, ValueError):
        return None
