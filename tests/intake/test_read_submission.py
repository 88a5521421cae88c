"""Reading one file that was handed in: scripts, wrong paths, and files that hold something else."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import grader.intake.reader as reader
from grader.core.catalogue import Catalogue, placeholders
from grader.errors import UsageError
from grader.intake import decode, read_submission, submission_from_bytes
from grader.model import Note

TEXTS = Path(__file__).parents[2] / "reports" / "texts.en.toml"


def intake_texts() -> dict[str, str]:
    """Return the texts of intake by dotted key."""
    found: dict[str, str] = {}

    def walk(table: dict[str, object], prefix: str) -> None:
        for key, value in table.items():
            if isinstance(value, dict):
                walk(value, f"{prefix}.{key}")
            else:
                found[f"{prefix}.{key}"] = str(value)

    walk(tomllib.loads(TEXTS.read_text(encoding="utf-8"))["intake"], "intake")
    return found


def said(note: Note | None) -> str:
    """Return what a learner reads of a note; every placeholder must have its parameter."""
    assert note is not None
    texts = intake_texts()
    assert placeholders(texts[note.text]) <= {name for name, _ in note.params}
    return Catalogue(texts).render(note.text, note.params)


def test_a_script_keeps_its_bytes(tmp_path: Path) -> None:
    """The bytes of a script go on as they are, with their digest and the name without its folder."""
    path = tmp_path / "tête ü.py"
    content = b"\xef\xbb\xbfx = 1\r\ny = '\xc3\xa9'\r\n"
    path.write_bytes(content)
    read = read_submission(path)
    assert (read.name, read.kind, read.trouble, read.notes) == ("tête ü.py", "script", None, ())
    assert [(cell.number, cell.source) for cell in read.cells] == [(0, content)]
    assert read.sha256 == hashlib.sha256(content).hexdigest()
    assert decode(read.cells[0]) == "x = 1\ny = 'é'\n"


@pytest.mark.parametrize(
    "name, content, key, words",
    [
        ("a.py", b"", "intake.empty", "file is empty"),
        ("a.ipynb", b"", "intake.empty", "file is empty"),
        ("a.py", b" \n\t\r\n", "intake.blank", "only spaces"),
        ("a.py", b"\xef\xbb\xbf\n", "intake.blank", "only spaces"),
        ("a.ipynb", b"\n\n", "intake.blank", "only spaces"),
        ("a.py", b" " * 3000 + b"\n", "intake.blank", "only spaces"),
        ("a.py", b"PK\x03\x04\x00\x00\x12", "intake.binary", "not text"),
        ("a.ipynb", b"\x89PNG\r\n\x1a\n\x00\x00", "intake.binary", "not text"),
        ("a.py", b"x = 1\nx = '\x00'\n", "intake.binary", "not text"),
        ("a.py", b"\xff\xfe" + "x = '\0'".encode("utf-16-le"), "intake.binary", "not text"),
        ("a.py", b"\xff\xfe\x00\x00x\x00\x00\x00", "intake.encoding.utf32", "UTF-32"),
        ("a.py", b"# coding: unicode_escape\nx = 1\n", "intake.encoding.refused", "`unicode_escape`"),
        ("a.py", b"#!/usr/bin/python\n# -*- coding: utf-7 -*-\n", "intake.encoding.refused", "`utf-7`"),
        ("a.py", b"# coding: latin-one\n", "intake.encoding.refused", "`latin-one`"),
        ("a.py", b"\n<!DOCTYPE html>\n<html></html>", "intake.web_page", "web page"),
        ("a.ipynb", b"<html><body>log in</body></html>", "intake.web_page", "web page"),
        ("a.py", rb"{\rtf1\ansi x = 1}", "intake.rich_text", "formatted document"),
        ("a.py", b'{"nbformat": 4, "nbformat_minor": 5, "cells": []}', "intake.script.notebook", ".ipynb"),
    ],
)
def test_what_cannot_run_has_one_sentence(name: str, content: bytes, key: str, words: str) -> None:
    """A file of which nothing can run is a Submission without cells that says why, whatever its suffix."""
    read = submission_from_bytes(name, content)
    assert read.cells == ()
    assert read.trouble is not None
    assert read.trouble.text == key
    assert words in said(read.trouble)


def test_a_dict_is_no_notebook() -> None:
    """A script that begins with a brace, or even names nbformat, is a script."""
    for content in (
        b'{"a": 1}\n',
        b'{"nbformat": 4, "x": [}',
        b'{"a": "nbformat"}',
        b"{" * 200 + b'"nbformat"' + b"}" * 200,
    ):
        assert submission_from_bytes("a.py", content).trouble is None


def test_a_large_file_is_hashed_only(tmp_path: Path) -> None:
    """More than 5 MB aren't read, but the digest is that of the whole file; exactly 5 MB are read."""
    path = tmp_path / "big.py"
    for size, trouble in (
        (reader.MAX_BYTES, None),
        (reader.MAX_BYTES + 1, "intake.too_large"),
        (7_654_321, "intake.too_large"),
    ):
        content = b"#" * size
        path.write_bytes(content)
        read = read_submission(path)
        assert (read.trouble.text if read.trouble else None) == trouble
        assert read.sha256 == hashlib.sha256(content).hexdigest()
        if read.trouble:
            assert "5 MB" in said(read.trouble)
            assert submission_from_bytes("big.py", content) == read


