"""Requests that go where they may, and end when they should."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from grader.web.lti import http
from grader.web.lti.http import Unreachable, allowed, ask


@contextmanager
def server(*answers: bytes, hold: bool = False) -> Iterator[Any]:
    """Serve raw answers, one for each connection; keep what was asked."""
    listener = socket.create_server(("127.0.0.1", 0))
    asked: list[bytes] = []

    def serve() -> None:
        for answer in answers:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                asked.append(peer.recv(65536))
                peer.sendall(answer)
                if hold:
                    threading.Event().wait(1.0)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], asked
    finally:
        listener.close()
        thread.join(5)


def ok(body: bytes = b"{}", extra: bytes = b"") -> bytes:
    """Return a plain answer."""
    return b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (extra, len(body), body)


def to(url: str, code: int = 302) -> bytes:
    """Return a redirect."""
    return f"HTTP/1.1 {code} Found\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n".encode()


def code_of(url: str, **options: Any) -> str:
    """Return why an address can't be had."""
    with pytest.raises(Unreachable) as caught:
        ask(options.pop("method", "GET"), url, **options)
    return caught.value.code


@pytest.mark.parametrize(
    "text, public, private",
    [
        ("8.8.8.8", True, True),
        ("2606:4700::1111", True, True),
        ("127.0.0.1", False, True),
        ("::1", False, True),
        ("10.1.2.3", False, True),
        ("172.16.0.1", False, True),
        ("192.168.1.1", False, True),
        ("fd00::1", False, True),
        ("169.254.169.254", False, False),
        ("fe80::1", False, False),
        ("0.0.0.0", False, False),
        ("::", False, False),
        ("224.0.0.1", False, False),
        ("ff02::1", False, False),
        ("255.255.255.255", False, False),
        ("100.64.0.1", False, False),
        ("::ffff:127.0.0.1", False, True),
        ("::ffff:169.254.169.254", False, False),
        ("64:ff9b::a9fe:a9fe", False, False),
        ("64:ff9b::7f00:1", False, True),
        ("2002:7f00:1::", False, True),
        ("2001:0:53aa:64c:0:7c4d:d2d8:3a0c", False, False),
    ],
)
def test_addresses(text: str, public: bool, private: bool) -> None:
    """Public ones are for all; our own network's for platforms that stand there; link-local ones for nobody."""
    address = ipaddress.ip_address(text)

    assert (allowed(address, False), allowed(address, True)) == (public, private)


