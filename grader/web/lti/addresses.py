"""Our own addresses, and origins of others."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

__all__ = ["base_url", "launch_url", "on_our_origin", "origin", "our_url", "split", "web_url"]

PORTS = {"http": 80, "https": 443}
BAD = re.compile(r"[\x00-\x20\x7f-\x9f\\\ud800-\udfff]")
"""What no address has: controls, blanks, and the backslash that browsers take for a slash."""


def split(url: str) -> SplitResult | None:
    """Return the parts of an absolute http or https address without user name; None for all else."""
    if not url or len(url) > 8000 or BAD.search(url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in PORTS or not parts.hostname or "@" in parts.netloc or port == 0:
        return None
    return parts


def web_url(value: object, limit: int = 2000) -> str:
    """Return ``value`` if it is an http or https address, else ""."""
    return value if isinstance(value, str) and len(value) <= limit and split(value) is not None else ""


def origin(url: str) -> str:
    """Return scheme, host and port of an address as browsers write an origin; "" if it has none."""
    parts = split(url)
    if parts is None or parts.hostname is None:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port
    return f"{parts.scheme}://{host}" + (f":{port}" if port and port != PORTS[parts.scheme] else "")


def base_url(request: HttpRequest | None = None) -> str:
    """Return our own address without a final slash: the one that is set, else the one we were asked by."""
    known = str(getattr(getattr(settings, "GRADE", None), "base_url", "")).rstrip("/")
    if known or request is None:
        return known
    return request.build_absolute_uri("/").rstrip("/")


def our_url(name: str, request: HttpRequest | None = None, **values: str) -> str:
    """Return the absolute address of one of our LTI pages."""
    base, path = base_url(request), reverse(f"lti:{name}", kwargs=values or None)
    prefix = urlsplit(base).path
    # Below a folder (https://host/grade) both know of it during a request, and only the first outside of one.
    return base + (path.removeprefix(prefix) if prefix and path.startswith(f"{prefix}/") else path)


def launch_url(request: HttpRequest | None = None) -> str:
    """Return the address that launches come to; platforms compare it to the letter."""
    return our_url("launch", request)


def on_our_origin(url: str, request: HttpRequest | None = None) -> bool:
    """Whether an address is one of ours."""
    return bool(url) and origin(url) != "" and origin(url) == origin(base_url(request))
