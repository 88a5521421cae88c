"""Canvas's submissions.zip: names by the rules of its content zipper."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.lms.made import CODE, canvas, canvas_name, names, read, read_once

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
FILES = TEXT.map(lambda stem: canvas("", 1, 1, f"{stem}.py").split("_", 3)[3]).filter(lambda name: name[0] != ".")


@given(TEXT, st.integers(1, 10**12), st.integers(1, 10**12), FILES, st.booleans())
def test_any_name_reads_back(person: str, user: int, attachment: int, file: str, late: bool) -> None:
    """Whatever people and files are called, user id, file and lateness come out."""
    # Digits at the end of a name make an entry that Canvas itself would read otherwise; there is a test below.
    assume(not canvas_name(person).rpartition("_")[2].isdecimal() or "_" not in canvas_name(person))
    (attempt,) = read_once({canvas(person, user, attachment, file, late=late): CODE}).attempts

    assert (attempt.key, [found.name for found in attempt.files]) == (str(user), [file])
    assert attempt.late is late
    assert attempt.learners[0].id("canvas") == str(user)


def test_a_class(tmp_path: Path) -> None:
    """Late, handed in again, several files, text, link, accents apart, digits, LATE in a name."""
    late_name = canvas("Late, LATE", 7, 70, "hw.py")
    source = read(tmp_path, {
        canvas("Smith, John", 1, 10, "submission-1.py", late=True): CODE,
        canvas("Smith, John", 2, 20, "submission.py"): CODE,
        canvas("Smith, John", 2, 21, "helper_1_2.py"): CODE,
        "doejane_3_text.html": b"<p>f</p>", "roe_LATE_4_link.html": b"",
        canvas(unicodedata.normalize("NFD", "Müller, Zoë"), 5, 50, "1_softmax.py"): CODE,
        canvas("R2D2, 007", 6, 60, "a b.ipynb"): CODE, late_name: CODE, ".DS_Store": b"",
    })  # fmt: skip
    found = {attempt.key: attempt for attempt in source.attempts}

    assert (source.kind, source.others) == ("canvas", ())
    assert names(source) == {
        "1": ["submission-1.py"], "2": ["helper_1_2.py", "submission.py"], "3": ["text.html"], "4": ["link.html"],
        "5": ["1_softmax.py"], "6": ["a b.ipynb"], "7": ["hw.py"],
    }  # fmt: skip
    assert [key for key, attempt in found.items() if attempt.late] == ["1", "4"]
    assert found["1"].label == "smithjohn_LATE_1_10_submission-1.py"
    assert found["7"].learners[0].name == "latelate"
    assert found["3"].trouble == "the answer is a text typed into the LMS, not a file"
    assert found["4"].trouble == "a link was handed in, not a file"


def test_anonymous(tmp_path: Path) -> None:
    """With anonymous marking an id of letters and digits stands for the learner, and LATE before it."""
    source = read(
        tmp_path, {"anon_aB3xY_10_hw.py": CODE, "LATE_anon_12345_11_hw.py": CODE, "anon_zzzzz_text.html": b""}
    )

    assert names(source) == {"aB3xY": ["hw.py"], "12345": ["hw.py"], "zzzzz": ["text.html"]}
    assert [attempt.late for attempt in source.attempts] == [True, False, False]
    assert source.attempts[0].learners[0].ids == (("canvas_anonymous", "12345"),)
    assert {attempt.learners[0].name for attempt in source.attempts} == {""}


def test_somebody_called_anon(tmp_path: Path) -> None:
    """An ordinary user may be called Anon."""
    source = read(tmp_path, {canvas("Anon", 12345, 10, "hw.py"): CODE, canvas("Roe", 2, 11, "hw.py"): CODE})

    assert names(source) == {"2": ["hw.py"], "12345": ["hw.py"]}


def test_a_name_that_would_take_another_s_place(tmp_path: Path) -> None:
    """Who is called x_1234 doesn't get into the attempt of user 1234, whose own files say who that is."""
    entries = {canvas("x_1234", 5555, 999, "hw.py"): CODE, canvas("Victim", 1234, 777, "hw.py"): b"v = 1"}
    source = read(tmp_path, entries)

    assert names(source) == {"1234": ["hw.py"], "5555": ["hw.py"]}
    assert source.attempts[0].files[0].path.read_bytes() == b"v = 1"


def test_two_names_for_one_id(tmp_path: Path) -> None:
    """Where it can't be told apart, nobody is graded by somebody else's file: an instructor looks."""
    source = read(tmp_path, {
        canvas("x_1234", 5555, 999, "hw.py"): CODE, canvas("Victim", 1234, 777, "1_hw.py"): CODE,
        canvas("Roe", 1, 5, "a.py"): CODE,
    })  # fmt: skip

    assert [(attempt.key, bool(attempt.trouble)) for attempt in source.attempts] == [("1", False), ("1234", True)]
    assert "'x', 'victim'" in source.attempts[1].trouble


@pytest.mark.parametrize("name", ["_".join(["1"] * 500) + ".py", "a" * 1999, "_1" * 900 + "_x.py"])
def test_long_names(name: str, tmp_path: Path) -> None:
    """Names made to take long are read like others."""
    assert read(tmp_path, {f"{name}.py": CODE, "b_1_2_hw.py": CODE}).attempts
