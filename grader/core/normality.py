"""Do recorded numbers look like draws from N(0, 1)? A test that honest draws fail less than once in 10^8 times."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["RATE", "looks_normal"]

RATE = 1e-9
"""Chance that honest draws fail each of the three parts: mean, variance, Kolmogorov-Smirnov."""

_Z = 6.11
"""Two-sided normal quantile of RATE, rounded up."""


def looks_normal(numbers: npt.NDArray[np.float64]) -> bool:
    """Whether ``numbers`` (any shape) may be draws from N(0, 1).

    Mean and variance are compared with their standard errors 1/sqrt(N) and sqrt(2/N); the distribution function
    with the Dvoretzky-Kiefer-Wolfowitz bound sqrt(ln(2/rate) / 2N), whose constant is Massart's (1990). Fewer than
    50 numbers tell nothing and pass if they are finite and below 40.
    """
    flat = np.asarray(numbers, dtype=np.float64).ravel()
    if not bool(np.all(np.abs(flat) < 40)):
        return False
    n = flat.size
    if n < 50:
        return True
    # The variance of a few squares is skewed: the allowance grows by its third-order term.
    spread = _Z * math.sqrt(2 / n) + 2 * _Z**2 / (3 * n)
    if abs(float(flat.mean())) > _Z / math.sqrt(n) or abs(float((flat**2).mean()) - 1) > spread * 1.5:
        return False
    # At so many points the largest distance is found within 0.6 % of all numbers, and nothing has to be sorted.
    bins = np.bincount((np.clip(flat, -_EDGE, _EDGE) * _BINS + _EDGE * _BINS).astype(np.intp), minlength=_CDF.size + 1)
    distance = float(np.max(np.abs(np.cumsum(bins[: _CDF.size]) / n - _CDF)))
    return distance <= math.sqrt(math.log(2 / RATE) / (2 * n)) + 1e-6


_EDGE, _BINS = 4, 64
"""The distribution function is looked at from -4 to 4, at 64 points a unit."""

_CDF = np.array([math.erfc(-x / _BINS / math.sqrt(2)) / 2 for x in range(-_EDGE * _BINS + 1, _EDGE * _BINS + 1)])
