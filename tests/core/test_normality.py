"""Recorded numbers that look like draws from N(0, 1), and numbers that don't."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from grader.core.normality import looks_normal

N = 20_000


def draws(seed: int, *shape: int) -> npt.NDArray[np.float64]:
    """Return honest draws."""
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("n", [1, 3, 49, 50, 51, 64, 200, 1000, 6000])
def test_honest_draws_pass(n: int) -> None:
    """Honest draws pass, few or many, whatever the seed."""
    assert all(looks_normal(draws(seed, n)) for seed in range(150))


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(np.empty(0), id="nothing"),
        pytest.param(np.sort(draws(1, N)), id="sorted"),
        pytest.param(draws(2, 20, 10, 100), id="three axes"),
        pytest.param(np.random.RandomState(42).randn(N), id="legacy generator"),
        pytest.param(np.random.default_rng(1).standard_normal(N, dtype=np.float32).astype(float), id="float32"),
        pytest.param(draws(3, 400_000), id="very many"),
        pytest.param(np.zeros(49), id="too few to tell"),
    ],
)
def test_what_may_be_normal_passes(numbers: npt.NDArray[np.float64]) -> None:
    """The order and the shape of the numbers don't matter, and few numbers tell nothing."""
    assert looks_normal(numbers)


def with_hole(width: float) -> npt.NDArray[np.float64]:
    """Return honest draws of which those around 0.8 were left out."""
    x = np.sort(draws(4, 3 * N))
    return x[(np.abs(x - 0.8) > width)][:N]


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(np.zeros(50), id="zeros"),
        pytest.param(np.ones(N), id="ones"),
        pytest.param(np.where(np.arange(N) % 2, 1.0, -1.0), id="signs: mean 0, variance 1"),
        pytest.param(np.random.default_rng(0).uniform(0, 1, N), id="uniform 0..1"),
        pytest.param(np.random.default_rng(0).uniform(-(3**0.5), 3**0.5, N), id="uniform of variance 1"),
        pytest.param(draws(5, N) + 0.1, id="shifted"),
        pytest.param(draws(6, N) * 1.1, id="scaled up"),
        pytest.param(draws(7, N) * 0.9, id="scaled down"),
        pytest.param(np.abs(draws(8, N)), id="absolute values"),
        pytest.param(np.random.default_rng(0).laplace(0, 0.5**0.5, N), id="laplace of variance 1"),
        pytest.param(np.random.default_rng(0).exponential(1, N) - 1, id="exponential"),
        pytest.param(np.sort(with_hole(0.3)), id="sorted, with a hole"),
        pytest.param(np.tile(np.array([-1.7, -0.6, 0.0, 0.6, 1.7]), N // 5), id="few values"),
        pytest.param(np.append(draws(9, N), np.nan), id="nan"),
        pytest.param(np.append(draws(9, N), np.inf), id="infinite"),
        pytest.param(np.array([0.1, 40.0]), id="forty sigma among few"),
        pytest.param(np.array([np.nan]), id="nan alone"),
    ],
)
def test_what_is_not_normal_fails(numbers: npt.NDArray[np.float64]) -> None:
    """Numbers of another distribution don't pass for draws from N(0, 1)."""
    assert not looks_normal(numbers)
