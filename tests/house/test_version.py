"""Starting quickly: what ``grade --version`` loads, and what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import grader

HEAVY = frozenset({"numpy", "jinja2", "nbformat", "markupsafe", "scipy"})


def run(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m grader --version`` in the checkout, with options for Python."""
    command = [sys.executable, *options, "-m", "grader", "--version"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done


def test_version_is_the_package_s(root: Path) -> None:
    """``grade --version`` tells the version that the package states, on standard output."""
    words = run(root).stdout.split()

    assert grader.__version__ in words


def test_version_loads_nothing_heavy(root: Path) -> None:
    """A start doesn't pay for NumPy, Jinja2 or nbformat before they are used."""
    lines = run(root, "-X", "importtime").stderr.splitlines()
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in lines if line.startswith("import time:")}

    assert "grader" in loaded  # so that an empty list wouldn't pass
    assert loaded & HEAVY == set()


def test_the_changelog_has_the_version(root: Path) -> None:
    """The changelog's newest release is the package's version."""
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)

    assert released[0] == grader.__version__
