"""Charts as geometry: what a template draws as SVG, computed here so that it can be tested without one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.model import Band, Chart
from grader.model._data import data
from grader.render.figures import short

__all__ = ["BandShape", "LabelledLine", "Picture", "Tick", "draw"]

WIDTH, HEIGHT = 460, 280
TOP, BOTTOM = 34.0, 46.0
LINE_HEIGHT = 16.0
CHARACTER = 7.2
"""About the width of a character at the size of the chart's text."""

_ABOVE = {"reference": 0, "expected": 1, "yours": 2}
"""The order of drawing: where lines coincide, yours is seen."""

HALF_WIDTH = 8.0
"""Of a region at a single place."""

MAX_DECADE = 308
"""The largest power of ten that is a double."""


@data
class Tick:
    """A grid line and its number."""

    at: float
    text: str


@data
class LabelledLine:
    """A series: pieces of a polyline, a marker at each point, and a label beside its end."""

    role: str
    label: str
    pieces: tuple[str, ...]
    markers: tuple[tuple[float, float], ...]
    label_y: float


@data
class BandShape:
    """The region between two curves, and its label."""

    label: str
    points: str
    label_y: float


@data
class Picture:
    """A chart in the coordinates of its view box."""

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float
    label_x: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[LabelledLine, ...]
    bands: tuple[BandShape, ...]


class _Axis:
    """Maps numbers to the picture, on a plain or a logarithmic scale."""

    def __init__(self, values: Sequence[float], *, log: bool) -> None:
        self.log = log
        scaled = [self._scaled(value) for value in values if self.shows(value)]
        self.empty = not scaled
        low, high = (min(scaled), max(scaled)) if scaled else (0.0, 1.0)
        pad = (high - low) * 0.05 or (0.5 if log else abs(high) * 0.1 or 1.0)
        self.low, self.high = low - pad, high + pad
        self.start, self.stop = 0.0, 1.0

    def shows(self, value: float) -> bool:
        return math.isfinite(value) and (value > 0 or not self.log) and abs(value) < 1e300

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def at(self, value: float) -> float:
        share = (self._scaled(value) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.stop - self.start), 1)

    def ticks(self, count: int = 5) -> list[float]:
        """Round numbers within the axis."""
        if self.log and self.high - self.low >= 1:
            # The axis reaches beyond its numbers, and there is no double beyond 10 to the 308.
            decades = range(math.floor(self.low), min(math.ceil(self.high), MAX_DECADE) + 1)
            if self.high - self.low >= 2:
                step = math.ceil((self.high - self.low) / count)
                numbers = [10.0**power for power in decades if power % step == 0]
            else:
                numbers = [digit * 10.0**power for power in decades for digit in (1.0, 2.0, 5.0)]
        else:
            low, high = (10**self.low, 10 ** min(self.high, MAX_DECADE)) if self.log else (self.low, self.high)
            rough = (high - low) / count
            unit = 10.0 ** math.floor(math.log10(rough))
            step_size = next((unit * digit for digit in (1, 2, 5) if unit * digit >= rough), unit * 10)
            numbers = [n * step_size for n in range(math.ceil(low / step_size), math.floor(high / step_size) + 1)]
        return [number for number in numbers if self.shows(number) and self.low <= self._scaled(number) <= self.high]


