"""Importing where some packages are there and can't be read: what can't be read isn't there."""

from __future__ import annotations

import importlib.machinery
import os
import sys
import types
from collections.abc import Sequence

_open, _close = os.open, os.close


class ReadableFinder(importlib.machinery.PathFinder):
    """Finds what the ordinary finder does, but for modules whose file can't be opened."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the module's place, or None, so that an inert module or an ordinary ImportError comes next."""
        spec = super().find_spec(fullname, path, target)
        if spec is None or not spec.has_location or spec.origin is None:
            return spec
        try:
            _close(_open(spec.origin, os.O_RDONLY))
        except PermissionError:
            return None
        except OSError:
            pass
        return spec


def install() -> None:
    """Take the ordinary finder's place."""
    ordinary = importlib.machinery.PathFinder
    sys.meta_path[:] = [ReadableFinder if finder is ordinary else finder for finder in sys.meta_path]
