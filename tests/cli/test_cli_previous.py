"""``grade FILE --previous``: what changed since an older result."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import RIGHT, WITH_MISTAKE, Kept, grade, one_sentence


def test_what_changed(kept: Kept, tmp_path: Path) -> None:
    """Summary and pages say what changed. The document doesn't: it is the same, whatever was before."""
    words = (RIGHT, "--seed", "5", "--out", tmp_path)
    done = grade(*words, "--previous", kept.folder / "result.json")
    document = (tmp_path / "result.json").read_bytes()

    assert (done.returncode, done.stderr) == (0, "")
    assert "Since your earlier result: 85 points then, 100 now." in done.stdout
    assert "Now right: scaled_dot_product_attention: weights have the right values" in done.stdout
    for name in ("report.html", "fragment.html"):
        assert "Since your earlier result" in (tmp_path / name).read_text(encoding="utf-8")
    assert b"earlier" not in document


def changed(**changes: object) -> Callable[[dict[str, Any]], str]:
    """Return what changes a document."""
    return lambda document: json.dumps({**document, **changes})


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], str], str]] = {
    "another assignment": (changed(assignment={"id": "knots\x1b[2J", "version": "1"}), "is a result of the assignment"),
    "another version": (changed(assignment={"id": "attention", "version": "0.1"}), "version 0.1 of the assignment"),
    "not graded": (changed(status="not_graded"), "the grader failed in that run"),
    "no result": (changed(schema="something"), "isn't a result that can be read"),
    "no JSON": (lambda _: "<html>", "isn't a result that can be read"),
    "deep": (lambda _: "[" * 100_000, "isn't a result that can be read"),
    "a number without end": (lambda _: "1" * 10_000, "isn't a result that can be read"),
}


@pytest.mark.parametrize("title", REFUSED)
def test_what_cannot_be_compared(title: str, kept: Kept, tmp_path: Path) -> None:
    """One sentence says why, before anything runs, and no report is written."""
    change, said = REFUSED[title]
    older = tmp_path / "older.json"
    older.write_text(change(json.loads(kept.document)), encoding="utf-8")
    done = grade(WITH_MISTAKE, "--previous", older, "--out", tmp_path / "out")

    one_sentence(done, 2, "older.json", said)
    assert not (tmp_path / "out").exists()


def test_an_older_result_that_is_not_there(tmp_path: Path) -> None:
    """A file that isn't there, or is a folder, can't be read."""
    for place in (tmp_path / "none.json", tmp_path):
        one_sentence(grade(RIGHT, "--previous", place), 2, "can't be read", "result.json")
