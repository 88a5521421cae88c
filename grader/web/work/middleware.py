"""What every answer carries, and what is said while the database is away."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse

from grader.web.lti.addresses import origin

__all__ = ["AWAY", "RETURN", "away", "database_away", "frame_ancestors", "headers", "lms_origin", "policy"]

Answer = Callable[[HttpRequest], HttpResponse]

AWAY = (OperationalError, InterfaceError)
"""What the database's absence looks like."""

RETURN = "return"
"""In a session: by course id, the LMS's address to go back to. That LMS may show the course's pages in a frame."""

ORIGIN = re.compile(r"https?://[a-zA-Z0-9.\-\[\]:]+")
"""What may stand in a policy: nothing that would end its word or its rule."""


def headers(get_response: Answer) -> Answer:
    """Let pages load nothing but our own files, and stand in nobody's frame but the visitor's LMS's."""

    def answer(request: HttpRequest) -> HttpResponse:
        # No cookie of ours has one, and PostgreSQL can't look for it.
        for name in [name for name, value in request.COOKIES.items() if "\0" in value]:
            del request.COOKIES[name]
        response = get_response(request)
        ancestors = "'none'" if request.path.startswith("/admin/") else frame_ancestors(request)
        if "Content-Security-Policy" not in response:
            response["Content-Security-Policy"] = policy(ancestors)
        response.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        if not request.path.startswith(settings.STATIC_URL):
            # Whoever sits at this computer next gets nothing out of its memory.
            response.setdefault("Cache-Control", "no-store")
        return response

    return answer


def policy(ancestors: str) -> str:
    """Return the rules of a page of ours that these may show in a frame."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        f"form-action 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors {ancestors}"
    )


def frame_ancestors(request: HttpRequest) -> str:
    """Return the sources that may show this page in a frame: the LMS of its course, and none of another course's."""
    session, match = getattr(request, "session", None), request.resolver_match
    course = str(match.kwargs.get("course_id", "")) if match is not None else ""
    known = ""
    if session is not None and course:
        with contextlib.suppress(DatabaseError):  # without it nobody is known
            known = lms_origin(session.get(RETURN, {}).get(course, ""))
    return " ".join(dict.fromkeys(["'self'", *settings.GRADE.frames, *([known] if known else [])]))


def lms_origin(return_url: str) -> str:
    """Return the origin of an address as a policy can have it, "" if it has none."""
    found = origin(return_url)
    return found if ORIGIN.fullmatch(found) else ""


def database_away(get_response: Answer) -> Answer:
    """Say that the database doesn't answer, in place of an error; what was sent wasn't kept, and the page says so."""

    def answer(request: HttpRequest) -> HttpResponse:
        return get_response(request)

    def process_exception(request: HttpRequest, error: Exception) -> HttpResponse | None:
        del request
        return away() if isinstance(error, AWAY) else None

    answer.process_exception = process_exception  # type: ignore[attr-defined]  # Django looks for it there
    return answer


def away() -> HttpResponse:
    """Forget a connection that doesn't work any more, and answer without any other."""
    with contextlib.suppress(DatabaseError):
        connection.close()
    response = HttpResponse(
        "<!doctype html><html lang=en><title>Try again</title><h1>Try again in a moment</h1>"
        "<p>The server's database doesn't answer. What you sent just now was not kept: send it again.</p></html>",
        status=503,
    )
    response["Retry-After"] = "5"
    return response
