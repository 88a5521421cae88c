"""The terminal's text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.render import clean
from grader.render.terminal import summary
from grader.render.view import build
from tests.render.course import assignment
from tests.render.samples import SAMPLES, failing, one_mistake

NAMES = sorted(SAMPLES)
COLOUR = re.compile(r"\x1b\[[0-9]+m")


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str, golden: Callable[[str, str], None]) -> None:
    """The summary is what it was, to the byte."""
    view = build(SAMPLES[name](), assignment())

    golden(f"render/{name}.txt", summary(view, colour=False, unicode=True, report="submission-report.html"))


def test_ascii_golden(golden: Callable[[str, str], None]) -> None:
    """Where a terminal shows only ASCII, icons and signs have their fallbacks."""
    text = summary(build(one_mistake(), assignment()), colour=False, unicode=False, hints=3, report="report.html")

    assert text.isascii()
    golden("render/one.ascii.txt", text)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unicode", [True, False], ids=["unicode", "ascii"])
@pytest.mark.parametrize("hints", [0, 3], ids=["no hints", "hints"])
def test_eighty_columns(name: str, unicode: bool, hints: int) -> None:
    """No line is wider than 80 columns, whatever a file is called or says."""
    view = build(SAMPLES[name](), assignment())
    text = summary(view, colour=False, unicode=unicode, hints=hints, report="a/" * 60 + "report.html")

    assert max(clean.width(line) for line in text.splitlines()) <= 80
    assert unicode or text.isascii()


@given(st.text(alphabet=st.characters(codec=None, categories=None), max_size=120))
def test_any_name_and_message(hostile: str) -> None:
    """Nothing of a submission reaches the terminal but printable characters, within 80 columns."""
    result = replace(failing(hostile), name=hostile)
    text = summary(build(result, assignment()), colour=False, unicode=True, hints=3)

    assert all(clean.width(line) <= 80 for line in text.split("\n"))
    assert clean.html(text) == text
    assert "\t" not in text


def test_colour_changes_nothing_else() -> None:
    """Colour is an ornament: without it the text is the same."""
    view = build(failing(), assignment())
    coloured = summary(view, colour=True, unicode=True)

    assert COLOUR.search(coloured)
    assert COLOUR.sub("", coloured) == summary(view, colour=False, unicode=True)


@pytest.mark.parametrize(
    "hints, said, offered",
    [
        pytest.param(0, [], "--hints 1", id="none"),
        pytest.param(1, ["The line that makes weights"], "--hints 2", id="where"),
        pytest.param(3, ["The line that makes", "A score adds up", "scores = Q @ K"], "", id="all"),
    ],
)
def test_hints_on_request(hints: int, said: list[str], offered: str) -> None:
    """Hints are printed as asked for, and a line says how to see the next one."""
    text = summary(build(one_mistake(), assignment()), colour=False, unicode=True, hints=hints)

    assert all(words in text for words in said)
    assert ("grade submission.py " + offered in text) if offered else ("--hints" not in text)


def test_commands_can_be_pasted() -> None:
    """A file name with a space is quoted in the commands."""
    view = build(replace(one_mistake(), name="my work.py"), assignment())

    assert "grade 'my work.py' --seed 2340" in summary(view, colour=False, unicode=True)
