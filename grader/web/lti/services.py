"""Requests to a platform's services, with a token that all our processes share."""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode, urljoin

from django.utils import timezone

from grader.web.lti.addresses import origin
from grader.web.lti.http import Answer, Unreachable, ask
from grader.web.lti.keys import sign
from grader.web.lti.models import AccessToken, Platform
from grader.web.lti.sealing import LOST, SealBroken, seal, unseal

__all__ = ["LINE_ITEM", "RESULT", "ROSTER", "SCORE", "ServiceError", "call", "pages", "platform_of", "server_time"]

LOG = logging.getLogger("grader.web.lti")

LINE_ITEM = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
RESULT = "https://purl.imsglobal.org/spec/lti-ags/scope/result.readonly"
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
ROSTER = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
BACKDATED = 5
"""Seconds: a platform whose clock is behind ours would take an assertion made now for one of the future."""
MARGIN = timedelta(seconds=60)
"""A token that ends so soon isn't used any more."""
MAX_TOKEN = 20_000
MAX_PAGES = 200
MAX_WAIT = 3600.0

NETWORK = {
    "timeout": "The LMS took too long to answer.",
    "too-large": "The LMS's answer is too large.",
    "address": "The LMS's address lies in a private network; its registration doesn't allow that.",
    "scheme": "The LMS's address isn't https.",
    "lookup": "The LMS's address can't be found.",
    "redirect": "The LMS sends us somewhere else.",
    "broken": "The LMS can't be reached.",
}
FINAL = ("address", "scheme", "redirect")
"""What trying again doesn't change."""


class ServiceError(Exception):
    """A platform's service didn't do what was asked.

    Attributes:
        reason: Why, as a sentence for the instructor; it may hold the LMS's own words.
        retry: Whether trying again may help.
        after: How many seconds to wait before it.
        status: The status that came, 0 if none did.
        code: A short name of it for the log.
    """

    def __init__(self, reason: str, *, retry: bool, after: float = 0.0, status: int = 0, code: str = "") -> None:
        super().__init__(code or reason)
        self.reason = reason
        self.retry = retry
        self.after = after
        self.status = status
        self.code = code


def platform_of(platform_id: int) -> Platform:
    """Return a platform that is switched on. Raises ServiceError."""
    found = Platform.objects.filter(pk=platform_id, active=True).first()
    if found is None:
        raise ServiceError("The LMS isn't registered any more, or is switched off.", retry=False, code="no-platform")
    return found


def call(
    platform: Platform,
    method: str,
    url: str,
    scopes: Iterable[str],
    *,
    accept: str = "application/json",
    content_type: str = "",
    content: Any = None,
) -> Answer:
    """Send a request with a token, and return the answer if its status is 2xx or 409.

    Raises:
        ServiceError: For everything else.
    """
    scope = " ".join(sorted(scopes))
    headers = {"Accept": accept}
    body = None
    if content is not None:
        headers["Content-Type"] = content_type
        body = json.dumps(content, ensure_ascii=True).encode()
    headers["Authorization"] = f"Bearer {_token(platform, scope, fresh=False)}"
    answer = _asked(platform, method, url, headers, body)
    if answer.status == 401:
        # The platform may have forgotten the token before its time; once more with a new one.
        headers["Authorization"] = f"Bearer {_token(platform, scope, fresh=True)}"
        answer = _asked(platform, method, url, headers, body)
    if 200 <= answer.status < 300 or answer.status == 409:
        return answer
    raise _failed(answer, "service", platform)


def pages(platform: Platform, url: str, scopes: Iterable[str], accept: str) -> Iterator[Any]:
    """Yield the JSON of each page, going on with ``rel=next`` to the last.

    Raises:
        ServiceError: If a page can't be had, leads to another server, or there is no end to them.
    """
    first = origin(url)
    scopes = tuple(scopes)
    seen: set[str] = set()
    while url:
        if url in seen or len(seen) >= MAX_PAGES:
            raise ServiceError("The LMS's list has no end.", retry=False, code="pages")
        if origin(url) != first:
            raise ServiceError("The LMS's list goes on at another server.", retry=False, code="pages-origin")
        seen.add(url)
        answer = call(platform, "GET", url, scopes, accept=accept)
        try:
            yield answer.json()
        except ValueError:
            raise ServiceError("The LMS's answer can't be read.", retry=True, after=60.0, code="no-json") from None
        following = next_page(answer.headers.get("link", ""))
        url = urljoin(url, following) if following else ""


