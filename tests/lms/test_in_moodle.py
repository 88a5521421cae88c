"""Moodle's downloads: real ones entry by entry, and names by its rule."""

from __future__ import annotations

import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.lms.sources import read_source
from tests.lms.made import CODE, folder_of, moodle, moodle_file, names, read, read_once, zip_of

DATA = Path(__file__).resolve().parents[1] / "data" / "lms"
TYPED = "onlinetext/onlinetext.html"

# Number in hw1, number in hw2, full name, files with folders, what was typed in.
TABLE = [
    (2, 11, "John Smith", ["submission.py"], False),
    (3, 15, "Zoë Łukasiewicz", ["lösung_final (1).py"], False),
    (4, 18, "Bob OBrien-Smith", ["submission.py"], False),
    (5, 10, "John Smith", ["submission.py"], False),
    (6, 14, "Alice Example", ["notes/read me.txt", "submission.py"], True),
    (7, 16, "Late Comer", ["submission.py"], True),
    (8, 12, "小明 王", ["data_file_v1.csv", "作业.py"], False),
    (9, 13, "Under score Family Name", ["my_sub_mission.py"], False),
]


@pytest.mark.parametrize("sample", ["hw1_folders", "hw1_flat", "hw2_blind_folders", "hw2_blind_flat"])
@pytest.mark.parametrize("unpacked", [False, True], ids=["zip", "folder"])
def test_real_downloads(sample: str, unpacked: bool, tmp_path: Path) -> None:
    """Every entry goes to its participant, under the name that the learner gave, and its bytes are there."""
    path = DATA / f"{sample}.zip"
    with zipfile.ZipFile(path) as archive:
        contents = {info.filename: archive.read(info) for info in archive.infolist()}
    if unpacked:
        path = folder_of(tmp_path / sample, contents)
    blind, flat = "blind" in sample, "flat" in sample
    source = read_source(path, tmp_path / "into")
    expected = {}
    for first, second, name, files, typed in TABLE:
        key = str(second if blind else first)
        # Without folders, Moodle drops the learner's own.
        own = [file.rpartition("/")[2] if flat else file for file in files]
        expected[key] = ("" if blind else name, sorted([*own, *([TYPED] if typed else [])]))

    assert (source.kind, source.others) == ("moodle", ())
    assert {a.key: (a.learners[0].name, sorted(f.name for f in a.files)) for a in source.attempts} == expected
    assert {(a.trouble, a.remarks) for a in source.attempts} == {("", ())}
    for attempt in source.attempts:
        shown = attempt.learners[0].name or "Participant"
        assert attempt.label == f"{shown}_{attempt.key}_assignsubmission_file"
        assert attempt.learners[0].ids == (("participant", attempt.key),)
        for file in attempt.files:
            entry = attempt.label + ("_" if flat else "/") + file.name
            if file.name == TYPED:
                entry = entry.replace("_file_onlinetext/", "_onlinetext_").replace("_file/onlinetext/", "_onlinetext/")
            assert file.path.read_bytes() == contents.pop(entry)
    assert contents == {}


def test_a_feedback_zip_is_no_class(tmp_path: Path) -> None:
    """What goes back to Moodle is read as far as it is named so; the rest is nobody's, and said to be."""
    source = read_source(DATA / "hw1_feedback_upload.zip", tmp_path / "into")

    assert names(source) == {
        "2": ["feedback.html"], "3": ["report/feedback.html"], "6": ["feedback.html"], "7": ["submission.py"],
        "8": ["反馈.html"], "9": ["feedback.html"],
    }  # fmt: skip
    assert [attempt.key for attempt in source.attempts if not attempt.trouble] == ["7"]
    assert [text.split(" is ")[0] for text in source.others] == [
        "'Bob OBrien-Smith_4_assignfeedback_file/feedback.html'", "'John Smith_5/feedback.html'",
    ]  # fmt: skip


def test_read_again_is_the_same(tmp_path: Path) -> None:
    """A run that goes on finds the same files in the same places."""
    first = read_source(DATA / "hw1_folders.zip", tmp_path)
    before = sorted(path for path in tmp_path.rglob("*"))

    assert read_source(DATA / "hw1_folders.zip", tmp_path) == first
    assert sorted(path for path in tmp_path.rglob("*")) == before


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)


@given(TEXT, st.integers(1, 99999), TEXT, st.booleans(), st.booleans())
def test_any_name_reads_back(person: str, number: int, stem: str, flat: bool, old: bool) -> None:
    """Whatever people and files are called, the number is right and the file is there."""
    file = moodle_file(f"{stem}.py")
    source = read_once({moodle(person, number, flat=flat, old=old) + file: CODE,
                        moodle("Other", 100_000, flat=flat, old=old) + "a.py": CODE})  # fmt: skip

    assert source.kind == "moodle"
    assert names(source) == {str(number): [] if file.startswith(".") else [file], "100000": ["a.py"]}


