"""The solution reproduces every figure that the lesson prints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from reference.attention import solution

SAMPLES = 100_000
VARIANCES = {4: ("3.988", "0.9971"), 16: ("15.891", "0.9932"), 64: ("64.249", "1.0039"), 256: ("256.391", "1.0015")}
"""Of the lesson's first experiment: raw and scaled, as printed."""


def swept(monkeypatch: pytest.MonkeyPatch, d_ks: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Measure the variances as the lesson does: seeded once, the widths one after the other."""
    np.random.seed(42)
    printed = {}
    with monkeypatch.context() as patch:
        patch.setattr(np.random, "seed", lambda seed: None)
        for d_k in d_ks:
            raw, scaled = solution.measure_variance(d_k, SAMPLES)
            printed[d_k] = (f"{raw:.3f}", f"{scaled:.4f}")
    return printed


def test_the_variances_of_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Experiment 1: raw variance near d_k, scaled variance near 1, digit by digit."""
    few = [4, 16, 64]

    assert swept(monkeypatch, few) == {d_k: VARIANCES[d_k] for d_k in few}


@pytest.mark.slow
def test_the_variances_of_the_whole_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Experiment 1 up to its last row, d_k = 256."""
    assert swept(monkeypatch, list(VARIANCES)) == VARIANCES


@pytest.mark.slow
def test_the_variance_of_the_first_exercise() -> None:
    """Exercise 1 at the lesson's own size: 1027.900 and 1.0038."""
    raw, scaled = solution.measure_variance(1024, SAMPLES, 42)

    assert (f"{raw:.3f}", f"{scaled:.4f}") == ("1027.900", "1.0038")


# ---------------------------------------------------------------------- experiment 2


@pytest.fixture
def scores() -> npt.NDArray[np.float64]:
    """Return the scores of the lesson's query against its eight keys."""
    np.random.seed(42)
    q = np.random.randn(256)
    return np.asarray(np.random.randn(8, 256) @ q)


def test_the_scores_of_experiment_2(scores: npt.NDArray[np.float64]) -> None:
    """Raw and scaled scores are those printed."""
    assert np.round(scores, 2).tolist() == [-3.12, 13.41, -27.0, 12.41, 2.39, 24.29, -1.23, -2.77]
    assert np.round(scores / 16, 2).tolist() == [-0.2, 0.84, -1.69, 0.78, 0.15, 1.52, -0.08, -0.17]


def test_the_weights_of_experiment_2(scores: npt.NDArray[np.float64]) -> None:
    """One softmax is a spike, the other one is spread out."""
    assert np.round(solution.softmax(scores), 4).tolist() == [0, 0, 0, 0, 0, 1, 0, 0]
    assert np.round(solution.softmax(scores / 16), 4).tolist() == [
        0.0634, 0.1781, 0.0142, 0.1673, 0.0894, 0.3514, 0.0713, 0.0648,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "divisor, largest, entropy",
    [pytest.param(1, "1.0000", "0.0003", id="unscaled"), pytest.param(16, "0.3514", "1.7909", id="scaled")],
)
def test_the_entropies_of_experiment_2(
    divisor: int, largest: str, entropy: str, scores: npt.NDArray[np.float64]
) -> None:
    """Largest weight and entropy, digit by digit."""
    weights = solution.softmax(scores / divisor)

    assert (f"{weights.max():.4f}", f"{solution.entropy(weights):.4f}") == (largest, entropy)


def test_the_entropy_of_a_uniform_distribution() -> None:
    """Log 8 is what eight equal weights have."""
    assert f"{solution.entropy(np.full(8, 1 / 8)):.4f}" == f"{np.log(8):.4f}" == "2.0794"


# ---------------------------------------------------------------------- the canonical forward

WEIGHTS = [
    [0.057, 0.41, 0.13, 0.21, 0.104, 0.09],
    [0.072, 0.606, 0.025, 0.089, 0.079, 0.128],
    [0.172, 0.162, 0.096, 0.093, 0.185, 0.291],
    [0.116, 0.108, 0.216, 0.123, 0.173, 0.263],
    [0.056, 0.104, 0.27, 0.301, 0.05, 0.219],
    [0.1, 0.083, 0.496, 0.134, 0.107, 0.081],
]


def test_the_weights_of_the_lessons_example() -> None:
    """Shapes, row sums and all 36 weights of the small batch."""
    rng = np.random.default_rng(42)
    Q, K, V = (rng.standard_normal((1, 6, 16)) for _ in "QKV")
    out, weights = solution.scaled_dot_product_attention(Q, K, V)

    assert (out.shape, weights.shape) == ((1, 6, 16), (1, 6, 6))
    assert np.round(weights.sum(-1), 6).tolist() == [[1.0] * 6]
    assert np.round(weights[0], 3).tolist() == WEIGHTS


# ---------------------------------------------------------------------- exercises 2 and 3


def test_the_sweep_of_exercise_2() -> None:
    """Seeded once, the entropies of seed 42 don't fall at every step: nobody may be asked for that."""
    entropies = solution.entropy_sweep()

    assert [f"{h:.4f}" for h in entropies] == ["1.0787", "1.4753", "0.0140", "0.1033"]


def test_the_ranking_of_exercise_3(scores: npt.NDArray[np.float64]) -> None:
    """Both orders are those of the scores of experiment 2."""
    unscaled, scaled = solution.compare_rankings()

    assert unscaled.tolist() == scaled.tolist() == np.argsort(scores).tolist()


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_softmax_sums_to_one_along_its_axis(axis: int) -> None:
    """Whatever the axis and the size of the scores, it is a distribution along that axis, and the input stays."""
    x = np.random.default_rng(axis + 3).standard_normal((2, 3, 4)) * 1000
    before = x.copy()
    p = solution.softmax(x, axis)

    np.testing.assert_allclose(p.sum(axis), 1)
    np.testing.assert_array_equal(x, before)
    assert p.min() >= 0
