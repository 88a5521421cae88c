"""What learners read: enough to understand a mistake, and no more; a fact, one step, three hints."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from grader.course import find_course, load_assignment

FEWEST, MOST = 80, 160
QUESTION_OR_CHATTER = re.compile(r"\?|\b(simply|just|obviously|easy|easily|of course|you failed|illegal)\b", re.I)


def explained() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield assignment, key and texts of everything that is explained with hints."""
    for name in find_course().assignments:
        texts = load_assignment(find_course(), name).texts
        bases = sorted({key.rpartition(".")[0] for key in texts if key.endswith(".hint1")} - {"page"})
        for base in bases:
            parts = {part: texts.get(f"{base}.{part}", "") for part in ("text", "next", "hint1", "hint2", "hint3")}
            yield name, base, {**parts, "text": parts["text"] or texts.get(base, "")}


EXPLAINED = [pytest.param(base, parts, id=f"{name} {base}") for name, base, parts in explained()]


@pytest.mark.parametrize("base, parts", EXPLAINED)
def test_an_explanation_has_80_to_160_words(base: str, parts: dict[str, str]) -> None:
    """Fact, next step and the three hints together; what a placeholder stands for counts as a word."""
    assert all(parts.values()), [part for part, text in parts.items() if not text]
    assert FEWEST <= sum(len(text.split()) for text in parts.values()) <= MOST


@pytest.mark.parametrize("base, parts", EXPLAINED)
def test_a_step_is_a_step(base: str, parts: dict[str, str]) -> None:
    """The next step doesn't hold the line that the third hint keeps; nothing asks back or talks down."""
    line = re.findall(r"`([^`]+)`", parts["hint3"])

    assert not [code for code in line if len(code) > 24 and code in parts["next"]]
    assert [part for part, text in parts.items() if QUESTION_OR_CHATTER.search(re.sub(r"`[^`]*`", "", text))] == []
    assert all(not text[:1].isupper() for part, text in parts.items() if part == "next" and text[:1].isalpha())


def test_there_is_something_to_look_at() -> None:
    """The catalogues were read."""
    assert len(EXPLAINED) > 150
