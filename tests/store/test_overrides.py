"""``overrides.toml``: what is written can be read again, whatever somebody is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.errors import UsageError
from grader.store.overrides import NAME, OverrideLine, add_override, read_overrides

ANY = st.characters(exclude_categories=["Cs"])
TEXTS = st.text(ANY, min_size=1, max_size=60)
SAID = TEXTS.filter(str.strip)


def line_of(student: str, **more: object) -> OverrideLine:
    """Return a decision on one criterion."""
    made: dict = {"criterion": "say/word", "cents": 750, "reason": "I heard it.", "by": "Ada", "file": "17f83c"}
    return OverrideLine(student=student, **{**made, **more})


@settings(max_examples=25)  # each waits for the disk
@given(lines=st.lists(st.builds(line_of, TEXTS, reason=SAID, by=SAID, cents=st.integers(0, 10**6)), max_size=4))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, lines: list[OverrideLine]) -> None:
    """All lines come back, of several for one student the last; the file is plain text for any editor."""
    out = tmp_path_factory.mktemp("run")
    for line in lines:
        add_override(out, line)

    assert {line.student: line for line in read_overrides(out)} == {line.student: line for line in lines}
    text = (out / NAME).read_text("utf-8") if lines else ""
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("student", ["\ud800", "x" * 10_001])
def test_what_can_t_be_written_changes_nothing(tmp_path: Path, student: str) -> None:
    """A name that no file can hold is refused, and the decisions that stand stay."""
    add_override(tmp_path, line_of("6"))
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(UsageError):
        add_override(tmp_path, line_of(student))
    assert (tmp_path / NAME).read_bytes() == before
