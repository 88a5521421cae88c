"""What other grading platforms read: each document in its platform's shape and size, and text stays text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.model import Note, Result, Status
from grader.render.platforms import WRITERS, Told, autolab, github, gradescope, prairielearn, tell
from grader.render.platforms.github import MAX_BYTES as GITHUB_BYTES
from grader.render.platforms.github import escaped
from grader.render.platforms.gradescope import MAX_BYTES as GRADESCOPE_BYTES
from grader.render.platforms.gradescope import gradescope_failure, gradescope_refusal
from grader.render.platforms.prairielearn import MAX_BYTES as PRAIRIELEARN_BYTES
from tests.render.course import assignment
from tests.render.samples import HOSTILE, SAMPLES, failing, finding, full_marks, not_graded, one_mistake
from tests.render.schemas import GRADED, GRADESCOPE, PRAIRIELEARN, strict

NAMES = sorted(SAMPLES)
KINDS = sorted(WRITERS)


def told(result: Result, hints: int = 0) -> Told:
    """Tell a result of the small course."""
    return tell(result, assignment(), hints=hints)


# ---------------------------------------------------------------- what is told


def test_every_criterion_has_a_verdict() -> None:
    """They stand in the assignment's order, with their points, by ids that stay."""
    result = one_mistake()

    assert [verdict.id for verdict in told(result).verdicts] == [
        f"{task.id}/{criterion.id}" for task in result.tasks for criterion in task.criteria
    ]
    assert sum(verdict.cents for verdict in told(result).verdicts) == result.cents


def test_a_wrong_criterion_says_fact_and_next_step() -> None:
    """The message, the numbers behind it and what to do; hints only where they are asked for."""
    found = {verdict.id: verdict for verdict in told(one_mistake()).verdicts}["attention/weights"]
    text = told(one_mistake()).text(found)

    assert "too peaked" in text
    assert "18 of 18 values differ" in text
    assert "Next step: in `scaled_dot_product_attention`" in text
    assert "Hint" not in text
    hinted = told(one_mistake(), hints=2)
    assert "Hint 2: the idea: A score adds up" in hinted.text(hinted.verdicts[6])


def test_what_is_right_needs_no_words() -> None:
    """A passed criterion says nothing but how it was judged."""
    assert {told(full_marks()).text(verdict) for verdict in told(full_marks()).verdicts} <= {
        "",
        "Checked with inputs that stay hidden.",
    }


def test_without_words_of_its_own_a_criterion_has_its_task_s() -> None:
    """A function that isn't there is said so at each of its criteria; what waits, says for what."""
    found = {verdict.id: verdict for verdict in told(failing()).verdicts}

    assert told(failing()).text(found["softmax/axis"]) == "There is no function `softmax` in your file."
    assert found["variance/raw"].word.startswith("Waiting")
    assert found["entropy/fit"].score == "1.5 / 12"


@pytest.mark.parametrize("kind", KINDS)
def test_learners_see_what_is_theirs(kind: str) -> None:
    """Notes for the instructor and all of a hidden criterion but its verdict stay out, whoever asks."""
    secret = "the hidden input was 17"
    result = one_mistake()
    *tasks, last = result.tasks
    hidden = [
        replace(criterion, status=Status.FAILED, finding=finding("ranking/equal", Status.FAILED, text="secret"))
        if criterion.hidden
        else criterion
        for criterion in last.criteria
    ]
    result = replace(
        result,
        tasks=(*tasks, replace(last, criteria=tuple(hidden), text="secret")),
        notes=(Note(text="secret", audience="instructor", kind="integrity"),),
    )

    written = WRITERS[kind](tell(result, assignment({"secret": secret})))

    assert "hidden" in written
    assert "17" not in written


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_no_text_acts(kind: str, name: str) -> None:
    """Control characters, direction marks and surrogates never get out."""
    written = WRITERS[kind](told(SAMPLES[name](), hints=3))

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe]", written)
    decoded = json.dumps([json.loads(line) for line in written.splitlines()]) if kind == "autolab" else ""
    assert not re.search(r"\\u00[01]|\\u202[a-e]|\\ud[89a-f]", decoded.replace(r"\u000a", ""))


# ---------------------------------------------------------------- Gradescope


@pytest.mark.parametrize("page", ["", "<h1>Hello</h1>"], ids=["text", "html"])
@pytest.mark.parametrize("name", NAMES)
def test_gradescope(name: str, page: str) -> None:
    """The document fits the specification: the tests add up to the score, and each is visible."""
    result = SAMPLES[name]()
    document = strict(gradescope(told(result), page=page, seconds=1.25))

    graded = result.status == "graded"
    jsonschema.Draft202012Validator(GRADED if graded else GRADESCOPE).validate(document)
    assert document["output_format"] == ("html" if page else "text")
    assert document["stdout_visibility"] == "hidden"
    assert {test["visibility"] for test in document["tests"]} == {"visible"}
    assert document["extra_data"]["seed"] == result.seed
    if graded:
        assert document["score"] == result.cents / 100
        assert sum(test["score"] for test in document["tests"]) == document["score"]
    else:
        assert "score" not in document
        assert all("score" not in test for test in document["tests"])


