"""The plain table, the experimental writers and the names after --to."""

from __future__ import annotations

import csv
import dataclasses
import io
import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import ArchiveError, UsageError
from grader.lms.out import reports
from grader.lms.out.blackboard import blackboard_csv
from grader.lms.out.brightspace import brightspace_csv
from grader.lms.out.export import Options
from grader.lms.out.exports import WRITERS, export
from grader.lms.out.reports import comment_text
from grader.lms.out.table import COLUMNS, gradebook_csv
from grader.model.attempt import Attempt, HandedFile, Learner
from grader.model.gradebook import Grade
from tests.lms.graded import book, grade, ungraded
from tests.lms.moodle_import import assignment

ROOT = Path(__file__).resolve().parents[2]
HW1 = (ROOT / "tests" / "data" / "lms" / "hw1_worksheet.csv").read_bytes()


def table(content: bytes) -> list[dict[str, str]]:
    """Read a CSV file by its header."""
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))


def test_the_table_holds_everybody(tmp_path: Path) -> None:
    """A row for each learner, each member of a group too; no score where there is none."""
    one = grade(tmp_path, "Alice", 8750, number="6", ids=(("email", "a@example.invalid"),))
    pair = dataclasses.replace(
        one,
        attempt=dataclasses.replace(
            one.attempt, learners=(Learner(name="Bo"), Learner(name="Di")), late=True, submitted="Monday"
        ),
    )
    content = gradebook_csv(book(one, pair, ungraded("Una", reason="two\nlines")))
    rows = table(content)

    assert content.startswith(b"\xef\xbb\xbf")
    assert list(rows[0]) == [*COLUMNS, "task.shape"]
    assert [(row["learner"], row["score"], row["max_score"], row["task.shape"], row["late"]) for row in rows] == [
        ("Alice", "87.5", "100", "87.5", ""),
        ("Bo", "87.5", "100", "87.5", "yes"),
        ("Di", "87.5", "100", "87.5", "yes"),
        ("Una", "", "", "", ""),
    ]
    assert (rows[0]["participant"], rows[0]["email"], rows[0]["file"]) == ("6", "a@example.invalid", "submission.py")
    assert (rows[3]["status"], rows[3]["reason"]) == ("not_graded", "two lines")


def test_the_table_s_columns_are_documented() -> None:
    """Every column stands in docs/lms.md, in its order."""
    page = (ROOT / "docs" / "lms.md").read_text(encoding="utf-8")
    section = page.partition("### gradebook.csv")[2].partition("\n##")[0]

    assert re.findall(r"^\| `([a-z_]+)` ", section, re.M) == list(COLUMNS)


@given(
    name=st.builds(
        str.__add__, st.sampled_from(["", *"=+-@\t\r\n ＝＋－＠\u200b"]), st.text(st.characters(codec="utf-8"))
    ),
    file=st.builds(str.__add__, st.sampled_from("=+-@"), st.text(max_size=20)),
)
def test_no_cell_of_the_table_is_a_formula(name: str, file: str) -> None:
    """Nothing from outside begins as one, and what it says is still there."""
    attempt = Attempt(
        key="k", learners=(Learner(name=name, ids=(("sis", name),)),), files=(HandedFile(name=file, path=Path("x")),)
    )
    (row,) = table(gradebook_csv(book(Grade(attempt=attempt, status="not_graded", reason=name))))

    assert not [cell for cell in row.values() if cell.lstrip().startswith(tuple("=+-@\t＝＋－＠"))]
    letters = [char for char in name if char.isalnum()]
    assert [char for char in row["learner"] if char.isalnum()] == letters


def test_brightspace(tmp_path: Path) -> None:
    """Ids with #, the end of the line, and names joined to an export unless two people have them."""
    export_ = (
        "OrgDefinedId,Username,Last Name,First Name,HW1 Points Grade,End-of-Line Indicator\n"
        "#400,#doej,Doe,Jane,,#\n#401,#s1,Smith,John,,#\n#402,#s2,Smith,John,,#\n"
    )
    ours = book(
        grade(tmp_path, "Jane Doe", 3333),
        grade(tmp_path, "John Smith"),
        grade(tmp_path, "Ann Lee", ids=(("sis", "77"),)),
        ungraded("Una"),
    )
    content, unplaced = brightspace_csv(ours, "HW1", export_.encode())

    assert content.decode().splitlines() == [
        'OrgDefinedId,Username,"HW1 Points Grade","End-of-Line Indicator"',
        "#400,#doej,33.33,#",
        "#77,,87.5,#",
    ]
    assert [sentence.partition(":")[0] for sentence in unplaced] == ["John Smith", "Una"]
    with pytest.raises(ArchiveError, match="lacks names or ids"):
        brightspace_csv(ours, "HW1", b"Name,Points\na,1\n")
    with pytest.raises(UsageError, match="item isn't named"):
        brightspace_csv(ours, " ")


