"""Quantiles and intervals, written out so that no SciPy has to be imported at run time.

The chi-square distribution with ``nu`` degrees of freedom is the gamma distribution with shape nu/2 and
scale 2; its distribution function is the regularised lower incomplete gamma function P(nu/2, x/2)
(Abramowitz & Stegun 26.4.19). P is computed by its series below its mean and by Lentz's continued
fraction above (ibid. 6.5.29, 6.5.31).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

__all__ = ["chi2_interval", "chi2_quantile", "gamma_p_q", "product_variance_interval"]

_TINY = 1e-300


def gamma_p_q(shape: float, x: float) -> tuple[float, float]:
    """Return the regularised incomplete gamma functions ``(P(shape, x), Q(shape, x))``; both are precise.

    Raises:
        ValueError: If ``shape`` isn't positive or ``x`` is negative.
    """
    if not shape > 0 or not x >= 0:
        raise ValueError("shape must be positive and x not negative")
    if x == 0:
        return 0.0, 1.0
    log_factor = shape * math.log(x) - x - math.lgamma(shape)
    if x < shape + 1:
        term = total = 1.0 / shape
        n = shape
        while abs(term) > abs(total) * 1e-17:
            n += 1
            term *= x / n
            total += term
        p = min(1.0, total * math.exp(log_factor))
        return p, 1.0 - p
    b = x + 1 - shape
    c = 1 / _TINY
    d = 1 / b if b else 1 / _TINY
    h = d
    for i in range(1, 100_000):
        an = -i * (i - shape)
        b += 2
        d = an * d + b
        d = _TINY if abs(d) < _TINY else d
        c = b + an / c
        c = _TINY if abs(c) < _TINY else c
        d = 1 / d
        delta = d * c
        h *= delta
        if abs(delta - 1) < 1e-16:
            break
    q = min(1.0, h * math.exp(log_factor))
    return 1.0 - q, q


def chi2_quantile(tail: float, nu: float, *, upper: bool) -> float:
    """Return x such that a chi-square variable of ``nu`` degrees of freedom lies beyond it with chance ``tail``.

    ``upper`` chooses the side: above x, or below it.

    Raises:
        ValueError: If ``tail`` isn't between 0 and 1, or ``nu`` isn't positive.
    """
    if not 0 < tail < 1 or not nu > 0:
        raise ValueError("tail must be between 0 and 1 and nu positive")
    z = NormalDist().inv_cdf(tail)
    z = -z if upper else z
    # Wilson & Hilferty 1931: the cube root of chi-square is nearly normal. Only a start for the bisection.
    guess = nu * max(1e-8, 1 - 2 / (9 * nu) + z * math.sqrt(2 / (9 * nu))) ** 3

    def beyond(x: float) -> float:
        p, q = gamma_p_q(nu / 2, x / 2)
        return q if upper else p

    low = high = guess
    if upper:
        while beyond(low) < tail:
            low /= 2
        while beyond(high) > tail:
            high *= 2
    else:
        while beyond(low) > tail:
            low /= 2
        while beyond(high) < tail:
            high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if (beyond(middle) > tail) == upper:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def chi2_interval(rate: float, nu: float) -> tuple[float, float]:
    """Return the two-sided interval of chi-square / nu that an honest value leaves with chance ``rate``."""
    return chi2_quantile(rate / 2, nu, upper=False) / nu, chi2_quantile(rate / 2, nu, upper=True) / nu


@lru_cache(maxsize=1024)
def product_variance_interval(rate: float, n: int, d: int) -> tuple[float, float]:
    """Return the interval for (sample variance of n scores) / d, each score a dot product of two N(0,1)^d vectors.

    A score has variance d and excess kurtosis 6/d, so the sample variance has relative variance (2 + 6/d)/n;
    it is matched by a chi-square with nu = 2n / (2 + 6/d) degrees of freedom. The normal form is too
    generous below and too tight above for small n.

    Args:
        rate: Two-sided chance that an honest measurement lies outside.
        n: Number of scores, at least 2.
        d: Dimension of the vectors.
    """
    return chi2_interval(rate, 2 * n / (2 + 6 / d))
