"""The server's pages in Chromium: walked through as people do, with and without script, looked at by axe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.web.work.servers import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PATIENCE = 60_000

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
DROP = """([name, text]) => {
  const held = new DataTransfer();
  held.items.add(new File([text], name));
  for (const kind of ["dragenter", "dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: held, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The demo."""
    made = Server(tmp_path_factory.mktemp("site"), "--demo")
    made.start()
    yield made
    made.stop()


@pytest.fixture
def people(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Return what opens a browser of one's own; what it says on its console fails the test."""
    contexts, wrong = [], []

    def person(*, script: bool = True, scheme: str = "light", width: int = 1200) -> Page:
        context = chromium.new_context(
            java_script_enabled=script,
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]  # one of a few words
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        return page

    yield person
    for context in contexts:
        context.close()
    # That a page isn't there is what one test asks for.
    assert [text for text in wrong if "status of 404" not in text] == []


def enter(page: Page, site: Server, name: str) -> None:
    """Be somebody."""
    page.goto(f"{site.address}/demo/")
    page.get_by_role("button", name=name).click()


def be(page: Page, site: Server, number: int) -> None:
    """Be a student whom no other test is."""
    page.goto(f"{site.address}/demo/")
    page.get_by_label("Another student").fill(str(number))
    page.get_by_role("button", name="Go in").click()


def hand_in(page: Page, name: str) -> None:
    """Choose a file and send it."""
    page.get_by_label("One .py file").set_input_files(EXAMPLES / name)
    page.get_by_role("button", name="Hand in").click()


def test_a_walk_from_hand_in_to_gradebook(
    site: Server,
    people: Callable[..., Page],
    axe: Callable[[Page], list[str]],
    shoot: Callable[..., None],
) -> None:
    """Hand in, read, hand in again, see what changed; other points; the score arrives. axe finds nothing."""
    ada, ina = people(), people()
    ada.goto(site.address)
    assert axe(ada) == []
    be(ada, site, 1)
    assert axe(ada) == []
    hand_in(ada, "with_mistake.py")
    ada.wait_for_selector("iframe.report")
    frame = ada.frame_locator("iframe.report")
    frame.get_by_role("heading", level=1).wait_for()
    assert axe(ada) == []
    shoot(ada, "web-attempt")

    ada.get_by_role("link", name="Scaled dot-product attention").click()
    hand_in(ada, "right.py")
    ada.get_by_text("Since attempt 1").wait_for()
    assert ada.get_by_text("100 of 100 points").count() == 1
    second = ada.url

    enter(ina, site, "Ina")
    assert axe(ina) == []
    ina.get_by_role("row", name="Student 1").get_by_role("link").click()
    assert ina.url == second
    assert axe(ina) == []
    ina.get_by_label("Points").fill("1")
    ina.get_by_label("Reason").fill("as we agreed")
    ina.get_by_role("button", name="Give these points").click()
    ina.get_by_text("Graded again:").wait_for()
    ina.get_by_role("link", name="As the student sees it").click()
    ina.frame_locator("iframe.report").get_by_text("as we agreed").first.wait_for()
    ina.get_by_role("link", name="Class").click()
    row = ina.get_by_role("row", name="Student 1")
    ina.wait_for_timeout(1500)
    ina.reload()
    row.get_by_text("in the gradebook").wait_for()
    shoot(ina, "web-class")
    ina.get_by_role("link", name="Log").click()
    assert axe(ina) == []


def test_the_report_can_do_nothing_to_the_page(site: Server, people: Callable[..., Page]) -> None:
    """Its frame has no origin and runs no script, and opening it alone doesn't change that."""
    page = people()
    be(page, site, 2)
    hand_in(page, "with_mistake.py")
    page.wait_for_selector("iframe.report")
    assert page.locator("iframe.report").get_attribute("sandbox") == ""
    answer = page.request.get(page.url + "report")
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")


def test_all_of_it_works_without_script(site: Server, people: Callable[..., Page]) -> None:
    """A plain form, and a page that looks again by itself."""
    page = people(script=False)
    be(page, site, 3)
    hand_in(page, "right.ipynb")
    page.wait_for_selector("iframe.report")
    page.get_by_text("of 100 points").first.wait_for()


def test_a_file_can_be_dropped_anywhere(site: Server, people: Callable[..., Page]) -> None:
    """It lands in the form; nothing is sent before the button is pressed."""
    page = people()
    be(page, site, 4)
    page.evaluate(DROP, ["dropped.py", "x = 1\n"])
    assert page.get_by_label("One .py file").evaluate("input => input.files[0].name") == "dropped.py"
    page.get_by_role("button", name="Hand in").click()
    page.get_by_text("dropped.py").first.wait_for()
    page.wait_for_selector("iframe.report")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_reflow_and_keep_their_contrast(
    site: Server, people: Callable[..., Page], axe: Callable[[Page], list[str]], scheme: str
) -> None:
    """On a narrow screen nothing sticks out, and axe finds nothing, in light and in dark."""
    page = people(width=320, scheme=scheme)
    addresses = ["/demo/", "/verify/", "/c/00000000-0000-4000-8000-000000000000/log"]
    be(page, site, 5)
    addresses.append(page.url)
    hand_in(page, "with_mistake.py")
    page.wait_for_selector("iframe.report")
    addresses.append(page.url)
    enter(page, site, "Ina")
    addresses.append(page.url)
    for address in addresses:
        page.goto(address if address.startswith("http") else site.address + address)
        assert axe(page) == [], address
        assert page.evaluate(OVERFLOW) <= 0, address
