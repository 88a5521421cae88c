"""Claims of a verified token become a Launch. Pure: no database, no clock, no network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from grader.model._data import data
from grader.web.lti.addresses import web_url
from grader.web.lti.launch import Launch, Message
from grader.web.lti.refusals import Refusal
from grader.web.lti.roles import roles_in

__all__ = ["DEPLOYMENT", "MESSAGES", "DeepLink", "read_deep_link", "read_deployment", "read_launch", "target_of"]

LTI = "https://purl.imsglobal.org/spec/lti/claim"
DEPLOYMENT = f"{LTI}/deployment_id"
VERSION = f"{LTI}/version"
TARGET = f"{LTI}/target_link_uri"
AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
DEEP_LINK = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"

MESSAGES: Mapping[str, Message] = {
    "LtiResourceLinkRequest": "resource",
    "LtiDeepLinkingRequest": "deep_link",
    "LtiSubmissionReviewRequest": "review",
}

MAX_ID = 255
MAX_TEXT = 500
MAX_CUSTOM = 100
MAX_VALUE = 2000
UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Controls, what turns the direction of text around, lone surrogates and what isn't a character."""


@data
class DeepLink:
    """What an LMS wants of a choice.

    Attributes:
        return_url: Where the answer goes, as given.
        data: What has to come back with it; None if nothing has to.
        line_items: Whether links may bring line items along.
    """

    return_url: str
    data: str | None
    line_items: bool


def read_deployment(claims: Mapping[str, Any]) -> str:
    """Return the deployment that a token names."""
    return _id(claims, DEPLOYMENT, "token-missing-claim")


def target_of(claims: Mapping[str, Any]) -> str:
    """Return the address of ours that a token is for."""
    target = claims.get(TARGET)
    if target is None:
        raise Refusal("token-missing-claim", "target_link_uri")
    if not isinstance(target, str):
        raise Refusal("token-bad-claim", "target_link_uri")
    return target


def read_launch(claims: Mapping[str, Any], platform_id: int) -> Launch:
    """Return what a token says, whose signature, issuer, audience and times have been checked.

    Raises:
        Refusal: If a part is missing or isn't what it should be.
    """
    if claims.get(VERSION) is None:
        raise Refusal("token-missing-claim", "version")
    if claims[VERSION] != "1.3.0":
        raise Refusal("token-version")
    kind = claims.get(f"{LTI}/message_type")
    if kind is None:
        raise Refusal("token-missing-claim", "message_type")
    if not isinstance(kind, str) or kind not in MESSAGES:
        raise Refusal("token-message-type")
    message = MESSAGES[kind]
    user = _id(claims, "sub", "token-no-person")
    given = claims.get(f"{LTI}/roles")
    if given is None:
        raise Refusal("token-missing-claim", "roles")
    if not isinstance(given, list):
        raise Refusal("token-bad-claim", "roles")
    roles = roles_in(given)
    if not roles:
        raise Refusal("token-roles")
    context = _part(claims, f"{LTI}/context")
    grades = _part(claims, AGS)
    # A column that belongs to no link can be reviewed as well.
    linked = message == "resource" or (message == "review" and not web_url(grades.get("lineitem")))
    link = _part(claims, f"{LTI}/resource_link", "token-no-link" if linked else "")
    names = _part(claims, NRPS)
    shown = _part(claims, f"{LTI}/launch_presentation")
    for_user = ""
    if message == "review":
        # Moodle's gradebook opens a column so, with nobody named: that is the class.
        whose = _part(claims, f"{LTI}/for_user")
        for_user = _id(whose, "user_id", "review-whose") if f"{LTI}/for_user" in claims else ""
        if "instructor" not in roles and for_user not in ("", user):
            raise Refusal("review-not-yours")
    if message == "deep_link" and "instructor" not in roles:
        raise Refusal("deep-link-not-instructor")
    scopes = grades.get("scope")
    return Launch(
        platform_id=platform_id,
        deployment_id=read_deployment(claims),
        context_id=_id(context, "id", "token-missing-claim") if context else "",
        context_title=_text(context, "title") or _text(context, "label"),
        resource_link_id=_id(link, "id", "token-no-link") if linked or (link and message == "review") else "",
        resource_title=_text(link, "title"),
        user=user,
        name=_name(claims),
        email=_text(claims, "email"),
        roles=roles,
        message=message,
        custom=_custom(claims.get(f"{LTI}/custom")),
        lineitem=web_url(grades.get("lineitem")),
        lineitems=web_url(grades.get("lineitems")),
        scopes=frozenset(word for word in (scopes if isinstance(scopes, list) else ()) if isinstance(word, str)),
        memberships=web_url(names.get("context_memberships_url")),
        for_user=for_user,
        return_url=web_url(shown.get("return_url")),
        locale=_text(shown, "locale")[:35] or _text(claims, "locale")[:35],
    )


def read_deep_link(claims: Mapping[str, Any]) -> DeepLink:
    """Return where a choice goes and what goes along.

    Raises:
        Refusal: If that isn't said, or a link to us isn't what is asked for.
    """
    settings = _part(claims, DEEP_LINK, "deep-link-settings")
    return_url = web_url(settings.get("deep_link_return_url"), 8000)
    if not return_url:
        raise Refusal("deep-link-settings", "deep_link_return_url")
    types = settings.get("accept_types")
    if not isinstance(types, list):
        raise Refusal("deep-link-settings", "accept_types")
    if "ltiResourceLink" not in types:
        raise Refusal("deep-link-not-ours")
    given = settings.get("data")
    if given is not None and not isinstance(given, str):
        raise Refusal("deep-link-settings", "data")
    return DeepLink(return_url=return_url, data=given, line_items=settings.get("accept_lineitem") is not False)


def _part(claims: Mapping[str, Any], key: str, missing: str = "") -> Mapping[str, Any]:
    """Return an object of the claims; without one, an empty one, or the refusal ``missing``."""
    value = claims.get(key)
    if value is None:
        if missing:
            raise Refusal(missing)
        return {}
    if not isinstance(value, dict):
        raise Refusal("token-bad-claim", key.rsplit("/", 1)[-1])
    return value


def _id(claims: Mapping[str, Any], key: str, missing: str) -> str:
    """Return a name that is kept and compared: it is taken to the letter or not at all."""
    value = claims.get(key)
    if value is None or value == "":
        raise Refusal(missing, key.rsplit("/", 1)[-1])
    if not isinstance(value, str) or len(value) > MAX_ID or UNFIT.search(value):
        raise Refusal("token-bad-claim", key.rsplit("/", 1)[-1])
    return value


def _text(claims: Mapping[str, Any], key: str, limit: int = MAX_TEXT) -> str:
    """Return a text that is only shown: cut, and without what can't be."""
    value = claims.get(key)
    return UNFIT.sub("", value)[:limit].strip() if isinstance(value, str) else ""


def _name(claims: Mapping[str, Any]) -> str:
    whole = _text(claims, "name")
    return whole or " ".join(part for part in (_text(claims, "given_name"), _text(claims, "family_name")) if part)


def _custom(value: object) -> tuple[tuple[str, str], ...]:
    """Return the link's parameters: texts and numbers, sorted, so many and so long as is reasonable."""
    if not isinstance(value, dict):
        return ()
    pairs = {
        UNFIT.sub("", key)[:MAX_TEXT]: UNFIT.sub("", str(given))[:MAX_VALUE]
        for key, given in list(value.items())[:MAX_CUSTOM]
        if isinstance(key, str) and isinstance(given, str | int | float) and not isinstance(given, bool)
    }
    return tuple(sorted(pairs.items()))
