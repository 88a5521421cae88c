"""The feedback zips, run through Moodle's import."""

from __future__ import annotations

import dataclasses
import io
import itertools
import random
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import UsageError
from grader.lms.out.moodle_checklist import checklist
from grader.lms.out.moodle_feedback import feedback_path, feedback_zips
from grader.model.attempt import Attempt, Learner
from tests.lms.graded import book, grade, ungraded
from tests.lms.moodle_import import Moodle, Record, assignment

LABELS = {  # as a real "Download all submissions" names them
    6: "Alice Example_6_assignsubmission_file",
    4: "Bob OBrien-Smith_4_assignsubmission_file",
    3: "Zoë Łukasiewicz_3_assignsubmission_file_",  # Moodle before 4.1
    8: "小明 王_8_assignsubmission_file",
    9: "Under score Family Name_9_assignsubmission_file",
    7: "Late Comer_7_assignsubmission_onlinetext",
    14: "Participant_14_assignsubmission_file",
    2: ".hidden_2_assignsubmission_file",
    5: "~John Smith_5_assignsubmission_file",
}


def zips(*grades: object, limit: int = 10**7) -> tuple[list[bytes], list[str]]:
    """Return the contents of the zips and the sentences."""
    unplaced: list[str] = []
    made = list(feedback_zips(book(*grades), limit, unplaced))  # type: ignore[arg-type]  # grades they are
    assert [name for name, _ in made] == [f"feedback-{index}.zip" for index in range(1, len(made) + 1)]
    return [content for _, content in made], unplaced


def test_every_report_reaches_its_learner(tmp_path: Path) -> None:
    """None is ignored, whatever the name looks like, and each gets their own."""
    moodle = assignment(range(1, 20))
    grades = [grade(tmp_path, "x", number=str(number), label=label) for number, label in LABELS.items()]
    contents, unplaced = zips(*grades)

    assert [moodle.upload_zip(content) for content in contents] == [(len(LABELS), [])]
    assert unplaced == []
    for number in LABELS:
        assert moodle.people[number].files == {"feedback.html": f"<p>Report of {number}</p>".encode()}


def test_names_stay_readable_and_marked_as_utf_8(tmp_path: Path) -> None:
    """The folder is that of the download, and the zip says that its names are UTF-8."""
    (content,), _ = zips(grade(tmp_path, "x", number="8", label=LABELS[8]))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (info,) = archive.infolist()

    assert info.filename == "小明 王_8_assignsubmission_file/feedback.html"
    assert info.flag_bits & 0x800
    assert info.date_time == (1980, 1, 1, 0, 0, 0)


def test_a_learner_s_own_feedback_html_isn_t_taken_for_ours(tmp_path: Path) -> None:
    """Moodle skips what equals a file of the submission, so ours has another name then."""
    report = b"the same bytes"
    moodle = Moodle({6: Record(submitted={"feedback.html": report})})
    one = grade(tmp_path, "x", number="6", files=("a.py", "Feedback.html"), label=LABELS[6], report=report)
    (content,), _ = zips(one)

    assert moodle.upload_zip(content) == (1, [])
    assert moodle.people[6].files == {"feedback-report.html": report}


def test_a_second_upload_replaces(tmp_path: Path) -> None:
    """The same name again, so that nobody collects files."""
    moodle = assignment(range(1, 20))
    for report in (b"first", b"second"):
        (content,), _ = zips(grade(tmp_path, "x", number="6", label=LABELS[6], report=report))
        moodle.upload_zip(content)

    assert moodle.people[6].files == {"feedback.html": b"second"}


def test_the_same_reports_give_the_same_bytes(tmp_path: Path) -> None:
    """No clock, no order of a file system."""
    grades = [grade(tmp_path, "x", number=str(number), label=label) for number, label in LABELS.items()]

    assert zips(*grades) == zips(*grades)


