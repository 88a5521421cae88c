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
    if found is None or found in _followed or found.history_manager is None:
        return
    _followed.append(found)
    # Versions of IPython count up before or after the cell runs; its list of inputs tells where it is. The cell that is
    # being run stands in it already, and one that is about to be run doesn't yet.
    inputs = found.history_manager.input_hist_raw
    _note(found, len(inputs) - 1)
    found.events.register("pre_run_cell", lambda *_: _note(found, len(inputs)))
    found.events.register("post_run_cell", lambda *results: _ended(len(inputs) - 1, *results))


def _note(found: Any, number: int) -> None:
    """Note which cell is being run."""
    name = _cell_id(found)
    if name:
        ids[number] = name
    else:
        ids.pop(number, None)


def _ended(number: int, result: Any = None) -> None:
    # What isn't in the history has no number: blank cells, and what a frontend runs for itself.
    kept = getattr(getattr(result, "info", None), "store_history", False)
    if kept and getattr(result, "execution_count", None) is not None and not result.success:
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
