"""Whom a request comes from: the address that limits count by, also behind a proxy."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from grader.errors import UsageError

__all__ = ["LOOPBACK", "MAX_HOPS", "Network", "client_of", "networks"]

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

LOOPBACK: tuple[Network, ...] = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))
"""This machine itself, where a proxy is always believed."""

MAX_HOPS = 10
"""So many of the proxies that a request went through are looked at."""

SITE = 64
"""Bits of an IPv6 address that one client is given: whoever has one address has all that begin like it."""


def networks(words: Iterable[str]) -> tuple[Network, ...]:
    """Return addresses and networks such as ``10.0.0.7`` and ``10.1.0.0/16``.

    Raises:
        UsageError: If one is neither.
    """
    found = []
    for word in words:
        try:
            found.append(ipaddress.ip_network(word))
        except ValueError:
            raise UsageError(
                f"GRADE_PROXIES names '{word[:50]}', which is neither an address nor a network.",
                hint="Write them as 10.0.0.7 or 10.1.0.0/16, with spaces between.",
            ) from None
    return tuple(found)


def client_of(peer: str, forwarded: str, proxies: Iterable[Network] = ()) -> str:
    """Return what one client counts as: an IPv4 address or the first 64 bits of an IPv6 address; "" if unknown.

    ``X-Forwarded-For`` is anybody's to write. Each proxy puts whom it sees behind what is there already, so that it
    is read from its end, and only as far as those who wrote it are our proxies: the first address that isn't one of
    them is the client. A proxy that doesn't say whom it saw leaves the client unknown: all who come through it as one
    would be worse than not to count, since each of them could then keep out the others.

    Args:
        peer: The address that the connection comes from.
        forwarded: The header, "" without one.
        proxies: Our proxies, beside those on this machine.
    """
    trusted = (*LOOPBACK, *proxies)
    hops = forwarded.rsplit(",", MAX_HOPS)[-MAX_HOPS:]
    for text in (peer, *reversed(hops)):
        address = _address(text)
        if address is None:
            return ""
        if not any(address in network for network in trusted):
            return _site(address)
    return ""


def _address(text: str) -> Address | None:
    """Return the address in a header's part: plain, or with brackets, a port or a zone."""
    word = text.strip().strip('"')[:100]
    if word.startswith("["):
        word = word[1:].partition("]")[0]
    elif word.count(":") == 1:
        word = word.partition(":")[0]
    try:
        found = ipaddress.ip_address(word.partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped if mapped is not None else found


def _site(address: Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.ip_network((int(address), SITE), strict=False))
