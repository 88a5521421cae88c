"""The filter of system calls: a list that people read, and the programs for the kernel that were made from it."""

from __future__ import annotations

import platform
from pathlib import Path

__all__ = ["MACHINES", "program"]

MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
"""Names of a machine, and the program that is for it."""


def program() -> bytes | None:
    """Return the filter for this machine, or None if there is none for its architecture."""
    name = MACHINES.get(platform.machine().lower())
    return None if name is None else (Path(__file__).parent / f"{name}.bpf").read_bytes()
