"""Quantiles against SciPy, and intervals against what was simulated and tabulated."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from grader.core.statistics import chi2_interval, chi2_quantile, gamma_p_q, product_variance_interval

NUS = (0.5, 1, 2, 3.7, 10, 31.5, 100, 1e3, 1e4, 1e5, 1e6)
TAILS = (1e-9, 1e-7, 1e-6, 1e-3, 0.025, 0.1, 0.3, 0.5)


@pytest.mark.parametrize("upper", [pytest.param(False, id="below"), pytest.param(True, id="above")])
@pytest.mark.parametrize("nu", [pytest.param(nu, id=f"nu={nu:g}") for nu in NUS])
def test_quantiles_are_those_of_scipy(nu: float, upper: bool) -> None:
    """Ten digits agree at both ends, from tails of 1e-9 to the median."""
    ours = [chi2_quantile(tail, nu, upper=upper) for tail in TAILS]
    theirs = stats.chi2.isf(TAILS, nu) if upper else stats.chi2.ppf(TAILS, nu)

    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@given(st.floats(0.5, 1e5), st.floats(1e-9, 0.5), st.booleans())
def test_a_quantile_has_its_tail(nu: float, tail: float, upper: bool) -> None:
    """Beyond a quantile lies the chance that it was asked for, by SciPy's own distribution function."""
    x = chi2_quantile(tail, nu, upper=upper)

    assert math.isclose((stats.chi2.sf if upper else stats.chi2.cdf)(x, nu), tail, rel_tol=1e-7)


@pytest.mark.parametrize("shape", [0.01, 0.25, 0.5, 1.0, 2.5, 10.0, 50.0, 1e3, 1e4, 1e5])
def test_incomplete_gamma_is_that_of_scipy(shape: float) -> None:
    """P and Q are both precise, far from the mean and where the two ways to compute them meet."""
    x = shape * np.array([1e-3, 0.1, 0.5, 0.9, 0.99, 0.999, 1, 1.001, 1.01, 1.1, 2, 5, 20])
    x = np.append(x, [shape + 1 - 1e-9, shape + 1, shape + 1 + 1e-9])
    p, q = np.array([gamma_p_q(shape, float(at)) for at in x]).T

    np.testing.assert_allclose(p, special.gammainc(shape, x), rtol=2e-9, atol=1e-290)
    np.testing.assert_allclose(q, special.gammaincc(shape, x), rtol=2e-9, atol=1e-290)


@given(st.floats(0.01, 1e4), st.floats(0, 1e5))
def test_p_and_q_are_a_whole(shape: float, x: float) -> None:
    """P and Q are chances and add up to one."""
    p, q = gamma_p_q(shape, x)

    assert 0 <= p <= 1
    assert 0 <= q <= 1
    assert math.isclose(p + q, 1, abs_tol=1e-12)


def test_nothing_lies_below_zero() -> None:
    """At zero P is 0 and Q is 1, exactly."""
    assert gamma_p_q(3.0, 0.0) == (0.0, 1.0)


@pytest.mark.parametrize(
    "shape, x",
    [
        pytest.param(0.0, 1.0, id="no shape"),
        pytest.param(-1.0, 1.0, id="negative shape"),
        pytest.param(1.0, -1e-9, id="negative x"),
        pytest.param(math.nan, 1.0, id="nan shape"),
        pytest.param(1.0, math.nan, id="nan x"),
    ],
)
def test_incomplete_gamma_refuses(shape: float, x: float) -> None:
    """What has no meaning is refused, never answered with a number."""
    with pytest.raises(ValueError, match="shape must be positive"):
        gamma_p_q(shape, x)


@pytest.mark.parametrize(
    "tail, nu",
    [
        pytest.param(0.0, 1.0, id="tail 0"),
        pytest.param(1.0, 1.0, id="tail 1"),
        pytest.param(-0.1, 1.0, id="tail negative"),
        pytest.param(math.nan, 1.0, id="tail nan"),
        pytest.param(0.1, 0.0, id="nu 0"),
        pytest.param(0.1, -2.0, id="nu negative"),
        pytest.param(0.1, math.nan, id="nu nan"),
    ],
)
def test_quantile_refuses(tail: float, nu: float) -> None:
    """What has no quantile is refused."""
    with pytest.raises(ValueError, match="tail must be between 0 and 1"):
        chi2_quantile(tail, nu, upper=True)


def test_an_interval_leaves_half_its_rate_on_each_side() -> None:
    """An interval of rate r ends at the quantiles of r/2, divided by nu."""
    low, high = chi2_interval(0.01, 40.0)

    assert math.isclose(low, stats.chi2.ppf(0.005, 40) / 40, rel_tol=1e-12)
    assert math.isclose(high, stats.chi2.isf(0.005, 40) / 40, rel_tol=1e-12)


