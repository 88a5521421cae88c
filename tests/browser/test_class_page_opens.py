"""The class page in a real browser: it sorts, filters, reflows, and is whole without its script."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from grader.render.class_page import build_class
from grader.render.html import class_page
from tests.render.classes import a_class, many
from tests.render.course import REPORTS, assignment

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

ROWS = "[...document.querySelectorAll('#students tbody tr')]"
NAMES = f"{ROWS}.filter(row => row.checkVisibility()).map(row => row.cells[0].textContent)"
KEYS = f"column => {ROWS}.map(row => row.cells[column].dataset.k)"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of class pages, small and large."""
    folder = tmp_path_factory.mktemp("classes")
    made = {}
    for name, standings in (("small", a_class()), ("long", many(400)), ("large", many(1000))):
        view = build_class(standings, assignment(), participants=len(standings) + 3, ready=("Ready for Moodle.",))
        path = folder / f"{name}.html"
        path.write_text(class_page(view, [REPORTS]), encoding="utf-8")
        made[name] = path.as_uri()
    return made


def names(page: Page) -> list[str]:
    """The names that are shown, from top to bottom."""
    return list(page.evaluate(NAMES))


@pytest.mark.parametrize("scheme, width", [("light", 1200), ("dark", 1200), ("light", 320), ("dark", 320)])
def test_axe_finds_nothing(
    visit: Any, pages: dict[str, str], axe: Callable[[Page], list[str]], shoot: Any, scheme: str, width: int
) -> None:
    """No violation, and nothing but regions of their own scroll sideways (WCAG 1.4.10)."""
    page = visit(pages["small"], scheme=scheme, width=width)
    shoot(page, f"class-{scheme}-{width}")

    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_axe_finds_nothing_after_sorting_and_filtering(
    visit: Any, pages: dict[str, str], axe: Callable[[Page], list[str]]
) -> None:
    """What the script makes is as good as what the template made."""
    page = visit(pages["small"])
    page.get_by_role("button", name="Score of 100").click()
    page.get_by_label("Show").select_option("full marks")
    page.get_by_label("Search").fill("nobody at all")

    assert names(page) == []
    assert axe(page) == []


def test_every_column_sorts_both_ways(visit: Any, pages: dict[str, str]) -> None:
    """A first click sorts numbers from the highest and words from the lowest, a second one turns them round."""
    page = visit(pages["long"])
    buttons = page.locator("#students thead button")
    count = buttons.count()

    assert count == 5 + 5
    for column in range(count):
        orders = []
        for _ in range(2):
            buttons.nth(column).click()
            head = page.locator("#students thead th").nth(column)
            orders.append(head.get_attribute("aria-sort"))
            assert page.locator("#students [aria-sort]").count() == 1
            keys = page.evaluate(KEYS, column)
            if any(keys):
                numbers = [float(key) for key in keys if key]
                assert keys[len(numbers) :] == [""] * (len(keys) - len(numbers))
                assert numbers == sorted(numbers, reverse=orders[-1] == "descending")
        assert set(orders) == {"ascending", "descending"}


def test_names_sort_as_people_read_them(visit: Any, pages: dict[str, str]) -> None:
    """Accents are no letters of their own, and 10 comes after 9; equal values keep their order."""
    page = visit(pages["large"])
    page.get_by_role("button", name="Name", exact=True).click()
    shown = names(page)

    def key(name: str) -> tuple[int, int]:
        family, given = name.split(", Given ")
        return int(family.removeprefix("Family")), int(given)

    assert len(shown) == 1000
    assert shown == sorted(shown, key=key)


def test_the_keyboard_sorts(visit: Any, pages: dict[str, str]) -> None:
    """Tab reaches the head of a column, Enter and space sort by it, and focus stays (WCAG 2.1.1)."""
    page = visit(pages["small"])
    page.get_by_label("Show").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")

    assert page.evaluate("document.activeElement.textContent") == "Name"
    page.keyboard.press("Enter")
    first = names(page)
    page.keyboard.press("Space")
    assert names(page) == first[::-1]
    assert names(page) != sorted(names(page))
    assert page.evaluate("document.activeElement.textContent") == "Name"
    assert page.get_by_role("status").text_content() == "Sorted by Name, highest first."


