"""Dynamic registration: an LMS's administrator opens our address, and both sides tell each other what they need.

The address holds a secret that ``grade lti invite`` makes: only who has one can make us fetch anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from grader.web.lti.addresses import base_url, launch_url, our_url, split
from grader.web.lti.claims import UNFIT
from grader.web.lti.http import Answer, Unreachable, ask
from grader.web.lti.models import Deployment, Invitation, Platform
from grader.web.lti.pages import page
from grader.web.lti.refusals import Refusal, refused
from grader.web.lti.sealing import digest
from grader.web.lti.services import LINE_ITEM, RESULT, ROSTER, SCORE

__all__ = ["NAME", "register"]

NAME = "Autograder"
TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
PLATFORM = "https://purl.imsglobal.org/spec/lti-platform-configuration"
SCOPES = (LINE_ITEM, RESULT, SCORE, ROSTER)
PLACEMENTS = ("ContentArea", "assignment_selection", "link_selection")
MAX_TRIES = 10
CANVAS = {
    "https://canvas.instructure.com": "sso.canvaslms.com",
    "https://canvas.beta.instructure.com": "sso.beta.canvaslms.com",
    "https://canvas.test.instructure.com": "sso.test.canvaslms.com",
}
"""Canvas's cloud gives its configuration from another host than its issuer's, the same for all its customers."""

FIELDS = {
    "issuer": 500, "authorization_endpoint": 1000, "token_endpoint": 1000, "jwks_uri": 1000,
    "registration_endpoint": 1000,
}  # fmt: skip


@require_safe
def register(request: HttpRequest, secret: str) -> HttpResponse:
    """Register the LMS that asks, and show a page that tells it to close itself."""
    invitation = _taken(secret)
    if invitation is None:
        return refused(request, Refusal("registration-invitation"))
    try:
        platform, deployment = _register(request, invitation)
    except Refusal as refusal:
        # The address may be tried again: what failed is mostly a setting.
        Invitation.objects.filter(pk=invitation.pk).update(used_at=None)
        return refused(request, refusal)
    return page(
        request,
        "lti/registered.html",
        {"name": platform.name, "deployment": deployment, "platform_id": platform.pk},
    )


def _taken(secret: str) -> Invitation | None:
    """Take an invitation, so that no other request has it meanwhile."""
    now = timezone.now()
    rows = Invitation.objects.filter(secret=digest(secret), used_at=None, expires_at__gt=now, tries__lt=MAX_TRIES)
    if not rows.update(used_at=now, tries=F("tries") + 1):
        return None
    return Invitation.objects.get(secret=digest(secret))


def _register(request: HttpRequest, invitation: Invitation) -> tuple[Platform, str]:
    private = invitation.private_network
    config = _configuration(request.GET.get("openid_configuration", ""), private=private)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    token = request.GET.get("registration_token", "")
    if token:
        if len(token) > 8000 or not token.isascii() or not token.isprintable():
            raise Refusal("registration-configuration", "registration_token")
        headers["Authorization"] = f"Bearer {token}"
    body = json.dumps(_ourselves(request, config)).encode()
    answer = _asked("POST", config["registration_endpoint"], headers, body, private=private)
    given = _object(answer) if answer.status in (200, 201) else None
    client_id = given.get("client_id") if given is not None else None
    client_id = str(client_id) if isinstance(client_id, int) else client_id
    if given is None or not isinstance(client_id, str) or not 0 < len(client_id) <= 255 or UNFIT.search(client_id):
        raise Refusal("registration-refused", str(answer.status))
    tool = given.get(TOOL)
    deployment = tool.get("deployment_id") if isinstance(tool, dict) else None
    deployment = str(deployment) if isinstance(deployment, int) else deployment
    if not isinstance(deployment, str) or len(deployment) > 255 or UNFIT.search(deployment):
        deployment = ""
    try:
        with transaction.atomic():
            platform = Platform.objects.create(
                name=_name(config),
                issuer=config["issuer"],
                client_id=client_id,
                auth_url=config["authorization_endpoint"],
                token_url=config["token_endpoint"],
                jwks_url=config["jwks_uri"],
                audience=_audience(config),
                private_network=private,
            )
            if deployment:
                Deployment.objects.create(platform=platform, deployment_id=deployment)
    except IntegrityError:
        raise Refusal("registration-known") from None
    return platform, deployment


def _configuration(url: str, *, private: bool) -> dict[str, Any]:
    """Fetch and check an LMS's configuration: all that we use of it is there, and it is of the server that gave it."""
    parts = split(url)
    if parts is None or (parts.scheme != "https" and not private):
        raise Refusal("registration-configuration", "openid_configuration")
    config = _object(_asked("GET", url, {"Accept": "application/json"}, None, private=private))
    if config is None:
        raise Refusal("registration-configuration", "json")
    for field, limit in FIELDS.items():
        value = config.get(field)
        found = split(value) if isinstance(value, str) and len(value) <= limit else None
        if found is None or (found.scheme != "https" and not private):
            raise Refusal("registration-configuration", field)
    host = (parts.hostname or "").lower()
    issuer_host = (urlsplit(config["issuer"]).hostname or "").lower()
    if host not in (issuer_host, CANVAS.get(config["issuer"])):
        raise Refusal("registration-issuer")
    # Tokens of registration go nowhere else.
    if (urlsplit(config["registration_endpoint"]).hostname or "").lower() != host:
        raise Refusal("registration-configuration", "registration_endpoint")
    methods = config.get("token_endpoint_auth_methods_supported")
    if isinstance(methods, list) and "private_key_jwt" not in methods:
        raise Refusal("registration-configuration", "token_endpoint_auth_methods_supported")
    return config