def test_blackboard(tmp_path: Path) -> None:
    """By username, and only into a column with an id."""
    ours = book(grade(tmp_path, "Jane", ids=(("username", "doej"),)), grade(tmp_path, "Dan"), ungraded("Una"))
    content, unplaced = blackboard_csv(ours, "HW1 [Total Pts: 100 Score] |12345")

    assert table(content) == [{"Username": "doej", "HW1 [Total Pts: 100 Score] |12345": "87.5"}]
    assert len(unplaced) == 2
    with pytest.raises(UsageError, match="no Blackboard id"):
        blackboard_csv(ours, "HW1")


def test_moodle_s_files(tmp_path: Path) -> None:
    """Worksheet, what Moodle will do, zips and checklist, below one folder; the unplaced are known at the end."""
    ours = book(grade(tmp_path, "Alice Example", number="6"), ungraded("Late Comer", "7"))
    made = export("moodle", ours, Options(sheet=HW1, sheet_name="Grades.csv", upload_limit=5000))
    files = dict(made.files)
    moodle = assignment(range(1, 10))
    moodle.upload_worksheet(files["moodle/worksheet.csv"])

    assert list(files) == [
        "moodle/worksheet.csv",
        "moodle/dry-run.txt",
        "moodle/feedback-1.zip",
        "moodle/checklist.txt",
    ]
    assert moodle.people[6].grade == 87.5
    assert moodle.upload_zip(files["moodle/feedback-1.zip"]) == (1, [])
    assert zipfile.is_zipfile(io.BytesIO(files["moodle/feedback-1.zip"]))
    assert made.notes == ("1 of 9 rows will be taken by Moodle.",)
    assert set(made.unplaced) == {"Late Comer (participant 7): not graded (the worker stopped), so nothing is sent."}


@pytest.mark.parametrize(
    "to, options, names",
    [
        ("csv", Options(), ["gradebook.csv"]),
        ("moodle", Options(), ["moodle/feedback-1.zip", "moodle/checklist.txt"]),
        ("canvas", Options(column="HW1 (501)"), ["canvas/gradebook.csv"]),
        ("brightspace", Options(column="HW1"), ["brightspace/grades.csv"]),
        ("blackboard", Options(column="HW1 |1"), ["blackboard/grades.csv"]),
    ],
)
def test_each_name_makes_its_files(tmp_path: Path, to: str, options: Options, names: list[str]) -> None:
    """What is experimental says so."""
    made = export(to, book(grade(tmp_path, "Alice", number="6")), options)

    assert [name for name, _ in made.files] == names
    assert any("experimental" in note for note in made.notes) == (to in ("brightspace", "blackboard"))


def test_every_name_is_known_and_no_other() -> None:
    """The others are listed."""
    with pytest.raises(UsageError, match="csv, moodle, canvas, brightspace, blackboard"):
        export("sakai", book())
    assert list(WRITERS) == ["csv", "moodle", "canvas", "brightspace", "blackboard"]


def test_comments_as_plain_text(tmp_path: Path) -> None:
    """No tags, line ends of code kept, a table's row on a line; without a fragment, our points."""
    one = grade(tmp_path, "Alice")

    assert comment_text(one) == (
        '87.5 of 100 points\n\nQuote: "a, b; c" and back\\slash and =1+1\n\nfirst\n  second\n\nshape  3 / 3'
    )
    assert comment_text(dataclasses.replace(one, reports=None)) == "87.5 of 100 points\nshape: 87.5 of 100"


def test_a_real_comment_as_plain_text() -> None:
    """Lists, tables and code of a real fragment read as they should."""
    reader = reports._Text()
    reader.feed((ROOT / "tests" / "golden" / "render" / "failing.fragment.html").read_text(encoding="utf-8"))
    reader.close()
    lines = reader.text().splitlines()

    assert lines[0].endswith("points")
    assert "-" not in lines
    assert "\n\n\n" not in reader.text()
    assert any(re.fullmatch(r"Criterion  Points  Status", line) for line in lines)
    table = lines[lines.index("Criterion  Points  Status") :]
    assert re.search(r"  \d+ / \d+  ", table[1])