@pytest.mark.parametrize(
    "typed, shown",
    [
        pytest.param("angstrom", ["Zoë Ångström", "evil"], id="without accents"),
        pytest.param("ben  ADAMS", ["Ben Adams"], id="words and case"),
        pytest.param("divided by", ["Ben Adams", "<script>"], id="misconception"),
        pytest.param("(1:", ["evil"], id="no pattern"),
        pytest.param("zzz", [], id="nobody"),
    ],
)
def test_search(visit: Any, pages: dict[str, str], typed: str, shown: list[str]) -> None:
    """All words have to stand in a row; the count is told."""
    page = visit(pages["small"])
    page.get_by_label("Search").fill(typed)
    found = names(page)

    assert len(found) == len(shown)
    assert all(part in name for part, name in zip(shown, found, strict=True))
    told = page.get_by_role("status").text_content()
    assert told.startswith(f"{len(found)} of 9 shown.")
    assert ("Nobody matches." in told) == (not found)


@pytest.mark.parametrize(
    "choice, count",
    [
        ("all", 9),
        ("something to look at", 3),
        ("unexplained failures without a sentence", 2),
        ("not graded", 1),
        ("graded", 8),
        ("full marks", 2),
        ("less than full marks", 6),
        ("late", 1),
    ],
)
def test_filter(visit: Any, pages: dict[str, str], choice: str, count: int) -> None:
    """Each choice shows whom it names, and goes together with the search."""
    page = visit(pages["small"])
    page.get_by_label("Show").select_option(choice)

    assert len(names(page)) == count
    page.get_by_label("Search").fill("zzz")
    assert names(page) == []


def test_without_script_the_page_is_whole(visit: Any, pages: dict[str, str], shoot: Any) -> None:
    """Every row is there, and nothing that wouldn't work is shown."""
    page = visit(pages["small"], script=False)
    shoot(page, "class-no-script")

    assert page.locator("#students tbody tr:visible").count() == 9
    assert page.locator("button, input:visible, select:visible").count() == 0


def test_print_and_forced_colours(visit: Any, pages: dict[str, str], shoot: Any) -> None:
    """On paper the tools are gone, and nothing is cut off by a region that scrolls."""
    page = visit(pages["small"], forced_colors="active")
    shoot(page, "class-forced")
    page = visit(pages["small"], scheme="dark")
    page.emulate_media(media="print")
    shoot(page, "class-print")

    assert not page.locator("#tools").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"


def test_a_screen_reader_finds_all_of_a_long_table(visit: Any, pages: dict[str, str]) -> None:
    """Rows that wait for their layout get it while nothing else happens, also after sorting, and without a script."""

    def row_headers(page: Page) -> int:
        tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")
        return sum(node["role"]["value"] == "rowheader" for node in tree["nodes"])

    page = visit(pages["long"])
    last = page.locator("#students tbody tr.laid").nth(399)
    last.wait_for(state="attached")
    criteria = page.locator(".items tbody th").count() + page.locator("section table:not(.sorts) tbody th").count()
    assert row_headers(page) == 400 + criteria
    page.get_by_role("button", name="Score of 100").click()
    last.wait_for(state="attached")
    assert row_headers(page) == 400 + criteria

    without = visit(pages["long"], script=False)
    assert row_headers(without) == 400 + criteria


def test_a_thousand_rows_are_ready_at_once(visit: Any, pages: dict[str, str]) -> None:
    """All of them are there when the page has loaded; what it took is printed, and asserted by nobody."""
    page = visit(pages["large"])
    ready = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    took = page.evaluate(
        """async () => {
          const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
          const time = async act => {
            const start = performance.now();
            act();
            await painted();
            return performance.now() - start;
          };
          const search = document.getElementById("search");
          const type = text => { search.value = text; search.dispatchEvent(new Event("input")); };
          const head = n => document.querySelectorAll("#students thead button")[n];
          return { name: await time(() => head(0).click()), score: await time(() => head(1).click()),
                   search: await time(() => type("given 7")), clear: await time(() => type("")) };
        }"""
    )
    print({"ready": round(ready), **{name: round(value) for name, value in took.items()}})

    assert len(names(page)) == 1000
