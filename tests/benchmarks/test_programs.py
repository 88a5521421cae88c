"""The programs that measure classes run through, on the smallest ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import LINUX, ROOT

pytestmark = [pytest.mark.slow, LINUX]
pytest.importorskip("benchmarks", reason="an sdist has no benchmarks")


def run(module: str, *words: object) -> str:
    """Return what a program of the benchmarks prints."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_classes(tmp_path: Path) -> None:
    """A class of three: a row in each of the four tables, and judging again changes no byte."""
    said = run("classes", "--sizes", 3, "--isolation", "process", "--work", tmp_path)
    rows = [line for line in said.splitlines() if line.startswith("| 3 |")]

    assert len(rows) == 4
    assert rows[2].endswith("| the same |")
    assert not list(tmp_path.iterdir())


def test_survive(tmp_path: Path) -> None:
    """A run of twelve that is killed once ends as the undisturbed one."""
    said = run("survive", "--count", 12, "--kills", 1, "--isolation", "process", "--work", tmp_path)

    assert "12 of 12 are in the gradebook once: 12 with reports" in said
    assert "38 files" in said
    assert said.endswith("0 faults\n")
    assert "FAILS" not in said


def test_deadline() -> None:
    """An evening of a thousand, with the measured times that lie beside the program."""
    said = run("deadline", "--submissions", 1000, "--evenings", 1)

    assert said.startswith("1,000 submissions in 6 hours")
    assert "| 99 of 100 wait at most |" in said
