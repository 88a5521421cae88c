"""Wrong usage is one sentence and exit code 2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.shell import (
    LINUX,
    RIGHT,
    grade,
    names,
    one_sentence,
    without_powers,
)

USAGE: dict[str, tuple[list[str], str]] = {
    "nothing": ([], "PATH"),
    "an unknown option": (["submission.py", "--frobnicate"], "--frobnicate"),
    "two files": (["submission.py", "submission.py"], "submission.py"),
    "no seed": (["submission.py", "--seed"], "--seed"),
    "a seed that is none": (["submission.py", "--seed", "x"], "'x' is no seed"),
    "a negative seed": (["submission.py", "--seed=-1"], "'-1' is no seed"),
    "a seed of 2^53": (["submission.py", "--seed", str(1 << 53)], "is no seed"),
    "a seed of a million digits": (["submission.py", "--seed", "9" * 100_000], "is no seed"),
    "an unknown format": (["submission.py", "--format", "xml"], "xml"),
    "hints of level 4": (["submission.py", "--hints", "4"], "4"),
    "a limit that is none": (["submission.py", "--fail-under", "half"], "half"),
    "an unknown isolation": (["submission.py", "--isolation", "docker"], "docker"),
    "no such file": (["no such.py"], "There is no file 'no such.py'"),
    "no such folder": (["no/such.py"], "There is no file 'no/such.py'"),
    "below a file": (["submission.py/x.py"], "There is no file"),
    "a folder": (["folder"], "is a folder"),
    "a folder with a suffix": (["folder.py"], "is a folder"),
    "another suffix": (["notes.txt"], ".py and .ipynb"),
    "no suffix": (["notes"], ".py and .ipynb"),
    "an empty path": ([""], "folder"),
    "a path of escapes": (["\x1b[31m\x07.py"], "There is no file"),
    "a very long path": (["x" * 5000 + ".py"], "can't be read"),
    "no such course": (["submission.py", "--course", "nowhere"], "nowhere"),
    "an unknown assignment": (["submission.py", "--assignment", "nothing"], "nothing"),
    "regrading nothing": (["regrade"], "PATH"),
    "regrading what isn't there": (["regrade", "nothing.transcript"], "there is no such file"),
    "starting in a file": (["start", "submission.py"], "this is a file"),
    "starting twice": (["start", "one", "two"], "two"),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one of each."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "submission.py").write_bytes(RIGHT.read_bytes())
    (folder / "notes.txt").write_text("notes")
    (folder / "notes").write_text("notes")
    (folder / ".py").write_text("x = 1")
    for name in ("folder", "folder.py"):
        (folder / name).mkdir()
    return folder


LATER = ("two files", "no seed", "a negative seed", "an unknown format", "no such folder", "below a file", "no suffix")


@pytest.mark.parametrize(
    "title", [pytest.param(title, marks=pytest.mark.slow if title in LATER else (), id=title) for title in USAGE]
)
def test_wrong_usage_is_one_sentence(title: str, desk: Path) -> None:
    """Whatever can't be done is said in one line with exit code 2 (3 for an assignment that a course lacks)."""
    words, said = USAGE[title]
    before = names(desk)
    done = grade(*words, cwd=desk)

    one_sentence(done, 3 if "--assignment" in words else 2, said)
    assert names(desk) == before


@LINUX
def test_an_unreadable_file(right: Path) -> None:
    """A file that one may not read is wrong usage, with a way out."""
    right.chmod(0)
    done = grade(right, before=without_powers)

    one_sentence(done, 2, "permission")


@LINUX
def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    """A named pipe that nobody writes to isn't waited for."""
    os.mkfifo(tmp_path / "submission.py")
    one_sentence(grade(tmp_path / "submission.py"), 2, "not an ordinary file")