def test_gradescope_without_a_result() -> None:
    """What can't be graded gets 0 with the reason; where we fail, there is no score."""
    refused, failed = strict(gradescope_refusal("Hand in one file.\x1b")), strict(gradescope_failure("We failed."))

    jsonschema.Draft202012Validator(GRADED).validate(refused)
    jsonschema.Draft202012Validator(GRADESCOPE).validate(failed)
    assert (refused["score"], refused["output"]) == (0, "Hand in one file.\ufffd")
    assert "score" not in failed


def test_a_page_that_is_too_large_gives_way_to_words() -> None:
    """The head of the page falls back to plain text."""
    document = strict(gradescope(told(one_mistake()), page="x" * GRADESCOPE_BYTES))

    assert document["output_format"] == "text"
    assert len(document["output"]) < 5_000


# ---------------------------------------------------------------- PrairieLearn


@pytest.mark.parametrize("name", NAMES)
def test_prairielearn(name: str) -> None:
    """The score is a share; what we could not grade takes nothing and no attempt."""
    result = SAMPLES[name]()
    document = strict(prairielearn(told(result)))

    jsonschema.Draft202012Validator(PRAIRIELEARN).validate(document)
    if result.status == "graded":
        assert document["score"] == pytest.approx(result.cents / result.max_cents)
    else:
        assert document["gradable"] is False
        assert "not your code" in document["format_errors"][0]


@pytest.mark.parametrize("size", [10_000, 300_000])
@pytest.mark.parametrize("char", ["x", "é", '"', "\U0001f600"])
def test_prairielearn_stays_below_a_megabyte(size: int, char: str) -> None:
    """Long texts are cut, however many bytes a character takes."""
    text = prairielearn(told(failing(char * size)))

    assert len(text.encode()) <= PRAIRIELEARN_BYTES
    jsonschema.Draft202012Validator(PRAIRIELEARN).validate(strict(text))


# ---------------------------------------------------------------- Autolab


@pytest.mark.parametrize("name", NAMES)
def test_autolab(name: str) -> None:
    """Two lines of ASCII: the last one holds a score for each task that could be graded."""
    result = SAMPLES[name]()
    text = autolab(told(result))
    feedback, scores = (strict(line) for line in text.splitlines())

    assert text.isascii()
    assert text.count("\n") == 2
    graded = [task for task in result.tasks if task.status is not Status.NOT_GRADED]
    assert scores == {"scores": {task.id: task.cents / 100 for task in graded}}
    assert feedback["_presentation"] == "semantic"
    assert [f"{task.function}()" for task in result.tasks] == feedback["stages"]
    for stage in feedback["stages"]:
        for entry in feedback[stage].values():
            assert entry == {"passed": True} or (entry["passed"] is False and len(entry["hint"]) <= 2_000)


def test_autolab_counts_no_fault_of_ours() -> None:
    """A task that could not be graded has no score at all."""
    assert "softmax" not in strict(autolab(told(not_graded())).splitlines()[-1])["scores"]


# ---------------------------------------------------------------- GitHub


class Page(HTMLParser):
    """Collects the elements of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.text += data


def rendered(markdown: str) -> Page:
    """Read Markdown as GitHub does: CommonMark with tables and HTML."""
    page = Page()
    page.feed(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))
    return page


OURS = {"h2", "h3", "p", "strong", "code", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre"}


@pytest.mark.parametrize("name", NAMES)
def test_github(name: str) -> None:
    """A heading, a table with all criteria, and what is said of those that aren't right; no element but ours."""
    result = SAMPLES[name]()
    page = rendered(github(told(result, hints=3)))

    assert page.tags <= OURS
    assert "table" in page.tags
    assert page.links == []
    assert told(result).view.heading in page.text
    for verdict in told(result).verdicts:
        assert verdict.title in page.text.replace("\n", " ")


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        "[click](javascript:alert(1)) ![x](https://example.org/p.png) <img src=x onerror=alert(1)>",
        "# no heading\n\n- no list\n\n| no | table |\n|---|---|\n\n    no code\n\n> no quote\n\n---\n\n1. no list",
        "**bold** _it_ ~~out~~ `code` \\` &lt;b&gt; https://example.org www.example.org @someone #1 :tada: $x$ $$y$$",
        "</code></pre></details><script>alert(1)</script><!-- --> ]]> <?php",
    ],
)
def test_github_text_stays_text(text: str) -> None:
    """Whatever a file says is read as it stands."""
    page = rendered(github(told(failing(text), hints=3)))

    assert page.tags <= OURS
    assert page.links == []
    assert not re.search(r"https?:|www\.|@someone|:tada:|\$", github(told(failing(text))))


@given(st.text(max_size=200))
def test_escaping_loses_nothing(text: str) -> None:
    """What is escaped reads as it was, in a paragraph and in a cell, but for white space."""
    clean = re.sub(r"[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd]", "", text)
    words = " ".join(clean.split())
    page = rendered(f"{escaped(clean)}\n\n| a |\n|---|\n| {escaped(clean)} |")

    assert page.tags <= OURS
    assert "".join(page.text.split()) == "".join((words + "a" + words).split())


@pytest.mark.parametrize("size", [10_000, 300_000])
def test_github_stays_below_its_limit(size: int) -> None:
    """A longer summary would be dropped as a whole, so the last messages are left out."""
    text = github(told(failing("<" * size), hints=3))

    assert len(text.encode()) <= GITHUB_BYTES
    assert "of 100 points" in text
    assert rendered(text).tags <= OURS
