"""Folders without a platform, which platform it is, and which file is the submission."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import ArchiveError, UsageError
from grader.lms.chosen import candidates
from grader.lms.sources import KINDS, read_source
from grader.model.attempt import Attempt, HandedFile
from tests.cli.shell import LINUX, ROOT, without_powers
from tests.lms.made import CODE, canvas, folder_of, moodle, names, receipt, zip_of
from tests.lms.test_in_others import COURSE, SHEET

TIME = "2024-05-06-10-00-00"
SAMPLES: dict[str, dict[str, bytes]] = {
    "moodle": {moodle("Ann", 1) + "1_2_a.py": CODE, moodle("Ben", 2, flat=True) + "smith_1_2_b.py": CODE},
    "canvas": {canvas("Smith, J", 1, 2, "x_attempt_.py"): CODE, "roe_3_text.html": b""},
    "blackboard": {f"HW_1_2_ann_attempt_{TIME}_3_4_a.py": CODE, f"HW_1_2_ann_attempt_{TIME}.txt": receipt("A", "ann")},
    "brightspace": {"7-1 - J - May 18, 2025 1224 PM/j_1_2_a.py": CODE, "index.html": b""},
    "gradescope": {"submission_metadata.yml": SHEET, "submission_11/j_1_2_a.py": CODE},
    "nbgrader": COURSE,
    "folders": {"ann/j_1_2_a.py": CODE, "ben/b.py": CODE, "notes.txt": b""},
    "folder": {"ann.py": CODE, "ben_1.ipynb": CODE, "notes.txt": b""},
}


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize("kind", SAMPLES)
def test_each_platform_is_recognised(kind: str, form: str, tmp_path: Path) -> None:
    """No platform's files are taken for another's, packed or unpacked."""
    path = tmp_path / "x.zip"
    path = folder_of(tmp_path / "x", SAMPLES[kind]) if form == "folder" else zip_of(path, SAMPLES[kind])

    assert read_source(path, tmp_path / "into").kind == kind
    assert read_source(path, tmp_path / "into", kind=kind).kind == kind


def test_every_kind_has_a_sample() -> None:
    """A platform that is added is told apart from the others here."""
    assert set(SAMPLES) == set(KINDS)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"folder", "folders", "nbgrader"}))
def test_a_platform_that_it_is_not(kind: str, tmp_path: Path) -> None:
    """Forcing a platform on something else is one sentence."""
    with pytest.raises(ArchiveError, match=r"is named as .* names it"):
        read_source(folder_of(tmp_path / "x", {"a/b/c.py": CODE}), tmp_path / "into", kind=kind)


def test_an_unknown_kind(tmp_path: Path) -> None:
    """So is a kind that there isn't."""
    with pytest.raises(UsageError, match="Use one of: auto, gradescope"):
        read_source(tmp_path, tmp_path / "into", kind="sakai")


def test_nbgrader_without_time_stamps(tmp_path: Path) -> None:
    """It could be anybody's tree, so it is nbgrader's if somebody says so."""
    path = folder_of(tmp_path / "x", {"ann/ps1/a.py": CODE, "ben/ps1/a.py": CODE})

    assert names(read_source(path, tmp_path / "into")) == {"ann": ["ps1/a.py"], "ben": ["ps1/a.py"]}
    assert names(read_source(path, tmp_path / "into", kind="nbgrader")) == {"ann": ["a.py"], "ben": ["a.py"]}


def test_a_flat_folder(tmp_path: Path) -> None:
    """Each file is an attempt of its own and stays where it is; what isn't a file is never opened."""
    path = folder_of(tmp_path / "x", {"b.py": CODE, "a.IPYNB": CODE, "notes.txt": b"", ".h.py": b"", "Thumbs.db": b""})
    (path / "link.py").symlink_to(path / "b.py")
    (path / "out").symlink_to("/etc")
    os.mkfifo(path / "pipe.py")
    (path / "big.py").write_bytes(bytes(5_000_001))
    source = read_source(path, tmp_path / "into")

    assert {attempt.key: attempt.trouble.partition(": ")[2] for attempt in source.attempts} == {
        "a.IPYNB": "", "b.py": "", "big.py": "it is larger than 5 MB", "pipe.py": "it is not an ordinary file",
        "link.py": "it is a symbolic link, and links aren't followed",
    }  # fmt: skip
    assert source.attempts[1].files == (HandedFile(name="b.py", path=path / "b.py"),)
    assert source.attempts[1].learners[0].name == "b"
    assert sorted(source.others) == [
        "'notes.txt' is no .py or .ipynb file.",
        "'out' can't be used: it is a symbolic link, and links aren't followed.",
    ]
    assert not (tmp_path / "into").exists()


