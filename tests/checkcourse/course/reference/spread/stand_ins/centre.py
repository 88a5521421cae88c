"""A working centre."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def centre(x: Array) -> Array:
    """Return ``x`` without its mean."""
    return x - x.mean()
