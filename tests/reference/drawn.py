"""Draws as they are recorded, made by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.core.observed import Drawn
from reference.attention import explain

__all__ = ["Doubles", "explained", "normal", "record"]

Doubles = npt.NDArray[np.float64]
RNG = np.random.default_rng(2024)


def normal(*shape: int) -> Doubles:
    """Draw from N(0, 1)."""
    return np.asarray(RNG.standard_normal(shape))


def record(arrays: Sequence[Any], method: str = "standard_normal", args: tuple[float, ...] = ()) -> list[Drawn]:
    """Record draws as the worker does: equal ones in a row are one run."""
    runs = itertools.groupby((np.asarray(a, dtype=np.float64) for a in arrays), key=lambda a: a.shape)
    return [Drawn(source=0, method=method, args=args, shape=shape, values=np.stack(list(run))) for shape, run in runs]


def explained(drawn: Sequence[Drawn] | None, value: float, d: int, n: int) -> bool:
    """Whether some way to read the draws gives the variance ``value``."""
    sets = [found for _, Q, K in explain.score_sets(drawn, d) for _, found in explain.variances(Q, K, n)]
    blocks = [found for _, found in explain.block_variances(drawn, d)]
    return any(math.isclose(found, value, rel_tol=1e-9) for found in [*sets, *blocks])
