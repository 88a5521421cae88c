"""Charts as geometry."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.model import Band, Chart, Line
from grader.render.pictures import HEIGHT, LINE_HEIGHT, WIDTH, draw
from tests.render.samples import LARGEST, LAW

NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


def test_logarithmic_axes() -> None:
    """Equal factors take equal room, and the measured numbers are the ticks."""
    picture = draw(LARGEST, ["yours", "scaled"], ["band"])
    assert picture is not None
    at = [tick.at for tick in picture.x_ticks]

    assert [tick.text for tick in picture.x_ticks] == ["4", "16", "64", "256"]
    assert at[1] - at[0] == pytest.approx(at[3] - at[2], abs=0.2)
    assert len(picture.y_ticks) >= 2


def test_labels_do_not_touch() -> None:
    """Labels stand beside their lines and keep a line's height apart."""
    picture = draw(LARGEST, ["yours", "scaled"], ["band"])
    assert picture is not None
    places = sorted([*(band.label_y for band in picture.bands), *(line.label_y for line in picture.lines)])

    assert all(below - above >= LINE_HEIGHT for above, below in itertools.pairwise(places))


def test_what_an_axis_cannot_show_is_left_out() -> None:
    """Zero on a logarithmic axis and NaN anywhere cut the line; the rest is drawn."""
    line = Line(label="y", role="yours", x=(1, 2, 3, 4, 5, 6), y=(1, 10, 0, math.nan, 100, 1000))
    picture = draw(Chart(id="c", lines=(line,), log_y=True), ["y"])
    assert picture is not None

    assert len(picture.lines[0].pieces) == 2
    assert len(picture.lines[0].markers) == 4


def test_a_law_lies_below_what_was_measured() -> None:
    """Where lines coincide yours is seen: it is drawn last, and a law has no markers of its own."""
    picture = draw(LAW, ["yours", "scaled", "law"], ["band", "equal"])
    assert picture is not None

    assert [line.role for line in picture.lines] == ["reference", "expected", "yours"]
    assert [line.label for line in picture.lines] == ["law", "scaled", "yours"]
    assert [len(line.markers) for line in picture.lines] == [0, 4, 4]
    assert [band.label for band in picture.bands] == ["band", "equal"]


def test_a_region_at_one_place_can_be_seen() -> None:
    """Where a single width was asked for, the band is a bar and yours a marker on it."""
    line = Line(label="y", role="yours", x=(1024,), y=(1000,))
    band = Band(label="b", x=(1024,), low=(900,), high=(1100,))
    picture = draw(Chart(id="c", lines=(line,), band=band, log_x=True, log_y=True), ["y"], ["b"])
    assert picture is not None
    corners = [tuple(map(float, point.split(","))) for point in picture.bands[0].points.split()]
    ((at, height),) = picture.lines[0].markers

    assert min(x for x, _ in corners) < at < max(x for x, _ in corners)
    assert min(y for _, y in corners) < height < max(y for _, y in corners)
    assert picture.lines[0].pieces == ()


def test_nothing_to_draw() -> None:
    """Without a single number there is no picture."""
    line = Line(label="y", role="yours", x=(1, 2), y=(math.nan, -1.0))

    assert draw(Chart(id="c", lines=(line,), log_y=True), ["y"]) is None


@example(series=[(0.0, 1.2e13), (0.0, 8.1e294)], log_x=False, log_y=True)
@given(series=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=8), log_x=st.booleans(), log_y=st.booleans())
def test_any_numbers_stay_inside(series: list[tuple[float, float]], log_x: bool, log_y: bool) -> None:
    """Whatever the numbers are, everything lies within the view box."""
    line = Line(label="y", role="yours", x=tuple(x for x, _ in series), y=tuple(y for _, y in series))
    picture = draw(replace(LARGEST, lines=(line,), band=None, log_x=log_x, log_y=log_y), ["y" * 200])
    if picture is None:
        return

    assert 0 <= picture.left < picture.right <= WIDTH
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in picture.lines[0].markers)
    assert all(0 <= tick.at <= WIDTH for tick in (*picture.x_ticks, *picture.y_ticks))
    assert 0 <= picture.lines[0].label_y <= HEIGHT
