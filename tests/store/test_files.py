"""Files are there whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from grader.errors import OutputError
from grader.store.files import make_folder, write_file


@pytest.mark.parametrize(
    "content, raw",
    [
        pytest.param("√ d_k\n", "√ d_k\n".encode(), id="text"),
        pytest.param("a\r\nb\n", b"a\r\nb\n", id="line ends stay"),
        pytest.param(b"\x00\xff", b"\x00\xff", id="bytes"),
        pytest.param("", b"", id="nothing"),
    ],
)
def test_a_file_holds_what_was_written(content: bytes | str, raw: bytes, tmp_path: Path) -> None:
    """Text is UTF-8, bytes are bytes, and nothing else is left in the folder."""
    write_file(tmp_path / "a.html", content)

    assert (tmp_path / "a.html").read_bytes() == raw
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """A longer file leaves nothing behind in a shorter one."""
    write_file(tmp_path / "a", "long " * 1000)
    write_file(tmp_path / "a", "short")

    assert (tmp_path / "a").read_bytes() == b"short"


def test_an_open_reader_keeps_the_old_file(tmp_path: Path) -> None:
    """Who has the old file open reads it to its end: the new one takes its name only."""
    write_file(tmp_path / "a", "old")
    with (tmp_path / "a").open() as reader:
        write_file(tmp_path / "a", "new")
        assert reader.read() == "old"


@pytest.mark.skipif(sys.platform == "win32", reason="modes are Unix's")
def test_a_report_is_an_ordinary_file(tmp_path: Path) -> None:
    """A file has the mode that the user's umask gives, not the private one of temporary files."""
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "a", "x")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def break_step(step: str, patch: pytest.MonkeyPatch) -> None:
    """Let one step of writing fail as a full disk does."""

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    match step:
        case "make":
            patch.setattr("tempfile.mkstemp", full)
        case "sync":
            patch.setattr("os.fsync", full)
        case "mode":
            patch.setattr(Path, "chmod", full)
        case "rename":
            patch.setattr(Path, "replace", full)


@pytest.mark.parametrize("step", ["make", "sync", "mode", "rename"])
@pytest.mark.parametrize("before", [pytest.param("old", id="replaced"), pytest.param(None, id="new")])
def test_a_failure_leaves_nothing_half_written(
    step: str, before: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whatever step it fails: what stood there stands there still, no temporary file is left, the reason is said."""
    path = tmp_path / "report.html"
    if before is not None:
        path.write_text(before)
    with monkeypatch.context() as patch:
        break_step(step, patch)
        with pytest.raises(OutputError, match=r"report\.html can't be written \(No space left on device\)") as caught:
            write_file(path, "new")

    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == ([("report.html", "old")] if before else [])
    assert "--out" in caught.value.hint


@pytest.mark.parametrize("name", ["no/such/folder/a", "a/b"])
def test_a_folder_that_is_not_there_is_said(name: str, tmp_path: Path) -> None:
    """Where there is no folder, there is no file, and a sentence says so."""
    (tmp_path / "a").write_text("a file")
    with pytest.raises(OutputError):
        write_file(tmp_path / name, "x")

    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_in_the_way_is_said(tmp_path: Path) -> None:
    """A folder of the file's name stays, and nothing is left beside it."""
    (tmp_path / "report.html").mkdir()
    with pytest.raises(OutputError):
        write_file(tmp_path / "report.html", "x")

    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_an_interruption_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle is no excuse either."""

    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "a", "x")

    assert list(tmp_path.iterdir()) == []


def test_long_names_can_be_written(tmp_path: Path) -> None:
    """The temporary name is no longer than a file's name may be."""
    name = "n" * 250
    write_file(tmp_path / name, "x")

    assert (tmp_path / name).read_text() == "x"


def test_folders_are_made_with_those_above_them(tmp_path: Path) -> None:
    """A folder is made as deep as it lies, and one that is there already is fine."""
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")

    assert (tmp_path / "a" / "b").is_dir()


def test_a_file_in_the_way_of_a_folder_is_said(tmp_path: Path) -> None:
    """A folder can't lie below a file."""
    (tmp_path / "a").write_text("a file")

    with pytest.raises(OutputError, match="can't be made"):
        make_folder(tmp_path / "a" / "b")
