"""The random checks of the attention assignment: each fails as rarely as stated, and together once in a million."""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import special, stats

from grader.api import Drawn, product_variance_interval
from grader.core import normality
from grader.course import find_course, load_assignment

pytestmark = pytest.mark.slow  # plain pytest stays below two minutes; .ci/run runs all

ASSIGNMENT = load_assignment(find_course(), "attention")
PACKAGE = type(ASSIGNMENT.checks["variance"]).__module__.rpartition(".")[0]

Doubles = npt.NDArray[np.float64]


def part(name: str) -> Any:
    """Return a module of the loaded course."""
    module = sys.modules[f"{PACKAGE}.{name}"]
    assert isinstance(module, ModuleType)
    return module


rates, explain = part("rates"), part("explain")


def test_all_random_checks_together_stay_below_the_limit() -> None:
    """A right submission fails by chance at most once in a million times, whatever path it takes."""
    assert rates.LIMIT == 1e-6
    assert 0 < rates.total() <= rates.LIMIT
    assert rates.total() == sum(check.rate * check.times for check in rates.CHECKS)


def test_the_checks_use_the_stated_rates() -> None:
    """The modules take their rates and numbers of calls from one place, and the sum counts as many as they make."""
    kind: Any = type(ASSIGNMENT.checks["variance"])
    ranking: Any = type(ASSIGNMENT.checks["ranking"])
    times = {check.where: check.times for check in rates.CHECKS}

    assert part("variance").INTERVAL is part("freeform").INTERVAL is rates.INTERVAL
    assert part("entropy").POPULATION is rates.POPULATION
    assert part("entropy").ENTROPY_CALLS is rates.ENTROPY_CALLS
    assert part("ranking").RANKING_CALLS is rates.RANKING_CALLS
    assert part("ranking").COINCIDENCE is rates.COINCIDENCE
    assert kind.SEEDS == rates.VARIANCE_CALLS
    assert times["variance._Measured.inside, exact/*"] == 2 * len(kind.EXACT_CASES)
    assert times["variance._Measured.inside, shown/*"] == 2 * len(kind.SHOWN_CASES)
    assert times["variance._Measured.inside, seed/*"] == 2 * kind.SEEDS
    assert set(rates.POPULATION) == set(part("entropy").WIDTHS)
    calls = len(kind.EXACT_CASES) + len(part("entropy").SWEEPS) + 2 + len(ranking.CASES)
    assert times["explain.trustworthy"] >= calls + 3


# ---------------------------------------------------------------------- variance


def law_of_sum(d: int, terms: int) -> tuple[Doubles, Doubles]:
    """Return the law of the sum of ``terms`` squared scores in d dimensions, on a grid, by convolution.

    Given its query, a score is N(0, g) with g chi-square; so the law of its square is a mixture.
    """
    cells = 1 << 19
    top = d * (terms + 16 * math.sqrt((2 + 6 / d) * terms))
    width = top / cells
    edges = np.arange(cells + 1) * width
    nodes, weights = np.polynomial.legendre.leggauss(250)
    low, high = math.log(max(stats.chi2.ppf(1e-16, d), 1e-7)), math.log(stats.chi2.isf(1e-16, d))
    g = np.exp(low + (nodes + 1) / 2 * (high - low))
    weights = weights * stats.chi2.pdf(g, d) * g
    beyond = np.zeros(cells + 1)
    for scale, weight in zip(g, weights / weights.sum(), strict=True):
        reached = edges[: int(80 * scale / width) + 2]
        beyond[: reached.size] += weight * special.erfc(np.sqrt(reached / (2 * scale)))
    law = np.fft.irfft(np.fft.rfft(-np.diff(beyond), 2 * cells) ** terms, 2 * cells)
    return np.asarray(np.arange(2 * cells) * width + terms * width / 2, dtype=np.float64), law


@pytest.mark.parametrize("where", ["exact", "shown", "seed"])
@pytest.mark.parametrize("left_out", [0.0, 0.25], ids=["all", "a quarter left out"])
def test_an_honest_variance_leaves_its_interval_as_rarely_as_stated(where: str, left_out: float) -> None:
    """By the exact law of a sample variance, no interval is left more often than the sum of rates counts."""
    kind: Any = type(ASSIGNMENT.checks["variance"])
    sizes = {"exact": kind.EXACT_CASES, "shown": kind.SHOWN_CASES, "seed": ((48, 1000),)}[where]
    stated = next(check.rate for check in rates.CHECKS if check.where.endswith(f"{where}/*"))

    for d, n in sizes:
        terms = round(n * (1 - left_out))
        total, law = law_of_sum(d, terms)
        low, high = product_variance_interval(rates.INTERVAL, n, d)
        ratio = total / (terms * d)
        chance = float(law[(ratio < low) | (ratio > high)].sum())
        assert chance <= stated
        assert chance > rates.INTERVAL / 2, "the interval is wider than it has to be"


