"""Places that can't be written, and streams that lead nowhere."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.shell import (
    ESCAPES,
    LINUX,
    Kept,
    command,
    environment,
    full_disk,
    grade,
    names,
    one_sentence,
    start,
    without_powers,
)

pytestmark = pytest.mark.slow  # plain pytest stays below two minutes; .ci/run runs all


@LINUX
def test_a_folder_that_cannot_be_written(empty: Path) -> None:
    """Where the report can't be written, grading says so with exit code 4 and leaves nothing."""
    empty.parent.chmod(0o555)
    try:
        done = grade(empty, before=without_powers)
    finally:
        empty.parent.chmod(0o755)

    assert done.returncode == 4
    assert done.stderr.startswith("grade: ")
    assert done.stderr.count("\n") == 1
    assert "0 of 100 points" in done.stdout
    assert names(empty.parent) == ["empty.py"]


@LINUX
def test_an_output_folder_that_cannot_be_written(empty: Path) -> None:
    """An --out that can't be made is said before anything runs."""
    (empty.parent / "locked").mkdir(mode=0o555)
    one_sentence(grade(empty, "--out", empty.parent / "locked" / "out", before=without_powers), 4, "can't be made")


@pytest.mark.parametrize("out", [pytest.param("empty.py", marks=pytest.mark.slow), "empty.py/below"])
def test_an_output_folder_that_is_a_file(out: str, empty: Path) -> None:
    """An --out that is a file, or lies below one, can't be made either."""
    one_sentence(grade(empty, "--out", empty.parent / out), 4, "can't be made")
    assert names(empty.parent) == ["empty.py"]


def test_a_transcript_that_cannot_be_written(empty: Path) -> None:
    """The same for --transcript."""
    done = grade(empty, "--transcript", empty.parent / "no" / "such" / "run.transcript")

    one_sentence(done, 4, "run.transcript")


@LINUX
def test_a_full_disk(empty: Path, tmp_path: Path) -> None:
    """On a full disk the report isn't half written: exit code 4, one sentence, and no file of ours is left."""
    with full_disk(tmp_path / "disk", "64k") as disk:
        (disk / "filling").write_bytes(bytes(60 << 10))
        done = grade(empty, "--out", disk)

        assert done.returncode == 4
        assert "No space left on device" in done.stderr
        assert done.stderr.count("\n") == 1
        assert names(disk) == ["filling"]
        assert "0 of 100 points" in done.stdout


@LINUX
def test_an_old_report_outlives_a_full_disk(empty: Path, tmp_path: Path) -> None:
    """A report that can't be replaced stays as it was."""
    with full_disk(tmp_path / "disk", "64k") as disk:
        (disk / "report.html").write_bytes(b"old")
        (disk / "filling").write_bytes(bytes(56 << 10))
        done = grade(empty, "--out", disk)

        assert done.returncode == 4
        assert (disk / "report.html").read_bytes() == b"old"
        assert names(disk) == ["filling", "report.html"]


@LINUX
def test_a_full_temporary_folder(empty: Path, tmp_path: Path) -> None:
    """Where no scratch folder can be made, that is said with a way out."""
    (empty.parent / "data.csv").write_bytes(b"1" * 60_000)
    empty.write_bytes(b"# data.csv")
    with full_disk(tmp_path / "disk", "16k") as disk:
        done = grade(empty, env={"TMPDIR": str(disk)})

        one_sentence(done, 4, "No space left on device", "TMPDIR")
        assert names(disk) == []


@LINUX
def test_standard_output_on_a_full_disk(empty: Path, tmp_path: Path) -> None:
    """A summary that can't be printed is said, and the report is there all the same."""
    with Path("/dev/full").open("w") as full:
        done = grade(empty, "--out", tmp_path, stdout=full.fileno())

    one_sentence(done, 4, "No space left on device")
    assert "report.html" in names(tmp_path)


@LINUX
@pytest.mark.parametrize("streams", [(1,), (0, 1, 2)], ids=["stdout", "all"])
def test_closed_streams(streams: tuple[int, ...], empty: Path, tmp_path: Path) -> None:
    """Whoever closes a stream gets a report as ever."""

    def close() -> None:
        for fd in streams:
            os.close(fd)

    done = grade(empty, "--out", tmp_path / "out", before=close)

    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path / "out") == ["fragment.html", "report.html", "result.json"]


def test_a_reader_that_has_gone(empty: Path, tmp_path: Path) -> None:
    """Whoever stops reading costs nobody the report: no complaint, exit code 0."""
    process = start(empty, "--out", tmp_path / "out", cwd=tmp_path, env={})
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == ""

    assert process.wait(60) == 0
    assert names(tmp_path / "out") == ["fragment.html", "report.html", "result.json"]


@pytest.mark.parametrize(
    "env, coloured",
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm-256color"}, False),
    ],
    ids=["piped", "forced", "forced and forbidden"],
)
def test_colour(env: dict[str, str], coloured: bool, empty: Path) -> None:
    """Piped text has no escape codes unless they are forced, and NO_COLOR wins."""
    done = grade(empty, env={"NO_COLOR": None, "FORCE_COLOR": None, **env})

    assert bool(ESCAPES.search(done.stdout)) is coloured


@LINUX
@pytest.mark.parametrize(
    "env, coloured",
    [({}, True), ({"TERM": "dumb"}, False)],
    ids=["a terminal", "a dumb one"],
)
def test_colour_on_a_terminal(env: dict[str, str], coloured: bool, empty: Path) -> None:
    """A terminal gets colour, unless it can't show any or nobody wants it."""
    import pty

    ours, theirs = pty.openpty()
    full = {"TERM": "xterm", "NO_COLOR": None, "FORCE_COLOR": None, **env}
    process = subprocess.Popen(command(empty), env=environment(full), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:
        pass  # the other end has gone: that is how a terminal ends
    os.close(ours)

    assert process.wait(60) == 0
    assert b"0 of 100 points" in said
    assert (b"\x1b[" in said) is coloured


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("utf-8", marks=pytest.mark.slow)])
def test_any_encoding_will_do(encoding: str, kept: Kept, tmp_path: Path) -> None:
    """A terminal that can't show a check mark gets plain letters, one that can gets it; nothing fails."""
    env = {"PYTHONIOENCODING": encoding}
    done = grade("regrade", kept.transcript, "--out", tmp_path, "--hints", 3, env=env)

    assert (done.returncode, done.stderr) == (0, "")
    assert ("✓" in done.stdout) is (encoding == "utf-8")
    if encoding == "ascii":
        assert done.stdout.isascii()


def test_the_json_document_in_any_encoding(kept: Kept, tmp_path: Path) -> None:
    """What is printed as JSON is JSON in any encoding, and the file is UTF-8 in any case."""
    env = {"PYTHONIOENCODING": "ascii"}
    done = grade("regrade", kept.transcript, "--out", tmp_path, "--format", "json", env=env)

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["schema"] == json.loads(kept.document)["schema"]
    assert (tmp_path / "result.json").read_text(encoding="utf-8") == kept.document
