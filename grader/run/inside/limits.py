"""What the worker's own process may use, where the system can say so, and what it is."""

from __future__ import annotations

import platform
import sys

import numpy as np

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # a module or nothing


def apply(memory_bytes: int, cpu_seconds: int) -> None:
    """Limit address space, CPU time, files and core dumps. Where there are no such limits, do nothing."""
    if resource is None:
        return
    wanted = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, 64 << 20),
        (resource.RLIMIT_NOFILE, 64),
    ]
    if hasattr(resource, "RLIMIT_MEMLOCK"):
        wanted.append((resource.RLIMIT_MEMLOCK, 0))
    if sys.platform == "linux":  # macOS accepts RLIMIT_AS and ignores or refuses it
        wanted.append((resource.RLIMIT_AS, memory_bytes))
    for which, value in wanted:
        _, hard = resource.getrlimit(which)
        limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(which, (limit, limit))
        except (ValueError, OSError):
            continue


def environment() -> list[list[str]]:
    """Return name and value pairs of what runs here."""
    return [
        ["python", platform.python_version()],
        ["numpy", np.__version__],
        ["system", platform.system()],
        ["machine", platform.machine()],
    ]