@pytest.mark.parametrize(
    "name, message, hint",
    [
        ("missing.py", "There is no file", "spelling"),
        ("missing.py\0", "There is no file", "spelling"),
        ("a.py/b.py", "There is no file", "spelling"),
        (".", "is a folder", "one file"),
        ("folder.py", "is a folder", "one file"),
        ("notes.txt", "suffix .txt", "notebook (.ipynb)"),
        ("plain", "without a suffix", "notebook (.ipynb)"),
    ],
)
def test_a_wrong_path_is_wrong_usage(tmp_path: Path, name: str, message: str, hint: str) -> None:
    """A path that can't be meant raises UsageError with one sentence and what to do."""
    (tmp_path / "folder.py").mkdir()
    for file in ("a.py", "notes.txt", "plain"):
        (tmp_path / file).write_bytes(b"x = 1\n")
    with pytest.raises(UsageError, match=message) as caught:
        read_submission(tmp_path / name)
    assert hint in caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A named pipe is refused before anything is read of it."""
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(UsageError, match="not an ordinary file"):
        read_submission(tmp_path / "pipe.py")


@pytest.mark.parametrize(
    "error, message", [(PermissionError(13, "no"), "no permission"), (OSError(5, "bad disk"), r"\(bad disk\)")]
)
def test_an_unreadable_file_is_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, message: str
) -> None:
    """A file that may not or can't be read raises UsageError."""
    path = tmp_path / "a.py"
    path.write_bytes(b"x = 1\n")

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match=message):
        read_submission(path)


def test_names_are_made_fit(tmp_path: Path) -> None:
    """Suffixes count in any case; folders and bytes that are no text don't stay in the name."""
    path = tmp_path / "HAND-IN.PY"
    path.write_bytes(b"x = 1\n")
    assert read_submission(path).kind == "script"
    assert submission_from_bytes("../a\\b/c\udce9\0.py", b"x").name == "c\ufffd\ufffd.py"


def test_companions_come_along(tmp_path: Path) -> None:
    """A file read from disk brings what it names, in UTF-16 and from inside a cell as well; on request it doesn't."""
    (tmp_path / "data.csv").write_bytes(b"1,2\n")
    script, notebook = tmp_path / "a.py", tmp_path / "b.ipynb"
    script.write_bytes("open('data.csv')\n".encode("utf-16"))
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": "open('data.csv')",
    }
    notebook.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 0, "metadata": {}, "cells": [cell]}))
    for path in (script, notebook):
        assert [companion.name for companion in read_submission(path).companions] == ["data.csv"]
        assert read_submission(path, beside=False).companions == ()


@given(
    st.sampled_from(["a.py", "a.ipynb"]),
    st.binary(max_size=400) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")),
)
def test_any_bytes_give_a_submission(name: str, content: bytes) -> None:
    """Whatever the bytes are, there is either something to run or one sentence that says why not; twice the same."""
    read = submission_from_bytes(name, content)
    assert bool(read.cells) != (read.trouble is not None)
    for note in (*read.notes, *([read.trouble] if read.trouble else [])):
        assert said(note)
    assert submission_from_bytes(name, content) == read
    for cell in read.cells:
        assert "\r" not in decode(cell)


def test_texts_are_sentences() -> None:
    """Every text of intake begins with a capital, ends with a full stop and is used."""
    room = Path(reader.__file__).parent
    code = "".join(path.read_text(encoding="utf-8") for path in room.glob("*.py"))
    for key, text in intake_texts().items():
        assert text[0].isupper()
        assert text.endswith(".")
        assert f'"{key}"' in code or f'_trouble("{key.removeprefix("intake.notebook.")}"' in code
