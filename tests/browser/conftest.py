"""Pages in Chromium, driven by Playwright: opened as a reader would, looked at by axe, photographed where asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = "/usr/bin/chromium"
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

AXE = """() => axe.run(document, { resultTypes: ['violations'] }).then(found => [found.passes.length,
    found.violations.map(one => `${one.id}: ${one.help}: ${one.nodes[0].html.slice(0, 120)}`)])"""

Visit = Callable[..., "Page"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A headless Chromium, one for all tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """Return what opens a page: ``visit(address, width=320, scheme="dark", script=False)``.

    Whatever a page asks for but itself, and whatever it says on the console, fails the test at its end.
    """
    contexts, wrong = [], []

    def open_page(address: str, *, width: int = 1200, scheme: str = "light", script: bool = True, **more: Any) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]  # one of a few words
            java_script_enabled=script,
            **more,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("request", lambda asked: None if asked.url == address else wrong.append(f"request: {asked.url}"))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture(scope="session")
def axe() -> Callable[[Page], list[str]]:
    """Return what lists the violations that axe finds in a page, each with the first element that shows it.

    Axe stays in a page, so that looking at it in another mode doesn't load it again.
    """
    from axe_playwright_python.base import AXE_SCRIPT

    def violations(page: Page) -> list[str]:
        if page.evaluate("typeof axe") == "undefined":
            page.evaluate(AXE_SCRIPT)
        passed, found = page.evaluate(AXE)
        # Without a rule that passed, nothing was looked at.
        assert passed > 10
        return list(found)

    return violations


@pytest.fixture
def shoot(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """Return what keeps a picture of a page as ``NAME.png``, if ``--screenshots DIR`` asks for pictures."""
    folder = request.config.getoption("--screenshots")

    def keep(page: Page, name: str, *, whole: bool = True) -> None:
        if folder is not None:
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=whole)

    return keep