def draw(chart: Chart, labels: Sequence[str], band_labels: Sequence[str] = ()) -> Picture | None:
    """Lay ``chart`` out; None when none of its numbers can be shown."""
    bands = chart.all_bands
    x_values = [value for line in chart.lines for value in line.x]
    x = _Axis([*x_values, *(value for band in bands for value in band.x)], log=chart.log_x)
    y_values = [value for line in chart.lines for value in line.y]
    y = _Axis([*y_values, *(value for band in bands for value in band.low + band.high)], log=chart.log_y)
    if x.empty or y.empty:
        return None
    y_numbers = y.ticks()
    left = 14 + CHARACTER * max((len(short(number)) for number in y_numbers), default=1)
    longest = max((len(label) for label in (*labels, *band_labels)), default=0)
    x.start, x.stop = left, WIDTH - min(16 + CHARACTER * longest, WIDTH * 0.4)
    y.start, y.stop = HEIGHT - BOTTOM, TOP

    drawn = [_line(line.x, line.y, x, y) for line in chart.lines]
    shapes = [_band(band, x, y) for band in bands]
    wanted = [markers[-1][1] if markers else y.stop for _, markers in drawn]
    places = _spread([*wanted, *(at for shape, at in shapes if shape)], y.stop, y.start)
    beside = iter(places[len(drawn) :])
    return Picture(
        width=WIDTH,
        height=HEIGHT,
        left=round(left, 1),
        right=round(x.stop, 1),
        top=TOP,
        bottom=HEIGHT - BOTTOM,
        label_x=round(x.stop + 8, 1),
        x_ticks=_thinned([Tick(at=x.at(number), text=short(number)) for number in _x_numbers(chart, x)]),
        y_ticks=tuple(Tick(at=y.at(number), text=short(number)) for number in y_numbers),
        lines=tuple(
            LabelledLine(
                role=line.role,
                label=label,
                pieces=pieces,
                markers=() if line.role == "reference" else markers,
                label_y=place,
            )
            for line, label, (pieces, markers), place in sorted(
                zip(chart.lines, labels, drawn, places, strict=False), key=lambda item: _ABOVE[item[0].role]
            )
        ),
        bands=tuple(
            BandShape(label=label, points=shape, label_y=next(beside))
            for label, (shape, _) in zip(band_labels, shapes, strict=False)
            if shape
        ),
    )


def _x_numbers(chart: Chart, axis: _Axis) -> list[float]:
    """The numbers that were measured are the best ticks, if they are few."""
    own = sorted({value for line in chart.lines for value in line.x if axis.shows(value)})
    return own if 0 < len(own) <= 8 else axis.ticks()


def _thinned(ticks: list[Tick]) -> tuple[Tick, ...]:
    kept: list[Tick] = []
    for tick in ticks:
        room = CHARACTER * (len(tick.text) + len(kept[-1].text)) / 2 + 6 if kept else 0
        if not kept or tick.at - kept[-1].at >= room:
            kept.append(tick)
    return tuple(kept)


def _line(
    xs: Sequence[float], ys: Sequence[float], x: _Axis, y: _Axis
) -> tuple[tuple[str, ...], tuple[tuple[float, float], ...]]:
    """Cut a series where it has a number that can't be shown."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for one, other in zip(xs, ys, strict=False):
        if x.shows(one) and y.shows(other):
            pieces[-1].append((x.at(one), y.at(other)))
        elif pieces[-1]:
            pieces.append([])
    paths = tuple(_path(piece) for piece in pieces if len(piece) > 1)
    return paths, tuple(point for piece in pieces for point in piece)


def _band(band: Band, x: _Axis, y: _Axis) -> tuple[str, float]:
    """Return the outline of a region, "" if nothing of it can be shown, and where its label belongs."""
    kept = [
        (x.at(at), y.at(low), y.at(high))
        for at, low, high in zip(band.x, band.low, band.high, strict=False)
        if x.shows(at) and y.shows(low) and y.shows(high)
    ]
    if not kept:
        return "", 0.0
    if len(kept) == 1:
        ((at, low, high),) = kept
        kept = [(at - HALF_WIDTH, low, high), (at + HALF_WIDTH, low, high)]
    outline = [(at, high) for at, _, high in kept] + [(at, low) for at, low, _ in reversed(kept)]
    return _path(outline), (kept[-1][1] + kept[-1][2]) / 2


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{one:g},{other:g}" for one, other in points)


def _spread(wanted: Sequence[float], top: float, bottom: float) -> list[float]:
    """Move labels apart, as little as needed, and keep them inside."""
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    places = [0.0] * len(wanted)
    above = -math.inf
    for number in order:
        above = places[number] = max(wanted[number], above + LINE_HEIGHT, top)
    below = bottom
    for number in reversed(order):
        if places[number] <= below:
            break
        places[number] = below
        below -= LINE_HEIGHT
    return [round(place, 1) for place in places]
