"""Distributions as bars."""

from __future__ import annotations

import math
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.render.bars import PLOT, TOP, BarsView, bars_view
from grader.render.words import Words, bare
from tests.render.course import engine_texts

RIGHT = ((0.1, 0.7, 0.2), (0.5, 0.25, 0.25))
FLAT = ((0.2, 0.5, 0.3), (0.4, 0.3, 0.3))
SUMS = ((0.1, 0.7, 0.2), (0.5, 0.5, 0.5))


def bars(
    yours: tuple[tuple[float, ...], ...],
    which: Literal["rows", "columns"] = "rows",
    corner: tuple[int, ...] = (0, 0),
    expected: tuple[tuple[float, ...], ...] = RIGHT,
) -> BarsView:
    """The bars of two blocks with our texts."""
    view = bars_view(yours, expected, which, corner, Words(engine_texts()))
    assert view is not None
    return view


def test_a_bar_is_as_high_as_its_share() -> None:
    """Heights are shares of the plot, both of a pair stand on one line, yours first."""
    (panel, _) = bars(FLAT).panels
    pairs = [(bar.role, bar.height) for bar in panel.bars]

    assert pairs[:2] == [("yours", round(PLOT * 0.2, 1)), ("expected", round(PLOT * 0.1, 1))]
    assert len(pairs) == 6
    assert all(bar.y + bar.height == pytest.approx(TOP + PLOT) for bar in panel.bars)
    assert [text for _, text in panel.labels] == ["0", "1", "2"]


@pytest.mark.parametrize(
    "yours, which, said",
    [
        pytest.param(FLAT, "rows", "Each row of yours adds up to 1", id="rows"),
        pytest.param(SUMS, "rows", "In row 4 yours adds up to 1.50; each row", id="a row that doesn't"),
        pytest.param(SUMS, "columns", "In column 7 yours adds up to 0.60; each column", id="columns"),
        pytest.param(((0.5, 0.5), (0.5, 0.5)), "columns", "Each column of yours", id="columns that do"),
    ],
)
def test_what_is_said_of_sums(yours: tuple[tuple[float, ...], ...], which: Literal["rows"], said: str) -> None:
    """The sentence tells apart shares that are off from totals that are, and names the worst of them."""
    expected = tuple(tuple(0.5 for _ in row) for row in yours)
    view = bars(yours, which, (3, 7), expected)

    assert bare(view.says).startswith(said)
    assert bare(view.says).endswith("Filled bars are yours, outlined ones are expected.")


def test_a_column_is_a_panel_of_its_rows() -> None:
    """Along columns there is a panel for each column, and its bars count the rows."""
    view = bars(FLAT, "columns", (2, 5))

    assert [panel.heading for panel in view.panels] == [
        "column 5, adds up to 0.60", "column 6, adds up to 0.80", "column 7, adds up to 0.60",
    ]  # fmt: skip
    assert [text for _, text in view.panels[0].labels] == ["2", "3"]
    assert view.panels[0].alternative == "Yours: 0.20, 0.40. Expected: 0.10, 0.50."


def test_a_vector_is_one_panel() -> None:
    """A vector has no rows to name."""
    view = bars((SUMS[1],), corner=(0,), expected=(RIGHT[1],))

    assert [panel.heading for panel in view.panels] == ["yours adds up to 1.50"]
    assert bare(view.says).startswith("Yours adds up to 1.50; a distribution adds up to 1.")


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.1, 1e9])
def test_what_is_no_share_is_not_drawn(value: float) -> None:
    """A picture that would show nothing isn't drawn; the tables stand for it."""
    assert bars_view(((value, 0.5, 0.5), RIGHT[1]), RIGHT, "rows", (0, 0), Words(engine_texts())) is None


@given(st.lists(st.floats(0, 10), min_size=1, max_size=6))
def test_bars_stay_inside(shares: list[float]) -> None:
    """Shares above 1 lower the scale: nothing leaves its panel."""
    (panel,) = bars((tuple(shares),), corner=(0, 0), expected=(tuple(shares),)).panels

    assert all(TOP - 0.1 <= bar.y <= TOP + PLOT and bar.x + panel.bar <= panel.width for bar in panel.bars)
    assert all(0 < at < panel.height for at, _ in panel.rules)