@pytest.mark.parametrize("n", [500, 6000])
def test_an_honest_variance_of_a_notebook_leaves_its_interval_as_rarely_as_stated(n: int) -> None:
    """The same for what a notebook's cells show at d_k = 1024."""
    stated = next(check.rate for check in rates.CHECKS if check.where == "freeform.read_variance")
    total, law = law_of_sum(1024, n)
    low, high = product_variance_interval(rates.INTERVAL, n, 1024)

    assert float(law[(total / (n * 1024) < low) | (total / (n * 1024) > high)].sum()) <= stated


@pytest.mark.parametrize(
    "d, n, centred", [(60, 500, True), (1024, 1000, True), (48, 1000, False), (7, 500, True), (3, 1000, False)]
)
def test_simulated_variances_leave_their_interval_at_its_rate(d: int, n: int, centred: bool) -> None:
    """At an inflated rate as many honest variances leave the interval as they should; at the real one none does."""
    rng = np.random.default_rng([d, n])
    count, inflated = 20_000, 0.02
    values = np.empty(count)
    for start in range(0, count, 1000):
        scores = np.sqrt(rng.chisquare(d, (1000, n))) * rng.standard_normal((1000, n))
        values[start : start + 1000] = (scores.var(axis=1) if centred else (scores**2).mean(axis=1)) / d

    low, high = product_variance_interval(inflated, n, d)
    outside = int(((values < low) | (values > high)).sum())
    assert abs(outside - inflated * count) < 5 * math.sqrt(inflated * count)
    low, high = product_variance_interval(rates.INTERVAL, n, d)
    assert bool(np.all((low <= values) & (values <= high)))


# ---------------------------------------------------------------------- entropy


def honest_entropies(d: int, count: int, seed: int) -> Doubles:
    """Return entropies of one query against eight keys."""
    rng = np.random.default_rng([seed, d])
    scores = np.sqrt(rng.chisquare(d, count))[:, None] * rng.standard_normal((count, 8))
    scores -= scores.max(axis=1, keepdims=True)
    powers = np.exp(scores)
    total = powers.sum(axis=1)
    return np.asarray(np.log(total) - (powers * scores).sum(axis=1) / total)


@pytest.mark.parametrize("d", [4, 16, 64, 256])
def test_the_limits_of_the_entropies_follow_from_their_law(d: int) -> None:
    """Mean, scatter and limits at 1e-9 come out again, from other draws; the limits hold the stated rates."""
    population, calls, cells = rates.POPULATION[d], rates.ENTROPY_CALLS, 4096
    entropies = honest_entropies(d, 2_000_000, seed=1)
    law, edges = np.histogram(entropies, bins=cells, range=(0, math.log(8)))
    width = edges[1]
    at = edges[:-1] + width / 2

    def many(weights: npt.NDArray[Any], step: float) -> tuple[Doubles, Doubles]:
        size = 1 << (weights.size * calls).bit_length()
        summed = np.fft.irfft(np.fft.rfft(weights, size) ** calls, size)
        return np.arange(size) * step / calls + step / 2, summed

    means, chance = many(law / law.sum(), width)
    distances = np.minimum(((at - population.mean) ** 2 / 4.5 * 8192).astype(int), 8191)
    squares, scattered = many(np.bincount(distances, weights=law / law.sum(), minlength=8192), 4.5 / 8192)
    slack = rates.ENTROPY_SLACK
    stated = {check.name.split()[2]: check.rate for check in rates.CHECKS if check.name.startswith("entropy: ")}
    too_low = float(chance[means < population.low - slack].sum())
    too_high = float(chance[means > population.high + slack].sum())
    too_wide = float(scattered[np.sqrt(squares) > population.scatter + slack].sum())

    assert entropies.mean() == pytest.approx(population.mean, abs=0.0015)
    assert entropies.std() == pytest.approx(population.sd, abs=0.0015)
    assert max(too_low, 0) + max(too_high, 0) <= stated["mean"]
    assert too_wide <= stated["calls"]
    assert float(chance[means < population.low + 0.02].sum()) > 1e-9
    assert float(chance[means > population.high - 0.02].sum()) > 1e-9


