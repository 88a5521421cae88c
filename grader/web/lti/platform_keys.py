"""A platform's keys: kept, and asked for again when a token names one that we don't know.

Anybody can send tokens that name unknown keys, so that asking is rationed, for all our processes together.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta
from typing import Any

from django.db.models import F, Q
from django.utils import timezone
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from grader.web.lti.http import Unreachable, ask
from grader.web.lti.models import Platform
from grader.web.lti.refusals import Refusal

__all__ = ["AGE", "PAUSE", "key_of"]

LOG = logging.getLogger("grader.web.lti")

PAUSE = timedelta(seconds=30)
"""At least so long passes from one question for keys to the next."""

AGE = timedelta(hours=12)
"""Older sets are asked for anew, so that a key that the platform gave up isn't trusted for long."""

PATIENCE = 12.0
"""Seconds to wait for another process that is asking already."""

_WAITING = threading.BoundedSemaphore(2)
"""So many of our threads wait for keys that others ask for, if there are any keys already.

Anybody can send a token that names an unknown key. Where the LMS is slow as well, all threads of the server could be
made to wait for it, and nobody would get a page.
"""

MIN_BITS = 2048
MAX_KEYS = 50


def key_of(platform: Platform, kid: str) -> PyJWK:
    """Return the platform's key with the name ``kid``.

    Raises:
        Refusal: If it has no such key, or can't be asked.
    """
    now = timezone.now()
    found = _find(platform.jwks, kid)
    fresh = platform.jwks_done_at is not None and platform.jwks_done_at > now - AGE
    if found is None or not fresh:
        # A key that we know is good enough while somebody else asks whether it still is.
        _refresh(platform, wait=found is None)
        found = _find(platform.jwks, kid)
    if found is None:
        raise Refusal("token-unknown-key" if platform.jwks else "token-keys-unreachable")
    return _usable(found)


def _refresh(platform: Platform, *, wait: bool) -> None:
    """Ask for the keys, unless that was done just now; let the platform's row say what came."""
    now = timezone.now()
    free = Q(jwks_asked_at=None) | Q(jwks_asked_at__lt=now - PAUSE)
    mine = Platform.objects.filter(free, pk=platform.pk).update(jwks_asked_at=now)
    if mine:
        values: dict[str, Any] = {"jwks_done_at": timezone.now()}
        try:
            values["jwks"] = _fetch(platform)
        except (Unreachable, ValueError) as error:
            # The old keys stay: a platform that can't be reached for a while doesn't lock a class out.
            LOG.warning("keys: platform=%s code=%s", platform.pk, getattr(error, "code", "no-key-set"))
        Platform.objects.filter(pk=platform.pk).update(**values)
    elif wait and platform.jwks is None:
        _wait(platform)  # the first class of a new LMS: there is nothing to go on with
    elif wait and _WAITING.acquire(blocking=False):
        try:
            _wait(platform)
        finally:
            _WAITING.release()
    platform.refresh_from_db(fields=["jwks", "jwks_asked_at", "jwks_done_at"])


def _wait(platform: Platform) -> None:
    """Wait while another process asks: a class that comes all at once needs one question."""
    asking = Platform.objects.filter(pk=platform.pk).filter(
        Q(jwks_done_at=None) | Q(jwks_done_at__lt=F("jwks_asked_at"))
    )
    end = time.monotonic() + PATIENCE
    while asking.exists() and time.monotonic() < end:
        time.sleep(0.1)


def _fetch(platform: Platform) -> dict[str, Any]:
    answer = ask("GET", platform.jwks_url, headers={"Accept": "application/json"}, private=platform.private_network)
    if answer.status != 200:
        raise ValueError("no key set")
    given = answer.json()
    keys = given.get("keys") if isinstance(given, dict) else None
    if not isinstance(keys, list):
        raise ValueError("no key set")
    return {"keys": [key for key in keys[:MAX_KEYS] if isinstance(key, dict)]}


def _find(jwks: Any, kid: str) -> dict[str, Any] | None:
    for key in (jwks or {}).get("keys", ()):
        if key.get("kid") == kid and key.get("kty") == "RSA" and key.get("use") in (None, "sig"):
            return dict(key)
    return None


def _usable(jwk: dict[str, Any]) -> PyJWK:
    try:
        # Private parts have no business here; the algorithm is ours to say.
        key = PyJWK({name: jwk.get(name) for name in ("kty", "n", "e", "kid")}, algorithm="RS256")
        bits = key.key.key_size
    except (PyJWTError, ValueError, TypeError, AttributeError):
        raise Refusal("token-unknown-key", "unusable") from None
    if bits < MIN_BITS:
        raise Refusal("token-weak-key")
    return key
