"""Reports in a real browser: they reflow, print nothing to the console, and read in light and in dark."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.cli import main
from grader.render.html import report
from grader.render.view import build
from tests.render.course import REPORTS, assignment
from tests.render.samples import pictures

pytestmark = pytest.mark.browser

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

CONTRAST = """
function lin(x) { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }
function lum(c) { const v = c.map(lin);
  return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; }
function rgb(s) { const m = s.match(/[\\d.]+/g).map(Number);
  return m.length > 3 && m[3] === 0 ? null : m.slice(0, 3); }
function back(e) { while (e) { const c = rgb(getComputedStyle(e).backgroundColor);
  if (c) return c; e = e.parentElement; }
  return [255, 255, 255]; }
const worst = [];
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('svg') || !e.offsetParent) continue;
  if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
  const a = lum(rgb(getComputedStyle(e).color)), b = lum(back(e));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) worst.push([e.tagName, e.textContent.trim().slice(0, 40), ratio]);
}
return worst;
"""


SHAPES = (
    CONTRAST.partition("const worst")[0]
    + """
const worst = [];
for (const e of document.querySelectorAll('svg text, .series, .mark, .bar, .track')) {
  const style = getComputedStyle(e), text = e.tagName === 'text';
  const ink = !text && style.stroke !== 'none' ? style.stroke : style.fill;
  const a = lum(rgb(ink)), b = lum(back(e.closest('svg')));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < (text ? 4.5 : 3)) worst.push([e.tagName, e.className.baseVal, ratio]);
}
return [worst, document.querySelectorAll('.series, .bar, .track').length];
"""
)
"""As ``CONTRAST``, for what is drawn: 4.5 for its texts, 3 for its shapes (WCAG 1.4.11)."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        yield driver
        driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, root: Path) -> dict[str, str]:
    """Addresses of real reports: full marks, a mistake, the untouched handout; and one with each kind of picture."""
    made = {}
    for name, path in (
        ("right", root / "examples" / "right.py"),
        ("mistake", root / "examples" / "with_mistake.ipynb"),
        ("untouched", root / "exercises" / "attention" / "submission.py"),
    ):
        out = tmp_path_factory.mktemp(name)
        assert main([str(path), "--seed", "2340", "--out", str(out)]) == 0
        made[name] = (out / "report.html").as_uri()
    page = tmp_path_factory.mktemp("pictures") / "report.html"
    page.write_text(report(build(pictures(), assignment()), [REPORTS]), encoding="utf-8")
    return {**made, "pictures": page.as_uri()}


NAMES = ("right", "mistake", "untouched", "pictures")


def opened(browser: Any, address: str, *, width: int = 900, scheme: str = "light") -> None:
    """Open a page at a width and in a colour scheme, with everything unfolded."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(address)
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_without_a_word_on_the_console(browser: Any, pages: dict[str, str], name: str) -> None:
    """No error, no blocked resource, and the score stands in the title."""
    opened(browser, pages[name])

    said = [entry["message"] for entry in browser.get_log("browser") if "favicon" not in entry["message"]]

    assert said == []
    assert "of 100 points" in browser.title


@pytest.mark.parametrize("name", NAMES)
def test_a_page_reflows_at_320_pixels(browser: Any, pages: dict[str, str], name: str) -> None:
    """Nothing but a region of its own scrolls sideways on a narrow screen (WCAG 1.4.10)."""
    opened(browser, pages[name], width=320)

    width = browser.execute_script("return document.documentElement.scrollWidth")

    assert width <= 320


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_text_stands_out_from_its_ground(browser: Any, pages: dict[str, str], name: str, scheme: str) -> None:
    """Every text has a contrast of at least 4.5 to 1 (WCAG 1.4.3), in both colour schemes."""
    opened(browser, pages[name], scheme=scheme)

    assert browser.execute_script(CONTRAST) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_drawn_stands_out_from_its_ground(browser: Any, pages: dict[str, str], scheme: str) -> None:
    """Lines, markers and bars have a contrast of at least 3 to 1, their texts 4.5 to 1, in both colour schemes."""
    opened(browser, pages["pictures"], scheme=scheme)

    worst, shapes = browser.execute_script(SHAPES)

    assert worst == []
    assert shapes > 10


def test_bars_and_orders_need_no_scrolling_at_320_pixels(browser: Any, pages: dict[str, str]) -> None:
    """Small pictures fit a narrow screen as they are."""
    opened(browser, pages["pictures"], width=320)
    script = "return [...document.querySelectorAll('svg.small')].map(e => e.getBoundingClientRect().right)"

    ends = browser.execute_script(script)

    assert len(ends) >= 3
    assert max(ends) <= 320


def test_every_fold_opens_with_the_keyboard(browser: Any, pages: dict[str, str]) -> None:
    """Tab reaches a summary, and Enter opens it (WCAG 2.1.1)."""
    from selenium.webdriver.common.keys import Keys

    browser.get(pages["mistake"])
    summary = browser.find_elements("tag name", "summary")[0]
    summary.send_keys(Keys.ENTER)

    assert browser.execute_script("return arguments[0].parentElement.open", summary) is True
