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


class Filter:
    """A program for the kernel, ready to be loaded."""

    def __init__(self, program: bytes) -> None:
        """Look for the places of the process's number. Raises ValueError if there are none."""
        self._program = program
        size = _INSTRUCTION.size
        self._places = [
            start + size - 4
            for start in range(0, len(program), size)
            if _INSTRUCTION.unpack_from(program, start)[3] == PLACEHOLDER
        ]
        if not self._places:
            raise ValueError("the filter doesn't tie signals to a process")

    def restrict(self) -> None:
        """Let this thread and those that it starts make only the calls that are allowed. Raises OSError."""
        size = len(self._program)
        buffer = ctypes.create_string_buffer(self._program, size)
        for place in self._places:
            struct.pack_into("=I", buffer, place, os.getpid())
        head = _Program(size // _INSTRUCTION.size, ctypes.cast(buffer, ctypes.c_void_p))
        done = libc().prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(head), 0, 0)
        checked(done, "enter the filter of system calls")
