"""``--audience``: an instructor sees what a learner doesn't, in a report of another name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import grade, one_sentence
from tests.cli.test_cli_hidden import ACTS, SUBMISSION, course, told

__all__ = ["course"]  # the fixture of a course that hides a criterion whose check tells all that it knows


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A file whose hidden call leaves marks."""
    path = tmp_path / "work.py"
    path.write_text(SUBMISSION.replace("{act}", ACTS["raises"]))
    return path


def test_an_instructor_sees_what_is_hidden(course: Path, work: Path, tmp_path: Path) -> None:
    """The report beside the file, the summary and the document tell of the hidden criterion; the learner's don't."""
    kept = tmp_path / "kept.transcript"
    learner = grade(work, "--course", course, "--transcript", kept, "--seed", 7)
    instructor = grade(work, "--course", course, "--audience", "instructor", "--seed", 7)
    out = tmp_path / "out"
    document = grade(
        work, "--course", course, "--audience", "instructor", "--seed", 7, "--format", "json", "--out", out
    )

    theirs = tmp_path / "work-report.html"
    ours = tmp_path / "work-instructor-report.html"
    assert told(learner.stdout + theirs.read_text()) == []
    assert told(instructor.stdout)
    for text in (ours.read_text(), (out / "report.html").read_text(), (out / "fragment.html").read_text()):
        assert "KINDMARK" in text
        assert "For the instructor: this shows what learners don" in text
        assert "tell/other" in text
    assert "For the instructor: this shows what learners don" not in theirs.read_text()
    hidden = json.loads(document.stdout)["tasks"][0]["criteria"][1]
    assert (hidden["hidden"], "KINDMARK" in hidden["message"]) == (True, True)

    again = grade("regrade", kept, "--course", course, "--audience", "instructor", cwd=tmp_path)
    assert again.returncode == 0
    assert told(again.stdout)


def test_where_it_makes_no_sense(course: Path, work: Path, tmp_path: Path) -> None:
    """What a platform shows to learners isn't made for instructors, and a run's files are its learners'."""
    platform = grade(work, "--course", course, "--audience", "instructor", "--format", "gradescope")
    (tmp_path / "class").mkdir()
    run = grade("regrade", tmp_path / "class", "--audience", "instructor")

    one_sentence(platform, 2, "gradescope", "--audience")
    one_sentence(run, 2, "--audience")
    assert not (tmp_path / "work-report.html").exists()
