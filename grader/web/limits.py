"""Limits by address, for what anybody may ask for without having come from an LMS.

They are wide: a whole campus may stand behind one address, and a class comes in within a minute. What one address
could do at this pace is bounded elsewhere as well; see ``grader.web.lti.login``.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from types import MappingProxyType

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from grader.model._data import data
from grader.web.clients import client_of

__all__ = ["LIMITS", "MOST", "Limiter", "Rate", "limited"]

LOG = logging.getLogger("grader.web.limits")

MOST = 20_000
"""Addresses that are remembered; of each page on its own."""


@data
class Rate:
    """How often one address may ask: so many at once, and as many again in each minute."""

    minute: int


WIDE = Rate(minute=1000)
LIMITS: Mapping[str, Rate] = MappingProxyType({
    # A launch asks each of these once, so that a thousand people come in within a minute.
    "lti:login": WIDE,
    "lti:onward": WIDE,
    "lti:window": WIDE,
    "lti:launch": WIDE,
    "lti:choose": WIDE,
    "lti:jwks": WIDE,
    "lti:canvas": WIDE,
    # An administrator, once, and whoever guesses secrets.
    "lti:register": Rate(minute=30),
    "work:verify": Rate(minute=120),
    "work:healthz": Rate(minute=300),
    # Each form of it is a session in the database.
    "admin:login": Rate(minute=10),
})  # fmt: skip
"""The pages that have a limit, by the name of their address."""


class Limiter:
    """Buckets of tokens that fill by themselves: one for each client of each page, in memory that is bounded.

    A bucket that is full again says nothing and could as well not be there. Beyond ``most`` buckets, the one that was
    asked for longest ago goes: whoever floods stays, since they ask all the time.
    """

    def __init__(self, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, OrderedDict[str, tuple[float, float]]] = {}

    def wait(self, page: str, client: str, rate: Rate) -> float:
        """Take a token, and return 0; if there is none, return the seconds until there is one."""
        second = rate.minute / 60
        with self._lock:
            now = self._clock()
            buckets = self._kept.setdefault(page, OrderedDict())
            left, since = buckets.pop(client, (float(rate.minute), now))
            left = min(float(rate.minute), left + (now - since) * second)
            wait = 0.0 if left >= 1 else (1 - left) / second
            buckets[client] = (left if wait else left - 1, now)
            while len(buckets) > self._most:
                buckets.popitem(last=False)
        return wait

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))


LIMITER = Limiter()


def limited(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: refuse what comes too often from one address, before anything else is done for it."""
    told: set[str] = set()

    def answer(request: HttpRequest) -> HttpResponse:
        return get_response(request)

    def process_view(request: HttpRequest, view: object, words: object, values: object) -> HttpResponse | None:
        del view, words, values
        found = request.resolver_match
        page = found.view_name if found is not None else ""
        rate = LIMITS.get(page)
        if rate is None:
            return None
        peer, forwarded = request.META.get("REMOTE_ADDR", ""), request.META.get("HTTP_X_FORWARDED_FOR", "")
        client = client_of(peer, forwarded, settings.GRADE.proxies)
        if forwarded and client and client == client_of(peer, "", settings.GRADE.proxies) and "proxy" not in told:
            told.add("proxy")
            LOG.warning(
                "limit: X-Forwarded-For came from an address that isn't among GRADE_PROXIES, and isn't believed; if "
                "that is your proxy, name it, else all who come through it count as one"
            )
        if not client:
            return None
        wait = LIMITER.wait(page, client, rate)
        if not wait:
            return None
        if page not in told:
            # Once: a flood shall not fill the log as well. Addresses of people don't belong there.
            told.add(page)
            LOG.warning("limit: %s is asked for too often from one address; more of this isn't logged", page)
        return too_many(wait)

    answer.process_view = process_view  # type: ignore[attr-defined]  # Django looks for it there
    return answer


def too_many(wait: float) -> HttpResponse:
    """Answer that it was too often: one sentence, without any template, session or database."""
    seconds = max(1, math.ceil(wait))
    response = HttpResponse(
        "<!doctype html><html lang=en><title>Too many requests</title>"
        f"<p>Too many requests come from your network; try again in {seconds} second{'s' * (seconds != 1)}.</p></html>",
        status=429,
    )
    response["Retry-After"] = str(seconds)
    response["Content-Security-Policy"] = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors *"
    return response
