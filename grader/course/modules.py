"""How modules of a course are found and compiled: below a private name, and by what stands in their files."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["PREFIX", "install", "package_of"]

PREFIX = "_course_"


class _ByContent(SourceFileLoader):
    """Takes bytecode for good if its source's content is as it was.

    Python compares time and size, and a course that is edited may keep both within a second: its digest would be new
    and its checks the old ones.
    """

    def path_stats(self, path: str) -> Mapping[str, Any]:
        content = self.get_data(path)
        return {"mtime": int.from_bytes(hashlib.sha256(content).digest()[:4], "big"), "size": len(content)}


class _Finder:
    """Finds what lies in a course's folder for imports below a private package, and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(PREFIX) or path is None:
            return None
        name = fullname.rpartition(".")[2]
        for folder in map(Path, path):
            for file in (folder / name / "__init__.py", folder / f"{name}.py"):
                if file.is_file():
                    return _spec(fullname, file)
        return None


def install() -> None:
    """Let imports of courses be found. Once is enough."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def package_of(name: str, folder: Path) -> ModuleSpec | None:
    """Return the private package of a course's folder, whether or not it has an ``__init__.py``."""
    init = folder / "__init__.py"
    if init.is_file():
        return _spec(name, init)
    return importlib.util.spec_from_file_location(name, None, submodule_search_locations=[str(folder)])


def _spec(name: str, file: Path) -> ModuleSpec | None:
    below = [str(file.parent)] if file.name == "__init__.py" else None
    return importlib.util.spec_from_file_location(
        name, file, loader=_ByContent(name, str(file)), submodule_search_locations=below
    )