def _ourselves(request: HttpRequest, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what we tell about ourselves, with no more rights and messages than the LMS knows."""
    known = config.get("scopes_supported")
    scopes = [scope for scope in SCOPES if not isinstance(known, list) or scope in known]
    messages: list[dict[str, Any]] = []
    for offered in _messages(config):
        kind = offered.get("type")
        if kind == "LtiDeepLinkingRequest":
            places = offered.get("placements")
            chosen = [place for place in PLACEMENTS if isinstance(places, list) and place in places]
            message = {"type": kind, "target_link_uri": launch_url(request), "label": f"{NAME} assignment"}
            messages.append({**message, "placements": chosen} if chosen else message)
        elif kind in ("LtiResourceLinkRequest", "LtiSubmissionReviewRequest"):
            messages.append({"type": kind, "target_link_uri": launch_url(request)})
    return {
        "application_type": "web",
        "response_types": ["id_token"],
        "grant_types": ["client_credentials", "implicit"],
        "initiate_login_uri": our_url("login", request),
        "redirect_uris": [launch_url(request)],
        "client_name": NAME,
        "jwks_uri": our_url("jwks", request),
        "token_endpoint_auth_method": "private_key_jwt",
        "scope": " ".join(scopes),
        TOOL: {
            "domain": urlsplit(base_url(request)).netloc,
            "description": "Grades numerical exercises and says what to look at next.",
            "target_link_uri": launch_url(request),
            "claims": ["iss", "sub", "name", "given_name", "family_name", "email"],
            "messages": messages,
        },
    }


def _messages(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    platform = config.get(PLATFORM)
    offered = platform.get("messages_supported") if isinstance(platform, dict) else None
    listed = offered[:50] if isinstance(offered, list) else []
    return [one for one in listed if isinstance(one, dict)]


def _name(config: Mapping[str, Any]) -> str:
    platform = config.get(PLATFORM)
    family = platform.get("product_family_code") if isinstance(platform, dict) else None
    host = urlsplit(config["issuer"]).hostname or ""
    kind = UNFIT.sub("", family)[:50] if isinstance(family, str) else ""
    return f"{host} ({kind})"[:200] if kind else host[:200]


def _audience(config: Mapping[str, Any]) -> str:
    """Return whom requests for tokens are for, where the LMS names somebody else than its token endpoint."""
    named = config.get("authorization_server")
    return named if isinstance(named, str) and len(named) <= 1000 and not UNFIT.search(named) else ""


def _asked(method: str, url: str, headers: Mapping[str, str], body: bytes | None, *, private: bool) -> Answer:
    try:
        return ask(method, url, headers=headers, body=body, private=private)
    except Unreachable as error:
        raise Refusal("registration-unreachable", error.code) from None


def _object(answer: Answer) -> dict[str, Any] | None:
    try:
        found = answer.json() if answer.status in (200, 201) else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
