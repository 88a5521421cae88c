"""The page and the fragment."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jinja2
import nh3
import pytest
from jinja2 import nodes

from grader.course.templates import version_of
from grader.errors import CourseError
from grader.model import Band, Result, Status, Table
from grader.render.html import fragment, report
from grader.render.view import ReportView, build
from tests.render.checker import FRAGMENT_TAGS, read
from tests.render.course import REPORTS, TASKS, assignment
from tests.render.samples import (
    HOSTILE,
    LARGEST,
    PLACES,
    SAMPLES,
    SHARES,
    WEIGHTS,
    block,
    failing,
    finding,
    one_mistake,
    pictures,
    result_of,
    task_result,
)

Golden = Callable[[str, str], None]
NAMES = sorted(SAMPLES)
MOST_BYTES = 200_000


def view_of(result: Result) -> ReportView:
    """Build the view with our texts."""
    return build(result, assignment())


@pytest.mark.parametrize("name", NAMES)
def test_report_golden(name: str, golden: Golden) -> None:
    """The page is what it was, to the byte."""
    golden(f"render/{name}.html", report(view_of(SAMPLES[name]()), [REPORTS]))


@pytest.mark.parametrize("name", NAMES)
def test_fragment_golden(name: str, golden: Golden) -> None:
    """The fragment is what it was, to the byte."""
    golden(f"render/{name}.fragment.html", fragment(view_of(SAMPLES[name]()), [REPORTS]))


@pytest.mark.parametrize("name", NAMES)
def test_report_keeps_the_rules(name: str) -> None:
    """The page stands alone, runs nothing, and can be read without seeing it."""
    text = report(view_of(SAMPLES[name]()), [REPORTS])
    page = read(text)

    assert page.wrong == []
    assert page.language == "en"
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert not page.tags & {"script", "link", "iframe", "object", "embed", "form", "img", "base"}
    assert re.search(r"https?:|//[a-z]|@import|url\(", text) is None
    assert "default-src 'none'" in text
    assert len(text.encode()) < MOST_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_fragment_keeps_the_rules(name: str) -> None:
    """The fragment holds only what the filters of learning platforms let through."""
    page = read(fragment(view_of(SAMPLES[name]()), [REPORTS]))

    assert page.wrong == []
    assert page.tags <= FRAGMENT_TAGS
    assert page.attributes <= {"style", "scope"}


@pytest.mark.parametrize("name", NAMES)
def test_fragment_survives_a_filter(name: str) -> None:
    """A filter as strict as we know one takes nothing out of the fragment."""
    text = fragment(view_of(SAMPLES[name]()), [REPORTS])
    kept = nh3.clean(
        text,
        tags=set(FRAGMENT_TAGS),
        attributes={"*": {"style"}, "th": {"scope"}},
        filter_style_properties={
            "background-color",
            "border-collapse",
            "color",
            "padding",
            "text-align",
        },
    )
    before, after = read(text), read(kept)

    assert after.tags == before.tags
    assert after.text == before.text
    assert re.findall(r'(?:scope|style)="[^"]*', kept) == re.findall(r'(?:scope|style)="[^"]*', text)


@pytest.mark.parametrize("face", [report, fragment])
def test_hostile_text_stays_text(face: Callable[[ReportView, list[Path]], str]) -> None:
    """Nothing of a submission becomes markup, a template, a control character or a format."""
    text = face(view_of(failing()), [REPORTS])
    page = read(text)

    assert "<script" not in text
    assert "<script>alert(1)</script>" in page.text
    assert "{{7*7}}" in text
    assert "{0.__class__}" in text
    assert "{score}" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]", text)
    assert "\u202e" in HOSTILE
    assert "\x1b" in HOSTILE


def test_same_view_same_bytes() -> None:
    """Rendering has no clock and no chance in it."""
    view = view_of(failing())

    assert report(view, [REPORTS]) == report(view_of(failing()), [REPORTS])
    assert fragment(view, [REPORTS]) == fragment(view, [REPORTS])


def test_colour_never_stands_alone() -> None:
    """Every status is an icon and a word, and every square of a heat map holds its number."""
    text = report(view_of(failing()), [REPORTS])

    statuses = re.findall(r'<span class="status"><span aria-hidden="true">(.)</span> ([^<]+)</span>', text)
    assert len(statuses) == text.count('class="status"')
    assert {icon for icon, _ in statuses} == set("✓✗◐○‖")
    assert re.search(r'style="background-color:[^"]+"></td>', text) is None


def test_every_picture_has_its_words() -> None:
    """A figure has a caption and a table of its numbers, an image a name and what it shows (WCAG 1.1.1)."""
    text = report(view_of(pictures()), [REPORTS])
    figures = re.findall(r"<figure>.*?</figure>(?:\s*<div class=\"pair\">\s*<div[^>]*>\s*<table)?", text, re.DOTALL)

    assert len(figures) == 3
    assert read(text).wrong == []
    for figure in figures:
        assert "<table" in figure
        assert len(re.findall(r'<svg [^>]*role="img" aria-labelledby="', figure)) == figure.count("<svg") > 0
        assert all(re.findall(r"<title[^>]*>([^<]*)</title>", figure))
        assert all(re.findall(r"<desc[^>]*>([^<]*)</desc>", figure))
        assert re.search(r"<figcaption>\s*[A-Z][^<]+\.\s*</figcaption>", figure)


def test_the_fragment_tells_what_pictures_show() -> None:
    """Where no picture survives, its sentence and its numbers do."""
    text = fragment(view_of(pictures()), [REPORTS])

    assert "svg" not in text
    assert "Yours climbs from 0.52" in text
    assert "All lines should run level; 3 of 5 do." in text
    assert "≠ differs" in text
    assert "+0.35" in text
    assert "−0.15" in text


def test_a_picture_is_shown_once() -> None:
    """Two criteria that rest on the same evidence show it once, and only the first draws more than its tables."""
    shown = (WEIGHTS, LARGEST)
    found = {
        name: finding(f"attention/{name}", Status.FAILED, text=text, evidence=shown)
        for name, text in (("weights", "variance.theory"), ("out", "attention.out.differs"))
    }
    other = {"out": finding("attention/out", Status.FAILED, evidence=(WEIGHTS,))}
    first = finding("attention/weights", Status.FAILED, evidence=(LARGEST,))
    both = report(view_of(result_of((task_result(TASKS[1], found, status=Status.FAILED),))), [REPORTS])
    apart = report(
        view_of(result_of((task_result(TASKS[1], {"weights": first, **other}, status=Status.FAILED),))), [REPORTS]
    )

    assert both.count("<svg") == both.count("yours minus expected</caption>") == 1
    assert apart.count("<svg") == 1
    assert "yours minus expected" not in apart


def test_a_page_stays_small_whatever_is_handed_over() -> None:
    """Every number of rows, columns, points, places and letters is capped."""
    many, name = tuple(map(float, range(5_000))), "<&>" * 2_000
    line = replace(LARGEST.lines[0], x=many, y=many)
    region = Band(label=name, x=many, low=many, high=many)
    evidence = (
        replace(SHARES, name=name, yours=block([many[:64]] * 64), expected=block([many[:64]] * 64)),
        Table(caption="variance.calls", header=(name,) * 500, rows=((name,) * 500,) * 500),
        replace(LARGEST, lines=(line,) * 100, band=region, bands=(region,) * 100),
        replace(PLACES, first=tuple(range(5_000)), second=tuple(range(5_000))),
    )
    tasks = []
    for number, task in enumerate(TASKS):
        shown = (evidence[number % 4], evidence[(number + 1) % 4])
        found = {one.id: finding(f"{task.id}/{one.id}", Status.FAILED, evidence=shown) for one in task.criteria}
        tasks.append(task_result(task, found, status=Status.FAILED))
    view = view_of(result_of(tuple(tasks)))

    assert len(report(view, [REPORTS]).encode()) < MOST_BYTES
    assert len(fragment(view, [REPORTS]).encode()) < MOST_BYTES


def test_a_template_of_the_course_wins(tmp_path: Path) -> None:
    """The first folder that has a template gives it; the others fill in."""
    (tmp_path / "style.css").write_text("body { color: teal }", encoding="utf-8")
    text = report(view_of(one_mistake()), [tmp_path, REPORTS])

    assert "teal" in text
    assert read(text).wrong == []


@pytest.mark.parametrize(
    "template, said",
    [
        pytest.param("\n{{ view.nothing }}", r"report.html.j2, line 2: .*nothing.*compare report.html.j2", id="a name"),
        pytest.param("{% import 'macros.html.j2' as parts %}{{ parts.nothing() }}", "line 1: .*nothing", id="a macro"),
        pytest.param("{% import 'macros.html.j2' as parts %}{{ parts.spans(x=1) }}", "line 1: .*'x'", id="a parameter"),
        pytest.param("{{ 1 + view.name }}", "line 1: unsupported operand", id="a value"),
        pytest.param("{% if %}", "line 1", id="syntax"),
        pytest.param("{% include 'gone.html' %}", "gone.html", id="missing"),
    ],
)
def test_a_broken_template_is_the_course_s_fault(tmp_path: Path, template: str, said: str) -> None:
    """A template that can't be used is named, and its fault told in one sentence."""
    (tmp_path / "report.html.j2").write_text(template, encoding="utf-8")

    with pytest.raises(CourseError, match=said):
        report(view_of(one_mistake()), [tmp_path, REPORTS])


