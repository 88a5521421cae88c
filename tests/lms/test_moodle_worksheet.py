"""The filled worksheet, run through Moodle's import."""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.lms.out.moodle_worksheet import fill_worksheet, plan_text, plan_worksheet
from grader.lms.out.reports import comment_html
from grader.model.attempt import Attempt, Learner
from grader.model.gradebook import Grade
from tests.lms.graded import book, grade, ungraded
from tests.lms.moodle_import import ImportRefused, Moodle, Record, assignment, timestamp
from tests.lms.sheets import AFTER, DATA, HW1, NAMES, sheet_with, table


def whole_class(folder: Path) -> list[Grade]:
    """Grade everybody of the sample with a score of their own: thirds, whole numbers, 0 and full marks."""
    cents = {6: 8750, 4: 10000, 3: 0, 8: 3333, 9: 1, 2: 7250, 5: 5500, 7: 6600}
    return [grade(folder, name, cents[number], number=str(number)) for number, name in NAMES.items()]


def test_everybody_gets_grade_and_comment(tmp_path: Path) -> None:
    """After the import Moodle holds exactly ours, and nothing for whoever handed in nothing."""
    moodle = assignment(range(1, 10))
    grades = whole_class(tmp_path)
    filled = fill_worksheet(HW1, book(*grades))
    moodle.upload_worksheet(filled.content)

    stored = {number: record.grade for number, record in moodle.people.items()}
    assert stored == {6: 87.5, 4: 100, 3: 0, 8: 33.33, 9: 0.01, 2: 72.5, 5: 55, 7: 66, 1: None}
    assert {number for number, record in moodle.people.items() if "<h3>" in record.comment} == set(NAMES)
    assert filled.unplaced == ()
    assert [row.will for row in filled.plan] == ["fill"] * 8 + ["skip"]


def test_all_else_stays_as_downloaded(tmp_path: Path) -> None:
    """Header, byte-order mark, line ends and every cell that isn't ours are the same bytes."""
    sent = fill_worksheet(HW1, book(*whole_class(tmp_path))).content
    lines, sent_lines = HW1.split(b"\n"), sent.split(b"\n")

    assert sent_lines[0] == lines[0]
    assert len(sent_lines) == len(lines) - 1
    for before, after in zip(lines[1:9], sent_lines[1:9], strict=True):
        assert after.startswith(before.partition(b",,100.00,")[0] + b",")
        assert before.partition(b",,100.00,")[2].removesuffix(b",") + b',"<h3>' in after


