"""Lines of the log: what failed and where, never a text that somebody sent."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import Any

__all__ = ["Plain"]

MOST_PLACES = 8


class Plain(logging.Formatter):
    """Shows of an exception its kind and the places that it went through; its message may hold anything."""

    def formatException(self, ei: Any) -> str:
        """Return one line."""
        kind, _, trace = ei
        places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(trace)]
        return f"{getattr(kind, '__name__', kind)} at {' < '.join(reversed(places[-MOST_PLACES:]))}"

    def formatStack(self, stack_info: str) -> str:
        """Return nothing: lines of source are no lines of a log."""
        del stack_info
        return ""
