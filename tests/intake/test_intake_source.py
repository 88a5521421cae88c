"""Codecs: which one a file is written in, and which ones are never asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.intake import decode, submission_from_bytes
from grader.intake.source import ALLOWED, allowed_codec, clean, sniff
from grader.model import Cell


@pytest.mark.parametrize(
    "content, encoding, note",
    [
        (b"x = 1\n", "utf-8", None),
        ("x = 'é'\n".encode(), "utf-8", None),
        (b"\xef\xbb\xbfx = 1\n", "utf-8-sig", None),
        (b"\xef\xbb\xbfx = '\xe9'\n", "utf-8-sig", "intake.encoding.damaged"),
        ("x = 1\n".encode("utf-16"), "utf-16", "intake.encoding.utf16"),
        (b"\xfe\xff" + "x = 1\n".encode("utf-16-be"), "utf-16", "intake.encoding.utf16"),
        ("x = 'é'\n".encode("utf-16-le"), "utf-16-le", "intake.encoding.utf16"),
        ("x = 'é'\n".encode("utf-16-be"), "utf-16-be", "intake.encoding.utf16"),
        (b"# Zo\xeb M\xfcller\n", "cp1252", "intake.encoding.guessed"),
        (b"# \x81\x8d\n", "latin-1", "intake.encoding.guessed"),
        (b"# coding: latin-1\n# \xe9\n", "latin-1", None),
        (b"#!/usr/bin/env python\n# -*- coding: ISO-8859-15 -*-\n# \xa4\n", "iso8859-15", None),
        (b"\n# vim: set fileencoding=cp1251 :\n# \xe9\n", "cp1251", None),
        (b"# coding=utf-8-unix\n", "utf-8", None),
        (b"# coding: euc_jp\n# \xb4\xc1\n", "euc-jp", None),
        (b"# coding: gbk\r# \xba\xba\r", "gbk", None),
        (b"x = 1\n# coding: rot13\n", "utf-8", None),
        (b"#\n#\n# coding: rot13\n", "utf-8", None),
        (b"# coding: utf-8\n# \xe9\n", "cp1252", "intake.encoding.guessed"),
        (b"# coding: ascii\n# \xc3\xa9\n", "utf-8", None),
        (b"# coding: utf-16\nx = 1\n", "utf-8", None),
    ],
)
def test_the_codec_is_found(content: bytes, encoding: str, note: str | None) -> None:
    """Mark before coding line before UTF-8 before a guess, and only a guess or an oddity gets a note."""
    found = sniff(content)
    assert (found.encoding, found.note.text if found.note else None, found.trouble) == (encoding, note, None)
    cell = Cell(number=0, source=content, encoding=found.encoding)
    assert "\ufffd" not in decode(cell) or note == "intake.encoding.damaged"


REFUSED = """
    unicode_escape unicode-escape raw_unicode_escape utf-7 utf_7 u7 rot13 rot-13 base64 base64_codec hex zlib bz2 uu
    quopri punycode idna undefined mbcs oem string_escape utf-32 cp037 cp500 iso-2022-jp hz charmap os.path ../x é
    nonsense
"""


@pytest.mark.parametrize("name", REFUSED.split())
def test_codecs_that_do_more_are_refused(name: str) -> None:
    """A codec that computes, switches, isn't ASCII's superset or is unknown never comes near student bytes."""
    assert allowed_codec(name) is None


@pytest.mark.parametrize("module", sorted(ALLOWED))
def test_every_allowed_codec_exists_and_contains_ascii(module: str) -> None:
    """Each name of the list is one that Python knows, found under its own name, and reads ASCII as ASCII."""
    codec = allowed_codec(module)
    assert codec is not None
    assert allowed_codec(codec) == codec
    if not codec.startswith("utf-16"):
        assert b"# coding: x\nif x != 'y': pass".decode(codec) == "# coding: x\nif x != 'y': pass"


@given(
    st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"), min_size=1),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_unicode_round_trips(text: str, codec: str) -> None:
    """What an editor saves as UTF-8 or UTF-16 reads as the same text."""
    source = f"x = 1  # {text}\n"
    read = submission_from_bytes("a.py", source.encode(codec))
    assert decode(read.cells[0]) == source


@given(st.sampled_from(sorted(ALLOWED)), st.text(max_size=30))
def test_declared_codecs_round_trip(module: str, text: str) -> None:
    """What is saved as its coding line says reads as the same text."""
    codec = allowed_codec(module)
    assert codec is not None
    line = "".join(letter for letter in text if letter.isprintable())
    source = f"# coding: {codec}\n# {line}\n"
    content = source.encode(codec, errors="ignore")
    if codec.startswith("utf-16") or codec == "utf-8-sig":
        return
    read = submission_from_bytes("a.py", content)
    assert decode(read.cells[0]) == content.decode(codec)
    assert read.notes == ()


def test_lines_end_alike() -> None:
    """Every kind of line end becomes one, and nothing else counts as a line's end."""
    cell = Cell(number=0, source="a\r\nb\rc\nd\x0be\u2028f".encode())
    assert decode(cell).split("\n") == ["a", "b", "c", "d\x0be\u2028f"]


def test_a_codec_from_elsewhere_is_not_asked() -> None:
    """A cell that names a codec outside the list is read as UTF-8."""
    assert decode(Cell(number=0, source=rb"\u0041", encoding="unicode_escape")) == r"\u0041"


def test_words_in_sentences_are_made_fit() -> None:
    """Controls, direction marks, backticks and lone surrogates never reach a sentence."""
    assert clean("a\x1b[31m`\u202e\ud800\n") == "a\ufffd[31m'\ufffd\ufffd\ufffd"
    assert clean("x" * 100, 10) == "x" * 7 + "..."
