"""Quantiles and intervals, written out so that no SciPy has to be imported at run time.

The chi-square distribution with ``nu`` degrees of freedom is the gamma distribution with shape nu/2 and
scale 2; its distribution function is the regularised lower incomplete gamma function P(nu/2, x/2)
(Abramowitz & Stegun 26.4.19). P is computed by its series below its mean and by Lentz's continued
fraction above (ibid. 6.5.29, 6.5.31).
"""

from __future__ import annotations

import math
from functools import lru_cache

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
    if tail > 0.5:
        return chi2_quantile(1 - tail, nu, upper=not upper)
    half = nu / 2
    constant = half * math.log(2) + math.lgamma(half)
    # The normal quantile to three digits (Abramowitz & Stegun 26.2.23).
    t = math.sqrt(-2 * math.log(tail))
    z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
    z = z if upper else -z
    # Wilson & Hilferty 1931: the cube root of chi-square is nearly normal. Only a start.
    x = nu * max(1e-8, 1 - 2 / (9 * nu) + z * math.sqrt(2 / (9 * nu))) ** 3
    low, high = 0.0, math.inf
    for _ in range(200):
        p, q = gamma_p_q(half, x / 2)
        chance = q if upper else p
        if (chance > tail) == upper:
            low = x
        else:
            high = x
        # Newton's method for the logarithm of the chance over that of x, which is nearly straight in both tails: from
        # such a start four steps, where halving an interval takes fifty.
        step = math.inf
        if chance > 0:
            slope = math.exp(half * math.log(x) - x / 2 - constant) / chance
            step = math.log(chance / tail) / (slope if upper else -slope) if slope else math.inf
        if abs(step) < 1e-8:
            return x * math.exp(step)  # a step more would change the last digit at most
        wanted = x * math.exp(step) if abs(step) < 600 else 0.0
        if not low < wanted < high:
            wanted = math.sqrt(low or high / 4) * math.sqrt(high) if math.isfinite(high) else 2 * x
        x = wanted
    return x


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
