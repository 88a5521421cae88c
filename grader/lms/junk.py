"""Names of files that nobody handed in on purpose, and of those that can be graded."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

__all__ = ["SKIPPED_FOLDERS", "is_archive", "is_environment", "is_gradable", "is_junk", "is_root_junk", "without_junk"]

SUFFIXES = (".py", ".ipynb")

SKIPPED_FOLDERS = frozenset(
    {"__MACOSX", "__pycache__", ".ipynb_checkpoints", ".git", "node_modules", "site-packages", ".venv", "venv"}
)
_SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini", "icon\r"})
_ENVIRONMENT = "pyvenv.cfg"


def is_gradable(name: str) -> bool:
    """Whether a file of this name can be graded."""
    return name.lower().endswith(SUFFIXES)


def is_archive(name: str) -> bool:
    """Whether a file of this name is looked into."""
    return name.lower().endswith(".zip")


def is_junk(name: str) -> bool:
    """Whether nobody meant to hand this in: hidden files, and what systems and tools leave behind."""
    parts = name.split("/")
    if any(part in SKIPPED_FOLDERS or part.startswith(".") for part in parts):
        return True
    return parts[-1].lower() in _SYSTEM_FILES


def is_root_junk(name: str) -> bool:
    """Whether an entry is a system's, seen from the top of an archive, where folders may have any name."""
    parts = name.split("/")
    base = parts[-1]
    return parts[0] == "__MACOSX" or base == ".DS_Store" or base.startswith("._") or base.lower() in _SYSTEM_FILES


def without_junk(names: Iterable[str]) -> set[str]:
    """Return the names that count: no junk, and nothing of a virtual environment."""
    kept = {name for name in names if not is_junk(name)}
    roots = tuple(name.removesuffix(_ENVIRONMENT) for name in kept if name.endswith(f"/{_ENVIRONMENT}"))
    return {name for name in kept if not name.startswith(roots)} if roots else kept


def is_environment(folder: Path) -> bool:
    """Whether a folder on disk is a virtual environment of Python's."""
    return os.path.lexists(folder / _ENVIRONMENT)
