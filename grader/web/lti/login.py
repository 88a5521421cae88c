"""The beginning of a launch: the LMS asks us to log somebody in, and we send the browser back to it for a token."""

from __future__ import annotations

import itertools
import secrets
from datetime import timedelta
from urllib.parse import urlencode

from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from grader.web.lti.addresses import launch_url, on_our_origin, our_url
from grader.web.lti.cookies import put
from grader.web.lti.models import LoginState, Platform
from grader.web.lti.pages import page
from grader.web.lti.refusals import Refusal, refused
from grader.web.lti.sealing import digest

__all__ = ["KEEP", "LIFE", "MOST", "TIDY", "cookie_of", "login", "onward", "same_browser", "window", "window_url"]

LIFE = timedelta(minutes=10)
"""How long a login may take: somebody may have to give a password to the LMS in between."""

KEEP = timedelta(hours=2)
"""How long logins that are over are remembered, so that coming again gets the right answer."""

MOST = 20_000
"""Logins of one platform that are kept.

Anybody can begin logins, so that there has to be an end to them, and what is over it goes by age: the oldest first.
To refuse new ones would be what an attacker wants: with a few thousand logins that are never answered, nobody gets in
for ten minutes. So they have to begin 20,000 within the seconds that a browser needs to come back from its LMS, at a
thousand a minute from each address, all the time.
"""

TIDY = 100
"""With each hundredth login, what is over the number goes."""

AT_ONCE = 1000
"""Rows that one request deletes at most."""

_BEGUN = itertools.count()

MAX_HINT = 8000
"""Characters of both hints together, and of a target."""


