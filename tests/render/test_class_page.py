"""The class page as text: what stands in it, and that nothing from outside becomes more than text."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader.core.catalogue import placeholders
from grader.core.standing import Standing
from grader.errors import CourseError
from grader.render.class_page import MINUTES, ClassView, build_class
from grader.render.class_rows import link_of
from grader.render.html import class_page
from tests.render.checker import read
from tests.render.classes import GROUP, a_class, many, standing
from tests.render.course import REPORTS, assignment, engine_texts
from tests.render.samples import HOSTILE

Golden = Callable[[str, str], None]
RENDER = Path(__file__).parents[2] / "grader" / "render"
READY = ("Ready for Moodle: worksheet 8 rows, Moodle would skip 0.", f"Not sent: {HOSTILE}.")


def view_of(standings: list[Standing], **more: object) -> ClassView:
    """Build the view with our texts."""
    return build_class(standings, assignment(), **more)  # type: ignore[arg-type]  # options of any type


def page_of(standings: list[Standing], **more: object) -> str:
    """Build and render."""
    return class_page(view_of(standings, **more), [REPORTS])


def lines(standings: list[Standing], **more: object) -> list[str]:
    """The five lines, without marks."""
    return [
        " ".join([line.lead, "".join(span.text for span in line.rest)]).strip()
        for line in view_of(standings, **more).lines
    ]


def test_golden(golden: Golden) -> None:
    """The page is what it was, to the byte."""
    golden("render/class.html", page_of(a_class(), participants=12, ready=READY, sentences={"another": "No."}))


def test_the_five_lines() -> None:
    """Handed in, distribution, what to teach, what to do, the LMS: in this order."""
    assert lines(a_class(), participants=12, ready=("Ready for Moodle.",)) == [
        "9 of 12 handed in; 8 graded. Could not be graded: 1. Sent nothing: 3. Late: 1. Same file as another: 1.",
        "Half of the class has 91 or more of 100. The middle half has 56 to 97, all have 0 to 100; full marks: 2.",
        (
            "Teach again: the scores are not divided by √d_k, 2 (25 %). Hardest criterion: Exercise 1, "
            "measure_variance: scaled variance near 1 (50 % of its points)."
        ),
        (
            "Needs you, about 8 minutes: Not graded: 1. Answers to confirm: 1. Integrity notes: 1. Unexplained "
            "failures: 2, in groups that fail alike: 1. Name a group once, and all its students get the sentence."
        ),
        "For the LMS: Ready for Moodle.",
    ]


def test_nothing_to_do_is_said() -> None:
    """A class in which all is right needs nobody and teaches nothing again."""
    assert lines([standing(1, (100,) * 5)]) == [
        "1 handed in; 1 graded.",
        "Half of the class has 100 or more of 100. The middle half has 100 to 100, all have 100 to 100; full marks: 1.",
        "Teach again: no misconception was found.",
        "Nothing needs you.",
        "For the LMS: nothing was made ready yet.",
    ]


def test_an_empty_class() -> None:
    """Nobody handed in: the page stands all the same."""
    page = read(page_of([], participants=30))

    assert lines([], participants=30)[:2] == ["0 of 30 handed in; 0 graded. Sent nothing: 30.", "No scores yet."]
    assert "svg" not in page.tags


def test_a_group_with_a_sentence_needs_nobody() -> None:
    """The minutes are those of what is left, and the sentence stands with its group."""
    named = {GROUP: "You measured before you scaled."}
    view = view_of(a_class(), sentences=named)
    text = class_page(view, [REPORTS])

    assert view.lines[3].lead == f"Needs you, about {8 - MINUTES['group']} minutes:"
    assert "You measured before you scaled." in read(text).text
    assert not any("group" in row.traits.split() for row in view.rows)


@pytest.mark.parametrize(
    "folder, link",
    [
        ("ada-6-1a2b3c", "./ada-6-1a2b3c/report.html"),
        ("javascript:alert(1)", "./javascript%3Aalert%281%29/report.html"),
        ('a b"<#?%', "./a%20b%22%3C%23%3F%25/report.html"),
        ("deep/er", "./deep/er/report.html"),
        ("", ""),
        ("..", ""),
        ("../other", ""),
        ("/etc", ""),
        ("a//b", ""),
    ],
)
def test_links_stay_below_the_page(folder: str, link: str) -> None:
    """A folder's name is text: it names a folder below, or nothing."""
    assert link_of(folder) == link


def test_the_page_keeps_the_rules() -> None:
    """One file: one script that the policy knows by its hash, and nothing from elsewhere."""
    text = page_of(a_class(), participants=12, ready=READY)
    page = read(text)

    assert [wrong for wrong in page.wrong if not re.fullmatch(r"a href=\./[\w-]+/report\.html", wrong)] == []
    assert page.language == "en"
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert not page.tags & {"link", "iframe", "object", "embed", "form", "img", "base"}
    assert re.search(r"https?:|//[a-z]|@import|url\(", text) is None
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';" in policy


