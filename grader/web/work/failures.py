"""Pages for what went wrong."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from grader.web.work.middleware import AWAY, away

__all__ = ["csrf", "failed", "not_found"]


def csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form came without the session that it was made for: mostly a browser that keeps no cookies in a frame."""
    del reason
    return render(request, "work/problem.html", {
        "title": "Your browser didn't send its cookie",
        "text": "Nothing was kept. Go back to your course and open the assignment again, in a window of its own if it "
        "stands in a frame; then send the form once more.",
    }, status=403)  # fmt: skip


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """There is nothing, or nothing that this visitor may see: both look the same."""
    del exception
    return render(request, "work/problem.html", {
        "title": "Nothing here",
        "text": "There is no such page, or it isn't open in this browser. Open the assignment from your course.",
    }, status=404)  # fmt: skip


def failed(request: HttpRequest) -> HttpResponse:
    """A fault of ours; or the database is away, and a page without it says so."""
    if isinstance(sys.exception(), AWAY):
        return away()
    return render(request, "work/problem.html", {
        "title": "The server failed",
        "text": "This is our fault. Files that were handed in before are kept; try again.",
    }, status=500)  # fmt: skip