@pytest.mark.parametrize(
    "d, n, low, high, decimals",
    [
        pytest.param(1024, 1000, 0.7960, 1.2346, 4, id="1024-1000"),
        pytest.param(1024, 2000, 0.8527, 1.1626, 4, id="1024-2000"),
        pytest.param(1024, 5000, 0.9051, 1.1011, 4, id="1024-5000"),
        pytest.param(1024, 20_000, 0.9518, 1.0498, 4, id="1024-20000"),
        pytest.param(1024, 100_000, 0.9782, 1.0221, 4, id="1024-100000"),
        pytest.param(256, 5000, 0.9047, 1.1015, 4, id="256-5000"),
        pytest.param(64, 5000, 0.9031, 1.1033, 4, id="64-5000"),
        pytest.param(4, 5000, 0.8759, 1.1348, 4, id="4-5000"),
    ],
)
def test_the_measured_table_of_intervals(d: int, n: int, low: float, high: float, decimals: int) -> None:
    """The intervals at a two-sided rate of 1e-6 are those that the simulations were held against."""
    found = product_variance_interval(1e-6, n, d)

    assert tuple(round(bound, decimals) for bound in found) == (low, high)


@pytest.mark.parametrize(
    "n, value",
    [
        pytest.param(100_000, 1027.900, id="only 1024 drawn"),
        pytest.param(100_000, 1027.095, id="after the whole sweep"),
    ],
)
def test_the_lessons_own_measurement_lies_inside(n: int, value: float) -> None:
    """What seed 42 gives at d_k = 1024 is inside even at a rate of one in a hundred."""
    low, high = product_variance_interval(1e-2, n, 1024)

    assert low < value / 1024 < high


@pytest.mark.parametrize("d", [1, 4, 64, 1024])
@pytest.mark.parametrize("n", [500, 3000])
def test_an_honest_variance_leaves_the_interval_at_about_its_rate(d: int, n: int) -> None:
    """Simulated variances are outside a 1e-2 interval about once in a hundred, on both sides, for every width.

    A score is distributed as sqrt(chi-square with d degrees) times N(0, 1). The seed is fixed.
    """
    rng = np.random.default_rng(d * n)
    repeats = 2000
    outside = below = 0
    low, high = product_variance_interval(1e-2, n, d)
    for _ in range(repeats // 100):
        scores = np.sqrt(rng.chisquare(d, (100, n))) * rng.standard_normal((100, n))
        ratio = scores.var(axis=1) / d
        below += int((ratio < low).sum())
        outside += int(((ratio < low) | (ratio > high)).sum())

    # Expected are 20 of 2000. The chi-square form matches two moments only, hence the room where the tails are heavy.
    assert 4 <= outside <= 60
    assert below < outside


def exact_rate(rate: float, n: int, d: int) -> float:
    """Chance that the mean of n squared scores leaves the interval, from its characteristic function.

    Given the squared length c of one vector, a score is N(0, c), and c is chi-square with d degrees of freedom; so a
    squared score has the characteristic function E (1 - 2itc)^-1/2, taken here by Gauss's quadrature.
    """
    low, high = product_variance_interval(rate, n, d)
    cells, width = 1 << 15, 4.0 * n * d
    t = 2 * np.pi * np.fft.rfftfreq(cells, width / cells)
    nodes, weights = special.roots_genlaguerre(60, d / 2 - 1)
    weights /= weights.sum()
    one = sum(w * (1 - 4j * t * g) ** -0.5 for g, w in zip(nodes, weights, strict=True))
    density = np.fft.irfft(np.conj(one**n), cells)
    ratio = np.arange(cells) * (width / cells) / (n * d)
    return float(density[(ratio < low) | (ratio > high)].sum())


@pytest.mark.parametrize(
    "d, n, excess",
    [
        pytest.param(3, 1000, 2.8, id="3-1000"),
        pytest.param(7, 500, 2.1, id="7-500"),
        pytest.param(48, 1000, 1.1, id="48-1000"),
        pytest.param(60, 500, 1.1, id="60-500"),
    ],
)
@pytest.mark.parametrize("rate", [1e-2, 1e-4, 1e-6, 2e-8])
def test_small_rates_are_about_what_they_say(d: int, n: int, excess: float, rate: float) -> None:
    """Far out in the tails, where nothing can be simulated, an interval is left at nearly its rate.

    Scores of few dimensions have heavier tails than the two moments that are matched: up to ``excess`` times the rate.
    """
    assert 0.8 * rate < exact_rate(rate, n, d) < excess * rate


@given(st.integers(2, 10**6), st.integers(1, 4096), st.floats(1e-9, 0.1))
@settings(max_examples=50)
def test_an_interval_holds_the_truth_and_shrinks(n: int, d: int, rate: float) -> None:
    """The true ratio, 1, lies inside; more samples or a larger rate make the interval narrower."""
    low, high = product_variance_interval(rate, n, d)
    fewer = product_variance_interval(rate, max(2, n // 2), d)
    surer = product_variance_interval(rate / 2, n, d)

    assert 0 <= low < 1 < high
    assert fewer[0] <= low
    assert high <= fewer[1]
    assert surer[0] <= low
    assert high <= surer[1]
