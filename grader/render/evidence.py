"""What shows that a finding is so: comparisons, tables and charts, with all their texts resolved."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from grader.model import Chart, Comparison, Evidence, Param, Table
from grader.model._data import data
from grader.render import clean
from grader.render.figures import Block, block_of, column, heat, short, writer
from grader.render.pictures import Picture, draw
from grader.render.words import Rich, Span, Words, bare

__all__ = ["CellView", "ChartView", "ComparisonView", "EvidenceView", "Grid", "GridRow", "Spot", "evidence_view"]

MOST = 8
"""Rows and columns of a comparison that are shown; the model promises at most six."""


@data
class CellView:
    """A cell; ``differs`` makes it bold, ``background`` and ``ink`` a square of a heat map."""

    text: str
    number: bool = True
    differs: bool = False
    background: str = ""
    ink: str = ""


@data
class GridRow:
    """A row and its header."""

    label: str
    cells: tuple[CellView, ...]


@data
class Grid:
    """A table: ``corner`` heads the column of row headers, and is empty where nothing is to be said there."""

    caption: Rich
    corner: str
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    heat: bool = False

    @property
    def wordy(self) -> tuple[bool, ...]:
        """For each column, whether it holds words, which begin at the left."""
        return tuple(any(not row.cells[at].number for row in self.rows) for at in range(len(self.columns)))

    @property
    def label(self) -> str:
        """The caption as bare text: the name of the region that the table scrolls in."""
        return bare(self.caption)


@data
class Spot:
    """One entry that differs."""

    at: str
    yours: str
    expected: str


@data
class ComparisonView:
    """Yours beside expected: one grid for a vector, two for a table, none for a single number."""

    sentence: Rich
    grids: tuple[Grid, ...]
    legend: Rich
    first: Spot | None
    worst: Spot
    differing: int
    total: int


@data
class ChartView:
    """A picture, the sentence that says what it shows, and its numbers."""

    title: str
    x: str
    y: str
    says: Rich
    picture: Picture | None
    numbers: Grid

    @property
    def alternative(self) -> str:
        """The sentence as bare text, for who can't see the picture."""
        return bare(self.says)


EvidenceView = ComparisonView | Grid | ChartView


def evidence_view(item: Evidence, words: Words) -> EvidenceView:
    """Resolve one piece of evidence."""
    if isinstance(item, Comparison):
        return _comparison(item, words)
    if isinstance(item, Table):
        return _table(item, words)
    return _chart(item, words)


