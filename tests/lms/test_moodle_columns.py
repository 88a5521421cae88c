"""Whose row it is, and which column: other languages, teams, blind marking and sheets that can't be used."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from grader.errors import ArchiveError, UsageError
from grader.lms.out.moodle_columns import find_columns
from grader.lms.out.moodle_worksheet import fill_worksheet
from grader.lms.out.sheet import read_sheet
from tests.lms.graded import book, grade
from tests.lms.moodle_import import Moodle, Record, assignment
from tests.lms.sheets import BLIND, GERMAN, HW1, NAMES, table, with_column


def test_blind_marking(tmp_path: Path) -> None:
    """Without names the number decides."""
    moodle = assignment(range(10, 19))
    moodle.upload_worksheet(fill_worksheet(BLIND, book(grade(tmp_path, "", number="14"))).content)

    assert {number for number, record in moodle.people.items() if record.grade is not None} == {14}


def test_teams_go_by_the_group_s_name(tmp_path: Path) -> None:
    """A team's number is the group's: member rows are found by its name, and never by a number that looks alike."""
    rows = table(HW1)
    for index, row in enumerate(rows):
        row.insert(4, "Group" if not index else "Red Team" if index < 3 else "Blue_Team" if index < 6 else "Default")
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    teams = [grade(tmp_path, "Red Team", number="7"), grade(tmp_path, "Blue Team", 100, number="1")]
    stranger = grade(tmp_path, "Green Team", number="5")
    filled = fill_worksheet(out.getvalue().encode(), book(*teams, stranger))
    moodle = assignment(range(1, 10))
    moodle.upload_worksheet(filled.content)

    stored = {number: record.grade for number, record in moodle.people.items() if record.grade is not None}
    assert stored == {6: 87.5, 4: 87.5, 3: 1, 8: 1, 9: 1}
    assert len(filled.unplaced) == 1
    assert "Green Team" in filled.unplaced[0]


@pytest.mark.parametrize("language", ["English", "German"])
def test_a_marker_s_name_is_no_group(tmp_path: Path, language: str) -> None:
    """A learner without a row, whose namesake marks others, doesn't give them their grade."""
    content = HW1 if language == "English" else GERMAN.encode()
    header = {"English": "Marker", "German": "Bewerter/in"}[language]
    sheet = with_column(content, header, ["John Smith"] * (len(table(content)) - 1))
    ours = [grade(tmp_path, "Alice Example", number="6"), grade(tmp_path, "John Smith", number="99")]
    filled = fill_worksheet(sheet, book(*ours))

    assert [row[0][-1] for row in table(filled.content)[1:]] == ["6"]
    assert len(filled.unplaced) == 1
    assert "no row of the sheet is of participant 99" in filled.unplaced[0]


@pytest.mark.parametrize(
    "archive, sheet_", [(["Team-1", "Team 1"], ["Team-1", "Team 1"]), (["Team 1"], ["Team-1", "Team 1"])]
)
def test_groups_that_look_alike_aren_t_mixed_up(tmp_path: Path, archive: list[str], sheet_: list[str]) -> None:
    """Names are cleaned on their way into the archive; where two may be meant, neither is filled."""
    sheet = with_column(HW1, "Group", [sheet_[index % 2] for index in range(9)])
    filled = fill_worksheet(sheet, book(*(grade(tmp_path, name, number=f"4{len(name)}") for name in archive)))

    assert len(table(filled.content)) == 1
    assert ["several groups" in sentence for sentence in filled.unplaced] == [True] * len(archive)


def test_a_blind_team_isn_t_matched_by_number(tmp_path: Path) -> None:
    """Where marking is blind and a group's name is nowhere, its number could be anybody's."""
    rows = [[*row[:2], "Group" if not index else "Red", *row[2:]] for index, row in enumerate(table(BLIND))]
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    filled = fill_worksheet(out.getvalue().encode(), book(grade(tmp_path, "Green", number="14")))

    assert len(table(filled.content)) == 1
    assert "14 may be a group's number" in filled.unplaced[0]


