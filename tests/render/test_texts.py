"""The engine's own texts."""

from __future__ import annotations

import re
from pathlib import Path

from grader.core.catalogue import placeholders
from grader.model import Status
from tests.render.course import REPORTS, engine_texts

RENDER = Path(__file__).parents[2] / "grader" / "render"


def used() -> set[str]:
    """Every key of ``page`` that templates or modules name."""
    templates = "".join(path.read_text(encoding="utf-8") for path in REPORTS.glob("*.j2"))
    modules = "".join(path.read_text(encoding="utf-8") for path in RENDER.glob("*.py"))
    found = set(re.findall(r"\bwords\.([a-z_0-9]+)", templates))
    found |= set(re.findall(r'"page\.([a-z_0-9]+)"', modules))
    found |= set(re.findall(r'_word\(\s*"([a-z_0-9]+)"', modules)) | set(re.findall(r"_word\('([a-z_0-9]+)'", modules))
    return found


def test_every_word_that_is_used_is_there() -> None:
    """No page can miss one of our own words."""
    known = {key.removeprefix("page.") for key in engine_texts() if key.startswith("page.")}
    built = {"hint1", "hint2", "hint3", "override", "late", "change", "before", "after", "reason", "by"}
    built |= {f"terminal_{label}" for label in ("next", "note", "hint")}

    assert used() - known == set()
    assert known - used() - built == set()


def test_every_status_has_a_word() -> None:
    """Each status can be said."""
    texts = engine_texts()

    assert all(texts[f"status.{status}"] for status in Status)


def test_words_of_templates_are_plain() -> None:
    """What a template shows as it is has neither placeholders nor backticks."""
    templates = "".join(path.read_text(encoding="utf-8") for path in REPORTS.glob("*.j2"))
    texts = engine_texts()

    for name in set(re.findall(r"\bwords\.([a-z_0-9]+)", templates)):
        text = texts[f"page.{name}"]
        assert not placeholders(text), name
        assert "`" not in text, name