@pytest.mark.parametrize("person", ["Ann_5_assignsubmission_file_b", "LATE", "7", "a-b, c", "Zoë", "", "1_2_3"])
@pytest.mark.parametrize("file", ["x_9_assignsubmission_file_y.py", "smith_1_2_hw.py", "a/b/c.py", "_.py", "7_8.py"])
def test_names_that_look_like_entries(person: str, file: str, tmp_path: Path) -> None:
    """A name that looks like an entry's of this or another platform stays a name."""
    entries = {moodle(person, 12) + file: CODE, moodle(unicodedata.normalize("NFD", "Zoé"), 3) + "b.py": CODE}

    assert names(read(tmp_path, entries)) == {"12": [file], "3": ["b.py"]}


def test_moodle_before_4_1(tmp_path: Path) -> None:
    """Its folders end in one more underscore, which feedback has to carry too."""
    (attempt,) = read(tmp_path, {moodle("Ann", 4, old=True) + "a.py": CODE}).attempts

    assert (attempt.label, attempt.files[0].name) == ("Ann_4_assignsubmission_file_", "a.py")


def test_text_answers(tmp_path: Path) -> None:
    """A text alone is no submission, and says so; a text beside a file does no harm."""
    source = read(tmp_path, {
        moodle("Ann", 1, "onlinetext") + "onlinetext.html": b"<p>f = 1</p>",
        moodle("Ben", 2, "onlinetext") + "onlinetext.html": b"<p>see file</p>",
        moodle("Ben", 2) + "onlinetext.html.py": CODE,
    })  # fmt: skip

    assert [attempt.trouble for attempt in source.attempts] == [
        "the answer is a text typed into the LMS, not a file", "",
    ]  # fmt: skip
    assert source.attempts[0].label == "Ann_1_assignsubmission_file"


def test_groups(tmp_path: Path) -> None:
    """A group has its id for a number; the default group has none, and somebody has to know."""
    source = read(tmp_path, {"Red team_31_assignsubmission_file/a.py": CODE,
                             "Default group_assignsubmission_file/a.py": CODE})  # fmt: skip

    assert names(source) == {"31": ["a.py"], "default group": ["a.py"]}
    assert "by hand" in source.attempts[1].remarks[0]


def test_below_one_more_folder(tmp_path: Path) -> None:
    """An archive that was unpacked and packed again has a folder around everything, and macOS leaves its marks."""
    source = read(tmp_path, {
        "HW1/": b"", f"HW1/{moodle('Ann', 1)}a.py": CODE, f"HW1/{moodle('Ben', 2)}a.py": CODE,
        "HW1/.DS_Store": b"", f"__MACOSX/HW1/{moodle('Ann', 1)}._a.py": b"\0\5",
        f"HW1/{moodle('Ben', 2)}__pycache__/a.cpython-311.pyc": b"",
        f"HW1/{moodle('Ben', 2)}.ipynb_checkpoints/a.py": b"",
    })  # fmt: skip

    assert names(source) == {"1": ["a.py"], "2": ["a.py"]}
    assert source.others == ()


def test_the_title(tmp_path: Path) -> None:
    """The archive's name holds course and assignment, behind them the module's number."""
    path = zip_of(tmp_path / "CS1-HW1 backprop_v2-42.zip", {moodle("Ann", 1) + "a.py": CODE})

    assert read_source(path, tmp_path / "into").title == "CS1-HW1 backprop_v2"


def test_the_same_name_twice(tmp_path: Path) -> None:
    """Of two entries with one name the last counts, and it says so; names that differ in form are both there."""
    composed, apart = "é.py", unicodedata.normalize("NFD", "é.py")
    start = moodle("Ann", 1)
    (attempt,) = read(tmp_path, [
        (start + "a.py", b"first"), (start + "A.py", b"capital"), (start + "a.py", b"last"),
        (start + composed, b"composed"), (start + apart, b"apart"),
    ]).attempts  # fmt: skip

    assert {file.name: file.path.read_bytes() for file in attempt.files} == {
        "a.py": b"last", "A.py": b"capital", composed: b"composed", apart: b"apart",
    }  # fmt: skip
    assert len({file.path.name.lower() for file in attempt.files}) == 4
    assert [text.split(" ", 1)[1] for text in attempt.remarks] == [
        "is there more than once; the last one counts.",
        "and 'a.py' differ in capitals or accents only.",
        f"and '{composed}' differ in capitals or accents only.",
    ]
