"""Calls to the Linux kernel that Python has no function for."""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Any

PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION = 0x20080522
_MAX_CAPABILITY = 63

_loaded: list[Any] = []


def libc() -> Any:
    """Return the C library; loaded when first asked for, since other systems have none of this name."""
    if not _loaded:
        _loaded.append(ctypes.CDLL(None, use_errno=True))
        _loaded[0].syscall.restype = ctypes.c_long
    return _loaded[0]


def checked(result: int, what: str) -> int:
    """Return ``result``, or raise the OSError that the last call left when it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, first: int = 0, what: str = "prctl") -> None:
    """Set an attribute of this process. Raises OSError."""
    checked(libc().prctl(option, ctypes.c_ulong(first), 0, 0, 0), what)


def die_with_parent() -> None:
    """Let the kernel kill this process when the one that forked it ends."""
    prctl(PR_SET_PDEATHSIG, 9, "die with the parent")


def forbid_new_privileges() -> None:
    """No program that is started from here gains a right by its file."""
    prctl(PR_SET_NO_NEW_PRIVS, 1, "no new privileges")


def drop_capabilities() -> None:
    """Give up every capability, for good; root keeps nothing but its user number. Raises OSError."""
    call = libc().prctl
    # Without CAP_SETPCAP the bounding set stays, but then there is nothing left that it could bound.
    for number in range(_MAX_CAPABILITY + 1):
        if call(PR_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0) < 0:
            break
    call(PR_CAP_AMBIENT, ctypes.c_ulong(PR_CAP_AMBIENT_CLEAR_ALL), 0, 0, 0)
    checked(libc().capset(struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24)), "drop capabilities")


def unshare(flags: int, what: str) -> None:
    """Leave namespaces of the parent for new ones. Raises OSError."""
    checked(libc().unshare(flags), what)


def join_namespace(descriptor: int, kind: int) -> None:
    """Enter a namespace that a descriptor of a process stands for. Raises OSError."""
    checked(libc().setns(descriptor, kind), "go back into the namespace")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system. Raises OSError."""
    words = [None if word is None else word.encode() for word in (source, target, kind, options)]
    checked(
        libc().mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]),
        f"mount {target}",
    )
