"""The gradebook CSV, run through Canvas's import."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import ArchiveError, UsageError
from grader.lms.out.canvas_csv import fill_gradebook, new_gradebook
from grader.model.attempt import Attempt, Learner
from grader.model.gradebook import Grade
from tests.lms.canvas_import import Canvas, number
from tests.lms.graded import book, grade, ungraded

EXPORT = '''Student,ID,SIS User ID,SIS Login ID,Section,Notes,HW1 (501),HW2 (502),Current Score,Final Score
,,,,,,Manual Posting,,,
    Points Possible,,,,,,20,10,(read only),(read only)
"Doe, Jane",1001,S1,jane,Lab A,keen,,9.5,95.0,95.0
"O'Neil, ""Bo""",1002,S2,bo,Lab A,,3.00,8,80,80
"=Evil, Eve",1003,S3,eve,"Lab A, B",,EX,7,70,70
"Student, Test",1999,,abc,Lab A,,,,,
'''


def canvas() -> Canvas:
    """Make the course that the export is of."""
    students = {"1001": ("S1", "jane"), "1002": ("S2", "bo"), "1003": ("S3", "eve"), "1999": ("", "abc")}
    return Canvas(
        {key: {"sis": sis, "login": login} for key, (sis, login) in students.items()},
        {"501": "HW1", "502": "HW2"},
        {("1001", "502"): "9.9", ("1002", "501"): "3.0", ("1003", "501"): "EX"},
    )


def test_a_downloaded_gradebook_is_filled(tmp_path: Path) -> None:
    """Ours are set, scaled to Points Possible; nothing else changes, not even what was changed since the download."""
    course = canvas()
    ours = [grade(tmp_path, "Jane", 3333, ids=(("canvas", "1001"),)), grade(tmp_path, "Bo", ids=(("sis", "S2"),))]
    content, unplaced = fill_gradebook(EXPORT.encode(), book(*ours))
    before = dict(course.scores)
    course.upload(content)

    assert course.scores == before | {("1001", "501"): "6.67", ("1002", "501"): "17.5"}
    assert (course.new_assignments, course.new_students, unplaced) == ([], [], ())


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("names", ["Student", "LastName,FirstName"])
@pytest.mark.parametrize(
    "info", ["", "SIS Login ID,", "SIS User ID,SIS Login ID,", "SIS User ID,SIS Login ID,Integration ID,Root Account,"]
)
def test_every_form_of_the_export(tmp_path: Path, separator: str, names: str, info: str) -> None:
    """Names in one column or two, with or without each id, comma or semicolon."""
    blank = "," * info.count(",")
    student = "Doe" if names == "Student" else "Doe,Jane"
    points = "    Points Possible" + "," * names.count(",")
    export = f"{names},ID,{info}Section,HW1 (501)\n{points},,{blank},20\n{student},1001,{blank}Lab,\n"
    content, _ = fill_gradebook(
        export.replace(",", separator).encode(), book(grade(tmp_path, "Jane", ids=(("canvas", "1001"),)))
    )
    course = canvas()
    course.upload(content)

    assert course.scores["1001", "501"] == "17.5"


@pytest.mark.parametrize(
    "column, title, found",
    [
        ("", "HW1", "501"),
        ("", "HW2", "502"),
        ("HW2", "HW1", "502"),
        ("502", "", "502"),
        ("HW2 (502)", "HW1", "502"),
        ("", "attention", None),
        ("HW3 (503)", "HW1", None),
    ],
)
def test_the_column_is_given_or_found(tmp_path: Path, column: str, title: str, found: str | None) -> None:
    """By header, title or id; where it isn't clear, the assignments are listed."""
    ours = book(grade(tmp_path, "Jane", 10000, ids=(("canvas", "1001"),)), title=title)
    if found is None:
        with pytest.raises(UsageError, match=r"HW1 \(501\); HW2 \(502\)"):
            fill_gradebook(EXPORT.encode(), ours, column)
    else:
        course = canvas()
        course.upload(fill_gradebook(EXPORT.encode(), ours, column)[0])
        assert course.scores["1001", found] == {"501": "20", "502": "10"}[found]


def test_excused_ungraded_and_unknown_are_named(tmp_path: Path) -> None:
    """What is excused stays so, what isn't graded never becomes 0."""
    ours = [
        grade(tmp_path, "Eve", ids=(("canvas", "1003"),)),
        ungraded("Una"),
        grade(tmp_path, "Dan", ids=(("canvas", "77"),)),
    ]
    content, unplaced = fill_gradebook(EXPORT.encode(), book(*ours))
    course = canvas()
    course.upload(content)

    assert course.scores == canvas().scores
    assert [sentence.partition(":")[0] for sentence in unplaced] == ["Una", "Dan", "Eve"]


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("Student,ID", "Name,Number", "no gradebook of Canvas"),
        ("Section", "Group", "Section is missing"),
        (",20,10,", ",(read only),10,", "can't be written to"),
    ],
)
def test_other_files_are_refused(old: str, new: str, why: str) -> None:
    """One sentence each."""
    with pytest.raises(ArchiveError, match=why):
        fill_gradebook(EXPORT.replace(old, new).encode(), book(), "HW1")


def test_the_smallest_file(tmp_path: Path) -> None:
    """From the ids alone, on our own scale."""
    course = canvas()
    ours = [grade(tmp_path, "Jane", 3333, ids=(("canvas", "1001"),)), grade(tmp_path, "Dan"), ungraded("Una")]
    content, unplaced = new_gradebook(book(*ours), "HW1 (501)")
    course.upload(content)

    assert course.scores["1001", "501"] == "33.33"
    assert len(unplaced) == 2
    assert content.splitlines()[0] == b'Student,ID,Section,"HW1 (501)"'


@pytest.mark.parametrize("column", ["", "HW1", "HW1 (x)", "(501)"])
def test_a_column_without_an_id_is_refused(column: str) -> None:
    """Canvas would offer to make a new assignment."""
    with pytest.raises(UsageError, match="no Canvas id"):
        new_gradebook(book(), column)


def test_a_thousand_isn_t_one() -> None:
    """Why there are no thousands separators: the last sign is the decimal point."""
    assert number("1,234") == "1.234"


@given(name=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30))
def test_any_name_survives(name: str) -> None:
    """Quotes, separators, line ends and formula characters in a name move nothing."""
    attempt = Attempt(key="k", learners=(Learner(name=name, ids=(("canvas", "1001"),)),), files=())
    ours = book(Grade(attempt=attempt, status="graded", cents=50, max_cents=100))
    filled = Canvas({"1001": {}}, {"501": "HW1"})
    made = Canvas({"1001": {}}, {"501": "HW1"})
    quoted = '"' + name.replace('"', '""') + '"'
    filled.upload(fill_gradebook(f"Student,ID,Section,HW1 (501)\n{quoted},1001,Lab,\n".encode(), ours)[0])
    made.upload(new_gradebook(ours, "HW1 (501)")[0])

    assert filled.scores in ({("1001", "501"): "0.5"}, {("1001", "501"): "1"}) or "Points Possible" in name
    assert made.scores == {("1001", "501"): "0.5"}
