"""Reports of typical submissions in Chromium: with a keyboard, without colours, on paper, on a narrow screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.model import Comparison, CriterionResult, Result, TaskResult
from grader.render.html import MOST_BYTES, report
from grader.render.view import build
from tests.pipeline.bench import assignment
from tests.pipeline.typical import REPORTS, TYPICAL, page_of, result_of
from tests.render.course import assignment as small_assignment
from tests.render.samples import HOSTILE, failing

if TYPE_CHECKING:
    from playwright.sync_api import Page

    Visit = Callable[..., Page]
    Axe = Callable[[Page], list[str]]
    Shoot = Callable[[Page, str], None]

pytestmark = pytest.mark.browser

OPEN_ALL = "() => document.querySelectorAll('details').forEach(one => { one.open = true })"
FOLDED = "() => [...document.querySelectorAll('details')].filter(one => !one.open).length"
UNSEEN = """() => [...document.querySelectorAll('details > :not(summary)')]
    .filter(one => !one.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true })
                || !one.getClientRects().length)
    .map(one => one.textContent.trim().slice(0, 60))"""
"""What is inside of a fold and can't be seen."""

FOCUS = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  return { tag: one.tagName, text: one.textContent.trim().slice(0, 60), open: one.parentElement?.open ?? null,
           outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 };
}"""
MOVING = """() => [...document.querySelectorAll('*')].map(one => getComputedStyle(one)).filter(style =>
    style.animationName !== 'none' || style.transitionDuration.split(', ').some(time => parseFloat(time) > 0)).length"""


def unseen(page: Page) -> list[str]:
    """Return what of the folds can't be seen, once the page has settled."""
    found: list[str] = []
    for _ in range(40):
        found = list(page.evaluate(UNSEEN))
        if not found:
            break
        page.wait_for_timeout(50)
    return found


def hostile() -> Result:
    """A result with hostile text in every field that a submission, a file name or an instructor fills."""

    def of_criterion(one: CriterionResult) -> CriterionResult:
        evidence = tuple(
            replace(item, name=HOSTILE) if isinstance(item, Comparison) else item for item in one.finding.evidence
        )
        return replace(one, finding=replace(one.finding, evidence=evidence, calls=(HOSTILE,), snippet=HOSTILE))

    def of_task(one: TaskResult) -> TaskResult:
        return replace(one, function=HOSTILE, criteria=tuple(map(of_criterion, one.criteria)))

    result = failing()
    return replace(
        result, sha256=HOSTILE, tasks=tuple(map(of_task, result.tasks)), environment=(("isolation", HOSTILE),)
    )


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of the typical submissions, an instructor's, and one that is hostile wherever it can be."""
    made = {name: page_of(name) for name in TYPICAL}
    whole = build(result_of("two_mistakes")[1], assignment(), hints=3, audience="instructor")
    made["instructor"] = report(whole, REPORTS)
    made["hostile"] = report(build(hostile(), small_assignment(), audience="instructor"), REPORTS)
    folder = tmp_path_factory.mktemp("reports")
    places = {name: folder / f"{name}.html" for name in made}
    for name, page in made.items():
        places[name].write_text(page, encoding="utf-8")
    return places


NAMES = (*TYPICAL, "instructor", "hostile")


@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing(name: str, pages: dict[str, Path], visit: Visit, axe: Axe, shoot: Shoot) -> None:
    """No violation in light, in dark, at 320 pixels and in print, where nothing but regions of their own scrolls."""
    page = visit(pages[name].as_uri())
    page.evaluate(OPEN_ALL)
    found = {}
    for mode, width, scheme, media in (
        ("light", 1200, "light", "screen"),
        ("dark", 1200, "dark", "screen"),
        ("narrow", 320, "light", "screen"),
        ("print", 1000, "light", "print"),
    ):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, media=media)  # type: ignore[arg-type]  # each is one of a few words
        found[mode] = axe(page)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found[mode].append("the page scrolls sideways")
        shoot(page, f"report_{name}_{mode}")

    assert found == {"light": [], "dark": [], "narrow": [], "print": []}