@pytest.mark.parametrize("d", [4, 16, 64, 256])
def test_simulated_entropies_stay_within_their_limits(d: int) -> None:
    """None of 10,000 honest programs leaves the limits; limits at three standard errors fail as many as expected."""
    population, calls = rates.POPULATION[d], rates.ENTROPY_CALLS
    tables = honest_entropies(d, 10_000 * calls, seed=2).reshape(-1, calls)
    means, scatter = tables.mean(axis=1), tables.std(axis=1)
    error = population.sd / math.sqrt(calls)

    assert population.low < means.min()
    assert means.max() < population.high
    assert scatter.max() < population.scatter
    assert abs(means - population.mean).max() > 3 * error
    # At three standard errors, where skewness still tells, the two sides together have 0.27 % for a normal law.
    assert 0.0015 < float((abs(means - population.mean) > 3 * error).mean()) < 0.006


# ---------------------------------------------------------------------- draws and orders


def drawn(*arrays: Doubles) -> tuple[Drawn, ...]:
    """Return a record of these arrays."""
    return tuple(Drawn(source=0, method="randn", args=(), shape=a.shape, values=a[None]) for a in arrays)


def test_recorded_draws_look_normal_as_often_as_stated() -> None:
    """Mean, variance and distribution function fail honest draws together less often than the sum of rates counts."""
    stated = next(check.rate for check in rates.CHECKS if check.where == "explain.trustworthy")
    mean = 2 * stats.norm.sf(normality._Z)
    worst = 0.0
    for n in (50, 60, 90, 150, 500, 3000, 10**6):
        allowed = 1.5 * (normality._Z * math.sqrt(2 / n) + 2 * normality._Z**2 / (3 * n))
        below = stats.chi2.cdf(n * (1 - allowed), n) if allowed < 1 else 0.0
        worst = max(worst, float(stats.chi2.sf(n * (1 + allowed), n)) + float(below))

    assert mean + worst + normality.RATE <= stated


@pytest.mark.parametrize("seed", range(0, 10_000, 500))
def test_simulated_draws_look_normal(seed: int) -> None:
    """No honest record, long or short, is distrusted."""
    rng = np.random.default_rng(seed)

    assert all(
        explain.trustworthy(drawn(rng.standard_normal(n))) for n in (50, 117, 150, 3060, 7000) for _ in range(50)
    )


@pytest.mark.parametrize("seed, new", [(4223, False), (1214, True), (6308, True), (9203, True), (1, True), (2, False)])
def test_who_seeds_at_each_width_is_trusted(seed: int, new: bool) -> None:
    """Numbers that a program draws again at each width count once: counted often, these seeds don't look normal."""
    arrays = []
    for d in (6, 12, 7):
        if new:
            rng = np.random.default_rng(seed)
            arrays += [rng.standard_normal(d), rng.standard_normal((5, d))]
        else:
            old = np.random.RandomState(seed)
            arrays += [old.randn(d), old.randn(5, d)]

    assert explain.trustworthy(drawn(*arrays))


def test_a_record_that_repeats_a_few_numbers_isnt_trusted() -> None:
    """Repeating what suits doesn't make a record look normal."""
    rng = np.random.default_rng(3)

    assert not explain.trustworthy(drawn(np.zeros(300), rng.standard_normal(90)))
    assert not explain.trustworthy(drawn(np.repeat(rng.uniform(0, 0.1, 40), 16)))
    assert not explain.trustworthy(drawn(np.repeat(rng.uniform(0, 0.1, 100), 4)))


def test_neighbours_that_single_precision_cant_tell_apart_are_given_in_both_orders() -> None:
    """The order of a float32 program is explained where two scores are nearly equal; no other order is."""
    rng = np.random.default_rng(5)
    q, K = rng.standard_normal(256), rng.standard_normal((8, 256))
    K[3] = K[6] + q * (1e-6 / (q @ q))
    clear, tried = explain.orders(drawn(q, rng.standard_normal((8, 256))), 256, 8)
    near, tried_near = explain.orders(drawn(q, K), 256, 8)
    single = np.argsort(K.astype(np.float32) @ q.astype(np.float32))

    assert tried == tried_near == len(clear)
    assert len(near) == 2 * len(clear)
    assert sorted(np.flatnonzero(near[0] != near[1])) == [at := list(near[0]).index(6), at + 1]
    assert any(np.array_equal(single, order) for order in near)


def test_many_different_orders_are_certain() -> None:
    """Honest calls with 10,000 possible seeds give enough different orders, beyond any doubt."""
    calls, few = rates.RANKING_CALLS, rates.RANKING_DIFFERENT - 1
    log10 = (calls * math.log(few) - math.lgamma(few + 1) - (calls - few) * math.log(10_000)) / math.log(10)

    assert few == calls // 2
    assert 10**log10 <= next(check.rate for check in rates.CHECKS if check.where == "ranking._varies")
