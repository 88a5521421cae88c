"""Submissions from right to awkward: what a fair grader says of them, from their bytes to the words of the report."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from grader.intake import submission_from_bytes
from grader.model import Submission
from tests.pipeline.bench import graded, letters, points, report

DATA = Path(__file__).resolve().parents[1] / "data"
EXPECTED: dict[str, dict[str, dict[str, Any]]] = tomllib.loads((DATA / "submissions.toml").read_text(encoding="utf-8"))


def handed_in(name: str) -> Submission:
    """Read a submission."""
    return submission_from_bytes(name, (DATA / "submissions" / f"{name}.txt").read_bytes())


def cases(kind: str) -> list[Any]:
    """Return the names of a table, the slow ones marked."""
    return [
        pytest.param(name, marks=pytest.mark.slow if expected.get("slow") else (), id=name)
        for name, expected in EXPECTED[kind].items()
    ]


@pytest.mark.parametrize("name", cases("right"))
def test_right_submissions_get_full_marks(name: str) -> None:
    """A correct program never loses a point, whatever its style."""
    result = graded(handed_in(name))[1]

    assert (letters(result), points(result)) == ("PPPPP", 100)
    assert EXPECTED["right"][name]["says"] in report(result)


@pytest.mark.parametrize("name", cases("wrong"))
def test_wrong_submissions_lose_points_where_they_are_wrong(name: str) -> None:
    """A mistake costs points in its own task, once, and the report says what it is about."""
    result = graded(handed_in(name))[1]

    assert letters(result) == EXPECTED["wrong"][name]["tasks"]
    assert [task.cents < task.max_cents for task in result.tasks] == [letter != "P" for letter in letters(result)]
    assert EXPECTED["wrong"][name]["says"] in report(result)


@pytest.mark.parametrize("name", cases("awkward"))
def test_awkward_submissions_are_graded(name: str) -> None:
    """Whatever a file does to be read or run, the rest of it is judged, and the report says what happened."""
    # The assignment lets a call go on for longer: for what never ends, that is only a wait.
    result = graded(handed_in(name), call_seconds=1.5 if EXPECTED["awkward"][name].get("hangs") else 0.0)[1]

    assert result.status == "graded"
    assert letters(result) == EXPECTED["awkward"][name]["tasks"]
    assert EXPECTED["awkward"][name]["says"] in report(result)


def test_every_file_is_used() -> None:
    """Each file has its line in the table, and each line its file."""
    named = {name for table in EXPECTED.values() for name in table}

    assert {path.name.removesuffix(".txt") for path in (DATA / "submissions").iterdir()} == named