def test_a_folder_for_each_learner(tmp_path: Path) -> None:
    """An empty folder is somebody without a file, not nobody; what tools leave behind isn't handed in."""
    packed = zip_of(tmp_path / "w.zip", {"w.py": CODE})
    path = folder_of(tmp_path / "x", {
        "ann/a.py": CODE, "ann/sub/b.py": CODE, "ann/.git/c.py": b"", "ann/myenv/pyvenv.cfg": b"",
        "ann/myenv/d.py": b"",
        "ben/b.pdf": b"", "late.py": CODE, ".git/e.py": b"", "dee/w.zip": packed.read_bytes(),
    })  # fmt: skip
    (path / "cy").mkdir()
    source = read_source(path, tmp_path / "into")

    assert source.kind == "folders"
    assert names(source) == {"ann": ["a.py", "sub/b.py"], "ben": ["b.pdf"], "cy": [], "dee": ["w.zip/w.py"],
                             "late.py": ["late.py"]}  # fmt: skip
    assert {attempt.key: attempt.trouble for attempt in source.attempts if attempt.trouble} == {
        "ben": "no .py or .ipynb file was handed in, only 'b.pdf'", "cy": "no file was handed in",
    }  # fmt: skip
    assert names(read_source(path, tmp_path / "into", kind="folder")) == {"late.py": ["late.py"]}


READ = """\
import json, sys
from pathlib import Path
from grader.lms.sources import read_source
source = read_source(Path(sys.argv[1]), Path(sys.argv[2]))
print(json.dumps({"troubles": {one.key: one.trouble for one in source.attempts}, "others": source.others}))
"""


@LINUX
@pytest.mark.parametrize("around", ["", "hw/"])
def test_folders_that_can_t_be_read(around: str, tmp_path: Path) -> None:
    """Whose folder is closed hasn't handed in nothing, and a link to a folder is named as what it is."""
    path = folder_of(tmp_path / "x", {f"{around}{name}/a.py": CODE for name in ("ann", "ben", "cy")})
    (path / around / "dee").symlink_to("/etc")
    (path / around / "ben").chmod(0)
    words = [sys.executable, "-c", READ, str(path), str(tmp_path / "into")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, preexec_fn=without_powers, check=True)
    (path / around / "ben").chmod(0o700)

    found = json.loads(done.stdout)
    assert found["troubles"] == {"ann": "", "ben": "this folder can't be read (Permission denied)", "cy": ""}
    assert found["others"] == [
        f"'{around}ben' can't be read (Permission denied).",
        "'dee' can't be used: it is a symbolic link, and links aren't followed.",
    ]


@pytest.mark.parametrize("entries, expected", [
    ({"hw/ann/a.py": CODE, "hw/ben/a.py": CODE}, {"ann": ["a.py"], "ben": ["a.py"]}),
    ({"ann/a.py": CODE, "ann/b.py": CODE}, {"ann": ["a.py", "b.py"]}),
    ({"a.py": CODE}, {"a.py": ["a.py"]}),
])  # fmt: skip
def test_a_folder_around_everything(entries: dict[str, bytes], expected: dict[str, list[str]], tmp_path: Path) -> None:
    """One folder is one learner's, unless there is a class inside."""
    assert names(read_source(folder_of(tmp_path / "x", entries), tmp_path / "into")) == expected


@pytest.mark.parametrize("entries", [{}, {"notes.txt": b""}, {"a/notes.txt": b""}, {"__pycache__/a.py": b""}])
def test_a_folder_with_nothing_to_grade(entries: dict[str, bytes], tmp_path: Path) -> None:
    """That is wrong usage."""
    with pytest.raises(UsageError, match=r"^There is no \.py or \.ipynb file in '"):
        read_source(folder_of(tmp_path / "x", entries), tmp_path / "into")


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """A name of any bytes becomes text that can be stored."""
    path = folder_of(tmp_path / "x", {"a.py": CODE})
    (path / os.fsdecode(b"\xff.py")).write_bytes(CODE)
    source = read_source(path, tmp_path / "into")

    assert [attempt.key.encode() for attempt in source.attempts] == [b"\\xff.py", b"a.py"]
    assert source.attempts[0].files[0].path.read_bytes() == CODE


# ---------------------------------------------------------------- which file is it

EXPECTED = ("submission.py", "attention.ipynb", "é.py")


@pytest.mark.parametrize("files, chosen", [
    ([], []),
    (["notes.txt"], []),
    (["anything.py", "data.csv"], ["anything.py"]),
    (["b.py", "submission.py"], ["submission.py"]),
    (["b.py", "SUBMISSION.py"], ["SUBMISSION.py"]),
    (["b.py", "e\u0301.py"], ["e\u0301.py"]),
    (["b.py", "submission-3.py"], ["submission-3.py"]),
    (["b.py", "submission (1).py"], ["submission (1).py"]),
    (["submission-1.py", "submission.py"], ["submission.py"]),
    (["old/submission.py", "submission.py"], ["submission.py"]),
    (["b.py", "hw/submission.py"], ["hw/submission.py"]),
    (["all.zip/submission.py", "b.py"], ["all.zip/submission.py"]),
    (["attention.ipynb", "submission.py"], ["submission.py", "attention.ipynb"]),
    (["z.py", "sub/a.py", "b.ipynb"], ["b.ipynb", "z.py", "sub/a.py"]),
    ([".ipynb_checkpoints/submission.py", "b.py", "__pycache__/c.py", ".d.py", "venv/e.py"], ["b.py"]),
])  # fmt: skip
def test_candidates(files: list[str], chosen: list[str]) -> None:
    """By name; one alone, whatever its name; else all of them, the likeliest first."""
    attempt = Attempt(key="1", learners=(), files=tuple(HandedFile(name=name, path=Path("x")) for name in files))

    assert [file.name for file in candidates(attempt, EXPECTED)] == chosen
