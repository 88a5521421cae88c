"""Requests to an LMS, with an eye on where they lead, how long they take and how much comes back.

Addresses come from administrators, from dynamic registration and from launches, and none of them may make us ask our
own network: a host is looked up once, all of its addresses are judged, and that address is what we connect to.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from grader.model._data import data
from grader.web.lti.addresses import origin, split

__all__ = ["LIMIT", "TIMEOUT", "Answer", "Unreachable", "ask"]

TIMEOUT = 10.0
"""Seconds for a whole request, however slowly the answer drips."""

LIMIT = 2_000_000
"""Bytes of an answer that are read."""

REDIRECTS = 3
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
NAT64 = ipaddress.ip_network("64:ff9b::/96")
PHRASE = re.compile(r"[^\x20-\x7e\xa0-\xff]")


class Unreachable(Exception):
    """No answer that can be used.

    Attributes:
        code: What it was: ``address``, ``scheme``, ``lookup``, ``timeout``, ``broken``, ``too-large`` or ``redirect``.
    """

    def __init__(self, code: str, host: str) -> None:
        super().__init__(f"{code}: {host}")
        self.code = code
        self.host = host


@data
class Answer:
    """What a server answered: the headers' names are lower-case, the reason is its own words behind the status."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body's JSON; ValueError if it isn't any."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise ValueError("no JSON") from None


def ask(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    private: bool = False,
    timeout: float = TIMEOUT,
    limit: int = LIMIT,
) -> Answer:
    """Send one request and return its answer, whatever the status.

    GET follows a few redirects, within https or within the same scheme, and takes no credentials to another origin.

    Args:
        method: GET, POST, PUT or DELETE.
        url: Where to: https; with ``private`` also http.
        headers: What goes along.
        body: What is sent.
        private: Whether loopback and private addresses are allowed.
        timeout: Seconds for all of it.
        limit: Bytes of the answer's body that are taken.

    Raises:
        Unreachable: If there is no answer, or none that may be had.
    """
    deadline = time.monotonic() + timeout
    sent = dict(headers or {})
    for _ in range(REDIRECTS + 1):
        answer = _once(method, url, sent, body, private, deadline, limit)
        if method != "GET" or answer.status not in (301, 302, 303, 307, 308) or "location" not in answer.headers:
            return answer
        target = urljoin(url, answer.headers["location"])
        if not (target.startswith("https://") or (target.startswith("http://") and url.startswith("http://"))):
            raise Unreachable("redirect", _host(url))
        if origin(target) != origin(url):
            sent.pop("Authorization", None)
        url = target
    raise Unreachable("redirect", _host(url))


def _once(
    method: str, url: str, headers: dict[str, str], body: bytes | None, private: bool, deadline: float, limit: int
) -> Answer:
    parts = split(url)
    if parts is None or parts.hostname is None or (parts.scheme != "https" and not private):
        raise Unreachable("scheme", _host(url))
    host = parts.hostname
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = _address(host, port, private=private, deadline=deadline)
    late = threading.Event()
    connection: http.client.HTTPConnection | None = None
    watch: threading.Timer | None = None
    try:
        plain = socket.create_connection((address, port), timeout=_left(deadline, host))
        # A timeout on a socket starts anew with each byte; this one doesn't.
        watch = threading.Timer(_left(deadline, host), _hang_up, (plain, late))
        watch.daemon = True
        watch.start()
        connection = http.client.HTTPConnection(host, port)
        connection.sock = plain
        if parts.scheme == "https":
            connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
            watch.cancel()
            watch = threading.Timer(_left(deadline, host), _hang_up, (connection.sock, late))
            watch.daemon = True
            watch.start()
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        netloc = parts.netloc.encode("idna").decode() if not parts.netloc.isascii() else parts.netloc
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": netloc, "User-Agent": "numgrade", "Connection": "close", **headers}.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        content = response.read(limit + 1)
        if late.is_set():
            raise Unreachable("timeout", host)
        if len(content) > limit:
            raise Unreachable("too-large", host)
        if response.length:  # it promised more than came
            raise Unreachable("broken", host)
        return Answer(
            status=response.status,
            reason=PHRASE.sub("", response.reason or "")[:300],
            headers={name.lower(): value for name, value in response.getheaders()},
            body=content,
        )
    except TimeoutError:
        raise Unreachable("timeout", host) from None
    except (OSError, http.client.HTTPException, ValueError, AttributeError):
        # AttributeError: the watch took the socket away while http.client was at it.
        raise Unreachable("timeout" if late.is_set() else "broken", host) from None
    finally:
        if watch is not None:
            watch.cancel()
        if connection is not None:
            connection.close()


def _address(host: str, port: int, *, private: bool, deadline: float) -> str:
    """Return the address to connect to, if all of the host's addresses may be had."""
    addresses = _looked_up(host, port, _left(deadline, host))
    if not addresses or not all(allowed(ipaddress.ip_address(text.split("%")[0]), private) for text in addresses):
        raise Unreachable("address", host)
    return addresses[0]


def _looked_up(host: str, port: int, timeout: float) -> list[str]:
    """Return a host's addresses. A lookup can't be broken off, and its end is up to the host's own name servers."""
    found: list[str] = []
    failed = threading.Event()

    def look() -> None:
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend(dict.fromkeys(str(entry[4][0]) for entry in entries))
        except (OSError, UnicodeError):
            failed.set()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(timeout)
    if thread.is_alive():
        raise Unreachable("timeout", host)
    if failed.is_set():
        raise Unreachable("lookup", host)
    return found


def allowed(address: Address, private: bool) -> bool:
    """Whether we may connect to ``address``: a public one, or with ``private`` one of our own network.

    Link-local addresses are never allowed: that is where clouds hand out their keys.
    """
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if address.teredo is not None:
            return False
        if inner is not None:
            return allowed(inner, private)
    if address.is_link_local or address.is_multicast or address.is_unspecified or address.is_reserved:
        # IPv6's loopback lies in a reserved block.
        return private and address.is_loopback
    return address.is_global or (private and (address.is_private or address.is_loopback))


def _left(deadline: float, host: str) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise Unreachable("timeout", host)
    return left


def _hang_up(sock: socket.socket, late: threading.Event) -> None:
    late.set()
    with contextlib.suppress(OSError):
        # The base class's: that of an SSL socket would take the socket apart under the reader's hands.
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _host(url: str) -> str:
    parts = split(url)
    return (parts.hostname or "") if parts is not None else ""
