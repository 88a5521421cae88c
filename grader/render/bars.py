"""Distributions as bars: yours beside expected, one small picture for each row or column."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.model import Params
from grader.model._data import data
from grader.render.figures import Block
from grader.render.words import Rich, Words

__all__ = ["Bar", "BarPanel", "BarsView", "bars_view"]

LEFT, TOP, PLOT, BELOW = 30, 26, 78, 20
BAR, GROUP = 12, 36
LEAST_WIDTH = 190
"""Room for the heading of a panel, in the coordinates of its view box."""

LARGEST = 10.0
"""Shares lie in 0..1; where one is far outside, bars show nothing of the others."""

NEAR_ONE = 0.005
"""A sum that is written as 1.00."""

_NAMES = {"rows": "page.row", "columns": "page.column"}
_RIGHT = {"rows": "page.bars_rows_right", "columns": "page.bars_columns_right", "": "page.bars_right"}
_WRONG = {"rows": "page.bars_rows_wrong", "columns": "page.bars_columns_wrong", "": "page.bars_wrong"}


@data
class Bar:
    """A bar of a panel, in the coordinates of its view box."""

    role: str
    x: int
    y: float
    height: float


@data
class BarPanel:
    """One distribution: its heading, its numbers in words, and its bars."""

    heading: str
    alternative: str
    width: int
    height: int
    rules: tuple[tuple[float, str], ...]
    bars: tuple[Bar, ...]
    labels: tuple[tuple[float, str], ...]

    left: int = LEFT
    bottom: int = TOP + PLOT
    bar: int = BAR


@data
class BarsView:
    """The panels and the sentence that says what they show."""

    says: Rich
    panels: tuple[BarPanel, ...]


def bars_view(yours: Block, expected: Block, which: str, corner: Sequence[int], words: Words) -> BarsView | None:
    """Lay bars out; None where the numbers can't be read as shares.

    Args:
        yours, expected: Blocks of one shape that hold whole distributions.
        which: ``"rows"`` or ``"columns"``: which of them are the distributions.
        corner: Index of the block's first row and column.
        words: The texts.
    """
    if which == "columns":
        yours, expected = (tuple(zip(*block, strict=True)) for block in (yours, expected))
        corner = corner[::-1]
    numbers = [value for block in (yours, expected) for row in block for value in row]
    if not numbers or not all(0 <= value <= LARGEST for value in numbers):
        return None
    top = max(1.0, *numbers)
    if len(corner) < 2:
        which, names = "", [""]
    else:
        names = [words.plain(_NAMES[which], (("index", corner[0] + at),)) for at in range(len(yours))]
    sums = [math.fsum(row) for row in yours]
    panels = tuple(
        _panel(mine, right, top, name, total, corner[-1] if corner else 0, words)
        for mine, right, name, total in zip(yours, expected, names, sums, strict=True)
    )
    worst = max(range(len(sums)), key=lambda at: abs(sums[at] - 1))
    key = (_RIGHT if abs(sums[worst] - 1) <= NEAR_ONE else _WRONG)[which]
    says = words.own(key, (("sum", f"{sums[worst]:.2f}"), ("which", names[worst])))
    return BarsView(says=(*says, *words.own("page.bars_legend")), panels=panels)


def _panel(
    yours: Sequence[float], expected: Sequence[float], top: float, name: str, total: float, first: int, words: Words
) -> BarPanel:
    bars = []
    for at, pair in enumerate(zip(yours, expected, strict=True)):
        for role, value, shift in (("yours", pair[0], 4), ("expected", pair[1], 6 + BAR)):
            height = round(PLOT * value / top, 1)
            bars.append(Bar(role=role, x=LEFT + at * GROUP + shift, y=round(TOP + PLOT - height, 1), height=height))
    params: Params = (("sum", f"{total:.2f}"), ("which", name))
    return BarPanel(
        heading=words.plain("page.bars_panel" if name else "page.bars_panel_alone", params),
        alternative=words.plain("page.bars_numbers", (("yours", _listed(yours)), ("expected", _listed(expected)))),
        width=max(LEAST_WIDTH, LEFT + GROUP * len(yours)),
        height=TOP + PLOT + BELOW,
        rules=tuple((round(TOP + PLOT * (1 - at / top), 1), text) for at, text in ((0, "0"), (0.5, "0.5"), (1, "1"))),
        bars=tuple(bars),
        labels=tuple((LEFT + at * GROUP + 5 + BAR, str(first + at)) for at in range(len(yours))),
    )


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)
