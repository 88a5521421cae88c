"""How likely numbers that a notebook shows agree with what its draws give by accident: with many of both, some do."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from . import oracle

__all__ = ["DOUBTFUL", "of_entropy", "of_order"]

Doubles = npt.NDArray[np.float64]

DOUBTFUL = 1e-2
"""Beyond this chance agreement shows nothing."""

SAMPLES = 4_096


@functools.cache
def _usual(d: int, n: int) -> Doubles:
    """Return entropies of honest draws, sorted: given the query, the scores are independent N(0, |q|^2)."""
    rng = np.random.default_rng(d)
    length = np.sqrt(rng.chisquare(d, (SAMPLES, 1)))
    return np.sort(oracle.entropy(rng.standard_normal((SAMPLES, n)) * length))


def of_entropy(shown: Sequence[tuple[float, float]], values: Doubles, pairs: int, d: int, n: int) -> float | None:
    """Return the chance that one of ``values`` up to the first that is shown agrees by accident; None if none is.

    Args:
        shown: Numbers with what they may be off.
        values: Entropies that the draws give, in the order in which they are looked at.
        pairs: How many of them are of one query; those behind are means, and counted by themselves.
        d: Width.
        n: Keys.
    """
    finite = [pair for pair in shown if all(map(math.isfinite, pair))]
    if not finite:
        return None
    centres, allowed = np.array(finite, dtype=np.float64).T
    agree = (np.abs(values[:, None] - centres) <= allowed).any(axis=1)
    if not agree.any():
        return None
    first = int(np.argmax(agree))
    tried = first + 1 if first < pairs else first - pairs + 1
    usual = _usual(d, n)
    edges = np.zeros(SAMPLES + 1)
    np.add.at(edges, np.searchsorted(usual, centres - allowed, "left"), 1)
    np.add.at(edges, np.searchsorted(usual, centres + allowed, "right"), -1)
    covered = float(np.mean(np.cumsum(edges)[:-1] > 0))
    # Few samples say nothing of a narrow range: there the density counts, which is about 1 beside the peak at 0.
    possible = (centres > -allowed) & (centres < math.log(n) + allowed)
    return min(1.0, tried * max(covered, 2 * float(allowed[possible].sum())))


def of_order(shown: int, tried: int, n: int) -> float:
    """Return the chance that one of ``tried`` orders of ``n`` positions is among ``shown`` different ones."""
    return min(1.0, shown * tried / math.factorial(n))