def next_page(header: str) -> str:
    """Return the address that a Link header calls the next page, "" without one. Case is kept: it may matter there."""
    for match in re.finditer(r"<([^<>]*)>((?:\s*;[^,<>]*)*)", header[:20_000]):
        # Moodle writes typographical quotes around the word.
        if re.search(r";\s*rel\s*=[^\w;]*next\b", match[2], re.I | re.A):
            return match[1].strip()
    return ""


def server_time(answer: Answer) -> Any:
    """Return the server's own time from its answer, None if it doesn't say."""
    try:
        found = parsedate_to_datetime(answer.headers.get("date", ""))
    except (ValueError, TypeError):
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _token(platform: Platform, scope: str, *, fresh: bool) -> str:
    now = timezone.now()
    if not fresh:
        kept = AccessToken.objects.filter(platform=platform, scope=scope, expires_at__gt=now + MARGIN).first()
        if kept is not None:
            try:
                return unseal(kept.sealed)
            except SealBroken:
                pass
    token, seconds = _new_token(platform, scope)
    AccessToken.objects.update_or_create(
        platform=platform,
        scope=scope,
        defaults={"sealed": seal(token), "expires_at": now + timedelta(seconds=seconds)},
    )
    return token


def _new_token(platform: Platform, scope: str) -> tuple[str, float]:
    form = {
        "grant_type": "client_credentials",
        "client_assertion_type": ASSERTION,
        "client_assertion": _assertion(platform),
        "scope": scope,
    }
    headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
    answer = _asked(platform, "POST", platform.token_url, headers, urlencode(form).encode())
    if answer.status != 200 and answer.status != 201:
        raise _failed(answer, "token", platform)
    try:
        given = answer.json()
    except ValueError:
        given = None
    token = given.get("access_token") if isinstance(given, dict) else None
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not 0 < len(token) <= MAX_TOKEN:
        raise ServiceError(
            "The LMS's answer to our log-in can't be read.", retry=True, after=60.0, code="token-no-token"
        )
    seconds = given.get("expires_in")
    good = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < 10**7
    return token, float(seconds) if good else 300.0


def _assertion(platform: Platform) -> str:
    """Return what we show to get a token. Raises ServiceError if we can't sign; once that is mended it goes on."""
    issued = int(timezone.now().timestamp()) - BACKDATED
    try:
        return sign({
            "iss": platform.client_id,
            "sub": platform.client_id,
            "aud": platform.audience or platform.token_url,
            "iat": issued,
            "exp": issued + 300,
            "jti": secrets.token_urlsafe(16),
        })  # fmt: skip
    except SealBroken:
        LOG.error("service: platform=%s code=key-lost: %s", platform.pk, LOST)
        raise ServiceError(LOST, retry=True, after=60.0, code="key-lost") from None


def _asked(platform: Platform, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
    try:
        return ask(method, url, headers=headers, body=body, private=platform.private_network)
    except Unreachable as error:
        LOG.warning("service: platform=%s code=%s", platform.pk, error.code)
        final = error.code in FINAL
        raise ServiceError(
            NETWORK[error.code], retry=not final, after=0.0 if final else 10.0, code=error.code
        ) from None


def _failed(answer: Answer, what: str, platform: Platform) -> ServiceError:
    """Return the error of a status. Moodle gives its reason behind the status only."""
    status = answer.status
    LOG.warning("service: platform=%s code=%s-%s", platform.pk, what, status)
    said = f" ({status} {answer.reason})" if answer.reason else f" ({status})"
    limited = status == 403 and b"rate limit" in answer.body[:2000].lower()
    retry = status in (408, 425, 429) or status >= 500 or limited
    wait = _retry_after(answer) or (60.0 if status == 429 or limited else 10.0)
    if what == "token":
        reason = f"The LMS didn't let the grader log in{said}."
    elif status == 404:
        reason = f"The LMS has no such gradebook column or list any more{said}."
    elif status in (401, 403) and not limited:
        reason = f"The LMS doesn't allow the grader to do this{said}."
    elif retry:
        reason = f"The LMS can't do it just now{said}."
    else:
        reason = f"The LMS refused it{said}."
    return ServiceError(reason, retry=retry, after=wait if retry else 0.0, status=status, code=f"{what}-{status}")


def _retry_after(answer: Answer) -> float:
    given = answer.headers.get("retry-after", "")
    if given.isascii() and given.isdigit():
        return min(float(given[:9]), MAX_WAIT)
    try:
        found = parsedate_to_datetime(given)
    except (ValueError, TypeError):
        return 0.0
    zoned = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return min(max((zoned - timezone.now()).total_seconds(), 0.0), MAX_WAIT)
