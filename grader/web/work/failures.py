"""Pages for what went wrong."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from grader.web.work.middleware import AWAY, away, policy

__all__ = ["csrf", "failed", "not_found"]


def csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form came without the session that it was made for: mostly a browser that keeps no cookies in a frame."""
    del reason
    return _told(request, {
        "title": "Your browser didn't send its cookie",
        "text": "Nothing was kept. Go back to your course and open the assignment again, in a window of its own if it "
        "stands in a frame; then send the form once more.",
    }, 403)  # fmt: skip


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """There is nothing, or nothing that this visitor may see: both look the same."""
    del exception
    return _told(request, {
        "title": "Nothing here",
        "text": "There is no such page, or it isn't open in this browser. Open the assignment from your course.",
    }, 404)  # fmt: skip


def failed(request: HttpRequest) -> HttpResponse:
    """A fault of ours; or the database is away, and a page without it says so."""
    if isinstance(sys.exception(), AWAY):
        return away()
    return _told(request, {
        "title": "The server failed",
        "text": "This is our fault. Files that were handed in before are kept; try again.",
    }, 500)  # fmt: skip


def _told(request: HttpRequest, context: dict[str, str], status: int) -> HttpResponse:
    """Answer with a page that any frame may show: there is nothing in it to be clicked, and it says what to do."""
    response = render(request, "work/problem.html", context, status=status)
    response["Content-Security-Policy"] = policy("*")
    return response
