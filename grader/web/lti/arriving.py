"""The launch itself: the platform's answer comes back through the browser, and is believed only if all checks hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.module_loading import import_string
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt

from grader.web.lti.addresses import on_our_origin
from grader.web.lti.claims import read_deep_link, read_launch, target_of
from grader.web.lti.cookies import drop
from grader.web.lti.deep_linking import offer
from grader.web.lti.launch import Launch
from grader.web.lti.login import cookie_of, same_browser, window_url
from grader.web.lti.models import LoginState
from grader.web.lti.refusals import Refusal, refused
from grader.web.lti.tokens_in import verified

__all__ = ["ARRIVE", "launch"]

ARRIVE = "grader.web.work.arrivals.arrive"
"""What a launch is handed to, unless the setting GRADE_ARRIVE names something else."""


@csrf_exempt  # it comes from the LMS's page; state, cookie and nonce are what protects it
@xframe_options_exempt
def launch(request: HttpRequest) -> HttpResponse:
    """Take a launch: check all of it, then hand it on. Each login is answered once, whatever comes of it."""
    found: LoginState | None = None
    try:
        if request.method != "POST":
            raise Refusal("launch-not-posted")
        found = _login(request)
        if not same_browser(request, found):
            return _elsewhere(request, found)
        # One row, one statement: of two requests that come at once, one gets through.
        if not LoginState.objects.filter(state=found.state, used_at=None).update(used_at=timezone.now()):
            raise Refusal("launch-used")
        answer = _welcome(request, found)
    except Refusal as refusal:
        answer = refused(request, refusal, platform_id=found.platform_id if found else None)
    if found is not None:
        drop(request, answer, cookie_of(found.state))
    return answer


def _login(request: HttpRequest) -> LoginState:
    state = request.POST.get("state", "")
    if not state:
        raise Refusal("launch-no-state")
    found = None
    if len(state) <= 64 and "\0" not in state:
        found = LoginState.objects.select_related("platform").filter(state=state).first()
    if found is None:
        raise Refusal("launch-unknown-state")
    if found.used_at is not None:
        raise Refusal("launch-used")
    if found.expires_at <= timezone.now():
        raise Refusal("launch-late")
    if not found.platform.active:
        raise Refusal("launch-inactive")
    return found


def _elsewhere(request: HttpRequest, found: LoginState) -> HttpResponse:
    """Refuse what another browser sends; one that keeps no cookies in frames may begin anew in a window.

    The login stays as it is: who only knows its state can't spoil it for the browser that it belongs to.
    """
    if any(name.startswith("lti-") for name in request.COOKIES):
        return refused(request, Refusal("launch-other-browser"), platform_id=found.platform_id)
    return refused(
        request, Refusal("launch-no-cookie"), platform_id=found.platform_id, window=window_url(request, found)
    )


def _welcome(request: HttpRequest, found: LoginState) -> HttpResponse:
    if "error" in request.POST:
        raise Refusal("launch-platform-said-no", _word(request.POST["error"]))
    token = request.POST.get("id_token", "")
    if not token:
        raise Refusal("launch-no-token")
    claims = verified(token, found)
    made = read_launch(claims, found.platform_id)
    if not on_our_origin(target_of(claims), request):
        raise Refusal("token-foreign-target")
    if made.message == "deep_link":
        return offer(request, made, read_deep_link(claims))
    return _arrive()(request, made)


def _arrive() -> Callable[[HttpRequest, Launch], HttpResponse]:
    named: Any = getattr(settings, "GRADE_ARRIVE", ARRIVE)
    found: Callable[[HttpRequest, Launch], HttpResponse] = import_string(named) if isinstance(named, str) else named
    return found


def _word(text: str) -> str:
    """Return an error's name as OpenID Connect spells them, for the log; nothing else gets there."""
    return text if len(text) <= 40 and text.replace("_", "").isalpha() and text.isascii() else "other"
