"""Blackboard, Brightspace, Gradescope and nbgrader: what each gives, by its own rules for names."""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import ArchiveError
from grader.lms.sources import read_source
from tests.lms.made import CODE, folder_of, names, read, read_once, receipt, zip_of

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0/\\"), max_size=30)
USERS = st.from_regex(r"[a-z][a-z0-9._]{0,15}[a-z0-9]", fullmatch=True)
TIME, LATER = "2024-05-06-10-00-00", "2024-05-07-09-30-00"


# ---------------------------------------------------------------- Blackboard


@given(USERS, TEXT, TEXT, st.booleans())
def test_blackboard_any_name_reads_back(user: str, person: str, stem: str, told: bool) -> None:
    """The receipt says where assignment and user are cut apart; without one, the other users' names do."""
    file = f"f{stem}.py"
    start = f"HW_1_{user}_attempt_{TIME}"
    entries = {f"{start}_{file}": CODE, f"HW_1_0ther_attempt_{TIME}_a.py": CODE}
    if told:
        # A name with line breaks can't be typed in, one with brackets can.
        entries[f"{start}.txt"] = receipt("".join(person.split()) + "x", user)
        entries[f"HW_1_0ther_attempt_{TIME}.txt"] = receipt("Other", "0ther")
    source = read_once(entries)

    assert (source.kind, source.title) == ("blackboard", "HW_1")
    assert names(source) == {"0ther": ["a.py"], user: [file]}
    assert dict(source.attempts[-1].learners[0].ids) == {"username": user}


def test_blackboard_attempts(tmp_path: Path) -> None:
    """The latest counts and the others are named; stored names become the original ones again."""
    stored = f"HW_1_jo_doe_attempt_{LATER}_subm_3.py"
    source = read(tmp_path, {
        f"HW_1_jo_doe_attempt_{TIME}_old.py": CODE, f"HW_1_jo_doe_attempt_{TIME}.txt": receipt("Jo", "jo_doe"),
        stored: CODE, f"HW_1_jo_doe_attempt_{LATER}.txt": receipt("Jo (JD) Doe", "jo_doe", {stored: "submission.py"}),
        f"HW_1_ann_attempt_{TIME}.txt": receipt("Ann", "ann", typed="f = 1\nName: X (jo_doe)"),
        f"HW_1_ben_attempt_{TIME}.txt": receipt("Ben", "ben"), "readme.md": b"",
    })  # fmt: skip
    found = {attempt.key: attempt for attempt in source.attempts}

    assert names(source) == {"ann": [], "ben": [], "jo_doe": ["submission.py"]}
    assert found["jo_doe"].learners[0].name == "Jo (JD) Doe"
    assert found["jo_doe"].remarks == (f"The attempt of {TIME} doesn't count: there is a later one.",)
    assert (found["jo_doe"].number, found["jo_doe"].submitted[:6]) == (2, "Monday")
    assert "typed into the LMS" in found["ann"].trouble
    assert found["ben"].trouble == "no file was handed in"
    assert len(source.others) == 1


def test_blackboard_a_receipt_that_lies(tmp_path: Path) -> None:
    """A receipt for another name than its entry's isn't believed."""
    source = read(tmp_path, {
        f"HW_eve_attempt_{TIME}_a.py": CODE, f"HW_eve_attempt_{TIME}.txt": receipt("Eve", "ann"),
        f"HW_ann_attempt_{TIME}_a.py": CODE,
    })  # fmt: skip

    assert names(source) == {"ann": ["a.py"], "eve": ["a.py"]}


# ---------------------------------------------------------------- Brightspace


PEOPLE = TEXT.map(lambda text: f"J{text}")


@given(PEOPLE, TEXT, st.booleans())
def test_brightspace_any_name_reads_back(person: str, stem: str, flat: bool) -> None:
    """The first number is the person's; names and files may hold hyphens, digits and years."""
    file = f"f{stem}.py"
    # Without folders a year in a name, between hyphens, can't be told from a date.
    person = person.replace(" - ", " ") if flat else person
    folder = f"152711-351765 - {person} - May 18, 2025 1224 PM"
    source = read_once({f"{folder}{' - ' if flat else '/'}{file}": CODE, "index.html": b""})

    assert source.kind == "brightspace"
    assert names(source) == {"152711": [file]}
    assert (source.attempts[0].label, source.attempts[0].learners[0].name) == (folder, person)


