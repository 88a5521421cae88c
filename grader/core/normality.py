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
    ordered = np.sort(flat)
    distribution = _normal_cdf(ordered)
    steps = np.arange(n + 1) / n
    distance = max(float(np.max(steps[1:] - distribution)), float(np.max(distribution - steps[:-1])))
    return distance <= math.sqrt(math.log(2 / RATE) / (2 * n)) + 1e-6


def _normal_cdf(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Abramowitz & Stegun 7.1.26; absolute error below 1.5e-7."""
    z = np.abs(x) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = 1 - poly * np.exp(-z * z)
    return np.asarray(0.5 * (1 + np.sign(x) * erf))
