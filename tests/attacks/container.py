"""Runs a program as a container without privileges does: no new namespaces, no mounts, few capabilities.

``python container.py PROGRAM ARGUMENTS...`` sets a filter of the kernel like the one that container engines set, takes
root's special rights away, and becomes the program.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

__all__ = ["confine"]

_X86 = [272, 165, 166, 308, 155, 428, 429, 430, 431, 432, 442, 321, 250, 248, 249, 298, 323]
_ARM = [97, 40, 39, 268, 41, 428, 429, 430, 431, 432, 442, 280, 219, 217, 218, 241, 282]
_DENIED = {"x86_64": (0xC000003E, 56, 435, _X86), "aarch64": (0xC00000B7, 220, 435, _ARM)}
"""Architecture, clone, clone3; unshare, mounts and setns in all their forms, bpf, keys, perf, page faults."""

_NEW_NAMESPACES = 0x7E020000
_KEPT = frozenset([0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31])
"""Capabilities that engines leave to a container."""

_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 24, 38, 22
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _EQUAL, _AND, _RETURN = 0x20, 0x15, 0x54, 0x06


def _program() -> bytes:
    """Return the filter: instructions for the kernel's little machine."""
    arch, clone, clone3, denied = _DENIED[os.uname().machine]
    steps: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
        (_LOAD, 0, 0, 0),
        # clone3 can't be looked into: a library then uses clone.
        (_EQUAL, 0, 1, clone3),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
    ]
    for number in denied:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    steps += [
        (_EQUAL, 1, 0, clone),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, 16),
        (_AND, 0, 0, _NEW_NAMESPACES),
        (_EQUAL, 1, 0, 0),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def confine() -> None:
    """Confine this process and all that it starts. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)

    def control(*arguments: int) -> None:
        if libc.prctl(*(ctypes.c_ulong(item) for item in arguments)):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    if os.geteuid() == 0:
        for capability in range(64):
            if capability not in _KEPT and libc.prctl(23, capability, 0, 0, 0) == 1:
                control(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    code = _program()
    room = ctypes.create_string_buffer(code, len(code))
    head = ctypes.create_string_buffer(struct.pack("@HxxxxxxQ", len(code) // 8, ctypes.addressof(room)), 16)
    control(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    control(_PR_SET_SECCOMP, 2, ctypes.addressof(head), 0, 0)


if __name__ == "__main__":
    confine()
    os.execvp(sys.argv[1], sys.argv[1:])
