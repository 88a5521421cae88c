"""A process's own view of the machine: its own process numbers, mounts and shared memory, and a scratch in memory.

The program that starts everything has already given the zygote a root with little in it, and no network. What is
here adds a user namespace, in which the zygote may divide further, and the namespaces of each child.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from . import system

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PIDS = 0x00020000, 0x08000000, 0x10000000, 0x20000000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, RECURSIVE, PRIVATE = 1, 2, 4, 8, 16384, 1 << 18
_SAFE = NO_SUID | NO_DEVICES | NO_EXEC
_EMPTY = "size=0,nr_inodes=1,mode=000"

SCRATCH = "/scratch"
SCRATCH_OPTIONS = "size=64m,nr_inodes=4096,mode=700"


def enter(hide: Iterable[str]) -> int:
    """Give this process a user namespace in which it may divide further, and become the first process of a new one.

    Forks: what returns is the child. Folders in ``hide`` are covered.

    Returns:
        A descriptor of the process, with which it comes back after making namespaces for a child.

    Raises:
        OSError: If the system doesn't allow it.
    """
    user, group = os.getuid(), os.getgid()
    system.unshare(NEW_USER | NEW_MOUNTS | NEW_PIDS, "make a user namespace")
    for path, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        descriptor = os.open(f"/proc/self/{path}", os.O_WRONLY)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    system.mount("none", "/", None, RECURSIVE | PRIVATE)
    for folder in hide:
        system.mount("tmpfs", folder, "tmpfs", READ_ONLY | _SAFE, _EMPTY)
    first = os.fork()
    if first:
        _wait_for(first)
    system.die_with_parent()
    return os.pidfd_open(os.getpid())


def _wait_for(pid: int) -> None:
    """Hold nothing open, and end when the child does."""
    os.closerange(0, 1 << 16)
    os.waitpid(pid, 0)
    os._exit(0)


def before_fork() -> None:
    """Let the next child be the first process of a namespace of its own. Raises OSError."""
    system.unshare(NEW_PIDS, "make a namespace of processes")


def after_fork(own: int) -> None:
    """Come back, in the parent. Raises OSError."""
    system.join_namespace(own, NEW_PIDS)


def settle(companions: dict[str, int]) -> None:
    """Give this child a scratch of its own and an empty /proc; copy the companions into the scratch. Raises OSError."""
    system.unshare(NEW_MOUNTS | NEW_IPC, "make a namespace of mounts")
    system.mount("tmpfs", SCRATCH, "tmpfs", _SAFE, SCRATCH_OPTIONS)
    for name, source in companions.items():
        target = os.open(f"{SCRATCH}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
        try:
            while os.sendfile(target, source, None, 1 << 20):
                pass
            os.fchmod(target, 0o444)
        finally:
            os.close(target)
    system.mount("tmpfs", "/proc", "tmpfs", READ_ONLY | _SAFE, _EMPTY)
    os.chdir(SCRATCH)
