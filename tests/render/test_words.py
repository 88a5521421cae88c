"""Texts of the catalogue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.model import Params
from grader.render.words import Span, Words, bare, spans_of


def marked(template: str, params: Params = ()) -> str:
    """Write spans so that a test can read them."""
    return "".join(f"<{span.text}>" if span.code else span.text for span in spans_of(template, params))


@pytest.mark.parametrize(
    "template, params, shown",
    [
        pytest.param("in `f`, see", (), "in <f>, see", id="code"),
        pytest.param("`{name}` is {value}", (("name", "x"), ("value", 0.28867513)), "<x> is 0.288675", id="filled"),
        pytest.param("{a} {b}", (("a", "{b}"), ("b", "!")), "{b} !", id="never read twice"),
        pytest.param("`{a}` then `b`", (("a", "one ` tick"),), "<one ` tick> then <b>", id="tick in code"),
        pytest.param("{a} then `b`", (("a", "one ` tick"),), "one ` tick then <b>", id="tick in text"),
        pytest.param("skipped {a}.", (("a", "`%one`, `%two`"),), "skipped <%one>, <%two>.", id="marked parameter"),
        pytest.param("a ` b", (), "a ` b", id="single tick"),
        pytest.param("{0.__class__} {} {{x}} %s", (("x", "y"),), "{0.__class__} {} {y} %s", id="no format"),
        pytest.param("{unknown}", (), "{unknown}", id="unknown"),
    ],
)
def test_spans(template: str, params: Params, shown: str) -> None:
    """A text is cut at its own backticks, then filled in, once."""
    assert marked(template, params) == shown


def test_paragraphs() -> None:
    """Blank lines part paragraphs, and one that is nothing but code is a block with its lines kept."""
    words = Words({"key": "One\ntwo.\n\n```\na = 1\n\nb = 2\n```"})

    first, block = words.rich("key")

    assert bare((first,)) == "One two."
    assert block.block
    assert block.spans == (Span(text="a = 1\n\nb = 2", code=True),)


def test_ready_spans_are_put_in_as_they_are() -> None:
    """A title with code keeps it within a sentence of ours."""
    words = Words({"key": "{names} are right."})

    (paragraph,) = words.around("key", "names", [Span(text="{names}", code=True)])

    assert paragraph.spans == (Span(text="{names}", code=True), Span(text=" are right."))


@given(st.text(), st.text())
def test_no_parameter_turns_our_words_into_code(before: str, after: str) -> None:
    """Whatever is put in, the words around it stay words and our code stays code."""
    spans = spans_of("{a}START`our code`END{b}", (("a", before), ("b", after)))

    assert Span(text="our code", code=True) in spans
    assert not any(span.code and ("START" in span.text or "END" in span.text) for span in spans)
