"""What shows that a finding is so: comparisons, tables, charts and orders, with all their texts resolved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from grader.model import Band, Chart, Comparison, Evidence, Line, Param, Table
from grader.model._data import data
from grader.render import clean
from grader.render.comparison import ComparisonView, comparison_view
from grader.render.figures import column, short
from grader.render.grids import MOST_COLUMNS, MOST_ROWS, NAME, CellView, Grid, GridRow, cut
from grader.render.orders import OrdersView, orders_view
from grader.render.pictures import Picture, draw
from grader.render.words import Rich, Span, Words, bare

__all__ = ["ChartView", "EvidenceView", "evidence_view"]

MOST_LINES, MOST_BANDS, MOST_POINTS = 6, 2, 16
"""Of a chart; more lines can't be told apart anyway."""


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


EvidenceView = ComparisonView | Grid | ChartView | OrdersView


def evidence_view(item: Evidence, words: Words, *, pictures: bool = True) -> EvidenceView:
    """Resolve one piece of evidence; ``pictures`` asks for more than the tables of a comparison."""
    if isinstance(item, Comparison):
        return comparison_view(item, words, pictures=pictures)
    if isinstance(item, Table):
        return _table(item, words)
    return _chart(item, words) if isinstance(item, Chart) else orders_view(item, words)


def _table(item: Table, words: Words) -> Grid:
    header = [cut(bare(words.rich(key)) or clean.html(key)) for key in item.header[:MOST_COLUMNS]]
    filled = [row for row in item.rows[:MOST_ROWS] if row]
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
    return [f"{value:.6g}" if isinstance(value, float) else cut(clean.html(str(value)).strip()) for value in values]


def _chart(item: Chart, words: Words) -> ChartView:
    item = _capped(item)
    labels = [_label(line, item, words) for line in item.lines]
    band_labels = [_label(band, item, words) for band in item.all_bands]
    title = cut(bare(words.rich(f"{item.id}.title", item.params)) or clean.html(item.id), NAME)
    x = bare(words.rich(f"{item.id}.x", item.params))
    measured = [(line, label) for line, label in zip(item.lines, labels, strict=True) if line.role != "reference"]
    series = [(label, _written(line.x, line.y)) for line, label in measured]
    series += [(label, _ranges(band, words)) for band, label in zip(item.all_bands, band_labels, strict=True)]
    numbers = Grid(
        caption=words.around("page.chart_table", "title", [Span(text=title)]),
        corner=x,
        columns=tuple(label for label, _ in series),
        rows=tuple(
            GridRow(label=short(at), cells=tuple(CellView(text=texts.get(at, "")) for _, texts in series))
            for at in sorted({at for line, _ in measured for at in line.x if math.isfinite(at)})
        ),
    )
    return ChartView(
        title=title,
        x=x,
        y=bare(words.rich(f"{item.id}.y", item.params)),
        says=words.rich(f"{item.id}.says", item.params),
        picture=draw(item, labels, band_labels),
        numbers=numbers,
    )


def _label(item: Line | Band, chart: Chart, words: Words) -> str:
    return cut(bare(words.rich(item.label, chart.params)) or clean.html(item.label))


def _capped(item: Chart) -> Chart:
    lines = tuple(replace(line, x=line.x[:MOST_POINTS], y=line.y[:MOST_POINTS]) for line in item.lines[:MOST_LINES])
    bands = tuple(
        replace(band, x=band.x[:MOST_POINTS], low=band.low[:MOST_POINTS], high=band.high[:MOST_POINTS])
        for band in item.all_bands[:MOST_BANDS]
    )
    return replace(item, lines=lines, band=None, bands=bands)


def _written(xs: Sequence[float], values: Sequence[float]) -> dict[float, str]:
    return dict(zip(xs, column(list(values)), strict=False))


def _ranges(band: Band, words: Words) -> dict[float, str]:
    """Return the ends of a region at each place."""
    ends = zip(band.x, band.low, band.high, strict=False)
    text = words.plain("page.range")  # cut into words once: what is filled in are numbers
    return {at: text.replace("{low}", short(low)).replace("{high}", short(high)) for at, low, high in ends}
