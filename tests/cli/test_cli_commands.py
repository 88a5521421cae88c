"""Interrupts, ``grade start`` and ``grade regrade``."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.cli.shell import (
    EXAMPLES,
    LINUX,
    ROOT,
    SEED,
    THREE,
    Kept,
    grade,
    names,
    one_sentence,
    start,
    without_powers,
)
from tests.run.arena import alive, children


@LINUX
@pytest.mark.parametrize("code", ["import time; time.sleep(60)", "while True: pass"], ids=["asleep", "busy"])
def test_an_interrupt_in_the_middle(code: str, tmp_path: Path) -> None:
    """Ctrl-C ends at once with 130: no report, no process, no scratch folder is left, whatever the file does."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    # A worker's own folder is the only place where it can leave a sign.
    (tmp_path / "submission.py").write_text(f"open('running', 'w').close()\n{code}\n")
    before = children()
    process = start("submission.py", cwd=tmp_path, env={"TMPDIR": str(scratch)})
    deadline = time.monotonic() + 30
    while not list(scratch.glob("*/*/running")) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert list(scratch.glob("*/*/running"))
    time.sleep(0.3)
    assert len(children() - before) == 2
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=20)

    assert process.returncode == 130
    assert stdout == ""
    assert stderr.strip() == "grade: interrupted; no report was written."
    assert names(tmp_path) == ["scratch", "submission.py"]
    assert names(scratch) == []
    assert children() <= before


@LINUX
def test_killed_in_the_middle(tmp_path: Path) -> None:
    """The kernel ends what a file was at when the grader is killed without a word."""
    (tmp_path / "submission.py").write_text("open('running', 'w').close()\nwhile True:\n    pass\n")
    process = start("submission.py", cwd=tmp_path, env={"TMPDIR": str(tmp_path)})
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob("*/*/running")) and time.monotonic() < deadline:
        time.sleep(0.01)
    (worker,) = children(process.pid)
    process.kill()
    process.communicate(timeout=20)
    # Its limit is 30 s of CPU, so alone it would go on for longer than this.
    deadline = time.monotonic() + 15
    while alive(worker) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(worker)


def test_start_writes_and_never_overwrites(tmp_path: Path) -> None:
    """The starter files are written once; whoever asks again is told, and nothing has changed."""
    first = grade("start", "work", cwd=tmp_path)

    assert (first.returncode, first.stderr) == (0, "")
    handout = ROOT / "exercises" / "attention"
    assert names(tmp_path / "work") == names(handout)
    assert "grade work" in first.stdout.replace(os.sep, "/")
    (tmp_path / "work" / "submission.py").write_text("mine")
    again = grade("start", "work", cwd=tmp_path)

    one_sentence(again, 2, "submission.py", "nothing is ever overwritten")
    assert (tmp_path / "work" / "submission.py").read_text() == "mine"


def test_start_in_a_folder_with_other_files(tmp_path: Path) -> None:
    """In this folder, beside other files, nothing of theirs is touched."""
    (tmp_path / "notes.txt").write_text("notes")
    done = grade("start", cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})

    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "notes.txt").read_text() == "notes"
    assert (tmp_path / "submission.ipynb").is_file()


@LINUX
def test_start_where_it_cannot_write(tmp_path: Path) -> None:
    """Starter files that can't be written are said with exit code 4."""
    (tmp_path / "locked").mkdir(mode=0o555)
    one_sentence(grade("start", tmp_path / "locked" / "work", before=without_powers), 4, "can't be made")


@pytest.mark.parametrize("name", ["submission.py", pytest.param("submission.ipynb", marks=pytest.mark.slow)])
def test_the_starter_has_no_points(name: str, tmp_path: Path) -> None:
    """What start writes is graded with 0 points, every task not started."""
    grade("start", tmp_path)
    done = grade(tmp_path / name, "--out", tmp_path / "out", "--format", "json")

    document = json.loads(done.stdout)
    assert (done.returncode, document["score"]) == (0, 0)
    assert {task["status"] for task in document["tasks"]} == {"missing"}


def test_regrade_gives_the_same(kept: Kept, tmp_path: Path) -> None:
    """A kept run judged again gives the same three files to the byte, without the submission."""
    done = grade("regrade", kept.transcript, "--out", tmp_path, "--format", "json")

    assert (done.returncode, done.stderr, done.stdout) == (0, "", kept.document)
    for name in THREE:
        assert (tmp_path / name).read_bytes() == (kept.folder / name).read_bytes()


@pytest.mark.slow
def test_regrade_of_a_notebook_in_its_own_folder(tmp_path: Path) -> None:
    """Without --out, the report of a kept notebook lies beside its transcript."""
    (tmp_path / "work.ipynb").write_bytes((EXAMPLES / "with_mistake.ipynb").read_bytes())
    first = grade("work.ipynb", "--seed", SEED, "--transcript", "run.transcript", cwd=tmp_path)
    (tmp_path / "work.ipynb").unlink()
    report = (tmp_path / "work-report.html").read_bytes()
    (tmp_path / "work-report.html").unlink()
    again = grade("regrade", "run.transcript", cwd=tmp_path)

    assert (first.returncode, again.returncode, again.stderr) == (0, 0, "")
    assert names(tmp_path) == ["run.transcript", "work-report.html"]
    assert (tmp_path / "work-report.html").read_bytes() == report


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: b"not a transcript",
        lambda raw: raw[:200] + bytes(200) + raw[400:],
        pytest.param(lambda raw: b"", marks=pytest.mark.slow),
        pytest.param(lambda raw: raw[: len(raw) // 2], marks=pytest.mark.slow),
        pytest.param(lambda raw: raw[:-8] + bytes(8), marks=pytest.mark.slow),
        pytest.param(lambda raw: raw + b"more", marks=pytest.mark.slow),
    ],
    ids=["a text", "zeros inside", "empty", "cut off", "a wrong checksum", "more at its end"],
)
def test_a_damaged_transcript(damage: object, tmp_path: Path, kept: Kept) -> None:
    """What isn't a transcript any more is said with exit code 3, and nothing is written."""
    assert callable(damage)
    place = tmp_path / "run.transcript"
    place.write_bytes(damage(kept.transcript.read_bytes()))

    one_sentence(grade("regrade", place), 3, "transcript")
    assert names(tmp_path) == ["run.transcript"]
