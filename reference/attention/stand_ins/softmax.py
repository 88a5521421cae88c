"""A working softmax, as the lesson prints it: put in place of a wrong one, so that a mistake is paid for once."""

from __future__ import annotations

from typing import Any

import numpy as np


def softmax(x: Any, axis: int = -1) -> Any:
    """Return the softmax of ``x`` along ``axis``."""
    x = np.asarray(x, dtype=float)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
