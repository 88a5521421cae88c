"""A class as a whole: how the scores lie, what is hard, what comes up again and again, and who fails alike."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from grader.core.standing import Standing
from grader.model import Status
from grader.model._data import data

__all__ = [
    "Group",
    "Item",
    "Spread",
    "correlation",
    "groups_of",
    "hardest",
    "items_of",
    "misconceptions_of",
    "quantile",
    "spread_of",
]

FULL_TENTH = 10
"""Index of the bin that holds full marks alone."""


@data
class Spread:
    """How scores lie, in hundredths of a point.

    Attributes:
        count: How many there are.
        low, first, median, third, high: The smallest, the quartiles and the largest; each of them was reached.
        full: How many have all points.
        bins: How many reached each tenth of the points: 0-9 %, 10-19 %, ..., 90-99 %, and all of them.
    """

    count: int
    low: int
    first: int
    median: int
    third: int
    high: int
    full: int
    bins: tuple[int, ...]


@data
class Item:
    """A criterion over the class.

    Attributes:
        id: ``"task/criterion"``.
        count: Graded attempts in which it didn't wait for another criterion: the others say nothing of it.
        success: Mean share of its points among these, 0 to 1; None without any.
        discrimination: Correlation of its points with those of all other criteria, -1 to 1; None where undefined.
    """

    id: str
    count: int
    success: float | None
    discrimination: float | None


@data
class Group:
    """Attempts that fail in the same way, in the order given."""

    id: str
    criterion: str
    members: tuple[Standing, ...]


def quantile(scores: Sequence[int], share: float) -> int:
    """Return the smallest of sorted ``scores`` that at least this share of them doesn't exceed; 0 without any.

    The inverse of the empirical distribution function, which is the first definition of Hyndman and Fan, "Sample
    Quantiles in Statistical Packages", The American Statistician 50 (1996): the answer is always a score that
    somebody has.
    """
    return scores[max(0, math.ceil(share * len(scores)) - 1)] if scores else 0


def spread_of(standings: Iterable[Standing]) -> Spread:
    """Return how the scores of the graded lie."""
    graded = [standing for standing in standings if standing.status == "graded"]
    scores = sorted(standing.cents for standing in graded)
    bins = [0] * (FULL_TENTH + 1)
    for one in graded:
        share = 10 * one.cents // one.max_cents if one.max_cents > 0 else 0
        bins[min(max(share, 0), FULL_TENTH)] += 1
    low, first, median, third, high = (quantile(scores, share) for share in (0, 0.25, 0.5, 0.75, 1))
    return Spread(
        count=len(scores),
        low=low,
        first=first,
        median=median,
        third=third,
        high=high,
        full=bins[FULL_TENTH],
        bins=tuple(bins),
    )


def correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return Pearson's product-moment correlation, or None where it is undefined: no two values of either differ.

    Raises:
        ValueError: If the lengths differ.
    """
    if len(one) != len(other):
        raise ValueError("two series of different lengths")
    if len(set(one)) < 2 or len(set(other)) < 2:
        return None
    mean, middle = math.fsum(one) / len(one), math.fsum(other) / len(other)
    first, second = [value - mean for value in one], [value - middle for value in other]
    size = math.sqrt(math.fsum(a * a for a in first)) * math.sqrt(math.fsum(b * b for b in second))
    if not size:
        return None
    return min(1.0, max(-1.0, math.fsum(a * b for a, b in zip(first, second, strict=True)) / size))


def items_of(standings: Iterable[Standing]) -> tuple[Item, ...]:
    """Return how each criterion did, in the order of the assignment.

    Success is the facility index of item analysis, the mean share of an item's points. Discrimination is the corrected
    item-total correlation: that of the item's points with the total of all *other* items, since an item correlates
    with a total that holds itself. See Henrysson, "Correction of item-total correlations in item analysis",
    Psychometrika 28 (1963), 211-218. Attempts in which a criterion waits for another aren't counted for it.
    """
    rows = [standing.criteria for standing in standings if standing.status == "graded"]
    points: dict[str, tuple[list[float], list[float], list[float]]] = {}
    for row in rows:
        total = sum(part.cents for part in row)
        for part in row:
            own, rest, shares = points.setdefault(part.id, ([], [], []))
            if part.status in (Status.BLOCKED, Status.NOT_GRADED):
                continue
            own.append(part.cents)
            rest.append(total - part.cents)
            shares.append(part.cents / part.max_cents if part.max_cents > 0 else 1.0)
    return tuple(
        Item(
            id=name,
            count=len(own),
            success=math.fsum(shares) / len(shares) if shares else None,
            discrimination=correlation(own, rest),
        )
        for name, (own, rest, shares) in points.items()
    )


def hardest(items: Iterable[Item]) -> Item | None:
    """Return the criterion with the least success, the first of several; None if none lost a point."""
    known = [item for item in items if item.success is not None and item.success < 1]
    return min(known, key=lambda item: item.success or 0.0, default=None)


def misconceptions_of(standings: Iterable[Standing]) -> tuple[tuple[str, int], ...]:
    """Return each misconception with the number of graded attempts that show it, the most frequent first."""
    counts: Counter[str] = Counter()
    for standing in standings:
        if standing.status == "graded":
            counts.update({name for _, name in standing.misconceptions})
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def groups_of(standings: Iterable[Standing]) -> tuple[Group, ...]:
    """Return the failures that nothing explains by their groups, the largest first."""
    members: dict[tuple[str, str], list[Standing]] = {}
    for standing in standings:
        if standing.status == "graded":
            for criterion, group in dict.fromkeys(standing.unexplained):
                members.setdefault((group, criterion), []).append(standing)
    made = [Group(id=name, criterion=criterion, members=tuple(found)) for (name, criterion), found in members.items()]
    return tuple(sorted(made, key=lambda group: (-len(group.members), group.criterion, group.id)))