@pytest.mark.parametrize("separator", [",", ";", "\t", ":"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_separators_and_line_ends_are_kept(tmp_path: Path, separator: str, newline: str) -> None:
    """Each separator that Moodle offers, and both line ends, come back as they were."""
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, lineterminator=newline).writerows(table(HW1))
    filled = fill_worksheet(out.getvalue().encode(), book(grade(tmp_path, "Alice Example", number="6")))
    moodle = assignment(range(1, 10))
    moodle.upload_worksheet(filled.content, separator)

    assert moodle.people[6].grade == 87.5
    assert filled.content.count(newline.encode()) == 2
    assert not filled.content.startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize(
    "cents, max_cents, maximum, text",
    [
        (3333, 10000, "100.00", "33.33"),
        (1, 3, "100.00", "33.33333"),
        (2, 3, "100.00", "66.66667"),
        (8750, 10000, "10.00", "8.75"),
        (8750, 10000, "7.5", "6.5625"),
        (10000, 10000, "30,00", "30"),
        (1, 200000, "10", "0.00005"),
        (1, 400000, "1", "0"),
        (0, 10000, "100", "0"),
    ],
)
def test_points_are_scaled_with_five_decimals(
    tmp_path: Path, cents: int, max_cents: int, maximum: str, text: str
) -> None:
    """Scaled exactly to the row's maximum, rounded once, with a dot."""
    sheet = HW1.replace(b",100.00,", f',"{maximum}",'.encode())
    one = grade(tmp_path, "Alice Example", cents, number="6", max_cents=max_cents)

    assert table(fill_worksheet(sheet, book(one)).content)[1][4] == text


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_dot_is_read_in_every_language(decimal: str) -> None:
    """The import reads ours alike whatever its decimal sign; a comma would be cut on an English site."""
    moodle = Moodle({}, decimal=decimal)

    assert moodle.parse("72.5") == 72.5
    assert Moodle({}).parse("72,5") == 72


def test_what_is_not_graded_never_becomes_0(tmp_path: Path) -> None:
    """Moodle keeps what it has for them, also a comment, and they are named with the reason."""
    moodle = assignment(range(1, 10), lambda number: Record(grade=50.0, comment="<b>stays</b>"))
    filled = fill_worksheet(HW1, book(ungraded("Alice Example", "6"), grade(tmp_path, "Late Comer", number="7")))
    moodle.upload_worksheet(filled.content, ignore_modified=True)

    assert (moodle.people[6].grade, moodle.people[6].comment) == (50.0, "<b>stays</b>")
    assert filled.unplaced == ("Alice Example (participant 6): not graded (the worker stopped), so nothing is sent.",)
    assert len(table(filled.content)) == 2


def test_stored_comments_survive_in_rows_without_our_grade(tmp_path: Path) -> None:
    """A downloaded comment has lost its formatting, so such a row doesn't go back."""
    stored = Record(
        grade=87.5, changed=timestamp("Monday, 30 November 2026, 2:45 AM"), comment="<p>Good <b>work</b></p>"
    )
    moodle = assignment(range(1, 10), lambda number: dataclasses.replace(stored))
    moodle.upload_worksheet(fill_worksheet(AFTER, book(grade(tmp_path, "Late Comer", number="7"))).content)

    assert {number for number, record in moodle.people.items() if record.comment != stored.comment} == {7}


def test_without_comments_none_is_touched(tmp_path: Path) -> None:
    """The column of comments is left out: an empty cell would delete the stored one."""
    moodle = assignment(range(1, 10), lambda number: Record(grade=1.0, comment="<i>kept</i>"))
    filled = fill_worksheet(AFTER, book(*whole_class(tmp_path)), comments=False)
    moodle.upload_worksheet(filled.content)

    assert {record.comment for record in moodle.people.values()} == {"<i>kept</i>"}
    assert moodle.people[6].grade == 87.5
    assert table(filled.content)[0] == table(AFTER)[0][:-1]


def test_a_grade_without_a_report_still_has_a_comment(tmp_path: Path) -> None:
    """The cell is never empty: our own points stand in."""
    one = dataclasses.replace(grade(tmp_path, "Alice Example", number="6"), reports=None)

    assert table(fill_worksheet(AFTER, book(one)).content)[1][-1] == ("<p>87.5 of 100 points<br>shape: 87.5 of 100</p>")


@pytest.mark.parametrize(
    "column, text, why",
    [
        ("Grade can be changed", "No", "locked or overridden"),
        ("Maximum grade", "0.00", 'set "Type"'),
        ("Maximum grade", "many", "isn't a number"),
        ("Full name", "Somebody Else", "the sheet calls participant 6 Somebody Else"),
    ],
)
def test_rows_that_moodle_would_spoil_are_left_out(tmp_path: Path, column: str, text: str, why: str) -> None:
    """They aren't in the file; the plan and the list of the unplaced say why."""
    filled = fill_worksheet(sheet_with(HW1, 6, column, text), book(grade(tmp_path, "Alice Example", number="6")))

    assert len(table(filled.content)) == 1
    assert [row.will for row in filled.plan if row.identifier == "Participant 6"] == ["skip"]
    assert len(filled.unplaced) == 1
    assert why in filled.unplaced[0]


def test_a_locked_grade_would_be_kept_and_its_comment_replaced(tmp_path: Path) -> None:
    """Why such a row is left out: the import takes the comment all the same."""
    content = fill_worksheet(HW1, book(grade(tmp_path, "Alice Example", number="6"))).content
    moodle = Moodle({6: Record(grade=10.0, locked=True)})
    moodle.upload_worksheet(content, ignore_modified=True)

    assert moodle.people[6].grade == 10
    assert moodle.people[6].comment


def test_more_than_the_maximum_is_left_out(tmp_path: Path) -> None:
    """Moodle would drop the grade and store its comment."""
    filled = fill_worksheet(HW1, book(grade(tmp_path, "Alice Example", 10100, number="6")))

    assert len(table(filled.content)) == 1
    assert "101 of 100 points is outside the range" in filled.unplaced[0]


@pytest.mark.parametrize(
    "graded, modified, taken",
    [
        ("", "-", True),
        ("50.00", "-", False),
        ("50.00", "Monday, 30 November 2026, 2:45 AM", True),
        ("", "Monday, 30 November 2026, 2:45 AM", True),
        ("50.00", "Montag, 30. November 2026, 02:45", False),
        ("50.00", "lundi 30 novembre 2026, 02:45", False),
    ],
)
def test_the_plan_knows_what_moodle_takes_for_stale(tmp_path: Path, graded: str, modified: str, taken: bool) -> None:
    """The plan says skip where the import passes a graded row over, and the row is there for whoever ticks the box."""
    sheet = sheet_with(sheet_with(HW1, 6, "Grade", graded), 6, "Last modified (grade)", modified)
    ours = book(grade(tmp_path, "Alice Example", number="6"))
    changed = timestamp("Monday, 30 November 2026, 2:45 AM") + 37
    for ticked in (False, True):
        moodle = Moodle({6: Record(grade=50.0, changed=changed) if graded or modified != "-" else Record()})
        filled = fill_worksheet(sheet, ours, update_modified=ticked)
        moodle.upload_worksheet(filled.content, ignore_modified=ticked)
        assert (filled.plan[0].will != "skip") == (taken or ticked)
        assert (moodle.people[6].grade == 87.5) == (taken or ticked)


def test_a_newer_download_shows_who_was_graded_meanwhile(tmp_path: Path) -> None:
    """With the sheet of now, the plan names each row that was changed since."""
    rows = plan_worksheet(HW1, book(*whole_class(tmp_path)), latest=AFTER)

    assert [row.will for row in rows] == ["skip"] * 9
    assert rows[0].written
    assert "on Monday, 30 November 2026, 2:45 AM, after this sheet was downloaded" in rows[0].why


def test_a_replaced_comment_is_a_loss_that_is_named(tmp_path: Path) -> None:
    """Somebody else's comment is replaced by ours; our own of an earlier run isn't a loss."""
    one = grade(tmp_path, "Alice Example", number="6")
    ours = re.sub("<[^>]*>", "", comment_html(one)).replace("&#34;", '"').replace("&#92;", "\\")
    sheets = AFTER, sheet_with(AFTER, 6, "Feedback comments", ours)

    assert [plan_worksheet(sheet, book(one))[0].will for sheet in sheets] == ["cut", "fill"]
    assert "Participant 6 Alice Example: the comment that Moodle has is replaced" in plan_text(
        plan_worksheet(AFTER, book(one))
    )


def test_who_has_no_row_is_named(tmp_path: Path) -> None:
    """Unknown numbers, and attempts of another source, are in the plan."""
    lost = [grade(tmp_path, "Eve", number="77"), grade(tmp_path, "Dan")]
    filled = fill_worksheet(HW1, book(*lost))

    assert [(row.identifier, row.will) for row in filled.plan[-2:]] == [("", "skip")] * 2
    assert "no row of the sheet is of participant 77" in filled.unplaced[0]
    assert filled.unplaced[1].startswith("Dan: the source gives no participant's number")


def test_two_attempts_never_share_a_row(tmp_path: Path) -> None:
    """The first is written, the second is named."""
    both = [grade(tmp_path, "Alice Example", cents, number="6") for cents in (100, 200)]
    filled = fill_worksheet(HW1, book(*both))

    assert table(filled.content)[1][4] == "1"
    assert "another attempt has Participant 6 already" in filled.unplaced[0]


def test_a_backslash_before_a_quote_doesn_t_spoil_the_import(tmp_path: Path) -> None:
    """Moodle writes it plainly and reads it as an escape; where the import doesn't look, the cell is emptied."""
    sheet = sheet_with(HW1, 6, "Online text", 'he said \\"no\\"')
    filled = fill_worksheet(sheet, book(grade(tmp_path, "Alice Example", number="6")))
    moodle = assignment(range(1, 10))
    moodle.upload_worksheet(filled.content)

    assert moodle.people[6].grade == 87.5
    with pytest.raises(ImportRefused):
        moodle.upload_worksheet(sheet)


def test_comments_stand_on_one_line_and_keep_their_line_ends(tmp_path: Path) -> None:
    """Line ends become what HTML shows, and nothing else of the fragment changes."""
    text = comment_html(grade(tmp_path, "Alice", number="6"))

    assert "<pre>first<br>  second</pre>" in text
    assert "&#34;a, b; c&#34; and back&#92;slash and =1+1" in text
    assert not set("\r\n\\") & set(text)


@pytest.mark.parametrize("name", ["failing", "full", "one", "not_graded"])
def test_a_real_comment_survives_the_import(tmp_path: Path, name: str) -> None:
    """What Moodle stores of a fragment is what was written, but for line ends between tags."""
    fragment = (DATA.parents[1] / "golden" / "render" / f"{name}.fragment.html").read_text(encoding="utf-8")
    one = grade(tmp_path, "Alice Example", number="6")
    assert one.reports is not None
    (one.reports / "fragment.html").write_text(fragment, encoding="utf-8")
    moodle = assignment(range(1, 10))
    moodle.upload_worksheet(fill_worksheet(HW1, book(one)).content)
    stored = moodle.people[6].comment.replace("&#92;", "\\").replace("<br>", "\n")

    assert re.sub(r"\s+", "", stored) == re.sub(r"\s+", "", fragment)
    assert re.findall(r"<pre>.*?</pre>", stored, re.S) == re.findall(r"<pre>.*?</pre>", fragment, re.S)


def test_links_aren_t_followed(tmp_path: Path) -> None:
    """A link in a report's place sends nothing of what it points to."""
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    (tmp_path / "reports").mkdir()
    one = grade(tmp_path / "reports", "Alice", number="6")
    assert one.reports is not None
    (one.reports / "fragment.html").unlink()
    (one.reports / "fragment.html").symlink_to(secret)
    linked = tmp_path / "linked"
    linked.symlink_to(one.reports)

    assert "secret" not in comment_html(one)
    assert "Report of" not in comment_html(dataclasses.replace(one, reports=linked))


NASTY = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30)


@given(names=st.lists(NASTY, min_size=1, max_size=4), separator=st.sampled_from(",;\t"))
def test_any_name_survives_a_round_trip(names: list[str], separator: str) -> None:
    """Quotes, separators, line ends, formula characters and emoji of others' cells come back as they went."""
    rows = [["Identifier", "Full name", "Status", "Grade", "Maximum grade", "Last modified (grade)"]]
    rows += [[f"Participant {index}", name, "x", "", "10", "-"] for index, name in enumerate(names)]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    grades = [
        Grade(
            attempt=Attempt(key=name, learners=(Learner(name="", ids=(("participant", str(index)),)),), files=()),
            status="graded",
            cents=50,
            max_cents=100,
        )
        for index, name in enumerate(names)
    ]
    filled = fill_worksheet(out.getvalue().encode(), book(*grades))
    back = table(filled.content, separator)

    assert [row[3] for row in back[1:]] == ["5"] * len(names)
    assert [row[1] for row in back[1:]] == [
        name if '\\"' not in f'{name}"'.replace('"', '""') else "" for name in names
    ]
