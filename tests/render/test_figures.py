"""Numbers, arrays and colours."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.values import DTYPES, to_value
from grader.model import Array
from grader.render.figures import block_of, column, diverging, heat, points, signed, writer


@pytest.mark.parametrize(
    "cents, text",
    [
        pytest.param(0, "0", id="none"),
        pytest.param(1700, "17", id="whole"),
        pytest.param(1750, "17.5", id="half"),
        pytest.param(133, "1.33", id="hundredths"),
        pytest.param(105, "1.05", id="zero inside"),
        pytest.param(-250, "-2.5", id="taken off"),
    ],
)
def test_points(cents: int, text: str) -> None:
    """Points are written without a useless zero."""
    assert points(cents) == text


@pytest.mark.parametrize("dtype", sorted(dtype for dtype in DTYPES if dtype[1] != "c"))
def test_arrays_are_read_as_numpy_reads_them(dtype: str) -> None:
    """Every real dtype that crosses the border is decoded without NumPy."""
    table = np.array([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    value = to_value(table)
    assert isinstance(value, Array)

    assert block_of(value) == tuple(tuple(float(entry) for entry in row) for row in table)


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(Array(dtype="<f8", shape=(2, 2), data=b"short"), id="cut off"),
        pytest.param(Array(dtype="<f8", shape=(), data=struct.pack("<d", 1.0)), id="no axis"),
        pytest.param(Array(dtype="<f8", shape=(1, 1, 1), data=struct.pack("<d", 1.0)), id="three axes"),
        pytest.param(Array(dtype="<c16", shape=(1,), data=bytes(16)), id="complex"),
        pytest.param(Array(dtype="<f8", shape=(2**70,), data=b"", clipped=True), id="clipped"),
        pytest.param(Array(dtype="<f8", shape=(2**40, 2**40), data=b""), id="larger than it is"),
    ],
)
def test_what_does_not_fit_shows_nothing(array: Array) -> None:
    """A block that can't be read is no reason to fail."""
    assert block_of(array) == ()


@pytest.mark.parametrize(
    "values, apart, shown",
    [
        pytest.param([0.5, 0.25], (0.5, 0.25), ["0.500", "0.250"], id="three decimals"),
        pytest.param([3.0, 1.0], (3.0, 1.0), ["3", "1"], id="whole"),
        pytest.param([1024.0, 970.512], (1024.0, 970.512), ["1024.0", "970.5"], id="large"),
        pytest.param([0.5, 0.5000001], (0.5, 0.5000001), ["0.5000000", "0.5000001"], id="close"),
        pytest.param([2.5e-9, 1e-9], (2.5e-9, 1e-9), ["2.5e-09", "1e-09"], id="tiny"),
        pytest.param([math.nan, 0.5], (math.nan, 0.5), ["nan", "0.500"], id="not a number"),
        pytest.param([-0.0001, 0.5], (-0.0001, 0.5), ["0.000", "0.500"], id="no negative zero"),
        pytest.param([math.inf, 2.0], (math.inf, 2.0), ["inf", "2"], id="infinite"),
    ],
)
def test_writer(values: list[float], apart: tuple[float, float], shown: list[str]) -> None:
    """All numbers of a block are written alike, and the worst pair can be told apart."""
    write = writer(values, apart)

    assert [write(value) for value in values] == shown


def test_columns_have_equal_decimals_where_sizes_are_alike() -> None:
    """A column reads as a column, and small numbers beside large ones keep their digits."""
    assert column([0.3, 0.31, 0.4]) == ["0.30", "0.31", "0.40"]
    assert column([0.000123, 1018.0]) == ["0.000123", "1018"]
    assert column([math.nan, 0.25]) == ["nan", "0.25"]
    assert column([]) == []


def luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(
    "value, text",
    [(0.125, "+0.12"), (-0.32, "−0.32"), (0.0, "0.00"), (-0.001, "0.00"), (-0.0, "0.00")],
)
def test_a_difference_has_its_sign_beside_the_colour(value: float, text: str) -> None:
    """Plus and minus are written, and what is written as 0 has neither."""
    assert signed(value, lambda size: f"{size:.2f}") == text


@given(st.floats(-1, 1), st.floats(0, 1))
def test_a_difference_can_be_read(value: float, most: float) -> None:
    """The ink on every colour has a contrast of at least 4.5; both signs are as far from 0, in other colours."""
    back, ink = diverging(value, most)
    light, dark = sorted((luminance(back), luminance(ink)), reverse=True)

    assert (light + 0.05) / (dark + 0.05) >= 4.5
    assert diverging(0, 1)[0] == "#f7f7f7"
    assert diverging(1, 1)[0] == "#7f3b08"
    assert diverging(-1, 1)[0] == "#2d004b"


@given(st.floats(0, 1))
def test_heat_can_be_read(value: float) -> None:
    """The ink on every colour of the map has a contrast of at least 4.5."""
    light, dark = sorted((luminance(colour) for colour in heat(value)), reverse=True)

    assert (light + 0.05) / (dark + 0.05) >= 4.5
