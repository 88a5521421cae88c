"""Two orders side by side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.model import Orders
from grader.render.orders import MOST, OrdersView, orders_view
from grader.render.words import Words, bare
from tests.render.course import assignment
from tests.render.samples import PLACES


def view(item: Orders) -> OrdersView:
    """The view with our texts."""
    return orders_view(item, Words(assignment().texts))


def test_places_that_differ_are_told_by_word_and_slope() -> None:
    """Equal places are level lines and say so, others are marked in the table too."""
    shown = view(PLACES)
    assert shown.tracks is not None

    assert [cell.text for cell in (row.cells[2] for row in shown.numbers.rows)] == [
        "= same", "≠ differs", "≠ differs", "= same", "= same",
    ]  # fmt: skip
    assert [row.cells[0].differs for row in shown.numbers.rows] == [False, True, True, False, False]
    assert {track.name: track.level for track in shown.tracks.tracks} == {
        "4": True, "6": False, "5": False, "0": True, "3": True,
    }  # fmt: skip
    assert bare(shown.says) == "All lines should run level; 3 of 5 do."


@given(st.permutations(range(8)), st.permutations(range(8)))
def test_every_track_leads_to_the_same_thing(first: list[int], second: list[int]) -> None:
    """A thing begins at its place in the one order, ends at its place in the other, and stays inside."""
    picture = view(Orders(id="places", first=tuple(first), second=tuple(second))).tracks
    assert picture is not None
    by_start = sorted(picture.tracks, key=lambda track: track.start)
    by_end = sorted(picture.tracks, key=lambda track: track.end)

    assert [int(track.name) for track in by_start] == first
    assert [int(track.name) for track in by_end] == second
    assert all(0 < at < picture.height for track in picture.tracks for at in (track.start, track.end))


@pytest.mark.parametrize(
    "first, second",
    [
        pytest.param((), (), id="nothing"),
        pytest.param((0, 1), (1, 2), id="other things"),
        pytest.param((0, 0), (0, 0), id="twice"),
        pytest.param((0, 1, 2), (0, 1), id="other lengths"),
        pytest.param(tuple(range(10_000)), tuple(range(9_999, -1, -1)), id="far too many"),
    ],
)
def test_what_has_no_tracks_is_a_table(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """Without two ends for each track there is no picture, and never more than some rows."""
    shown = view(Orders(id="places", first=first, second=second))

    assert shown.tracks is None
    assert len(shown.numbers.rows) == min(len(first), len(second), MOST)
