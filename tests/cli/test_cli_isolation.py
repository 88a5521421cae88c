"""``--isolation`` and ``grade doctor``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import RIGHT, SEED, WITH_MISTAKE, grade, one_sentence
from tests.run.offered import ISOLATED

NO_TOOLS = {"PATH": "/nonexistent"}
"""An environment where bubblewrap isn't found."""


@pytest.mark.parametrize("name", ISOLATED)
def test_one_file_under_a_backend(name: str, tmp_path: Path) -> None:
    """The result names the backend, and nothing of it is left."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = grade(
        *(WITH_MISTAKE, "--seed", SEED, "--isolation", name, "--out", tmp_path / "out"), env={"TMPDIR": str(scratch)}
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "out" / "result.json").read_bytes())["environment"]["isolation"] == name
    assert list(scratch.iterdir()) == []


def test_a_backend_that_is_missing(tmp_path: Path) -> None:
    """Asked for and not there: one sentence, exit code 4, and no report."""
    done = grade(RIGHT, "--isolation", "namespaces", "--out", tmp_path / "out", env=NO_TOOLS)

    one_sentence(done, 4, "'namespaces' doesn't work", "bubblewrap isn't installed", "--isolation process")
    assert not (tmp_path / "out" / "report.html").exists()


def test_the_doctor_tells_what_works() -> None:
    """A table of the machine and one of the backends, on lines that fit a terminal."""
    done = grade("doctor")

    assert (done.returncode, done.stderr) == (0 if ISOLATED else 4, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for name in ("system", "Python", "processors", "memory", *ISOLATED, "process"):
        assert any(line.split()[:1] == [name] for line in lines), name
    for name in ISOLATED:
        assert f"  {name:18}works" in lines


def test_the_doctor_tells_what_is_missing() -> None:
    """What doesn't work has its reason beside it."""
    done = grade("doctor", env=NO_TOOLS)

    assert "doesn't work: Bubblewrap isn't installed." in " ".join(done.stdout.split())
    assert done.returncode == (0 if "landlock" in ISOLATED else 4)


def test_the_doctor_tries_another_course(tmp_path: Path) -> None:
    """A folder that is no course is refused as everywhere else."""
    done = grade("doctor", "--course", tmp_path)

    assert done.returncode == 3
    assert "isn't a course" in done.stderr
