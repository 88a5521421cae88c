"""Limits by address: who counts as whom, how much a class may do, and what a flood leaves behind."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import UsageError
from grader.web.clients import client_of, networks

PROXY = networks(["172.16.0.0/12"])


@pytest.mark.parametrize(
    "peer, forwarded, client",
    [
        # Straight to us: the header is anybody's to write, and says nothing.
        ("203.0.113.7", "", "203.0.113.7"),
        ("203.0.113.7", "198.51.100.1", "203.0.113.7"),
        ("203.0.113.7", "127.0.0.1", "203.0.113.7"),
        # Through a proxy on this machine: whom it saw stands last, whatever stood there before.
        ("127.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("::1", "203.0.113.7", "203.0.113.7"),
        ("127.0.0.1", "198.51.100.1, 203.0.113.7", "203.0.113.7"),
        ("127.0.0.1", "127.0.0.1, nonsense, 203.0.113.7", "203.0.113.7"),
        ("127.0.0.1", "203.0.113.7:4711", "203.0.113.7"),
        # Through one of ours elsewhere, and through two.
        ("172.18.0.5", "203.0.113.7", "203.0.113.7"),
        ("127.0.0.1", "198.51.100.1, 203.0.113.7, 172.18.0.5", "203.0.113.7"),
        ("10.0.0.5", "203.0.113.7", "10.0.0.5"),
        # A proxy that doesn't say: unknown, rather than all as one.
        ("127.0.0.1", "", ""),
        ("127.0.0.1", "unknown", ""),
        ("127.0.0.1", "203.0.113.7, ", ""),
        ("172.18.0.5", "172.18.0.1", ""),
        ("", "203.0.113.7", ""),
        ("127.0.0.1", ", ".join(["203.0.113.7", *["127.0.0.1"] * 12]), ""),
        # IPv6: the first 64 bits.
        ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
        ("127.0.0.1", "2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("127.0.0.1", "[2001:db8:1:2::9]:443", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "", "fe80::/64"),
        ("::ffff:203.0.113.7", "", "203.0.113.7"),
        ("::ffff:127.0.0.1", "203.0.113.7", "203.0.113.7"),
    ],
)
def test_whom_a_request_comes_from(peer: str, forwarded: str, client: str) -> None:
    """The last address that isn't one of our proxies'."""
    assert client_of(peer, forwarded, PROXY) == client


@given(st.text(st.characters(max_codepoint=300), max_size=80), st.ip_addresses())
def test_what_stands_before_is_of_no_use(forged: str, real: Any) -> None:
    """Whatever a client writes into the header, it counts as the address that the proxy saw."""
    assert client_of("127.0.0.1", f"{forged},{real}") == client_of("127.0.0.1", f"{real}")


def test_proxies_that_are_none() -> None:
    """One sentence, when the server starts."""
    with pytest.raises(UsageError, match=r"names 'proxy\.local', which is neither"):
        networks(["10.0.0.1", "proxy.local"])
    with pytest.raises(UsageError, match="neither"):
        networks(["10.0.0.1/8"])  # an address of a network isn't a network


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def test_a_class_behind_one_address_never_meets_it(database: object) -> None:
    """1,000 come at the same moment and 1,000 within the minute after it; one who goes on for ever is stopped."""
    from grader.web.limits import LIMITS, Limiter

    clock = Clock()
    limiter = Limiter(clock=clock)
    pages = ("lti:login", "lti:onward", "lti:window", "lti:launch")
    for _ in range(1000):
        assert not any(limiter.wait(page, "203.0.113.7", LIMITS[page]) for page in pages)
    assert limiter.wait("lti:login", "203.0.113.7", LIMITS["lti:login"]) == pytest.approx(0.06)
    assert limiter.wait("lti:login", "203.0.113.8", LIMITS["lti:login"]) == 0
    for _ in range(1000):
        clock.now += 0.0601
        assert not any(limiter.wait(page, "203.0.113.7", LIMITS[page]) for page in pages)
    served = 0
    for _ in range(10_000):
        clock.now += 0.006
        served += not limiter.wait("lti:login", "203.0.113.7", LIMITS["lti:login"])
    assert 990 <= served <= 1010


def test_memory_has_an_end(database: object) -> None:
    """Twenty thousand addresses leave as much as twenty; who floods meanwhile isn't forgotten."""
    from grader.web.limits import Limiter, Rate

    limiter = Limiter(20, Clock())
    rate = Rate(minute=50)
    for number in range(20_000):
        limiter.wait("page", f"10.{number}", rate)
        if number % 15 == 0:
            limiter.wait("page", "flood", rate)

    assert len(limiter) == 20
    assert limiter.wait("page", "flood", rate) > 0


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch, database: object) -> int:
    """Let the limits be low and new, so that a test meets them."""
    from grader.web import limits

    monkeypatch.setattr(limits, "LIMITER", limits.Limiter(clock=Clock()))
    monkeypatch.setattr(limits, "LIMITS", MappingProxyType(dict.fromkeys(limits.LIMITS, limits.Rate(minute=3))))
    return 3


