"""A right answer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def centre(x: Array) -> Array:
    """Return ``x`` without its mean."""
    return x - x.mean()


def spread(x: Array) -> float:
    """Return the root of the mean square of what is centred."""
    return float(np.sqrt((centre(x) ** 2).mean()))
