"""Canvas over HTTP, politely and safely: what ``canvasapi`` leaves to its callers.

It doesn't retry, has no time limit and follows whatever address it is given. Importing this module needs the extra
``[lms]``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from canvasapi.exceptions import CanvasException, Forbidden, RateLimitExceeded
from canvasapi.requester import Requester
from requests.adapters import HTTPAdapter
from requests.exceptions import ConnectionError as NoConnection
from requests.exceptions import Timeout

from grader.errors import UsageError

__all__ = ["Patient", "checked_url", "is_safe"]

SECONDS = 60.0
"""The longest wait for an answer."""

TRIES = 6
LONGEST_PAUSE = 120.0
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_safe(url: str) -> bool:
    """Whether a token may go to this address: https, or this very machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)


def checked_url(url: str) -> str:
    """Return the root of a Canvas site.

    Raises:
        UsageError: If it isn't an https address, or holds a path or a password.
    """
    parts = urlsplit(url.strip())
    if not is_safe(url.strip()) or not parts.hostname:
        raise UsageError("Canvas's address must begin with https://.", hint="As in https://canvas.example.edu.")
    if parts.path.strip("/") or parts.query or parts.username or parts.password:
        raise UsageError("Canvas's address is that of the site alone.", hint="As in https://canvas.example.edu.")
    return f"{parts.scheme}://{parts.netloc}"


class _Adapter(HTTPAdapter):
    """Gives each request a time limit, and sends none over the network in the clear, redirected or not."""

    def send(self, request: Any, **arguments: Any) -> Any:  # type: ignore[override]  # with one set of arguments
        if not is_safe(request.url):
            raise NoConnection("Canvas's answer leads to an address without encryption.")
        if arguments.get("timeout") is None:
            arguments["timeout"] = SECONDS
        return super().send(request, **arguments)


class Patient(Requester):  # type: ignore[misc]  # canvasapi ships no types
    """A requester that waits and asks again when Canvas says that it was asked too often.

    Canvas answers 429, and until 2025 403 with the text "Rate Limit Exceeded". Requests that may have had an effect
    aren't repeated for other failures.
    """

    def __init__(self, url: str, token: str, pause: Callable[[float], None] = time.sleep) -> None:
        super().__init__(url, token)
        self.pause = pause
        logging.getLogger("canvasapi.requester").setLevel(logging.WARNING)  # below that it logs a part of the token
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, _Adapter())

    def request(self, method: str, endpoint: str | None = None, **arguments: Any) -> Any:
        """Send a request. Raises what canvasapi and requests raise, after the last try."""
        for attempt in range(TRIES):
            self._cache.clear()
            # They are changed on the way out.
            given = {key: list(value) if isinstance(value, list) else value for key, value in arguments.items()}
            try:
                return super().request(method, endpoint, **given)
            except CanvasException as error:
                if not _too_often(error) or attempt == TRIES - 1:
                    raise
                self.pause(self._wait(attempt))
            except (NoConnection, Timeout):
                if method != "GET" or attempt == TRIES - 1:
                    raise
                self.pause(self._wait(attempt))
            if (file := arguments.get("file")) is not None:
                file.seek(0)
        raise AssertionError("the last try returns or raises")

    def _wait(self, attempt: int) -> float:
        said = self._cache[0].headers.get("Retry-After", "") if self._cache else ""
        return min(float(said) if said.isascii() and said.isdigit() else 2.0**attempt, LONGEST_PAUSE)


def _too_often(error: CanvasException) -> bool:
    return isinstance(error, RateLimitExceeded) or (
        isinstance(error, Forbidden) and "rate limit exceeded" in str(error).casefold()
    )
