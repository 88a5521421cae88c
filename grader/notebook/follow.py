"""Follows a notebook's kernel: which cell each execution was of, and whether it failed.

IPython keeps the text of all executions, but not which of them were of one cell. Frontends say so when they ask for an
execution: ``cellId`` in the request's metadata (Jupyter, VS Code), or ``colab.cell_id``. So it is noted as it happens,
from ``import grader`` on. Nothing but the standard library is loaded for it.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["begin", "failed", "ids", "shell"]

MAX_ID = 200

ids: dict[int, str] = {}
"""Which cell an execution was of, by its number, where the frontend tells."""

failed: set[int] = set()
"""Numbers of the executions that ended with an error."""

_followed: list[Any] = []


def shell() -> Any:
    """Return the running IPython, or None outside of one."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get() if callable(get) else None


def begin() -> None:
    """Follow the running IPython, if there is one, from the cell on that is being run."""
    found = shell()
    if found is None or found in _followed:
        return
    _followed.append(found)
    _note(found)
    found.events.register("pre_run_cell", lambda *_: _note(found))
    found.events.register("post_run_cell", _ended)


def _note(found: Any) -> None:
    """Note which cell is being run."""
    name = _cell_id(found)
    if name:
        ids[found.execution_count] = name


def _ended(result: Any = None) -> None:
    number = getattr(result, "execution_count", None)
    if number is not None and not getattr(result, "success", True):
        failed.add(number)


def _cell_id(found: Any) -> str:
    """Return what the frontend calls the cell that it has just asked for; ``""`` if it doesn't say."""
    parent = getattr(found, "parent_header", None)
    metadata = parent.get("metadata") if isinstance(parent, dict) else None
    if not isinstance(metadata, dict):
        return ""
    colab = metadata.get("colab")
    name = metadata.get("cellId") or (colab.get("cell_id") if isinstance(colab, dict) else None)
    return name[:MAX_ID] if isinstance(name, str) else ""
