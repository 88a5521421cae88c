"""Cookies that work in an LMS's frame.

Browsers keep cookies of a page in a foreign frame only if these are ``SameSite=None; Secure``, and more and more only
if they are ``Partitioned`` as well: kept for this LMS and us together.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from http.cookies import Morsel

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from grader.web.lti.addresses import base_url

__all__ = ["FramedCookies", "drop", "put"]

PATH = "/"


class _Partitioned(Morsel[str]):
    """A cookie with an attribute that Python's own doesn't know before 3.14."""

    def OutputString(self, attrs: Container[str] | None = None) -> str:
        """Return the cookie as its header has it."""
        return f"{super().OutputString(attrs)}; Partitioned"


class FramedCookies:
    """Middleware: every cookie with ``SameSite=None; Secure`` is partitioned, the session's as well."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Let the page be made, and mark its cookies."""
        response = self.get_response(request)
        for name in list(response.cookies):
            _partition(response, name)
        return response


def put(request: HttpRequest, response: HttpResponse, name: str, value: str, seconds: int) -> None:
    """Set a cookie that no script reads; over plain http, which is for trying out, one for our own site only."""
    secure = _encrypted(request)
    response.set_cookie(
        name, value, max_age=seconds, path=PATH, secure=secure, httponly=True, samesite="None" if secure else "Lax"
    )
    _partition(response, name)


def drop(request: HttpRequest, response: HttpResponseBase, name: str) -> None:
    """Remove a cookie that ``put`` set."""
    secure = _encrypted(request)
    response.set_cookie(
        name, "", max_age=0, path=PATH, secure=secure, httponly=True, samesite="None" if secure else "Lax"
    )
    _partition(response, name)


def _partition(response: HttpResponseBase, name: str) -> None:
    cookie = response.cookies[name]
    if not isinstance(cookie, _Partitioned) and cookie["secure"] and cookie["samesite"] == "None":
        marked = _Partitioned()
        marked.set(cookie.key, cookie.value, cookie.coded_value)
        marked.update(cookie)
        dict.__setitem__(response.cookies, name, marked)


def _encrypted(request: HttpRequest) -> bool:
    """Whether the world reaches us by https, whatever the proxy in between says to us."""
    return base_url(request).startswith("https://")
