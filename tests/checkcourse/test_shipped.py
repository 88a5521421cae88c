"""The course that we ship proves itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_our_course_proves_itself(root: Path) -> None:
    """``grade check-course``, as a process of its own, finds nothing wrong with any of our assignments."""
    command = [sys.executable, "-m", "grader", "check-course"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