@pytest.mark.parametrize("limit", [1000, 2500, 5000, 20000, 100000])
def test_no_part_is_larger_than_the_limit(tmp_path: Path, limit: int) -> None:
    """Parts are filled as far as they go; what can't fit alone is named with its size."""
    chance = random.Random(limit)
    moodle = assignment(range(1, 41))
    sizes = [chance.choice((10, 700, 900, 2400, 6000)) for _ in range(40)]
    grades = [
        grade(tmp_path, f"Ä {number}", number=str(number), report=chance.randbytes(size))
        for number, size in enumerate(sizes, 1)
    ]
    contents, unplaced = zips(*grades, limit=limit)
    taken = sum(moodle.upload_zip(content)[0] for content in contents)
    too_large = [number for number, size in enumerate(sizes, 1) if size > limit - 300]

    assert max(map(len, contents)) <= limit
    assert taken + len(unplaced) == 40
    assert len(unplaced) == len(too_large)
    for number, sentence in zip(too_large, unplaced, strict=True):
        assert sentence.startswith(f"Ä {number} (participant {number}): the report alone makes a zip of ")
    # No two neighbours would have fitted into one.
    assert all(len(a) + len(b) > limit for a, b in itertools.pairwise(contents))


def test_a_report_of_exactly_the_limit_fits(tmp_path: Path) -> None:
    """The size is counted to the byte."""
    one = grade(tmp_path, "x", number="6", label=LABELS[6], report=random.Random(1).randbytes(5000))
    (content,), _ = zips(one)

    assert [len(part) for part in zips(one, limit=len(content))[0]] == [len(content)]
    assert zips(one, limit=len(content) - 1)[0] == []


def test_what_can_t_be_placed_is_named(tmp_path: Path) -> None:
    """Not graded, without a number, without a report, twice the same place."""
    gone = dataclasses.replace(grade(tmp_path, "Gone", number="4"), reports=None)
    grades = [ungraded("Una", "1"), grade(tmp_path, "Dan"), gone]
    grades += [grade(tmp_path, "x", number="6", label=LABELS[6]) for _ in range(2)]
    contents, unplaced = zips(*grades)

    assert len(contents) == 1
    assert [sentence.partition(": ")[0] for sentence in unplaced] == [
        "Una (participant 1)",
        "Dan",
        "Gone (participant 4)",
        "x (participant 6)",
    ]


def test_a_group_without_a_number_isn_t_placed(tmp_path: Path) -> None:
    """Moodle's default group has no id in its folder's name."""
    one = grade(tmp_path, "Default group", label="Default group_assignsubmission_file")

    assert feedback_path(one.attempt) == ""


def test_a_limit_that_nothing_fits_is_refused() -> None:
    """A typing error, most likely."""
    with pytest.raises(UsageError, match="--upload-limit"):
        zips(limit=50)


@given(st.text(max_size=40), st.integers(1, 19))
def test_no_name_misleads_anybody(name: str, number: int) -> None:
    """Whatever a learner is called, the path is theirs, stays below its folder and isn't hidden."""
    attempt = Attempt(
        key="k",
        learners=(Learner(name=name, ids=(("participant", str(number)),)),),
        files=(),
        label=f"{name}_{number}_assignsubmission_file",
    )
    path = feedback_path(attempt)

    assert assignment(range(1, 20)).place(path) == (number, "feedback.html")
    assert path.count("/") == 1
    assert not path.startswith((".", "~", "/"))
    assert "\\" not in path
    assert not any(unicodedata.category(char) == "Cc" for char in path)


def test_the_checklist_has_moodle_s_labels() -> None:
    """Each setting by the label that is on the page, and each zip by its name."""
    text = checklist("HW1", ["feedback-1.zip", "feedback-2.zip"], worksheet=True)
    labels = [
        "Feedback comments",
        "Feedback files",
        "Offline grading worksheet",
        "Use marking workflow",
        "Upload grading worksheet",
        "Upload multiple feedback files in a zip",
        "Upload feedback files in a zip",
        "Allow updating records that have been modified more recently in Moodle than in the spreadsheet",
    ]

    assert [label for label in labels if f'"{label}"' not in text] == []
    assert "feedback-2.zip" in text
    assert "3 rows need it" in checklist("HW1", [], worksheet=True, stale=3)
    assert "Download grading worksheet" in checklist("HW1", [], worksheet=False)
    assert max(map(len, text.splitlines())) <= 150
