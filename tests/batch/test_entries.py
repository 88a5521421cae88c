"""What a source hands over becomes entries: which file, which folder, which number."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from grader.batch import entries as entries_module
from grader.batch.entries import entries_of, folder_name, title_of
from grader.errors import UsageError
from grader.model.attempt import Attempt, HandedFile, Learner
from grader.store.journal import Journal, Kept

SAFE = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?-[0-9a-f]{6}")
NAMES = [
    "submission.py", "Ada Lovelace (1).ipynb", "été.py", "学生.py", "a" * 200 + ".py", "-rf.py", "CON.py", "a.b.c.py",
    "~.py", "$(reboot).py", "a\nb.py", "\x1b[31m.py", os.fsdecode(b"\xff\xfe.py"),
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_result_s_folder_is_named_by_us(name: str) -> None:
    """Whatever a file is called, its folder has plain letters, digits and six hex digits."""
    assert SAFE.fullmatch(folder_name(name))


def test_names_that_look_alike_have_folders_of_their_own() -> None:
    """The six digits tell apart what the letters don't."""
    assert len({folder_name(name) for name in ("a.py", "A.py", "a.ipynb", "a .py", "á.py")}) == 5


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Return a new journal."""
    return Journal(tmp_path / "out", new=True)


def handed(folder: Path, key: str, *names: str, name: str = "", trouble: str = "") -> Attempt:
    """Return an attempt whose files hold their own names."""
    files = []
    for file in names:
        path = folder / f"{key}-{file.replace('/', '-')}"
        path.write_text(file, encoding="utf-8")
        files.append(HandedFile(name=file, path=path))
    return Attempt(key=key, learners=(Learner(name=name),), files=tuple(files), trouble=trouble)


def test_digits_that_agree_by_chance(tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two attempts never share a folder."""
    made = folder_name
    monkeypatch.setattr(entries_module, "folder_name", lambda name, attempt=0: made("same.py", attempt))
    attempts = [handed(tmp_path, f"{name}.py", f"{name}.py") for name in "abc"]

    entries = entries_of(attempts, journal, flat=True, expected=(), picks={})
    assert len({entry.folder for entry in entries}) == 3


def test_the_file_and_what_lies_beside_it(tmp_path: Path, journal: Journal) -> None:
    """One file with the right suffix is the submission; data and modules of its folder go with it."""
    attempt = handed(tmp_path, "6", "x/hw.py", "x/helper.csv", "x/picture.png", "data.csv", name="Ada")
    (entry,) = entries_of([attempt], journal, flat=False, expected=(), picks={})

    assert entry.main is not None
    assert (entry.main.name, [file.name for file in entry.companions]) == ("hw.py", ["helper.csv"])
    assert journal.content(entry.main.sha256) == b"x/hw.py"
    assert entry.folder.startswith("ada-6-")
    assert title_of(attempt) == "Ada (6)"


def test_several_files(tmp_path: Path, journal: Journal) -> None:
    """An expected name decides; else the choice stays open, until an instructor picks."""
    known = handed(tmp_path, "1", "a.py", "Submission.py")
    open_ = handed(tmp_path, "2", "a.py", "b.py")
    picks: dict[str, str] = {}
    one, two = entries_of([known, open_], journal, flat=False, expected=("submission.py",), picks=picks)
    assert one.main is not None
    assert one.main.name == "Submission.py"
    assert (two.main, [file.name for file in two.choices]) == (None, ["a.py", "b.py"])

    journal.plan([one, two])
    (_, picked) = entries_of([known, open_], journal, flat=False, expected=("submission.py",), picks={"2": "b.py"})
    assert picked.main is not None
    assert (picked.number, picked.folder, picked.main.name) == (two.number, two.folder, "b.py")
    assert picked.content != two.content