def test_a_german_sheet(tmp_path: Path) -> None:
    """Headers of another language are told by their order; what Moodle can't read back is said."""
    grades = [grade(tmp_path, NAMES[number], number=str(number)) for number in (6, 4, 3)]
    filled = fill_worksheet(GERMAN.encode(), book(*grades))
    words = {
        "id": "ID",
        "grade": "Bewertung",
        "modified": "Zuletzt geändert (Bewertung)",
        "comments": "Feedback als Kommentar",
    }
    people = {6: Record(), 4: Record(grade=45.0, changed=1e9, comment="gut"), 3: Record(locked=True)}
    moodle = Moodle(people, words=words, decimal=",")
    moodle.upload_worksheet(filled.content)

    assert [row.will for row in filled.plan] == ["fill", "skip", "skip"]
    assert (people[6].grade, people[4].grade, people[3].grade) == (87.5, 45.0, None)
    assert "can't read back the date" in filled.plan[1].why
    assert filled.content.splitlines()[0].decode() == GERMAN.splitlines()[0]


def test_a_german_sheet_with_marking_workflow(tmp_path: Path) -> None:
    """The workflow's state stands between the maximum and whether the grade can be changed."""
    rows = table(GERMAN.encode())
    for index, row in enumerate(rows):
        row.insert(6, "Status der Bewertung" if not index else "Nicht bewertet")
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    filled = fill_worksheet(out.getvalue().encode(), book(grade(tmp_path, "Alice Example", number="6")))

    assert table(filled.content)[1][4:9] == ["87.5", "100,00", "Nicht bewertet", "Ja", rows[1][8]]


@pytest.mark.parametrize(
    "old, new",
    [
        ("Zuletzt geändert (Abgabe)", "Abgabe geändert"),
        ("Feedback als Kommentar", 'Feedback als Kommentar",Weiteres,"'),
        ('"100,00"', "-"),
    ],
)
def test_what_isn_t_certain_is_asked_for(old: str, new: str) -> None:
    """One sentence with the headers, and the option that names the columns."""
    text = GERMAN.replace(old, new)
    if "Weiteres" in new:
        text = "\n".join(line + ",," * (index > 0) for index, line in enumerate(text.splitlines())) + "\n"
    with pytest.raises(ArchiveError, match="can't be told for certain") as caught:
        find_columns(read_sheet(text.encode(), "Bewertungen.csv"))

    assert caught.value.message.startswith("Bewertungen.csv: ")
    assert "--columns" in caught.value.hint
    assert "Zuletzt geändert (Bewertung)" in caught.value.hint


def test_columns_can_be_named(tmp_path: Path) -> None:
    """Named headers decide, where nothing else is known."""
    text = GERMAN.replace("Zuletzt geändert (Abgabe)", "Abgabe geändert")
    named = {
        "grade": "Bewertung",
        "maximum": "Beste Bewertung",
        "modified": "Zuletzt geändert (Bewertung)",
    }
    filled = fill_worksheet(text.encode(), book(grade(tmp_path, "Alice Example", number="6")), columns=named)

    assert table(filled.content)[1][4] == "87.5"
    assert table(filled.content)[1][-1].startswith("<h3>")
    for wrong, why in (({"grade": "Note"}, "no column has"), ({"points": "Bewertung"}, "knows no points")):
        with pytest.raises(UsageError, match=why):
            fill_worksheet(text.encode(), book(), columns=wrong)


@pytest.mark.parametrize(
    "content, why",
    [
        (b"", "is empty"),
        (HW1.replace(b"Participant", b"Participant \xff", 1), "isn't text in UTF-8"),
        (HW1 + b"one,cell\n", "row 11 has 2 cells, but the header has 11"),
        (HW1 + b'"never closed\n', "row 11: a quotation mark isn't closed"),
        (HW1.replace(b'"Participant 6"', b"Alice"), "row 2: the identifier Alice"),
        (HW1.replace(b",Grade,", b",Rubric,"), "has no column Grade"),
        (HW1.replace(b"Maximum grade", b"Scale"), "graded by a scale"),
        (b"Name,Points\nAlice,3\n", "can't be told for certain"),
        (HW1.replace(b",Status,", b",Grade,"), "has 2 columns Grade"),
        (HW1.replace(b"Maximum grade", b"FEEDBACK comments"), "has 2 columns FEEDBACK comments"),
        (b"\n <!doctype html><title>Log in</title>", "is a web page"),
        (b"PK\3\4" + bytes(80), "is a file of a spreadsheet program"),
        (HW1.decode().encode("utf-16"), "isn't text in UTF-8"),
    ],
)
def test_other_sheets_are_refused_in_one_sentence(content: bytes, why: str) -> None:
    """Each says what, where and what to do."""
    with pytest.raises(ArchiveError, match=why) as caught:
        fill_worksheet(content, book(), name="Grades.csv")

    assert caught.value.hint
    assert "Grades.csv" in caught.value.message
