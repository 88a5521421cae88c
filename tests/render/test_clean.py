"""Strings for each destination."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.render import clean

ANY_TEXT = st.text(alphabet=st.characters(codec=None, categories=None))


@pytest.mark.parametrize(
    "text, cleaned",
    [
        pytest.param("d_k = 4, √d_k ✓ é 中 👩‍🔬", "d_k = 4, √d_k ✓ é 中 👩‍🔬", id="honest"),
        pytest.param("a\r\nb\rc\u2028d\x85e\tf", "a\nb\nc\nd\ne\tf", id="line ends"),
        pytest.param("\x1b[31mred\x1b[0m\x07\x00\x9b", "\ufffd[31mred\ufffd[0m\ufffd\ufffd\ufffd", id="escapes"),
        pytest.param("\u202eevil\u202c\u2066x\u2069", "\ufffdevil\ufffd\ufffdx\ufffd", id="bidi"),
        pytest.param("\u200eשלום\u200f\ufeff", "שלום", id="direction marks"),
        pytest.param("\ud800x\udfff", "\ufffdx\ufffd", id="surrogates"),
        pytest.param("\ufffe\uffff\ufdd0\U0001fffe\U0010ffff\U000e0041", "\ufffd" * 6, id="noncharacters"),
        pytest.param("z" + "\u0336" * 40, "z" + "\u0336" * 3, id="towers"),
        pytest.param("<script> {{7*7}} {0.__class__}", "<script> {{7*7}} {0.__class__}", id="left to escaping"),
    ],
)
def test_html(text: str, cleaned: str) -> None:
    """What a text says stays; what it could do leaves a mark."""
    assert clean.html(text) == cleaned


@given(ANY_TEXT)
def test_html_is_stable_and_encodable(text: str) -> None:
    """Cleaning twice changes nothing more, and the result is UTF-8."""
    once = clean.html(text)

    assert clean.html(once) == once
    once.encode()
    assert not {char for char in once if unicodedata.category(char) in ("Cc", "Cs")} - {"\n", "\t"}


@given(ANY_TEXT)
def test_terminal_is_one_line_without_controls(text: str) -> None:
    """No text can move the cursor, change a colour or begin a line."""
    shown = clean.terminal(text)

    assert not any(unicodedata.category(char) == "Cc" for char in shown)
    assert all(" " <= char <= "~" for char in clean.terminal(text, unicode=False))


@given(ANY_TEXT)
def test_json_is_strict(text: str) -> None:
    """What goes into JSON comes back the same."""
    cleaned = clean.json_text(text)

    assert json.loads(json.dumps(cleaned, ensure_ascii=False).encode()) == cleaned


@pytest.mark.parametrize(
    "text, columns",
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("abc", 3, id="ASCII"),
        pytest.param("✓√", 2, id="symbols"),
        pytest.param("中文", 4, id="wide"),
        pytest.param("e\u0301", 1, id="combining"),
    ],
)
def test_width(text: str, columns: int) -> None:
    """A terminal's columns are counted, not characters."""
    assert clean.width(text) == columns