def test_brightspace_attempts(tmp_path: Path) -> None:
    """The latest folder of a person counts, by date where dates can be read, else by the archive's order."""
    source = read(tmp_path, {
        "7-1 - John Doe - May 18, 2025 1224 PM/a.py": b"noon", "7-2 - John Doe - May 18, 2025 1224 AM/a.py": b"night",
        "7-3 - John Doe - Dec 31, 2024 1159 PM/a.py": b"last year",
        "8-1 - Zoé - 18 mai 2025 12 24/a.py": b"first", "8-2 - Zoé - 2 août 2025 01 00/a.py": b"second",
        "9-1 - John Doe - May 18, 2025 900 AM/b.py": CODE,
    })  # fmt: skip

    assert [attempt.files[0].path.read_bytes() for attempt in source.attempts] == [b"noon", b"second", CODE]
    assert [len(attempt.remarks) for attempt in source.attempts] == [2, 2, 0]
    assert "dates can't be read" in source.attempts[1].remarks[0]
    assert source.attempts[0].number == 3


def test_brightspace_title(tmp_path: Path) -> None:
    """The archive is called like the assignment."""
    path = zip_of(tmp_path / "HW 1 Download May 20, 2025 905 AM.zip", {"7-1 - J - May 18, 2025 1224 PM/a.py": CODE})

    assert read_source(path, tmp_path / "into").title == "HW 1"


# ---------------------------------------------------------------- Gradescope

SHEET = b"""---
submission_11:
  :submitters:
  - :name: "Jane: #1 Doe"
    :sid: 00123
    :email: &mail jane@example.edu
  - :name: Ben
    :sid:
    :email: ben@example.edu
  :created_at: 2025-05-18 12:24:00.000000000 Z
  :score: 3.0
  :results:
    stdout: "huge"
    :submitters: [nobody]
  :history:
  - :created_at: 2025-05-17 12:24:00 Z
    :submitters: []
submission_12:
  :submitters:
  - !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    :name: Roe
    :email: *mail
  :created_at: !ruby/object:Time 2025-05-19
"""


def export(**more: bytes) -> dict[str, bytes]:
    """Return the entries of an export."""
    start = "assignment_5_export"
    return {f"{start}/submission_metadata.yml": SHEET, f"{start}/submission_11/sub/a.py": CODE,
            f"{start}/submission_13/b.py": CODE, **more}  # fmt: skip


def test_gradescope(tmp_path: Path) -> None:
    """Submitters come from the sheet, as texts; what has no folder or no row isn't lost."""
    source = read(tmp_path, export())
    jane, roe, stray = source.attempts

    assert (source.kind, names(source)) == ("gradescope", {"11": ["sub/a.py"], "12": [], "13": ["b.py"]})
    assert [(who.name, dict(who.ids)) for who in jane.learners] == [
        ("Jane: #1 Doe", {"email": "jane@example.edu", "sid": "00123"}), ("Ben", {"email": "ben@example.edu"}),
    ]  # fmt: skip
    assert jane.submitted == "2025-05-18 12:24:00.000000000 Z"
    assert roe.learners[0].id("email") == "jane@example.edu"
    assert roe.trouble == "no file was handed in"
    assert "doesn't say whose" in stray.remarks[0]


BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (97 + n, 97 + n, b",".join([b"*%c" % (96 + n)] * 9)) for n in range(1, 20)
)
MERGES = b"".join(
    b"m%d: &m%d {<<: [%s]}\n" % (n, n, b",".join([b"*m%d" % (n - 1)] * 9 if n else [b"{}"])) for n in range(20)
)


