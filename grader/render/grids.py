"""Tables as every face shows them."""

from __future__ import annotations

from grader.model._data import data
from grader.render.words import Rich, bare

__all__ = ["CELL", "MOST_COLUMNS", "MOST_ROWS", "NAME", "CellView", "Grid", "GridRow", "cut"]

MOST_ROWS, MOST_COLUMNS = 12, 6
"""What a table shows of what a check hands over: a page stays small whatever a submission returned."""

CELL, NAME = 40, 120
"""Letters of a cell, a header or a label, and of a title or an expression."""


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


def cut(text: str, letters: int = CELL) -> str:
    """Return as many letters as there is room for."""
    return text if len(text) <= letters else text[: letters - 1] + "…"
