"""What a wrong scale costs: the largest weight and the gradient that is left, in the lesson's experiment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from grader.api import Chart, Line, Params

__all__ = ["cost", "law"]

Doubles = npt.NDArray[np.float64]

WIDTHS = (4, 16, 64, 256)
KEYS, DRAWS = 8, 2000
"""One query against eight keys, as in the lesson; means of so many draws have a standard error below 0.006."""

ON_THE_LAW = 1e-3
"""How far a measured scale may be from the law, relatively."""

TELLING = 0.05
"""A change of the largest weight at the widest head that is worth a picture."""


def law(scales: Sequence[tuple[int, float]]) -> tuple[float, float] | None:
    """Find the law of the scales that were measured: ``factor * d**power``, such as 1 and 0 where there is none.

    Args:
        scales: Pairs of a width d_k and the number that the scores are multiplied by there.

    Returns:
        The factor and the power, or None if the scales follow no such law or come from fewer than three widths.
    """
    if len({d for d, _ in scales}) < 3 or any(scale <= 0 for _, scale in scales):
        return None
    x, y = np.log([d for d, _ in scales]), np.log([scale for _, scale in scales])
    centred = x - x.mean()
    power = float(centred @ y / (centred @ centred))
    factor = float(np.exp(y.mean() - power * x.mean()))
    fitted = np.log(factor) + power * x
    return (factor, power) if float(np.abs(y - fitted).max()) < ON_THE_LAW else None


def cost(factor: float, power: float) -> Chart | None:
    """Draw the largest weight p and its gradient p(1 - p) over d_k, with a scale and with the lesson's.

    Given a query q, scores are independent N(0, |q|^2), and |q|^2 is chi-square with d_k degrees of freedom.

    Returns:
        The picture; None if the scale changes next to nothing even in the widest head.
    """
    yours = [_mean(d, factor * d**power) for d in WIDTHS]
    scaled = [_mean(d, d**-0.5) for d in WIDTHS]
    (largest, gradient), (largest_scaled, gradient_scaled) = yours[-1], scaled[-1]
    if abs(largest - largest_scaled) < TELLING:
        return None
    x = tuple(map(float, WIDTHS))
    lines = (
        Line(label="attention.cost.weight", role="yours", x=x, y=tuple(p for p, _ in yours)),
        Line(label="attention.cost.weight_scaled", role="expected", x=x, y=tuple(p for p, _ in scaled)),
        Line(label="attention.cost.gradient", role="yours", x=x, y=tuple(g for _, g in yours)),
        Line(label="attention.cost.gradient_scaled", role="expected", x=x, y=tuple(g for _, g in scaled)),
    )
    params: Params = (
        ("keys", KEYS),
        ("draws", f"{DRAWS:,}"),
        ("d", WIDTHS[-1]),
        ("largest", f"{largest:.2f}"),
        ("gradient", f"{gradient:.2f}"),
        ("largest_scaled", f"{largest_scaled:.2f}"),
        ("gradient_scaled", f"{gradient_scaled:.2f}"),
    )
    if largest > largest_scaled:
        return Chart(id="attention.cost", lines=lines, log_x=True, params=params)
    return Chart(id="attention.cost_flat", lines=lines, log_x=True, params=params)


@lru_cache(maxsize=64)
def _mean(d: int, scale: float) -> tuple[float, float]:
    """Return the mean largest weight and the mean of p(1 - p) for it, to three decimals."""
    scores = scale * _scores(d)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    largest = 1 / e.sum(axis=-1)
    return round(float(largest.mean()), 3), round(float((largest * (1 - largest)).mean()), 3)


@lru_cache(maxsize=len(WIDTHS))
def _scores(d: int) -> Doubles:
    """Return raw scores of shape (DRAWS, KEYS), always the same."""
    rng = np.random.default_rng(d)
    size = np.sqrt(rng.chisquare(d, (DRAWS, 1)))
    return np.asarray(size * rng.standard_normal((DRAWS, KEYS)))
