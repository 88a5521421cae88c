"""``grade FILE --watch``: a real process, and files that are saved as editors save them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from tests.cli.shell import LINUX, grade, one_sentence, start

PATIENCE = 60
"""Seconds after which a test gives up; nothing is said of how long anything takes."""

ONE = """\
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis={axis}, keepdims=True))
    return e / e.sum(axis={axis}, keepdims=True)
"""
RIGHT = "import numpy as np\n" + ONE.format(axis="axis")
WRONG = "import numpy as np\n" + ONE.format(axis="0")


class Watched:
    """A process that watches, and all that it has said so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._said: list[str] = []
        self._seen = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.append(line)

    @property
    def text(self) -> str:
        """All that was said."""
        return "".join(self._said)

    def hear(self, said: str) -> str:
        """Wait until ``said`` comes up in what is new; return all that is new."""
        until = time.monotonic() + PATIENCE
        while said not in "".join(self._said[self._seen :]):
            assert time.monotonic() < until, self.text
            assert self._process.poll() is None, self.text
            time.sleep(0.02)
        new = "".join(self._said[self._seen :])
        self._seen += new.count("\n")
        return new

    def interrupt(self) -> tuple[int, str]:
        """Type Ctrl-C; return the exit code and what stood on standard error."""
        self._process.send_signal(signal.SIGINT)
        assert self._process.stderr is not None
        errors = self._process.stderr.read()
        return self._process.wait(PATIENCE), errors


@contextmanager
def watched(*words: object, cwd: Path) -> Iterator[Watched]:
    """Watch a file; the first report is there when the block begins."""
    process = start(*words, "--watch", cwd=cwd, env={"PYTHONUNBUFFERED": "1"})
    try:
        made = Watched(process)
        made.hear("Ctrl-C ends this.")
        yield made
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        made._thread.join(PATIENCE)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def rewritten(report: Path, before: bytes) -> bytes:
    """Return the report's bytes once they aren't ``before`` any more: it is written just after the summary."""
    until = time.monotonic() + PATIENCE
    while (now := report.read_bytes()) == before:
        assert time.monotonic() < until
        time.sleep(0.02)
    return now


@LINUX
def test_each_save_is_graded(tmp_path: Path) -> None:
    """Saves in every manner are graded with one seed, each says what changed, and Ctrl-C ends it well."""
    place, report = tmp_path / "work.py", tmp_path / "work-report.html"
    place.write_text(WRONG, encoding="utf-8")
    with watched("work.py", "--seed", "7", cwd=tmp_path) as process:
        assert "Watching work.py with seed 7" in process.text
        assert "grade work.py --seed 7" in process.text
        first = report.read_bytes()

        # Over the file, as simple editors do.
        place.write_text(RIGHT, encoding="utf-8")
        better = process.hear("next:")
        second = rewritten(report, first)

        # Beside it and renamed, over a backup.
        (tmp_path / "work.py~").write_text(WRONG, encoding="utf-8")
        place.rename(tmp_path / "work.bak")
        (tmp_path / "work.py~").rename(place)
        worse = process.hear("next:")

        # Gone for a while, then empty, then half there, then whole.
        place.unlink()
        time.sleep(0.5)
        with place.open("w", encoding="utf-8") as file:
            time.sleep(0.5)
            file.write(RIGHT[:60])
            file.flush()
            time.sleep(0.1)
            file.write(RIGHT[60:])
        again = process.hear("next:")

        # Touched, but not changed: nothing is said of it, and the next change is heard.
        os.utime(place)
        time.sleep(1)
        place.write_text(WRONG, encoding="utf-8")
        last = process.hear("next:")
        # The one before was the second once more, to the byte.
        assert b"No longer right" in rewritten(report, second)
        code, errors = process.interrupt()

    assert (code, errors) == (0, "\n")
    for said in (better, again):
        assert "20 of 100 points" in said
        assert "Now right: softmax: rows are distributions with the right values" in said
        assert "0 / 30" not in said
    for said in (worse, last):
        assert "No longer right: softmax: rows are distributions with the right values" in said
    assert process.text.count("Since your earlier result") == 4
    assert b"Since your earlier result" in second


@LINUX
def test_a_notebook_and_what_lies_beside(tmp_path: Path) -> None:
    """A notebook that is saved with other outputs hasn't changed; a file that it imports has."""
    place = tmp_path / "work.ipynb"
    cell = nbformat.v4.new_code_cell("import numpy as np\nfrom parts import softmax")
    book = nbformat.v4.new_notebook(cells=[cell])
    (tmp_path / "parts.py").write_text(WRONG, encoding="utf-8")
    nbformat.write(book, place)
    with watched("work.ipynb", "--out", "out", cwd=tmp_path) as process:
        first = (tmp_path / "out" / "result.json").read_bytes()
        cell.outputs = [nbformat.v4.new_output("stream", text="hello")]
        cell.execution_count = 3
        nbformat.write(book, place)
        time.sleep(1)
        (tmp_path / "parts.py").write_text(RIGHT, encoding="utf-8")
        better = process.hear("next:")
        document = rewritten(tmp_path / "out" / "result.json", first)
        code, errors = process.interrupt()

    assert (code, errors) == (0, "\n")
    assert "Now right: softmax" in better
    assert process.text.count("Since your earlier result") == 1
    assert json.loads(document)["score"] == 20


@LINUX
def test_a_file_that_stays_away(tmp_path: Path) -> None:
    """It is said once that the file is gone, and its return is graded."""
    place = tmp_path / "work.py"
    place.write_text(WRONG, encoding="utf-8")
    with watched("work.py", cwd=tmp_path) as process:
        place.unlink()
        time.sleep(2.5)
        place.write_text(RIGHT, encoding="utf-8")
        process.hear("next:")
        code, errors = process.interrupt()

    assert code == 0
    assert errors.count("There is no file") == 1
    assert errors.count("\n") == 2


@pytest.mark.parametrize(
    "words",
    [["--format", "json"], ["--fail-under", "50"], ["--profile"]],
    ids=lambda words: words[0],
)
def test_what_does_not_go_together(words: list[str], tmp_path: Path) -> None:
    """What makes no sense for a run without end is refused in one sentence."""
    one_sentence(grade(tmp_path / "work.py", "--watch", *words), 2, "--watch", words[0])


def test_a_file_that_was_never_there(tmp_path: Path) -> None:
    """Watching begins with a file; a misspelt name is told at once."""
    one_sentence(grade(tmp_path / "work.py", "--watch"), 2, "There is no file")
