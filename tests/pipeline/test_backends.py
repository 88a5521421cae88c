"""The same file and seed give the same result under every backend, but for the backend's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import find_course, load_assignment
from grader.intake import read_submission
from grader.pipeline import grade
from grader.render.document import to_json
from grader.run.scratch import Scratch
from tests.run.offered import OFFERED, opened

SEED = 2340


def graded(path: Path, name: str) -> str:
    """Return the result of a file under a backend, without the backend's name."""
    assignment = load_assignment(find_course(), "attention")
    submission = read_submission(path)
    with opened(name) as backend:
        scratch = Scratch(backend, submission)
        try:
            _, result = grade(assignment, submission, SEED, scratch)
        finally:
            scratch.close()
    text = to_json(result, assignment)
    assert f'"isolation": "{name}"' in text
    return text.replace(f'"isolation": "{name}"', '"isolation": ...')


@pytest.mark.parametrize("name", OFFERED[1:])
@pytest.mark.parametrize("example", ["with_mistake.py", "with_mistake.ipynb"])
def test_the_same_verdict(name: str, example: str, root: Path) -> None:
    """Every number, message and note is the same, to the byte."""
    path = root / "examples" / example

    assert graded(path, name) == graded(path, "process")
