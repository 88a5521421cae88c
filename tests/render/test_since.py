"""What changed since an earlier result, on every face; and what a notebook shows."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable

import pytest

from grader.core.changes import changes_of, marks_of, read_marks
from grader.model import Result
from grader.render.document import to_json
from grader.render.html import fragment, inline, report
from grader.render.terminal import brief, summary
from grader.render.view import ReportView, build
from tests.render.checker import FRAGMENT_TAGS, read
from tests.render.course import REPORTS, assignment
from tests.render.samples import SAMPLES, failing, full_marks, not_graded, one_mistake

FACES: dict[str, Callable[[ReportView], str]] = {
    "report": lambda view: read(report(view, [REPORTS])).text,
    "fragment": lambda view: read(fragment(view, [REPORTS])).text,
    "summary": lambda view: summary(view, colour=False, unicode=True),
    "brief": lambda view: brief(view, colour=False, unicode=True),
}


def since(before: Result, now: Result) -> ReportView:
    """Build the view of ``now`` with what changed."""
    return build(now, assignment(), changes=changes_of(marks_of(before), marks_of(now)))


def flat(text: str) -> str:
    """Return words with single blanks, and none before a colon, where a page has the end of an element."""
    return " ".join(text.split()).replace(" :", ":")


@pytest.mark.parametrize("face", FACES)
def test_said_on_every_face(face: str) -> None:
    """Points before and now, and what turned, each with its word."""
    show = FACES[face]
    better, worse = flat(show(since(one_mistake(), full_marks()))), flat(show(since(full_marks(), one_mistake())))

    assert "Since your earlier result: 85 points then, 100 now." in better
    assert "✓ Now right: scaled_dot_product_attention: weights have the right values" in better
    assert "No longer right" not in better
    assert "Since your earlier result: 100 points then, 85 now." in worse
    assert "✗ No longer right: scaled_dot_product_attention: weights have the right values" in worse


@pytest.mark.parametrize("face", FACES)
def test_nothing_changed(face: str) -> None:
    """That nothing changed is said too; without an earlier result nothing is said."""
    show = FACES[face]

    assert "nothing has changed: 85 points as before" in flat(show(since(one_mistake(), one_mistake())))
    assert "earlier result" not in show(build(one_mistake(), assignment()))
    assert "earlier result" not in show(since(one_mistake(), not_graded()))


def test_pages_keep_the_rules() -> None:
    """What changed breaks no rule of a page or a fragment, and no line is too long."""
    view = since(full_marks(), failing())
    page, part = read(report(view, [REPORTS])), read(fragment(view, [REPORTS]))

    assert (page.wrong, part.wrong) == ([], [])
    assert part.tags <= FRAGMENT_TAGS
    for text in (summary(view, colour=False, unicode=True), brief(view, colour=False, unicode=False)):
        assert max(map(len, text.splitlines())) <= 80
    assert brief(view, colour=False, unicode=False).isascii()


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_document_stands_where_its_result_does(name: str) -> None:
    """What is read from a result.json is what the result itself says."""
    result = SAMPLES[name]()

    assert read_marks(json.loads(to_json(result, assignment()))) == marks_of(result)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_inline_in_a_notebook(name: str) -> None:
    """The fragment comes first; the page is whole, in a frame that may do nothing; no style or script is let loose."""
    view = build(SAMPLES[name](), assignment())
    page = report(view, [REPORTS])
    text = inline(view, page, [REPORTS], options=", assignment='small'")
    frame = re.search(r'<iframe sandbox="" srcdoc="([^"]*)" title="[^"]+"', text)

    assert frame is not None
    assert html.unescape(frame[1]) == page
    assert text.startswith(fragment(view, [REPORTS]).rstrip("\n"))
    assert read(text).tags <= FRAGMENT_TAGS | {"iframe", "details", "summary"}
    assert f"grader.check(seed={view.seed}, assignment=&#39;small&#39;)" in text
    assert ("grader.check(hints=1" in text) == bool(view.open)


def test_a_notebook_s_text_has_lines_of_a_notebook() -> None:
    """What may be typed again is a call there, not a command."""
    text = summary(build(one_mistake(), assignment()), colour=False, unicode=True, notebook=True)

    assert "grader.check(hints=1)" in text
    assert "grader.check(seed=2340)" in text
    assert "grade " not in text.replace("grade 0", "")
