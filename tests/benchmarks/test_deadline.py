"""The simulated evening against what is known of queues exactly."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("benchmarks", reason="an sdist has no benchmarks")

from benchmarks.deadline import (
    Evening,
    arrivals,
    cores_needed,
    fluid_cores,
    peak_rate,
    services,
    waits,
)

Floats = npt.NDArray[np.float64]
MANY = 400_000


def poisson(rate: float, seed: int) -> Floats:
    """Return arrivals of a Poisson process."""
    return np.cumsum(np.random.default_rng(seed).exponential(1 / rate, MANY))


def erlang_c(cores: int, load: float) -> float:
    """Return the probability to wait in M/M/c (Erlang's C formula), by the recursion of his B formula."""
    blocked = 1.0
    for number in range(1, cores + 1):
        blocked = load * blocked / (number + load * blocked)
    busy = load / cores
    return blocked / (1 - busy * (1 - blocked))


def standard_error(waited: Floats) -> float:
    """Return that of the mean, by means of long batches: neighbours wait alike."""
    means = waited.reshape(40, -1).mean(axis=1)
    return float(means.std(ddof=1) / math.sqrt(len(means)))


@pytest.mark.parametrize("cores, busy", [(1, 0.5), (1, 0.8), (4, 0.7), (20, 0.8)])
def test_exponential_services(cores: int, busy: float) -> None:
    """M/M/c: who waits (Erlang C), how long in the mean, and the tail P(W > t) = C exp(-(c - a) t)."""
    load = busy * cores
    service = np.random.default_rng(2).exponential(1.0, MANY)
    waited = waits(poisson(load, 1), service, cores)
    waiting = erlang_c(cores, load)
    mean = waiting / (cores - load)

    assert abs(waited.mean() - mean) < 4 * standard_error(waited)
    assert standard_error(waited) < mean / 10
    waits_at_all = (waited > 0).astype(float)
    assert abs(waits_at_all.mean() - waiting) < 4 * standard_error(waits_at_all)
    tail = (waited > mean).astype(float)
    assert abs(tail.mean() - waiting * math.exp(-(cores - load) * mean)) < 4 * standard_error(tail)


@pytest.mark.parametrize("busy", [0.3, 0.6, 0.9])
def test_equal_services(busy: float) -> None:
    """M/D/1: the mean wait of Pollaczek and Khinchine, busy / (2 (1 - busy)) services."""
    waited = waits(poisson(busy, 3), np.ones(MANY), 1)
    assert abs(waited.mean() - busy / (2 * (1 - busy))) < 4 * standard_error(waited)


def test_equal_services_on_several_cores() -> None:
    """M/D/c in order of arrival: number n waits for number n - c, whoever serves."""
    arriving, cores = poisson(2.7, 4)[:5_000], 3
    waited = waits(arriving, np.ones(len(arriving)), cores)
    begun = arriving.copy()
    for number in range(cores, len(begun)):
        begun[number] = max(arriving[number], begun[number - cores] + 1)
    np.testing.assert_allclose(waited, begun - arriving, atol=1e-8)


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 20)), min_size=1, max_size=60), st.integers(1, 5))
def test_against_the_vector_of_workloads(jobs: list[tuple[float, float]], cores: int) -> None:
    """Any arrivals and services: Kiefer and Wolfowitz's recursion gives the same waits, and one more core helps."""
    gaps, service = (np.array(column) for column in zip(*jobs, strict=True))
    waited = waits(np.cumsum(gaps), service, cores)
    left = np.zeros(cores)
    for number, (gap, work) in enumerate(jobs):
        left = np.sort(np.maximum(left - gap, 0))
        assert waited[number] == pytest.approx(left[0], abs=1e-9)
        left[0] += work
    assert np.all(waits(np.cumsum(gaps), service, cores + 1) <= waited + 1e-9)


def test_arrivals() -> None:
    """They are as many as asked for, within the evening, in shares as asked for, and densest at the deadline."""
    evening = Evening(submissions=200_000)
    times = arrivals(evening, np.random.default_rng(5))
    end = 3600 * evening.hours

    assert len(times) == evening.submissions
    assert times[0] >= 0
    assert times[-1] <= end
    assert np.all(np.diff(times) >= 0)
    rest, tau, rush = 1 - evening.rise - evening.rush, 60 * evening.rise_minutes, 60 * evening.rush_minutes
    for before in (rush, 3600.0, 3 * 3600.0):
        rises = -math.expm1(-before / tau) / -math.expm1(-end / tau)
        share = rest * before / end + evening.rise * rises + evening.rush
        error = math.sqrt(share * (1 - share) / len(times))
        assert abs((times > end - before).mean() - share) < 4 * error
    last = (times > end - 30).sum()
    assert abs(last - 30 * peak_rate(evening)) < 4 * math.sqrt(last) + 0.005 * last


def test_services() -> None:
    """Each is one of the measured, or hangs, and so many hang."""
    drawn = services([0.1, 0.2, 0.4], 100_000, 0.01, 90.0, np.random.default_rng(6))
    assert set(np.unique(drawn)) == {0.1, 0.2, 0.4, 90.0}
    assert abs((drawn == 90).mean() - 0.01) < 4 * math.sqrt(0.01 * 0.99 / 100_000)


def test_cores_needed() -> None:
    """The fewest that do: one less isn't enough. On paper it is a few less, since work doesn't flow evenly."""
    evening = Evening(submissions=20_000)
    chance = np.random.default_rng(7)
    arriving = arrivals(evening, chance)
    serving = services([0.5, 1.0, 1.5], len(arriving), 0.0, 0.0, chance)
    for seconds in (0.0, 60.0, 300.0):
        cores = cores_needed(arriving, serving, seconds)
        assert np.quantile(waits(arriving, serving, cores), 0.99) <= seconds
        assert np.quantile(waits(arriving, serving, cores - 1), 0.99) > seconds
    needed, paper = cores_needed(arriving, serving, 60.0, quantile=1.0), fluid_cores(evening, 1.0, 60.0)
    assert paper - 1 <= needed <= 1.25 * paper