def test_an_older_part_of_a_page_is_the_course_s_fault(tmp_path: Path) -> None:
    """Where a page of ours needs what the course's part of it doesn't have, the sentence names the part."""
    (tmp_path / "macros.html.j2").write_text("{% macro spans(items) %}{% endmacro %}", encoding="utf-8")

    with pytest.raises(CourseError, match=r"report\.html\.j2, line \d+: .* compare macros\.html\.j2 with ours"):
        report(view_of(one_mistake()), [tmp_path, REPORTS])


def test_what_templates_of_a_course_rely_on(golden: Golden) -> None:
    """What our templates are given and what they offer: courses have copies of them.

    When something here goes, or means something else, older copies can't be used any more: raise the version in the
    first line of each file in ``reports/``. For what is only new, write the golden file anew.
    """
    versions = {path.name: version_of(path) for path in REPORTS.iterdir() if path.suffix in (".j2", ".css", ".js")}
    (version,) = set(versions.values())
    used: set[str] = set()
    offered: set[str] = set()
    for path in REPORTS.glob("*.j2"):
        tree = jinja2.Environment(autoescape=True).parse(path.read_text("utf-8"))
        used |= {f"{node.attr}" for node in tree.find_all(nodes.Getattr)}
        offered |= {f"block {node.name}" for node in tree.find_all(nodes.Block)}
        for macro in tree.find_all(nodes.Macro) if path.name == "macros.html.j2" else ():
            offered.add(f"{macro.name}({', '.join(arg.name for arg in macro.args)})")
    golden("render/templates.txt", "\n".join([f"version {version}", *sorted(offered), *sorted(used), ""]))
