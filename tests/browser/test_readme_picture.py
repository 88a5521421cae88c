"""The picture in the README: this test makes it, of the very report that the README's first command writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.cli import main

if TYPE_CHECKING:
    from playwright.sync_api import Page

HEIGHT = 1090

pytestmark = pytest.mark.browser


def test_the_picture_shows_what_the_readme_says(
    root: Path, tmp_path: Path, visit: Callable[..., Page], shoot: Callable[..., None]
) -> None:
    """It begins with the score and the next step, and shows the weights beside the expected ones."""
    assert main([str(root / "examples" / "with_mistake.py"), "--seed", "2340", "--out", str(tmp_path)]) == 0
    page = visit((tmp_path / "report.html").as_uri(), width=900)
    page.set_viewport_size({"width": 900, "height": HEIGHT})
    shoot(page, "report", whole=False)

    assert page.title().startswith("85 of 100 points")
    seen = page.locator("h1, .next, .card.is-failed h2, .heat")
    assert all(box is not None and box["y"] < HEIGHT for box in (seen.nth(at).bounding_box() for at in range(6)))
    assert (root / "docs" / "report.png").stat().st_size < 400_000
