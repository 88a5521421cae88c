"""Landlock: a process says which files it will touch, and can't take it back. Linux 5.13 and later.

It governs opening, making and removing files; what is already open stays open, and ``stat`` isn't governed.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable

from .system import checked, libc

# The numbers are the same on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR = (1 << bit for bit in range(8))
MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM, REFER, TRUNCATE, IOCTL_DEV = (1 << bit for bit in range(8, 16))

READ = READ_FILE | READ_DIR
LIST = READ_DIR
WRITE = READ | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER
"""Plain files and folders only: no links, sockets, pipes or devices, and nothing is executed."""

_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_NETWORK = 3  # to bind and to connect a TCP socket
_SCOPES = 3  # abstract sockets and signals stay within


def version() -> int:
    """Return the version of Landlock in this kernel, 0 where there is none."""
    try:
        return max(0, int(libc().syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)))
    except (AttributeError, OSError, TypeError):
        return 0


def open_path(path: str) -> int:
    """Return a descriptor that names a file or folder and gives no other access to it. Raises OSError."""
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


def handled(abi: int) -> int:
    """Return the rights over files that a kernel with this version governs."""
    bits = 13 + (abi >= 2) + (abi >= 3) + (abi >= 5)
    return (1 << bits) - 1


def restrict(rules: Iterable[tuple[int, int, bool]], abi: int) -> None:
    """Allow what the rules say and nothing else: triples of path descriptor, rights, and whether it is a folder.

    Network and signals to processes outside are denied where the kernel's version knows how.

    Raises:
        OSError: If the kernel refuses; nothing is restricted then.
    """
    known = handled(abi)
    attributes = struct.pack("=QQQ", known, _NETWORK, _SCOPES)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    call = libc().syscall
    ruleset = checked(call(_CREATE_RULESET, attributes, len(attributes), 0), "make Landlock's rules")
    try:
        for descriptor, rights, folder in rules:
            wanted = rights & known & (~0 if folder else _OF_FILES)
            checked(call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", wanted, descriptor), 0), "add a rule")
        checked(call(_RESTRICT_SELF, ruleset, 0), "enter Landlock")
    finally:
        os.close(ruleset)
