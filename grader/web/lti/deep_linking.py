"""An instructor chooses an assignment, and the LMS makes a link of it, with a column in the gradebook."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from grader.course import find_course
from grader.course.spec import read_spec
from grader.course.texts import read_texts
from grader.errors import CourseError
from grader.model._data import data
from grader.web.lti.addresses import launch_url, origin, our_url
from grader.web.lti.claims import DEPLOYMENT, LTI, VERSION, DeepLink
from grader.web.lti.keys import sign
from grader.web.lti.launch import Launch
from grader.web.lti.lineitems import submission_review
from grader.web.lti.models import Deployment, Platform
from grader.web.lti.pages import page
from grader.web.lti.refusals import Refusal, refused
from grader.web.lti.sealing import SealBroken

__all__ = ["Choice", "choices", "choose", "offer"]

DL = "https://purl.imsglobal.org/spec/lti-dl/claim"
SALT = "grader.web.lti.deep-link"
LIFE = timedelta(hours=1)
ANSWER_SECONDS = 300
MAX_ATTEMPTS = 1000


@data
class Choice:
    """An assignment of the course."""

    id: str
    title: str
    points: int


def choices() -> list[Choice]:
    """Return the assignments of this server's course; those that can't be read are left out.

    Raises:
        CourseError: If there is no course.
    """
    folder = str(getattr(getattr(settings, "GRADE", None), "course", ""))
    course = find_course(Path(folder) if folder else None)
    found = []
    for name in course.assignments:
        try:
            spec = read_spec(course.reference(name) / "assignment.toml")
            texts = read_texts(course.reference(name) / f"feedback.{spec.language}.toml")
        except CourseError:
            continue
        found.append(Choice(id=name, title=texts.get("title", name), points=sum(task.points for task in spec.tasks)))
    return found


def offer(request: HttpRequest, launch: Launch, wanted: DeepLink) -> HttpResponse:
    """Show the assignments. What the answer needs travels with the form, signed: no session has to hold in a frame."""
    ticket = signing.dumps(
        {
            "platform": launch.platform_id,
            "deployment": launch.deployment_id,
            "return_url": wanted.return_url,
            "data": wanted.data,
            "line_items": wanted.line_items,
        },
        salt=SALT,
        compress=True,
    )
    return _form(request, ticket, {})


@csrf_exempt  # the ticket is the right to do it, not a cookie: whoever hasn't got one can't make the form
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Take a choice, and send the browser back to the LMS with it."""
    ticket = request.POST.get("ticket", "")
    try:
        held = signing.loads(ticket, salt=SALT, max_age=LIFE)
    except signing.BadSignature:
        return refused(request, Refusal("deep-link-late"))
    platform = Platform.objects.filter(pk=held["platform"], active=True).first()
    if platform is None or not Deployment.objects.filter(platform=platform, deployment_id=held["deployment"]).exists():
        return refused(request, Refusal("token-deployment"), platform_id=held["platform"])
    chosen = next((one for one in choices() if one.id == request.POST.get("assignment", "")), None)
    try:
        if chosen is None:
            raise ValueError("Choose an assignment.")
        custom = {"assignment": chosen.id, **_attempts(request), **_deadline(request)}
    except ValueError as error:
        return _form(request, ticket, {"problem": str(error)}, status=400)
    item = _item(chosen, custom, launch_url(request), line_item=held["line_items"])
    try:
        answer = _answer(platform, held, item)
    except SealBroken:
        return refused(request, Refusal("deep-link-key-lost"), platform_id=platform.pk, status=503)
    return page(
        request,
        "lti/return.html",
        {"return_url": held["return_url"], "answer": answer},
        # The LMS may send the browser on from there, which browsers count as part of the form.
        forms_to=(origin(held["return_url"]), "https:"),
    )


def _form(request: HttpRequest, ticket: str, more: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    offered = choices()
    chosen = request.POST.get("assignment", "") or (offered[0].id if len(offered) == 1 else "")
    values = {
        "ticket": ticket,
        "choices": offered,
        "chosen": chosen,
        "attempts": request.POST.get("attempts", "")[:10],
        "deadline": request.POST.get("deadline", "")[:30],
        "zone": timezone.get_current_timezone_name(),
        "action": our_url("choose", request),
        **more,
    }
    return page(request, "lti/choose.html", values, status=status)


def _attempts(request: HttpRequest) -> dict[str, str]:
    text = request.POST.get("attempts", "").strip()
    if not text:
        return {}
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MAX_ATTEMPTS:
        raise ValueError(f"Attempts are a whole number from 1 to {MAX_ATTEMPTS}, or nothing.")
    return {"attempts": str(int(text))}


def _deadline(request: HttpRequest) -> dict[str, str]:
    text = request.POST.get("deadline", "").strip()
    if not text:
        return {}
    try:
        found = datetime.fromisoformat(text)
        zoned = found if found.tzinfo is not None else timezone.make_aware(found)
        return {"deadline": zoned.astimezone(UTC).isoformat(timespec="seconds")}
    except (ValueError, OverflowError):
        raise ValueError("The deadline isn't a date and a time.") from None


def _item(chosen: Choice, custom: dict[str, str], url: str, *, line_item: bool) -> dict[str, Any]:
    item: dict[str, Any] = {"type": "ltiResourceLink", "title": chosen.title, "url": url, "custom": custom}
    if line_item:
        # The same id and tag by which a column is looked for later.
        item["lineItem"] = {
            "label": chosen.title, "scoreMaximum": chosen.points, "resourceId": chosen.id, "tag": chosen.id,
            "submissionReview": submission_review(url),
        }  # fmt: skip
    return item


def _answer(platform: Platform, held: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    now = int(timezone.now().timestamp())
    claims: dict[str, Any] = {
        "iss": platform.client_id,
        "aud": platform.issuer,
        "iat": now,
        "exp": now + ANSWER_SECONDS,
        "nonce": secrets.token_urlsafe(24),
        DEPLOYMENT: held["deployment"],
        f"{LTI}/message_type": "LtiDeepLinkingResponse",
        VERSION: "1.3.0",
        f"{DL}/content_items": [item],
    }
    if held["data"] is not None:
        claims[f"{DL}/data"] = held["data"]
    return sign(claims)
