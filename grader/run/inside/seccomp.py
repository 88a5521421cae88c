"""The filter of system calls: loaded as it was made at development time, and never taken off again."""

from __future__ import annotations

import ctypes
import os
import struct

from .system import checked, libc

PLACEHOLDER = 0x5E1F01D
"""Stands in the filter for the process's own number, which isn't known before it runs."""

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_INSTRUCTION = struct.Struct("=HBBI")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def for_process(program: bytes, pid: int) -> bytes:
    """Return the filter for the process ``pid``. Raises ValueError if it has no place for the number."""
    out, found = [], 0
    for code, jump_true, jump_false, constant in _INSTRUCTION.iter_unpack(program):
        if constant == PLACEHOLDER:
            found += 1
        out.append(_INSTRUCTION.pack(code, jump_true, jump_false, pid if constant == PLACEHOLDER else constant))
    if not found:
        raise ValueError("the filter doesn't tie signals to a process")
    return b"".join(out)


def restrict(program: bytes) -> None:
    """Let this thread and those that it starts make only the calls that the filter allows. Raises OSError."""
    text = for_process(program, os.getpid())
    buffer = ctypes.create_string_buffer(text, len(text))
    head = _Program(len(text) // _INSTRUCTION.size, ctypes.cast(buffer, ctypes.c_void_p))
    checked(libc().prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(head), 0, 0), "enter the filter of system calls")