@pytest.mark.parametrize("name", NAMES)
def test_the_keyboard_reaches_every_hint(name: str, pages: dict[str, Path], visit: Visit) -> None:
    """Tab comes to every fold, Enter or Space opens it, and what has the focus is outlined. No script has a part."""
    page = visit(pages[name].as_uri(), script=False)
    folded = page.evaluate(FOLDED)
    opened = bare = 0
    for step in range(500):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus["tag"] == "BODY":
            break
        bare += not focus["outline"]
        if focus["tag"] == "SUMMARY":
            page.keyboard.press("Enter" if step % 2 else "Space")
            opened += page.evaluate(FOCUS)["open"] and not focus["open"]

    # A fold within a fold comes up when the outer one was opened.
    assert opened == folded
    assert page.evaluate(FOLDED) == bare == 0
    assert unseen(page) == []


@pytest.mark.parametrize("name", ["no_scale", "two_mistakes"])
def test_print_opens_hints(name: str, pages: dict[str, Path], visit: Visit) -> None:
    """On paper everything that is folded on the screen can be read."""
    page = visit(pages[name].as_uri())
    folded = page.evaluate(UNSEEN)
    page.emulate_media(media="print")

    assert len(folded) > 5
    assert unseen(page) == []
    assert page.evaluate(FOLDED) > 0


@pytest.mark.parametrize("name", ["no_scale", "constant_variance", "ranking", "softmax_axis"])
def test_forced_colours(name: str, pages: dict[str, Path], visit: Visit, axe: Axe, shoot: Shoot) -> None:
    """In the reader's own colours every drawn shape is in one of them, and heat maps keep theirs with their numbers."""
    page = visit(pages[name].as_uri(), forced_colors="active")
    page.evaluate(OPEN_ALL)
    own = page.evaluate(
        "() => { const one = document.createElement('p'); one.style.color = 'CanvasText'; document.body.append(one);"
        " const color = getComputedStyle(one).color; one.remove(); return color; }"
    )
    drawn = page.evaluate(
        "() => [...document.querySelectorAll('.series, .bar, .track, .mark')].map(one => getComputedStyle(one))"
        ".map(style => style.stroke === 'none' ? style.fill : style.stroke)"
    )
    kept = page.evaluate(
        "() => [...document.querySelectorAll('.heat td[style]')].map(one => getComputedStyle(one).backgroundColor)"
    )

    assert set(drawn) <= {own}
    assert len(drawn) + len(kept) > 0
    assert len(set(kept)) > 3 or not kept
    assert axe(page) == []
    shoot(page, f"report_{name}_forced")


def test_nothing_moves(pages: dict[str, Path], visit: Visit) -> None:
    """Who asks for less motion gets none, and so does everybody else."""
    for motion in ("reduce", "no-preference"):
        page = visit(pages["two_mistakes"].as_uri(), reduced_motion=motion)
        assert page.evaluate(MOVING) == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_page_runs_nothing(name: str, pages: dict[str, Path], visit: Visit) -> None:
    """No script, no frame, no handler, no form; its policy forbids them, too. It is small."""
    page = visit(pages[name].as_uri())
    active = "script, iframe, object, embed, form, link, base, img, meta[http-equiv=refresh]"
    handlers = "() => [...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames())"

    assert page.evaluate(f"document.querySelectorAll('{active}').length") == 0
    assert [word for word in page.evaluate(handlers) if word.startswith("on")] == []
    policy = page.get_attribute("meta[http-equiv=Content-Security-Policy]", "content") or ""
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert pages[name].stat().st_size < MOST_BYTES


def test_hostile_text_stays_text(pages: dict[str, Path], visit: Visit) -> None:
    """What a file says is there to be read, wherever it stands, and does nothing."""
    page = visit(pages["hostile"].as_uri())
    said = []
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.evaluate(OPEN_ALL)
    text = page.evaluate("document.body.textContent")

    assert text.count("<script>alert(1)</script>") > 20
    assert page.evaluate("document.scripts.length") == 0
    assert said == []
    assert "alert(1)" not in page.title()
