"""Submissions and a kept run that tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import RIGHT, SEED, WITH_MISTAKE, Kept, grade


@pytest.fixture
def right(tmp_path: Path) -> Path:
    """Return a copy of the right example, where reports may lie beside it."""
    place = tmp_path / "submission.py"
    place.write_bytes(RIGHT.read_bytes())
    return place


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """Return an empty file: graded like any other, and fastest."""
    place = tmp_path / "empty.py"
    place.write_bytes(b"")
    return place


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Return a run that every test may look at."""
    folder = tmp_path_factory.mktemp("kept")
    done = grade(
        WITH_MISTAKE,
        "--seed",
        SEED,
        "--out",
        folder,
        "--format",
        "json",
        "--transcript",
        folder / "run.transcript",
        new=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return Kept(folder=folder, document=done.stdout)
