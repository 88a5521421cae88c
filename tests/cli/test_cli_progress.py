"""The line that says what is being waited for: on a terminal only, and gone in the end."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.shell import LINUX, command, environment, grade

SLOW = """\
import time
long = [0.8]
def softmax(x, axis=-1):
    began, seconds = time.process_time(), long.pop() if long else 0.0
    while time.process_time() - began < seconds:
        pass
    return x
"""


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """Return a submission that takes a while."""
    place = tmp_path / "slow.py"
    place.write_text(SLOW, encoding="utf-8")
    return place


@LINUX
def test_a_terminal_sees_it(slow: Path) -> None:
    """Standard error names the function while it is called; at the end the line is empty again."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        command(slow), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
        env=environment({"TERM": "xterm"}),
    )  # fmt: skip
    os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 4096):
            said += piece
    except OSError:
        pass  # a terminal whose other side is closed ends with an error
    finally:
        os.close(ours)
        process.wait()

    assert process.returncode == 0
    assert b"calling softmax ..." in said
    assert said.endswith(b"\r\x1b[K")
    assert re.sub(rb"\r\x1b\[K", b"", said).replace(b"calling softmax ...", b"").strip() in (
        b"",
        b"running the file ...",
    )


def test_a_pipe_sees_nothing(slow: Path) -> None:
    """Into a pipe or a file nothing of it is written."""
    assert grade(slow).stderr == ""
