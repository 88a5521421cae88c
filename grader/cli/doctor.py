"""``grade doctor``: what this machine offers to keep student code apart, and which ways work."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.cli.options import Parser, add_course

__all__ = ["parser", "run"]

WIDTH = 80
NAME_WIDTH = 18
MEMORY_OF_A_WORKER = 4 << 30


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade doctor``."""
    made = Parser(
        prog="grade doctor",
        description="Show how this machine can keep student code apart. Exits with 0 if one way holds against malice.",
    )
    add_course(made)
    return made


def run(words: Sequence[str]) -> int:
    """Print the table; return 0 if an isolated backend works, else 4."""
    options = parser().parse_args(words)
    from grader.course import find_course
    from grader.run.isolation import ISOLATED, examine

    course = find_course(options.course)
    print("The machine")
    for name, value in _machine():
        _row(name, value)
    print("\nIsolation")
    examined = examine(course.secrets)
    for one in examined:
        _row(one.name, "works" if one.works else f"doesn't work: {one.why}")
    safe = [one.name for one in examined if one.works and one.name in ISOLATED]
    print()
    if safe:
        verdict = f"Files of other people are graded with '{safe[0]}'."
    else:
        verdict = "Files of other people can't be graded safely here; see docs/security.md for what is needed."
    print(textwrap.fill(verdict, WIDTH))
    return 0 if safe else 4


def _row(name: str, value: str) -> None:
    indent = " " * (NAME_WIDTH + 2)
    print(textwrap.fill(value, WIDTH, initial_indent=f"  {name:{NAME_WIDTH}}", subsequent_indent=indent))


def _machine() -> Iterator[tuple[str, str]]:
    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}"
    yield "Python", platform.python_version()
    yield "processors", str(_processors())
    yield "memory", _memory()
    if sys.platform != "linux":
        return
    yield "Landlock", _landlock()
    yield "seccomp", _seccomp()
    yield "user namespaces", _user_namespaces()
    yield "bubblewrap", _bubblewrap()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "not known"
    at_once = max(1, total // MEMORY_OF_A_WORKER)
    return f"{total / (1 << 30):.1f} GiB, enough for {at_once} submissions of 4 GiB at once"


def _landlock() -> str:
    from grader.run.inside import landlock

    version = landlock.version()
    if not version:
        return "not in this kernel, or turned off"
    scopes = "" if version >= 6 else ", without scopes for signals (the filter stands in)"
    return f"version {version}{scopes}"


def _seccomp() -> str:
    from grader.run import filter as system_calls

    if not Path("/proc/sys/kernel/seccomp").is_dir():
        return "not in this kernel"
    if system_calls.program() is None:
        return f"in this kernel, but we have no filter for {platform.machine()}"
    return "in this kernel, with our filter"


def _user_namespaces() -> str:
    """Say what the system's switches say; whether it works, only trying tells."""
    switches = {
        "user/max_user_namespaces": "0",
        "kernel/unprivileged_userns_clone": "0",
        "kernel/apparmor_restrict_unprivileged_userns": "1",
    }
    if not Path("/proc/self/ns/user").exists():
        return "not in this kernel"
    for name, off in switches.items():
        try:
            if Path("/proc/sys", name).read_text(encoding="ascii").strip() == off:
                return f"restricted ({name.partition('/')[2]} = {off})"
        except (OSError, ValueError):
            continue
    return "allowed"


def _bubblewrap() -> str:
    from grader.run.bubblewrap import program

    found = program()
    if found is None:
        return "not installed"
    try:
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False, timeout=10).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return f"{found} doesn't start"
    return said.strip().removeprefix("bubblewrap ") or "of an unknown version"
