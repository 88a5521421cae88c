"""What every answer carries, and what is said while the database is away."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse

__all__ = ["AWAY", "FRAMES", "away", "database_away", "frame_ancestors", "headers", "policy"]

Answer = Callable[[HttpRequest], HttpResponse]

AWAY = (OperationalError, InterfaceError)
"""What the database's absence looks like."""

FRAMES = "frames"
"""In a session: origins of the LMS that the visitor came from, which may show us in a frame."""


def headers(get_response: Answer) -> Answer:
    """Let pages load nothing but our own files, and stand in nobody's frame but the visitor's LMS's."""

    def answer(request: HttpRequest) -> HttpResponse:
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
    """Return the sources that may show this visitor's pages in a frame."""
    session = getattr(request, "session", None)
    known: list[str] = []
    with contextlib.suppress(DatabaseError):  # without it nobody is known
        known = session.get(FRAMES, []) if session is not None else []
    return " ".join(dict.fromkeys(["'self'", *settings.GRADE.frames, *known]))


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