def test_hostile_text_stays_text() -> None:
    """Names, reasons, sentences and what the exporter says: all of it is shown, none of it acts."""
    text = page_of(a_class(), ready=READY, sentences={GROUP: HOSTILE}, run=HOSTILE)
    page = read(text)

    assert text.count("<script") == 1
    assert page.text.count("<script>alert(1)</script>") >= 6
    assert "{{7*7}}" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]", text)
    assert re.findall(r'<th scope="row" role="rowheader">(?!<a [^>]+><bdi>|<bdi>)', text) == []


def test_every_status_is_a_word() -> None:
    """No cell of a task says what it says by colour or picture alone."""
    text = page_of(a_class())

    cells = re.findall(r'<td role="cell" class="is-(\w+)"[^>]*>([^<]*)</td>', text)
    assert len(cells) == 9 * 5
    assert {(status, said.split(" ")[0]) for status, said in cells} == {
        ("passed", "Correct"),
        ("failed", "Not"),
        ("missing", "Not"),
    }


def test_a_column_that_nobody_fills_is_left_out() -> None:
    """Without any date there is no column of dates; every row has as many cells as there are columns."""
    for standings in (a_class(), [standing(1, (100,) * 5)]):
        text = page_of(standings)
        heads = text.count('role="columnheader"')

        assert heads == 9 + any(one.submitted for one in standings)
        rows = re.findall(r'<tr role="row" data-is.*?</tr>', text)
        assert {row.count("<td") + row.count("<th") for row in rows} == {heads}


def test_a_thousand_rows_are_small() -> None:
    """The page of a large class can be mailed."""
    text = page_of(many(1000))

    assert len(text.encode()) < 2_000_000
    assert text == page_of(many(1000))


def test_what_a_result_lacks_is_a_dash() -> None:
    """An attempt without any result has no tasks, and no 0 either."""
    lost = Standing(key="1", name="Ada", status="not_graded", reason="it took too long")
    (row,) = view_of([lost]).rows

    assert row.score == "–"
    assert [cell.score for cell in row.cells] == ["–"] * 5
    assert [(one.kind, one.text) for one in row.look] == [("Not graded:", "it took too long")]
    assert row.traits == "not_graded look"


def test_statistics_are_written_or_dashed() -> None:
    """What is undefined is a dash, never a 0 or a nan."""
    view = view_of([standing(1, (100,) * 5), standing(2, (100,) * 5)])

    assert {item.discrimination for item in view.items} == {"–"}
    assert {item.success for item in view.items} == {"100 %"}
    worse = view_of([*a_class(), replace(standing(10, (100, 0, 0, 0, 0)))])
    assert all(re.fullmatch(r"[−]?[01]\.\d\d|–", item.discrimination) for item in worse.items)


def test_every_word_that_is_used_is_there() -> None:
    """The page misses none of its words, and has none that nobody says."""
    template = (REPORTS / "class.html.j2").read_text(encoding="utf-8")
    names = ("class_page.py", "class_rows.py", "class_lines.py", "histogram.py")
    modules = "".join((RENDER / name).read_text(encoding="utf-8") for name in names)
    shown = set(re.findall(r"\bsay\.([a-z_]+)", template))
    used = shown | set(re.findall(r'"class\.([a-z_]+)"', modules)) | set(re.findall(r'own\("(look_[a-z]+)"\)', modules))
    used |= set(re.findall(r'"(count_[a-z_]+)"', modules)) | {f"needs_{kind}" for kind in MINUTES}
    used |= {f"look_{kind}" for kind in ("review", "integrity", "note", "not_graded")} | {"handed_in_of"}
    known = {key.removeprefix("class."): text for key, text in engine_texts().items() if key.startswith("class.")}

    assert used - set(known) == set()
    assert set(known) - used == set()
    # What the template shows as it is has no placeholders, but for those that the script fills in.
    script = {"shown", "sorted_up", "sorted_down"}
    assert [name for name in shown - script if placeholders(known[name]) or "`" in known[name]] == []


@pytest.mark.parametrize("gone", ["class.js", "class.css", "class.html.j2"])
def test_a_missing_file_is_named(tmp_path: Path, gone: str) -> None:
    """Whichever part of the page isn't there, its name is told."""
    for path in REPORTS.iterdir():
        if path.is_file() and path.name != gone:
            (tmp_path / path.name).write_bytes(path.read_bytes())

    with pytest.raises(CourseError, match=gone):
        class_page(view_of(a_class()), [tmp_path])


def test_a_script_of_the_course_wins(tmp_path: Path) -> None:
    """The first folder that has a script gives it, and its hash with it, whatever its line ends."""
    (tmp_path / "class.js").write_bytes(b'"of the course";\r\nlet one = 1 < 2 && "<b>";\r\n')
    text = class_page(view_of(a_class()), [tmp_path, REPORTS])
    script = '"of the course";\nlet one = 1 < 2 && "<b>";\n'

    assert f"<script>{script}</script>" in text
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in text