@pytest.mark.parametrize("picks, said", [({"9": "a.py"}, "no such attempt"), ({"1": "c.py"}, "It has: a.py, b.py")])
def test_a_pick_that_fits_nothing(picks: dict[str, str], said: str, tmp_path: Path, journal: Journal) -> None:
    """It is wrong usage, and the sentence says what there is."""
    with pytest.raises(UsageError, match=said):
        entries_of([handed(tmp_path, "1", "a.py", "b.py")], journal, flat=False, expected=(), picks=picks)


@pytest.mark.parametrize(
    "names, trouble, said", [((), "", "no .py"), (("notes.txt",), "", "no .py"), ((), "a link", "a link")]
)
def test_nothing_to_grade(names: tuple[str, ...], trouble: str, said: str, tmp_path: Path, journal: Journal) -> None:
    """An attempt without a file is an entry too, with the reason."""
    (entry,) = entries_of([handed(tmp_path, "1", *names, trouble=trouble)], journal, flat=False, expected=(), picks={})
    assert said in entry.trouble
    assert (entry.main, entry.content) == (None, "")


def test_what_became_a_link_since(tmp_path: Path, journal: Journal) -> None:
    """No link is followed, however late it appeared."""
    attempt = handed(tmp_path, "1", "a.py")
    attempt.files[0].path.unlink()
    attempt.files[0].path.symlink_to(__file__)
    (entry,) = entries_of([attempt], journal, flat=False, expected=(), picks={})
    assert "can't be read" in entry.trouble


def test_a_file_that_is_too_large(tmp_path: Path, journal: Journal) -> None:
    """It is known by its hash, and isn't kept."""
    attempt = handed(tmp_path, "1", "a.py")
    attempt.files[0].path.write_bytes(b"#" * 5_000_001)
    (entry,) = entries_of([attempt], journal, flat=False, expected=(), picks={})
    assert isinstance(entry.main, Kept)
    assert not entry.main.whole


def test_numbers_stay(tmp_path: Path, journal: Journal) -> None:
    """What was there before keeps number and folder, in whatever order the source is read again."""
    first = entries_of([handed(tmp_path, key, "a.py") for key in "abc"], journal, flat=False, expected=(), picks={})
    journal.plan(first)
    again = entries_of([handed(tmp_path, key, "a.py") for key in "dcba"], journal, flat=False, expected=(), picks={})

    kept = {entry.attempt.key: (entry.number, entry.folder) for entry in first}
    assert {entry.attempt.key: (entry.number, entry.folder) for entry in again if entry.attempt.key != "d"} == kept
    assert again[0].number == 3


def test_a_number_in_a_name_is_no_key(tmp_path: Path) -> None:
    """The key is shown unless it is the very name."""
    assert title_of(handed(tmp_path, "1", "a.py", name="Ada 1st")) == "Ada 1st (1)"
    assert title_of(handed(tmp_path, "ada", "a.py", name="ada")) == "ada"
    assert title_of(handed(tmp_path, "ada.py", "ada.py", name="ada")) == "ada.py"


def test_more_files_than_can_be_looked_at(tmp_path: Path, journal: Journal) -> None:
    """Nothing is graded in place of the one that wasn't looked at: it is asked for."""
    attempt = handed(tmp_path, "6", *(f"{letter}.py" for letter in "abcdefg"))
    (entry,) = entries_of([attempt], journal, flat=False, expected=(), picks={})
    assert "a.py, b.py, c.py, d.py, e.py, or one of 2 more?" in entry.trouble
    (entry,) = entries_of([attempt], journal, flat=False, expected=(), picks={"6": "g.py"})
    assert entry.main is not None
    assert entry.main.name == "g.py"


def test_what_lies_beside_several_files(tmp_path: Path, journal: Journal) -> None:
    """Data is there whichever file turns out to be the submission."""
    attempt = handed(tmp_path, "6", "a.py", "b.py", "data.csv")
    (entry,) = entries_of([attempt], journal, flat=False, expected=(), picks={})
    assert [file.name for file in entry.choices] == ["a.py", "b.py"]
    assert [file.name for file in entry.companions] == ["data.csv"]
