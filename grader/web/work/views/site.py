"""Pages that belong to no course: the door, the demo, receipts, and whether all is well."""

from __future__ import annotations

import re

from django.conf import settings
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from grader.web.lti.launch import Launch, Role
from grader.web.work import outbox
from grader.web.work.arrivals import arrive
from grader.web.work.models import Attempt
from grader.web.work.models.people import DEMO_PLATFORM
from grader.web.work.receipts import read_receipt
from grader.web.work.waiting import live_workers

__all__ = ["demo", "healthz", "home", "verify"]

PEOPLE: dict[str, tuple[str, Role]] = {
    "ada": ("Ada (student)", "learner"),
    "ben": ("Ben (student)", "learner"),
    "instructor": ("Ina (instructor)", "instructor"),
}
"""Who is in the demo's course."""


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Nobody has to come here: learners come from their LMS."""
    if settings.GRADE.demo:
        return redirect("work:demo")
    return render(request, "work/problem.html", {
        "title": "A grader", "text": "Open an assignment from your course: that brings you to it here.",
    })  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
def demo(request: HttpRequest) -> HttpResponse:
    """Choose who to be. Only where the server was started for this."""
    if not settings.GRADE.demo:
        raise Http404
    name: str
    role: Role
    chosen = request.POST.get("person", "")
    number = request.POST.get("number", "")
    if chosen == "another" and re.fullmatch(r"[1-9]\d{0,3}", number):
        chosen, name, role = f"student-{number}", f"Student {number}", "learner"
    elif chosen in PEOPLE:
        name, role = PEOPLE[chosen]
    else:
        return render(request, "work/demo.html", {"people": [(key, name) for key, (name, _) in PEOPLE.items()]})
    return arrive(request, Launch(
        platform_id=DEMO_PLATFORM, deployment_id="demo", context_id="demo", context_title="A course to try out",
        resource_link_id="demo", resource_title="", user=chosen, name=name, email="", roles=frozenset({role}),
        message="resource", custom=(), lineitem="", lineitems="", scopes=frozenset(), memberships="", for_user="",
        return_url="", locale="en",
    ))  # fmt: skip


@csrf_exempt  # it changes nothing; a token would be a session in the database for everybody who looks
@require_http_methods(["GET", "HEAD", "POST"])
def verify(request: HttpRequest) -> HttpResponse:
    """Say whether a receipt is ours, and what it says."""
    text = request.POST.get("receipt", "")
    told = read_receipt(text) if text else None
    lines = [(name.replace("_", " "), value) for name, value in told.items()] if told else []
    return render(request, "work/verify.html", {"asked": bool(text), "lines": lines})


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Whether the database answers and somebody grades; no number says who or what."""
    del request
    try:
        workers, queued = live_workers(), Attempt.objects.filter(state__in=Attempt.UNFINISHED).count()
        unsent = outbox.open_scores()
    except DatabaseError:
        return JsonResponse({"status": "database", "workers": 0}, status=503)
    status = "ok" if workers else "no workers"
    return JsonResponse({"status": status, "workers": workers, "queued": queued, "unsent": unsent},
                        status=200 if workers else 503)  # fmt: skip