@pytest.mark.parametrize(
    "more", [BOMB, MERGES, b"submission_9: &l\n  :submitters: *l\n", b"? [1, [2]]\n: x\n", b"x: *none\n"]
)
def test_gradescope_a_sheet_that_would_grow(more: bytes, tmp_path: Path) -> None:
    """Aliases, merges and loops cost nothing: what is written once is there once."""
    bomb = export() | {"assignment_5_export/submission_metadata.yml": SHEET + more}

    assert names(read(tmp_path, bomb))["11"] == ["sub/a.py"]


@pytest.mark.parametrize("sheet", [b"", b"- a\n", b"a: [", b"a: b\n- c", b"\xff\xfe\0\xd8", b"[" * 5000, b"x", b"%X\n"])
def test_gradescope_no_sheet(sheet: bytes, tmp_path: Path) -> None:
    """What is no such sheet is one sentence."""
    with pytest.raises(ArchiveError, match=r"^submission_metadata.yml can't be read: "):
        read(tmp_path, export() | {"assignment_5_export/submission_metadata.yml": sheet})


def test_gradescope_without_pyyaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML belongs to an extra, and where it is missing the message says which."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ArchiveError, match=r"needs the package PyYAML\..*\[lms\]"):
        read(tmp_path, export())


# ---------------------------------------------------------------- nbgrader


COURSE = {
    "nbgrader_config.py": b"", "source/ps1/p1.ipynb": b"", "autograded/bitdiddle/ps1/p1.ipynb": b"",
    "submitted/bitdiddle/ps1/p1.ipynb": CODE, "submitted/bitdiddle/ps1/timestamp.txt": b"2025-05-18 12:24:00 UTC\n",
    "submitted/bitdiddle/ps1/.ipynb_checkpoints/p1-checkpoint.ipynb": b"",
    "submitted/h.acker_1/ps1/p1.ipynb": CODE, "submitted/h.acker_1/ps1/sub/util.py": CODE,
}  # fmt: skip


@pytest.mark.parametrize("form", ["folder", "submitted", "zip", "tar.gz", "tar", "tgz"])
def test_nbgrader(form: str, tmp_path: Path) -> None:
    """The course's folder, its tree of submissions and an archive of it give the same."""
    path = folder_of(tmp_path / "course", COURSE)
    if form == "submitted":
        path /= "submitted"
    elif form == "zip":
        path = zip_of(tmp_path / "c.zip", {f"course/{name}": content for name, content in COURSE.items()})
    elif form != "folder":
        with tarfile.open(tmp_path / f"c.{form}", "w:gz" if "gz" in form else "w") as archive:
            archive.add(path, "./course")
        path = tmp_path / f"c.{form}"
    source = read_source(path, tmp_path / "into")

    assert (source.kind, source.title, source.others) == ("nbgrader", "ps1", ())
    assert names(source) == {"bitdiddle": ["p1.ipynb"], "h.acker_1": ["p1.ipynb", "sub/util.py"]}
    assert source.attempts[0].submitted == "2025-05-18 12:24:00 UTC"
    assert source.attempts[0].files[0].path.read_bytes() == CODE


def test_nbgrader_several_assignments(tmp_path: Path) -> None:
    """One has to be named, and a student without it has handed in nothing."""
    entries = COURSE | {"submitted/bitdiddle/ps2/p1.ipynb": CODE}

    assert names(read(tmp_path, entries, assignment="ps2")) == {"bitdiddle": ["p1.ipynb"]}
    with pytest.raises(ArchiveError, match="several assignments: ps1, ps2"):
        read(tmp_path, entries, assignment="attention")


def test_nbgrader_inbound(tmp_path: Path) -> None:
    """The exchange keeps all that was submitted; the latest counts."""
    early, late = "ann+ps1+2025-05-18 12:24:00.000000 UTC+Ab3", "ann+ps1+2025-05-19 12:24:00.000000 UTC"
    source = read_source(
        folder_of(tmp_path / "inbound", {f"{late}/p1.ipynb": CODE, f"{early}/p1.ipynb": b"", f"{early}/x.py": b""}),
        tmp_path / "into",
    )
    (attempt,) = source.attempts

    assert (source.kind, attempt.key, [file.name for file in attempt.files]) == ("nbgrader", "ann", ["p1.ipynb"])
    assert (attempt.label, attempt.number, len(attempt.remarks)) == (late, 2, 1)
