"""Every check of this assignment that chance may fail, and how often: together at most once in a million submissions.

The other checks compare with exact values or with the numbers that were drawn, and chance has no say in them. A
submission never meets all of these: either its draws are known, or statistics decide, or a notebook's cells are read.
The sum takes all of them at once, each at its most frequent, and so is larger than any submission's own chance.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "CHECKS",
    "COINCIDENCE",
    "ENTROPY_CALLS",
    "ENTROPY_SLACK",
    "INTERVAL",
    "LIMIT",
    "POPULATION",
    "RANKING_CALLS",
    "RANKING_DIFFERENT",
    "VARIANCE_CALLS",
    "Check",
    "Population",
    "total",
]

LIMIT = 1e-6
"""The promise: a right submission loses points by chance at most so often."""

INTERVAL = 1e-11
"""Chance that an honest variance leaves its interval, for a chi-square matched in mean and variance. The exact law has
heavier tails in few dimensions, and blocks may leave out up to a quarter of the samples: ``CHECKS`` counts both."""

VARIANCE_CALLS = 6
"""More measurements of a variance, where draws explain nothing."""

ENTROPY_CALLS = 100
"""Calls of ``entropy_sweep`` with other seeds, where draws explain nothing."""

ENTROPY_SLACK = 0.005
"""Added to the limits below: room for answers rounded to two decimals."""

RANKING_CALLS = 24
"""Calls of ``compare_rankings`` with other seeds, where draws explain nothing."""

RANKING_DIFFERENT = 13
"""So many different orders must be among them."""

COINCIDENCE = 1e-6
"""Beyond this chance that draws explain an order by accident, a match explains nothing, and statistics decide. It
limits false passes; it fails nobody."""


class Population(NamedTuple):
    """The entropy of one query against eight keys at one width, over honest draws.

    Attributes:
        mean: Expected entropy, and ``sd`` its standard deviation.
        low: The mean of ENTROPY_CALLS entropies is below this once in 10^9 times.
        high: It is above this once in 10^9 times. The entropies are bounded and skewed, so the two aren't symmetrical.
        scatter: Their root mean square distance from ``mean`` is above this once in 10^9 times.
    """

    mean: float
    sd: float
    low: float
    high: float
    scatter: float


POPULATION = {
    4: Population(1.2879, 0.4655, 0.9940, 1.5459, 0.6521),
    16: Population(0.6728, 0.4443, 0.4152, 0.9407, 0.5802),
    64: Population(0.3184, 0.3487, 0.1330, 0.5435, 0.5077),
    256: Population(0.1529, 0.2545, 0.0317, 0.3283, 0.4233),
}
"""From 25 million draws a width of the exact law (given q, the scores are independent N(0, |q|^2), and |q|^2 is
chi-square with d_k degrees of freedom), whose histogram was convolved with itself. A normal approximation would be
off by a factor of 100 at these rates: ``tests/reference/test_rates.py`` derives the limits again."""


class Check(NamedTuple):
    """One kind of check.

    Attributes:
        name: What is checked.
        where: Module and function.
        rate: Chance that one such check fails a right program: an upper bound.
        times: How often one submission may meet it, at most.
        why: Where the rate comes from.
    """

    name: str
    where: str
    rate: float
    times: int
    why: str

    @property
    def chance(self) -> float:
        """Chance that a submission fails one of them."""
        return self.rate * self.times


CHECKS = (
    Check(
        name="variance: the two larger measurements lie in their intervals",
        where="variance._Measured.inside, shown/*",
        rate=4e-9,
        times=4,
        why="1.1e-11 by the exact law; 3.9e-9 for a program whose blocks leave out a quarter of the samples, which "
        "counts as right. Two calls, two numbers each, though both leave it together.",
    ),
    Check(
        name="variance: the two smaller measurements lie in their intervals",
        where="variance._Measured.inside, exact/*",
        rate=1.8e-8,
        times=6,
        why="Only where draws explain nothing. As above; in 3 dimensions the exact law has 1.1e-10, and 1.7e-8 with a "
        "quarter left out.",
    ),
    Check(
        name="variance: further measurements lie in their intervals",
        where="variance._Measured.inside, seed/*",
        rate=4e-9,
        times=2 * VARIANCE_CALLS,
        why="Only where draws explain nothing. As for the larger ones.",
    ),
    Check(
        name="variance: the numbers that a notebook shows lie in their intervals",
        where="freeform.read_variance",
        rate=1.2e-11,
        times=2,
        why="Only where the draws are too many to be replayed; the samples are those of one draw.",
    ),
    Check(
        name="draws: what is recorded looks normal",
        where="explain.trustworthy",
        rate=2.5e-9,
        times=17,
        why="Mean 1e-9 exactly, distribution function at most 1e-9 (Massart), variance below 1e-15; in three "
        "variance calls, eight sweeps, three rankings and a notebook's three exercises. Mostly it costs a review only.",
    ),
    Check(
        name="entropy: the mean of many calls is the population's",
        where="entropy.Entropy._population",
        rate=3e-9,
        times=4,
        why="Only where draws explain nothing. 1e-9 on each side; two of the 100 seeds may be equal: a third more.",
    ),
    Check(
        name="entropy: many calls don't scatter more than the population",
        where="entropy.Entropy._population",
        rate=1.5e-9,
        times=4,
        why="Only where draws explain nothing. As for the mean.",
    ),
    Check(
        name="ranking: more than half of many orders are different",
        where="ranking._varies",
        rate=1e-30,
        times=1,
        why="Only where draws explain nothing. 24 calls with 10,000 seeds give 12 orders or fewer with a chance below "
        "12^24 / (12! * 10,000^12).",
    ),
    Check(
        name="ranking: no two scores are equal in double precision",
        where="ranking._Answer.equal",
        rate=1e-12,
        times=3 + RANKING_CALLS,
        why="Of 55 pairs of scores that scatter by 10, two lie within 1e-13 of each other with a chance of 2e-13; "
        "rounding is smaller than that.",
    ),
    Check(
        name="ranking: single precision swaps neighbours twice in one call",
        where="ranking._Answer.tied, explain.orders",
        rate=1e-10,
        times=3,
        why="For programs in float32. Once, in up to 4 of a million calls, is no mistake; twice is its square.",
    ),
    Check(
        name="ranking: single precision swaps neighbours in two calls",
        where="ranking._by_statistics",
        rate=1e-9,
        times=1,
        why="For programs in float32 whose draws explain nothing. A call has it with 1.3e-6 at d_k = 256 (measured: 13 "
        "of 10 million, with the underflow), so two of 27 calls have it with 7e-10.",
    ),
)


def total() -> float:
    """Return the chance that a right submission fails any of the checks, whatever path it takes."""
    return sum(check.chance for check in CHECKS)