@pytest.mark.parametrize(
    "url, code",
    [
        ("https://127.0.0.1/x", "address"),
        ("https://127.1/x", "address"),
        ("https://2130706433/x", "address"),
        ("https://0x7f.1/x", "address"),
        ("https://localhost/x", "address"),
        ("https://[::1]/x", "address"),
        ("https://[::ffff:127.0.0.1]/x", "address"),
        ("https://169.254.169.254/latest/meta-data/", "address"),
        ("http://127.0.0.1/x", "scheme"),
        ("http://8.8.8.8/x", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("gopher://127.0.0.1/x", "scheme"),
        ("https://user:word@8.8.8.8/", "scheme"),
        ("https://8.8.8.8\r\nX: y/", "scheme"),
        ("https://no-such-host.invalid/", "lookup"),
        ("https://" + "a" * 300 + ".example/", "lookup"),
    ],
)
def test_where_nobody_may_send_us(url: str, code: str) -> None:
    """However the address is written."""
    assert code_of(url) == code


def test_all_addresses_of_a_host_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with a public and a private address isn't asked at all."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (text, 443)) for text in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **options: found)

    assert code_of("https://rebinding.example/") == "address"


def test_the_name_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was judged is what is connected to: a second answer of the name server comes too late."""
    real, looked = socket.getaddrinfo, []

    def lookup(host: str, *args: Any, **options: Any) -> Any:
        if host == "lms.example":
            looked.append(host)
            return real("127.0.0.1", *args, **options)
        return real(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    with server(ok()) as (port, asked):
        assert ask("GET", f"http://lms.example:{port}/x?y=1", private=True).status == 200

    assert looked == ["lms.example"]
    assert asked[0].startswith(b"GET /x?y=1 HTTP/1.1\r\nHost: lms.example:")


def test_an_answer() -> None:
    """Status, the server's own words, headers and body."""
    with server(b"HTTP/1.1 409 Refusing a \xe9\x01 score\r\nX-A: b\r\nContent-Length: 2\r\n\r\n[]") as (port, _):
        answer = ask("POST", f"http://127.0.0.1:{port}/", body=b"{}", private=True)

    assert (answer.status, answer.reason, answer.headers["x-a"], answer.json()) == (409, "Refusing a é score", "b", [])


def test_redirects_of_a_get() -> None:
    """Within the same server they are followed, with what goes along."""
    with server(to("/b"), ok(b"[1]")) as (port, asked):
        answer = ask("GET", f"http://127.0.0.1:{port}/a", headers={"Authorization": "Bearer x"}, private=True)

    assert answer.json() == [1]
    assert b"Bearer x" in asked[1]


def test_credentials_stay_at_home() -> None:
    """Another server doesn't get them."""
    with server(ok()) as (other, asked), server(to(f"http://127.0.0.1:{other}/")) as (port, _):
        ask("GET", f"http://127.0.0.1:{port}/a", headers={"Authorization": "Bearer x"}, private=True)

    assert b"Bearer" not in asked[0]


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "data:,x", "javascript:1"]
)
def test_redirects_to_other_schemes(url: str) -> None:
    """Aren't followed."""
    with server(to(url)) as (port, _):
        assert code_of(f"http://127.0.0.1:{port}/", private=True) == "redirect"


def test_redirects_without_end() -> None:
    """Three are enough."""
    with server(*[to("/again")] * 4) as (port, asked):
        assert code_of(f"http://127.0.0.1:{port}/", private=True) == "redirect"

    assert len(asked) == 4


def test_redirects_lead_to_no_metadata() -> None:
    """Each hop is judged like the first."""
    with server(to("http://169.254.169.254/")) as (port, _):
        assert code_of(f"http://127.0.0.1:{port}/", private=True) == "address"


def test_a_post_is_never_sent_on() -> None:
    """A token request goes where it was meant to, or nowhere."""
    with server(to("/b", 307)) as (port, asked):
        assert ask("POST", f"http://127.0.0.1:{port}/a", body=b"secret", private=True).status == 307

    assert len(asked) == 1


@pytest.mark.parametrize(
    "answer, code",
    [
        (b"", "broken"),
        (b"nonsense\r\n\r\n", "broken"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "broken"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000, "broken"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", "broken"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n" + b"x" * 2000, "too-large"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"3e8\r\n" + b"x" * 1000 + b"\r\n" + b"zz\r\n",
            "broken",
        ),
    ],
)
def test_broken_answers(answer: bytes, code: str) -> None:
    """Have their code, and nothing is read beyond the limit."""
    with server(answer) as (port, _):
        assert code_of(f"http://127.0.0.1:{port}/", private=True, limit=1000) == code


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nabc"])
def test_silence(begun: bytes) -> None:
    """Whoever holds the line without saying anything is hung up on."""
    with server(begun, hold=True) as (port, _):
        assert code_of(f"http://127.0.0.1:{port}/", private=True, timeout=0.2) == "timeout"


def test_json_that_isn_t_any() -> None:
    """Nonsense and bottomless nesting are no JSON."""
    for body in (b"{", b"[" * 200_000, b"\xff"):
        with pytest.raises(ValueError, match="no JSON"):
            http.Answer(status=200, reason="", headers={}, body=body).json()


def test_a_lookup_that_doesn_t_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host's own name servers may take their time; a request's time is over all the same."""
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **options: over.wait(20) and [])
    try:
        assert code_of("https://lms.example/", timeout=0.2) == "timeout"
        assert not over.is_set()
    finally:
        over.set()