@csrf_exempt  # it comes from the LMS's page, changes nothing and begins with no session
@require_http_methods(["GET", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    """Answer a login initiation with a redirect to the platform.

    Always with a 302: a page that posts itself would arrive there without the platform's own cookies.
    """
    given = request.POST if request.method == "POST" else request.GET
    try:
        platform = _platform(given)
        made, secret = _begin(request, platform, given)
    except Refusal as refusal:
        return refused(request, refusal, status=400)
    answer = _away(request, made)
    if request.headers.get("Sec-Fetch-Dest") in ("iframe", "frame", "embed", "object"):
        # Some platforms take a login's hint once only, so that we see whether cookies work here before it is spent.
        answer = HttpResponseRedirect(f"{our_url('onward', request)}?{urlencode({'state': made.state})}")
    put(request, answer, cookie_of(made.state), secret, int(LIFE.total_seconds()))
    return answer


@require_safe
def onward(request: HttpRequest) -> HttpResponse:
    """Go on to the platform if this browser kept the cookie; else offer a window of its own, where it will."""
    found = _open(request)
    if found is None:
        return refused(request, Refusal("launch-unknown-state"), status=400)
    if same_browser(request, found):
        return _away(request, found)
    return page(request, "lti/window.html", {"window": window_url(request, found)})


@require_safe
def window(request: HttpRequest) -> HttpResponse:
    """Begin the login anew, in a window of its own: with a new state, a new nonce and a cookie of this window."""
    found = _open(request)
    if found is None:
        return refused(request, Refusal("launch-unknown-state"), status=400)
    if not LoginState.objects.filter(state=found.state, used_at=None).update(used_at=timezone.now()):
        return refused(request, Refusal("launch-used"), platform_id=found.platform_id, status=400)
    made, secret = _keep(found.platform, found.login_hint, found.message_hint)
    answer = _away(request, made)
    put(request, answer, cookie_of(made.state), secret, int(LIFE.total_seconds()))
    return answer


def window_url(request: HttpRequest, found: LoginState) -> str:
    """Return the address that goes on with a login in a window of its own."""
    return f"{our_url('window', request)}?{urlencode({'state': found.state})}"


def cookie_of(state: str) -> str:
    """Return the name of a login's cookie; each has its own, so that several windows don't disturb each other."""
    return f"lti-{digest(state)[:16]}"


def same_browser(request: HttpRequest, found: LoginState) -> bool:
    """Whether the request comes from the browser that began the login."""
    secret = request.COOKIES.get(cookie_of(found.state), "")
    return bool(secret) and secrets.compare_digest(digest(secret), found.browser)


def _platform(given: QueryDict) -> Platform:
    issuer, client_id = given.get("iss", ""), given.get("client_id", "")
    if not issuer:
        raise Refusal("login-no-issuer")
    if max(map(len, (issuer, client_id))) > 1000 or "\0" in issuer + client_id:
        raise Refusal("login-too-long")
    found = Platform.objects.filter(issuer=issuer, active=True)
    if client_id:
        found = found.filter(client_id=client_id)
    platforms = list(found[:2])
    if not platforms:
        raise Refusal("login-unknown-platform")
    if len(platforms) > 1:
        raise Refusal("login-which-platform")
    return platforms[0]


def _begin(request: HttpRequest, platform: Platform, given: QueryDict) -> tuple[LoginState, str]:
    login_hint, message_hint = given.get("login_hint", ""), given.get("lti_message_hint")
    target = given.get("target_link_uri", "")
    if not login_hint:
        raise Refusal("login-no-hint")
    if max(len(login_hint) + len(message_hint or ""), len(target)) > MAX_HINT or "\0" in login_hint + (
        message_hint or ""
    ):
        raise Refusal("login-too-long")
    if target and not on_our_origin(target, request):
        raise Refusal("login-foreign-target", f"platform {platform.pk}")
    return _keep(platform, login_hint, message_hint)


def _keep(platform: Platform, login_hint: str, message_hint: str | None) -> tuple[LoginState, str]:
    """Keep a new login, and return it with the secret of its browser, of which we keep the digest only.

    The state travels through addresses, logs and the platform. Who has seen it there can't make the cookie from it.
    """
    now = timezone.now()
    LoginState.objects.filter(expires_at__lt=now - KEEP).delete()
    if next(_BEGUN) % TIDY == 0:
        _forget(platform)
    secret = secrets.token_urlsafe(32)
    made = LoginState.objects.create(
        state=secrets.token_urlsafe(32),
        nonce=secrets.token_urlsafe(32),
        browser=digest(secret),
        platform=platform,
        login_hint=login_hint,
        message_hint=message_hint,
        created_at=now,
        expires_at=now + LIFE,
    )
    return made, secret


def _forget(platform: Platform) -> None:
    """Delete what is over ``MOST``: logins that were answered go before open ones, old ones before young ones."""
    rows = LoginState.objects.filter(platform=platform)
    order = (F("used_at").asc(nulls_first=True), F("created_at").desc())
    over = list(rows.order_by(*order).values_list("state", flat=True)[MOST : MOST + AT_ONCE])
    if over:
        with transaction.atomic():
            # Another process may be at it as well.
            free = rows.filter(state__in=over).select_for_update(skip_locked=True)
            rows.filter(state__in=list(free.values_list("state", flat=True))).delete()


def _open(request: HttpRequest) -> LoginState | None:
    """Return the login that a request names, if it can still be answered."""
    state = request.GET.get("state", "")
    if not state or len(state) > 64 or "\0" in state:
        return None
    found = LoginState.objects.select_related("platform").filter(state=state, used_at=None)
    return found.filter(expires_at__gt=timezone.now(), platform__active=True).first()


def _away(request: HttpRequest, made: LoginState) -> HttpResponse:
    """Return the redirect to the platform, whose address may have a query already."""
    asked = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": made.platform.client_id,
        "redirect_uri": launch_url(request),
        "login_hint": made.login_hint,
        "state": made.state,
        "nonce": made.nonce,
    }
    if made.message_hint is not None:
        asked["lti_message_hint"] = made.message_hint
    url = made.platform.auth_url
    answer = HttpResponseRedirect(f"{url}{'&' if '?' in url else '?'}{urlencode(asked)}")
    answer["Cache-Control"] = "no-store"
    answer["Referrer-Policy"] = "no-referrer"
    return answer
