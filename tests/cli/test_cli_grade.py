"""``grade PATH`` from outside: what it prints, writes and exits with."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from grader import __version__
from tests.cli.shell import (
    ESCAPES,
    LINUX,
    SEED,
    THREE,
    WITH_MISTAKE,
    Kept,
    grade,
    names,
)


def test_the_summary_and_the_report_beside(right: Path) -> None:
    """Without options there is a summary of at most 80 columns and a report beside the file, and nothing else."""
    done = grade("submission.py", cwd=right.parent)

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"Scaled dot-product attention: submission\.py +100 of 100 points", lines[0])
    assert max(map(len, lines)) <= 80
    assert re.search(r"--seed \d+$", lines[-1])
    assert "submission-report.html" in done.stdout
    assert names(right.parent) == ["submission-report.html", "submission.py"]
    page = (right.parent / "submission-report.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")


def test_a_seed_replays(kept: Kept, tmp_path: Path) -> None:
    """The seed of a run gives the same three files again, to the byte."""
    done = grade(WITH_MISTAKE, "--out", tmp_path, "--format", "json", "--seed", SEED)

    assert done.stdout == kept.document
    for name in THREE:
        assert (tmp_path / name).read_bytes() == (kept.folder / name).read_bytes()


def test_out_writes_three_files(right: Path) -> None:
    """With --out, three files lie in a folder that is made for them, and none beside the submission."""
    out = right.parent / "a" / "b"
    done = grade(right, "--out", out, "--format", "json")

    assert done.returncode == 0
    assert names(out) == ["fragment.html", "report.html", "result.json"]
    assert names(right.parent) == ["a", "submission.py"]
    assert (out / "result.json").read_text(encoding="utf-8") == done.stdout
    assert json.loads(done.stdout, parse_constant=pytest.fail)["score"] == 100
    if os.name == "posix":
        assert {(out / name).stat().st_mode & 0o777 for name in names(out)} == {0o666 & ~umask()}


def umask() -> int:
    """Return the umask."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("limit, code", [("85", 0), ("85.01", 1)], ids=["reached", "missed"])
def test_fail_under(limit: str, code: int, kept: Kept, tmp_path: Path) -> None:
    """The exit code says whether the score is below --fail-under; the report is the same."""
    done = grade("regrade", kept.transcript, "--out", tmp_path, "--fail-under", limit)

    assert (done.returncode, done.stderr) == (code, "")
    assert "85 of 100 points" in done.stdout
    assert (tmp_path / "result.json").read_text(encoding="utf-8") == kept.document


def test_hints_are_shown_when_asked_for(kept: Kept, tmp_path: Path) -> None:
    """The summary shows no hint but how to get one, or those up to the level that was asked for."""
    shown = [
        len(
            re.findall(r"(?m)^  hint:  (?!grade )", grade("regrade", kept.transcript, "--out", tmp_path, *words).stdout)
        )
        for words in ([], ["--hints", "2"])
    ]

    assert shown == [0, 2]


def test_help() -> None:
    """Help names every option, has examples and the exit codes, and is plain text of 80 columns."""
    done = grade("--help", env={"COLUMNS": "80"})

    assert (done.returncode, done.stderr) == (0, "")
    for said in ("--out", "--seed", "--format", "--fail-under", "--hints", "--course", "grade start", "exit codes"):
        assert said in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert not ESCAPES.search(done.stdout)


@pytest.mark.parametrize("words", [["--version"], ["submission.py", "--version"]], ids=["alone", "after a path"])
def test_version(words: list[str]) -> None:
    """The version is one line."""
    done = grade(*words)

    assert (done.returncode, done.stdout, done.stderr) == (0, f"grade {__version__}\n", "")


@LINUX
def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    """A file's name may be any bytes: it is graded, shown as far as it can be, and its report lies beside it."""
    name = os.fsdecode(b"t\xc3\xaate \xff\n.py")
    (tmp_path / name).write_bytes(b"")
    done = grade(tmp_path / name, env={"PYTHONIOENCODING": "utf-8"})

    assert (done.returncode, done.stderr) == (0, "")
    assert "0 of 100 points" in done.stdout
    assert os.fsdecode(b"t\xc3\xaate \xff\n-report.html") in names(tmp_path)


# ------------------------------------------------------------------ files that hold no points

CONTENT: dict[str, tuple[str, bytes]] = {
    "binary": ("submission.py", bytes(range(256)) * 50),
    "empty": ("submission.py", b""),
    "a syntax error": ("submission.py", b"def softmax(:\n"),
    "an error": ("submission.py", b"1 / 0\n"),
    "an exit": ("submission.py", b"import os\nos._exit(3)\n"),
    "half a notebook": ("submission.ipynb", b'{"cells": [{"cell_type": "co'),
}
LATER = ("empty", "an error", "an exit")


@pytest.mark.parametrize(
    "title", [pytest.param(title, marks=pytest.mark.slow if title in LATER else (), id=title) for title in CONTENT]
)
def test_what_cannot_be_loaded_is_graded(title: str, tmp_path: Path) -> None:
    """A file that can't be read or run has 0 points, exit code 0 and a report that says why."""
    name, content = CONTENT[title]
    (tmp_path / name).write_bytes(content)
    done = grade(tmp_path / name)

    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"\b0 of 100 points", done.stdout)
    assert "note:" in done.stdout
    assert len(names(tmp_path)) == 2


def test_a_file_of_200_mb(tmp_path: Path) -> None:
    """A file that is far too large is never taken into memory: 0 points, and the report says so."""
    place = tmp_path / "submission.py"
    with place.open("wb") as file:
        file.truncate(200 << 20)
    done = grade(place, before=_little_memory if sys.platform == "linux" else None)

    assert (done.returncode, done.stderr) == (0, "")
    assert "0 of 100 points" in done.stdout
    assert "5 MB" in done.stdout


def _little_memory() -> None:
    import resource

    # Enough for NumPy's address space, not for that and the file.
    resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20))
