"""Yours beside expected: the sentence, the tables, the difference, the bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from grader.model import Comparison, Param
from grader.model._data import data
from grader.render import clean
from grader.render.bars import BarsView, bars_view
from grader.render.figures import Block, block_of, diverging, heat, signed, writer
from grader.render.grids import NAME, CellView, Grid, GridRow, cut
from grader.render.words import Rich, Words

__all__ = ["ComparisonView", "Spot", "comparison_view"]

MOST = 6
"""Rows and columns of a comparison that are shown; the model promises no more."""

ROW_SUM = 0.01
"""How far a row's sum may be from 1 to be read as a distribution."""

Write = Callable[[float], str]


@data
class Spot:
    """One entry that differs."""

    at: str
    yours: str
    expected: str


@data
class ComparisonView:
    """Yours beside expected: one grid for a vector, two or three for a table, none for a single number.

    The third is the signed difference of weights; where ``bars`` are drawn, they show it.
    """

    sentence: Rich
    grids: tuple[Grid, ...]
    bars: BarsView | None
    legend: Rich
    first: Spot | None
    worst: Spot
    differing: int
    total: int


def comparison_view(item: Comparison, words: Words, *, pictures: bool = True) -> ComparisonView:
    """Resolve a comparison.

    Args:
        item: What to compare.
        words: The texts.
        pictures: Whether bars and the difference are shown beside the tables.
    """
    yours, expected = (tuple(row[:MOST] for row in block_of(array)[:MOST]) for array in (item.yours, item.expected))
    if [len(row) for row in yours] != [len(row) for row in expected]:
        yours = expected = ()
    worst_pair = (item.yours_at_worst, item.expected_at_worst)
    numbers = [value for block in (yours, expected) for row in block for value in row]
    # Two numbers that differ get as many digits as it takes to see it; equal ones don't.
    apart = worst_pair if item.differing else (0.0, 1.0)
    write = writer([*numbers, *worst_pair], apart, decimals=2 if item.weights else 3)
    worst = Spot(at=_at(item, item.worst), yours=write(worst_pair[0]), expected=write(worst_pair[1]))
    first = _first(item, yours, expected, write)
    grids = _grids(item, yours, expected, write, words)[: None if item.differing else 1]
    bars = bars_view(yours, expected, item.bars, item.corner, words) if pictures and item.bars and yours else None
    sentence = _sentence(item, worst, first, sum(map(len, yours)), words)
    legend = _legend(item, words) if yours else ()
    if pictures and bars is None and item.weights and len(grids) == 2 and all(map(math.isfinite, numbers)):
        difference, most = _difference(item, yours, expected, write, words)
        grids += (difference,)
        sentence += _tendency(yours, expected, words)
        legend += words.own("page.difference_scale", (("most", most),))
    return ComparisonView(
        sentence=sentence,
        grids=grids,
        bars=bars,
        legend=legend,
        first=first,
        worst=worst,
        differing=item.differing,
        total=item.total,
    )


def _legend(item: Comparison, words: Words) -> Rich:
    scale = words.own("page.scale") if item.weights else ()
    return scale + words.own("page.bold") if item.differing else scale


def _sentence(item: Comparison, worst: Spot, first: Spot | None, shown: int, words: Words) -> Rich:
    params: tuple[tuple[str, Param], ...] = (
        ("differing", item.differing),
        ("total", item.total),
        ("at", worst.at),
        ("yours", worst.yours),
        ("expected", worst.expected),
    )
    if item.differing == 0:
        return words.own("page.same", params)
    sentence = words.own("page.differ" if item.total > 1 else "page.differ_one", params)
    if first is None or first.at != worst.at:
        sentence += words.own("page.differ_first", (("at", _at(item, item.first)),)) if item.differing > 1 else ()
    if 0 < shown < item.total:
        sentence += words.own("page.part")
    return sentence


def _at(item: Comparison, index: Sequence[int]) -> str:
    """Name an entry of the whole array: ``weights[0]`` is a block of ``weights``."""
    lead = len(index) - len(item.corner)
    base = item.name.rpartition("[")[0] if lead > 0 and item.name.endswith("]") else item.name
    base = cut(base, NAME)
    return clean.html(f"{base}[{', '.join(map(str, index))}]" if index else base)


