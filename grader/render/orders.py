"""Two orders side by side: a table of places, and a picture with a line from each thing's first place to its second."""

from __future__ import annotations

from grader.model import Orders
from grader.model._data import data
from grader.render import clean
from grader.render.grids import CELL, NAME, CellView, Grid, GridRow, cut
from grader.render.words import Rich, Span, Words, bare

__all__ = ["OrdersPicture", "OrdersView", "Track", "orders_view"]

MOST = 16
"""Places that are shown."""

WIDTH, TOP, STEP = 250, 46, 22
LEFT, RIGHT = 84, 186


@data
class Track:
    """A thing and the heights of its two places."""

    name: str
    start: int
    end: int

    @property
    def level(self) -> bool:
        """Whether both places are the same."""
        return self.start == self.end


@data
class OrdersPicture:
    """Two columns of places in the coordinates of a view box, and a track for each thing that stands in both."""

    width: int
    height: int
    left: int
    right: int
    tracks: tuple[Track, ...]


@data
class OrdersView:
    """A picture, the sentence that says what it shows, and its table."""

    title: str
    first: str
    second: str
    says: Rich
    tracks: OrdersPicture | None
    numbers: Grid

    @property
    def alternative(self) -> str:
        """The sentence as bare text, for who can't see the picture."""
        return bare(self.says)


def orders_view(item: Orders, words: Words) -> OrdersView:
    """Resolve two orders; of very long ones the first places."""
    first, second = item.first[:MOST], item.second[:MOST]
    title, one, two = (
        cut(bare(words.rich(f"{item.id}.{part}", item.params)) or clean.html(f"{item.id}.{part}"), letters)
        for part, letters in (("title", NAME), ("first", CELL), ("second", CELL))
    )
    same, differs = words.plain("page.place_same"), words.plain("page.place_differs")
    rows = []
    for at, (here, there) in enumerate(zip(first, second, strict=False)):
        apart = here != there
        cells = (
            CellView(text=str(here), differs=apart),
            CellView(text=str(there), differs=apart),
            CellView(text=differs if apart else same, number=False),
        )
        rows.append(GridRow(label=str(at + 1), cells=cells))
    return OrdersView(
        title=title,
        first=one,
        second=two,
        says=words.rich(f"{item.id}.says", item.params),
        tracks=_picture(first, second),
        numbers=Grid(
            caption=words.around("page.chart_table", "title", [Span(text=title)]),
            corner=words.plain("page.place"),
            columns=(one, two, words.plain("page.place_agrees")),
            rows=tuple(rows),
        ),
    )


def _picture(first: tuple[int, ...], second: tuple[int, ...]) -> OrdersPicture | None:
    """None unless both are orders of the same things: a track needs two ends."""
    if not first or len(set(first)) != len(first) or sorted(first) != sorted(second):
        return None
    places = {name: TOP + at * STEP for at, name in enumerate(second)}
    tracks = [Track(name=str(name), start=TOP + at * STEP, end=places[name]) for at, name in enumerate(first)]
    return OrdersPicture(
        width=WIDTH,
        height=TOP + STEP * len(first),
        left=LEFT,
        right=RIGHT,
        # What moves is drawn last, above what stays.
        tracks=tuple(sorted(tracks, key=lambda track: not track.level)),
    )