PAGES = (
    "/lti/login", "/lti/onward", "/lti/window", "/lti/launch", "/lti/choose", "/lti/canvas.json",
    "/lti/register/x", "/verify/", "/healthz", "/admin/login/",
)  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_too_many(client: Any, narrow: int, page: str) -> None:
    """429, one sentence, and when to come again; for this address alone, however it writes the header."""
    campus, home = "198.51.100.1, 203.0.113.7", "2001:db8::5"
    before = [client.get(page, HTTP_X_FORWARDED_FOR=campus).status_code for _ in range(narrow)]
    refused = client.get(page, HTTP_X_FORWARDED_FOR="192.0.2.99, 203.0.113.7")

    assert 429 not in before
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) == 20
    assert "Too many requests come from your network; try again in 20 seconds." in refused.content.decode()
    assert "frame-ancestors *" in refused["Content-Security-Policy"]
    assert client.get(page, HTTP_X_FORWARDED_FOR=home).status_code != 429
    # A proxy that says nothing doesn't lock out all who come through it.
    assert all(client.get(page).status_code != 429 for _ in range(narrow + 1))


def test_pages_that_came_by_a_launch_have_no_such_limit(client: Any, narrow: int) -> None:
    """Who is in a course is limited by person; the whole class may share an address."""
    from tests.web.work import rows

    course = rows.course()
    ada = rows.member(course, "ada")
    rows.enter(client, ada)
    page = f"/c/{course.id}/a/{course.links.get().id}/"

    assert [client.get(page, HTTP_X_FORWARDED_FOR="203.0.113.7").status_code for _ in range(9)] == [200] * 9


def test_a_stranger_leaves_nothing(client: Any) -> None:
    """Looking at what is open to all makes no row."""
    from django.contrib.sessions.models import Session

    for page in ("/", "/verify/", "/healthz", "/nothing", "/lti/launch", "/lti/onward?state=x", "/admin/"):
        client.get(page)
    client.post("/verify/", {"receipt": "x" * 30})

    assert Session.objects.count() == 0


@pytest.fixture
def flooded(monkeypatch: pytest.MonkeyPatch, database: object) -> Any:
    """Return a platform of which five logins are kept, and a function that begins one."""
    from django.test import Client

    from grader.web.lti import login
    from grader.web.lti.models import LoginState, Platform

    monkeypatch.setattr(login, "MOST", 5)
    monkeypatch.setattr(login, "TIDY", 1)
    known = {"auth_url": "https://lms.example/a", "token_url": "https://lms.example/t", "jwks_url": "https://l.example"}
    Platform.objects.create(issuer="https://lms.example", client_id="c", **known)
    Platform.objects.create(issuer="https://other.example", client_id="c", **known)

    def begin(issuer: str = "https://lms.example") -> Any:
        answer = Client(HTTP_HOST="localhost").get("/lti/login", {"iss": issuer, "login_hint": "x"})
        assert answer.status_code == 302
        return LoginState.objects.order_by("-created_at").first()

    return begin


def test_a_flood_of_logins_has_an_end(flooded: Any) -> None:
    """The oldest go, those that were answered first; a class that logs in right then comes in, another LMS's too."""
    from django.utils import timezone

    from grader.web.lti.models import LoginState

    other = flooded("https://other.example")
    answered = flooded()
    LoginState.objects.filter(pk=answered.pk).update(used_at=timezone.now(), created_at=timezone.now())
    oldest = honest = other
    for _ in range(4):
        oldest = flooded()
        honest = flooded()
        assert LoginState.objects.filter(pk=honest.pk).exists()
        flooded()
        assert LoginState.objects.filter(pk=honest.pk).exists()

    kept = set(LoginState.objects.values_list("pk", flat=True))
    assert {other.pk, honest.pk, oldest.pk} <= kept
    assert answered.pk not in kept
    assert len(kept) <= 7  # five, the one that came after the count, and the other LMS's


def test_hints_have_an_end(client: Any, flooded: Any) -> None:
    """What a login may bring along is bounded altogether."""
    given = {"iss": "https://lms.example", "login_hint": "x" * 4001, "lti_message_hint": "y" * 4001}

    assert client.get("/lti/login", given).status_code == 400
    assert client.get("/lti/login", {**given, "lti_message_hint": "y" * 3999}).status_code == 302


@pytest.mark.slow
def test_a_real_flood(tmp_path: Any) -> None:
    """A server as it is started: one address is stopped after its thousand, another one isn't, rows are bounded."""
    import http.client
    import socket
    import sqlite3

    from tests.web.work.servers import Server

    server = Server(tmp_path / "data").start(workers=0)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

        def ask(address: str) -> tuple[int, str]:
            connection.request("GET", "/lti/login?iss=x&login_hint=y", headers={"X-Forwarded-For": address})
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.getheader("Retry-After") or ""

        codes = [ask("6.6.6.6, 203.0.113.7")[0] for _ in range(1000)]
        refused = (0, "")
        for number in range(5000):
            refused = ask(f"7.7.7.{number % 256}, 203.0.113.7")
            if refused[0] == 429:
                break
            codes.append(refused[0])
        assert set(codes) == {400}
        assert refused == (429, "1")
        assert ask("203.0.113.8")[0] == 400
        connection.close()
        # Requests that never end keep nobody out.
        slow = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(150)]
        for one in slow:
            one.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert server.health()["status"] == "no workers"
        for one in slow:
            one.close()
    finally:
        assert server.stop() == 0
    assert server.log.count("lti:login is asked for too often") == 1
    with sqlite3.connect(tmp_path / "data" / "grade.sqlite3") as database:
        assert database.execute("SELECT count(*) FROM django_session").fetchone() == (0,)