def _comparison(item: Comparison, words: Words) -> ComparisonView:
    yours, expected = block_of(item.yours), block_of(item.expected)
    if [len(row) for row in yours] != [len(row) for row in expected]:
        yours = expected = ()
    worst_pair = (item.yours_at_worst, item.expected_at_worst)
    numbers = [value for block in (yours, expected) for row in block for value in row]
    # Two numbers that differ get as many digits as it takes to see it; equal ones don't.
    apart = worst_pair if item.differing else (0.0, 1.0)
    write = writer([*numbers, *worst_pair], apart, decimals=2 if item.weights else 3)
    name = clean.html(item.name)
    worst = Spot(at=_at(item, item.worst), yours=write(worst_pair[0]), expected=write(worst_pair[1]))
    first = _first(item, yours, expected, write)
    return ComparisonView(
        sentence=_sentence(item, worst, first, sum(map(len, yours)), words),
        grids=_grids(item, name, yours, expected, write, words)[: None if item.differing else 1],
        legend=_legend(item, words) if yours else (),
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
    return clean.html(f"{base}[{', '.join(map(str, index))}]" if index else base)


def _first(item: Comparison, yours: Block, expected: Block, write: Callable[[float], str]) -> Spot | None:
    """The first wrong entry, if it lies in the block that is shown."""
    lead = len(item.first) - len(item.corner)
    if not yours or lead < 0 or item.first[:lead] != item.worst[:lead]:
        return None
    inner = [at - corner for at, corner in zip(item.first[lead:], item.corner, strict=True)]
    row, column = inner if len(inner) == 2 else (0, inner[0] if inner else -1)
    if not (0 <= row < len(yours) and 0 <= column < len(yours[row])):
        return None
    return Spot(at=_at(item, item.first), yours=write(yours[row][column]), expected=write(expected[row][column]))


def _grids(
    item: Comparison, name: str, yours: Block, expected: Block, write: Callable[[float], str], words: Words
) -> tuple[Grid, ...]:
    if not yours:
        return ()
    yours, expected = (tuple(row[:MOST] for row in block[:MOST]) for block in (yours, expected))
    corner = item.corner or (0,)
    names: tuple[tuple[str, Param], ...] = (("name", name),)
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
        columns = tuple(str(corner[0] + at) for at in range(len(yours[0])))
        rows = (
            GridRow(label=words.plain("page.yours"), cells=cells(yours[0], marked[0])),
            GridRow(label=words.plain("page.expected"), cells=cells(expected[0], plain[0])),
        )
        caption = words.own("page.compared", names)
        return (Grid(caption=caption, corner=words.plain("page.index"), columns=columns, rows=rows, heat=item.weights),)
    columns = tuple(words.plain("page.column", (("index", corner[1] + at),)) for at in range(len(yours[0])))
    return tuple(
        Grid(
            caption=words.own(key, names),
            corner="",
            columns=columns,
            rows=tuple(
                GridRow(label=words.plain("page.row", (("index", corner[0] + at),)), cells=cells(row, marks[at]))
                for at, row in enumerate(block)
            ),
            heat=item.weights,
        )
        for key, block, marks in (
            ("page.weights_yours", yours, marked),
            ("page.weights_expected", expected, plain),
        )
    )


def _table(item: Table, words: Words) -> Grid:
    header = [bare(words.rich(key)) or clean.html(key) for key in item.header]
    filled = [row for row in item.rows if row]
    texts = [_column([row[at] if at < len(row) else "" for row in filled]) for at in range(len(header))]
    rows = tuple(
        GridRow(
            label=texts[0][number] if texts else "",
            cells=tuple(
                CellView(text=text[number], number=not (at < len(row) and isinstance(row[at], str)))
                for at, text in enumerate(texts[1:], start=1)
            ),
        )
        for number, row in enumerate(filled)
    )
    return Grid(
        caption=words.rich(item.caption, item.params),
        corner=header[0] if header else "",
        columns=tuple(header[1:]),
        rows=rows,
    )


def _column(values: Sequence[Param]) -> list[str]:
    floats = [value for value in values if isinstance(value, float)]
    if len(floats) == len(values):
        return column(floats)
    return [f"{value:.6g}" if isinstance(value, float) else clean.html(str(value)).strip() for value in values]


def _chart(item: Chart, words: Words) -> ChartView:
    labels = [bare(words.rich(line.label, item.params)) or clean.html(line.label) for line in item.lines]
    band = item.band
    band_label = (bare(words.rich(band.label, item.params)) or clean.html(band.label)) if band else ""
    title = bare(words.rich(f"{item.id}.title", item.params)) or clean.html(item.id)
    x = bare(words.rich(f"{item.id}.x", item.params))
    columns = list(labels)
    series = [dict(zip(line.x, line.y, strict=False)) for line in item.lines]
    if band:
        named = Span(text=band_label)
        columns += [bare(words.around(key, "label", [named])) for key in ("page.low", "page.high")]
        series += [dict(zip(band.x, ends, strict=False)) for ends in (band.low, band.high)]
    written = [dict(zip(values, column(list(values.values())), strict=True)) for values in series]
    numbers = Grid(
        caption=words.around("page.chart_table", "title", [Span(text=title)]),
        corner=x,
        columns=tuple(columns),
        rows=tuple(
            GridRow(
                label=short(at),
                cells=tuple(CellView(text=texts.get(at, "")) for texts in written),
            )
            for at in sorted({at for line in item.lines for at in line.x if math.isfinite(at)})
        ),
    )
    return ChartView(
        title=title,
        x=x,
        y=bare(words.rich(f"{item.id}.y", item.params)),
        says=words.rich(f"{item.id}.says", item.params),
        picture=draw(item, labels, band_label),
        numbers=numbers,
    )
