"""What a WSGI server runs: ``grade serve``, or another one that a site prefers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.core.wsgi import get_wsgi_application

from grader.web.environment import prepare

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

__all__ = ["application"]

prepare(os.environ)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grader.web.settings")

_DJANGO = get_wsgi_application()


def application(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    """Answer a request.

    Text here is UTF-8, whatever a request calls its charset. It may name any of Python's codecs, also those that
    decode to no text at all, and Django uses it before any code that could answer for what comes of it.
    """
    kind, *parameters = environ.get("CONTENT_TYPE", "").split(";")
    if any("charset" in one.lower() for one in parameters):
        boundaries = [one for one in parameters if one.strip().lower().startswith("boundary=")]
        environ["CONTENT_TYPE"] = ";".join([kind, *boundaries])
    answer: Iterable[bytes] = _DJANGO(environ, start_response)
    return answer
