"""Where a worker lives, and where its objects lie, doesn't stand in what is kept of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.run.places import without_places
from tests.run.arena import LINUX, arena

HERE = Path("/tmp/grade-batch-a1/grade-b2/life-1")


@pytest.mark.parametrize(
    "text, plain",
    [
        pytest.param(f"no file {HERE}/data.csv", "no file data.csv", id="beside"),
        pytest.param(f"no file '{HERE}'", "no file '.'", id="the folder"),
        pytest.param("/tmp/grade-batch-a1/grade-b2/results/x", "../results/x", id="one up"),
        pytest.param("/tmp/grade-batch-a1/x and /tmp/x", "../../x and /tmp/x", id="two up, and the user's own"),
        pytest.param("<object object at 0x7f94249a6a90>", "<object object at 0x...>", id="an address"),
        pytest.param("colour 0xff, x0x7f94249a6a90, 3/4", "colour 0xff, x0x7f94249a6a90, 3/4", id="other numbers"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_places_are_taken_out(text: str, plain: str) -> None:
    """Paths are as seen from the scratch folder, and addresses are dots."""
    assert without_places(text, HERE) == plain


def test_a_folder_of_another_name_stays() -> None:
    """What isn't ours is nobody's place to hide."""
    assert without_places("/home/me/work/x", Path("/home/me/work")) == "/home/me/work/x"


@LINUX
@pytest.mark.usefixtures("nothing_stays")
def test_two_workers_say_the_same() -> None:
    """What is printed, raised and noticed is the same in another process and another folder."""
    source = """
import os
def f():
    try:
        open("../elsewhere")
    except OSError as error:
        print(error, os.getcwd(), object())
    raise ValueError(f"{__file__} {object()}")
"""
    kept = []
    for _ in range(2):
        with arena(source) as made:
            outcome = made.ask("f")
            kept.append((outcome.stdout, outcome.failure, outcome.events))

    assert kept[0] == kept[1]
    assert "0x" in kept[0][0]
    assert "grade-" not in repr(kept)


@pytest.mark.parametrize("cut", [1, 4, 9, 14])
def test_a_path_that_was_cut(cut: int, tmp_path: Path) -> None:
    """A text that ends in the middle of our folders' names tells as little."""
    folder = tmp_path / "grade-abcdef" / "life-1"
    assert without_places(f"opened {folder}"[:-cut], folder) == "opened ..."
