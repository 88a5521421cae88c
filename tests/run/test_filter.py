"""The filter of system calls: what is shipped is what the list says."""

from __future__ import annotations

import ctypes.util
import platform
import struct
from pathlib import Path

import pytest

from grader.run import filter as system_calls
from grader.run.filter import generate
from grader.run.inside.seccomp import PLACEHOLDER, Filter

FOLDER = Path(system_calls.__file__).parent
NEEDS_LIBSECCOMP = pytest.mark.skipif(ctypes.util.find_library("seccomp") is None, reason="libseccomp isn't here")

NEVER = (
    *("fork", "vfork", "execve", "execveat", "socket", "socketpair", "connect", "bind", "memfd_create", "shmget"),
    *("chmod", "fchmod", "fchmodat", "chown", "utime", "utimes", "utimensat", "flock", "fcntl64", "link", "symlink"),
    *("inotify_init1", "inotify_add_watch", "fanotify_init", "setpriority", "sched_setaffinity", "sched_setscheduler"),
    *("sched_setparam", "sched_setattr", "ioprio_set", "ptrace", "process_vm_readv", "process_vm_writev", "keyctl"),
    *("bpf", "io_uring_setup", "userfaultfd", "perf_event_open", "unshare", "setns", "mount", "umount2", "pivot_root"),
    *(
        "chroot",
        "pidfd_open",
        "pidfd_send_signal",
        "pidfd_getfd",
        "tkill",
        "rt_sigqueueinfo",
        "setrlimit",
        "personality",
    ),
    *("mknod", "mknodat", "seccomp", "setuid", "setgid", "capset", "sync", "syncfs", "msgget", "semget", "mq_open"),
)


@NEEDS_LIBSECCOMP
@pytest.mark.parametrize("architecture", sorted(generate.ARCHITECTURES))
def test_the_programs_are_those_of_the_list(architecture: str) -> None:
    """Libseccomp makes from the list, to the byte, what lies beside it."""
    assert generate.generate(architecture) == (FOLDER / f"{architecture}.bpf").read_bytes()


def test_the_list_leaves_out_what_it_must() -> None:
    """Nothing that makes a second process, a connection or a lock, or that Landlock doesn't govern, is in it."""
    allowed = {rule.name for rule in generate.read_rules((FOLDER / "syscalls.txt").read_text(encoding="utf-8"))}

    assert allowed & set(NEVER) == set()
    assert {"read", "write", "mmap", "futex", "getrandom", "exit_group"} <= allowed


def test_a_line_that_says_nothing_is_refused() -> None:
    """A mistake in the list is an error and no rule less."""
    with pytest.raises(ValueError, match="kill 0 =! PID"):
        generate.read_rules("read\nkill 0 =! PID\n")


@pytest.mark.parametrize("architecture", sorted(generate.ARCHITECTURES))
def test_signals_are_tied_to_a_process(architecture: str) -> None:
    """The program has a place for the process's number, and is whole instructions."""
    program = (FOLDER / f"{architecture}.bpf").read_bytes()
    constants = [constant for _, _, _, constant in struct.iter_unpack("=HBBI", program)]

    assert PLACEHOLDER in constants
    assert generate.ARCHITECTURES[architecture] in constants


def test_a_program_without_that_place_is_refused() -> None:
    """Else signals would go anywhere, and nobody would notice."""
    with pytest.raises(ValueError, match="tie signals"):
        Filter(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000))


@pytest.mark.parametrize(
    "machine, name", [("x86_64", "x86_64"), ("AMD64", "x86_64"), ("arm64", "aarch64"), ("riscv64", None)]
)
def test_each_machine_has_its_own(machine: str, name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is chosen by the kind of processor; where there is none, that is said."""
    monkeypatch.setattr(platform, "machine", lambda: machine)

    assert system_calls.program() == (None if name is None else (FOLDER / f"{name}.bpf").read_bytes())
