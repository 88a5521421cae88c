"""Our LTI pages: small, without any file of their own, and under a strict policy."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

__all__ = ["page"]


def page(
    request: HttpRequest,
    template: str,
    values: Mapping[str, Any],
    *,
    status: int = 200,
    forms_to: Iterable[str] = ("'self'",),
) -> HttpResponse:
    """Return a page that may be shown in an LMS's frame, keeps nothing and loads nothing.

    Args:
        request: What it answers.
        template: Its template.
        values: What the template gets.
        status: The answer's status.
        forms_to: Where its forms may go.
    """
    nonce = secrets.token_urlsafe(16)
    # Any site may frame them, since a refusal may have to be shown before it is known whose it is, and an LMS in our
    # own network may have no https. None of them does anything for a session: a foreign frame gains nothing by it.
    response = render(request, template, {**values, "csp_nonce": nonce}, status=status)
    response["Content-Security-Policy"] = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; base-uri 'none'; "
        f"form-action {' '.join(forms_to)}; frame-ancestors http: https:"
    )
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"
    response["X-Content-Type-Options"] = "nosniff"
    # Frames are ruled by the policy above; the older header knows no list.
    response.xframe_options_exempt = True  # Django's own way to say so
    return response