def _first(item: Comparison, yours: Block, expected: Block, write: Write) -> Spot | None:
    """The first wrong entry, if it lies in the block that is shown."""
    lead = len(item.first) - len(item.corner)
    if not yours or lead < 0 or item.first[:lead] != item.worst[:lead]:
        return None
    inner = [at - corner for at, corner in zip(item.first[lead:], item.corner, strict=True)]
    row, column = inner if len(inner) == 2 else (0, inner[0] if inner else -1)
    if not (0 <= row < len(yours) and 0 <= column < len(yours[row])):
        return None
    return Spot(at=_at(item, item.first), yours=write(yours[row][column]), expected=write(expected[row][column]))


def _grids(item: Comparison, yours: Block, expected: Block, write: Write, words: Words) -> tuple[Grid, ...]:
    if not yours:
        return ()
    marked = tuple(
        tuple(write(one) != write(other) for one, other in zip(mine, right, strict=True))
        for mine, right in zip(yours, expected, strict=True)
    )

    def cells(row: Sequence[float], marks: Sequence[bool]) -> tuple[CellView, ...]:
        made = []
        for value, mark in zip(row, marks, strict=True):
            background, ink = heat(value) if item.weights and math.isfinite(value) else ("", "")
            made.append(CellView(text=write(value), differs=mark, background=background, ink=ink))
        return tuple(made)

    plain = tuple((False,) * len(row) for row in yours)
    if len(item.corner) < 2:
        start = item.corner[0] if item.corner else 0
        rows = (
            GridRow(label=words.plain("page.yours"), cells=cells(yours[0], marked[0])),
            GridRow(label=words.plain("page.expected"), cells=cells(expected[0], plain[0])),
        )
        return (
            Grid(
                caption=words.own("page.compared", _named(item)),
                corner=words.plain("page.index"),
                columns=tuple(str(start + at) for at in range(len(yours[0]))),
                rows=rows,
                heat=item.weights,
            ),
        )
    return tuple(
        _grid(item, key, [cells(row, marks[at]) for at, row in enumerate(block)], item.weights, words)
        for key, block, marks in (
            ("page.weights_yours", yours, marked),
            ("page.weights_expected", expected, plain),
        )
    )


def _difference(item: Comparison, yours: Block, expected: Block, write: Write, words: Words) -> tuple[Grid, str]:
    """Return yours minus expected, with what the strongest colour stands for."""
    apart = [[mine - right for mine, right in zip(*pair, strict=True)] for pair in zip(yours, expected, strict=True)]
    most = max(abs(value) for row in apart for value in row)
    cells = []
    for row in apart:
        made = []
        for value in row:
            background, ink = diverging(value, most)
            made.append(CellView(text=signed(value, write), background=background, ink=ink))
        cells.append(tuple(made))
    return _grid(item, "page.weights_difference", cells, True, words), write(most)


def _grid(item: Comparison, key: str, cells: Sequence[tuple[CellView, ...]], heat: bool, words: Words) -> Grid:
    top, left = item.corner
    return Grid(
        caption=words.own(key, _named(item)),
        corner="",
        columns=tuple(words.plain("page.column", (("index", left + at),)) for at in range(len(cells[0]))),
        rows=tuple(
            GridRow(label=words.plain("page.row", (("index", top + at),)), cells=row) for at, row in enumerate(cells)
        ),
        heat=heat,
    )


def _named(item: Comparison) -> tuple[tuple[str, Param], ...]:
    return (("name", clean.html(cut(item.name, NAME))),)


def _tendency(yours: Block, expected: Block, words: Words) -> Rich:
    """Say whether every row that is shown gives its largest weight too much, or every row too little."""
    if any(abs(math.fsum(row) - 1) > ROW_SUM for row in (*yours, *expected)):
        return ()
    largest = [max(range(len(row)), key=row.__getitem__) for row in expected]
    changes = [mine[at] - right[at] for at, mine, right in zip(largest, yours, expected, strict=True)]
    if all(change > ROW_SUM for change in changes):
        return words.own("page.difference_peaked")
    return words.own("page.difference_flat") if all(change < -ROW_SUM for change in changes) else ()
