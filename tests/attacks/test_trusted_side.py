"""The grader's own hands: names and places that a submission chose, where files are read and reports written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.run.removal import remove_tree
from grader.store.files import write_file
from tests.attacks.world import ROOT

PLAIN = "def softmax(x, axis=-1):\n    return x\n"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
NAMES = [
    "a\x1b[2J\x1b]0;x\x07.py", "a\nHARM 100 of 100\n.py", "\u202egnp.py", "<script>alert(1)<script>.py", "{{7*7}}.py",
    "=cmd|' -C calc'!A0.py", "-rf.py", "'; DROP TABLE x;--.py", "a" * 200 + ".py", " .py",
]  # fmt: skip


def grade(path: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Grade a file as one does at a prompt."""
    words = [sys.executable, "-m", "grader", path]
    return subprocess.run(
        words, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=120, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_file_name_is_only_a_name(name: str, tmp_path: Path) -> None:
    """It is graded, its report lies beside it, and neither terminal nor page obeys it."""
    (tmp_path / name).write_text(PLAIN)

    done = grade(f"./{name}", tmp_path)

    text = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == 0, text
    assert CONTROL.search(text) is None
    assert not any(line.startswith("HARM") for line in text.splitlines())
    made = [path.name for path in tmp_path.iterdir() if path.name != name]
    assert made == [name.removesuffix(".py") + "-report.html"]
    page = (tmp_path / made[0]).read_text()
    assert "<script" not in page
    assert "{{7*7}}" in page or "7*7" not in name


def test_a_name_that_is_no_text_is_graded(tmp_path: Path) -> None:
    """Bytes that no encoding knows may stand in a file's name."""
    raw = os.fsencode(tmp_path) + b"/a\xff\xfe.py"
    Path(os.fsdecode(raw)).write_text(PLAIN)

    done = grade(os.fsdecode(b"./a\xff\xfe.py"), tmp_path)

    assert done.returncode == 0, done.stderr


def test_a_report_takes_the_place_of_a_link(tmp_path: Path) -> None:
    """Where a link waits for the report, the link is replaced and what it leads to stays as it is."""
    (tmp_path / "mine.py").write_text(PLAIN)
    precious = tmp_path / "precious.txt"
    precious.write_text("kept")
    (tmp_path / "mine-report.html").symlink_to(precious)

    assert grade("mine.py", tmp_path).returncode == 0

    assert precious.read_text() == "kept"
    assert not (tmp_path / "mine-report.html").is_symlink()
    assert "<html" in (tmp_path / "mine-report.html").read_text()


def test_a_report_leaves_another_name_of_a_file_alone(tmp_path: Path) -> None:
    """A file that has two names keeps its content under the other one."""
    precious, report = tmp_path / "precious.txt", tmp_path / "report.html"
    precious.write_text("kept")
    report.hardlink_to(precious)

    write_file(report, "new")

    assert (precious.read_text(), report.read_text()) == ("kept", "new")


def test_links_beside_a_submission_are_not_followed(tmp_path: Path) -> None:
    """A companion that is a link to a secret isn't handed to student code."""
    (tmp_path / "secret").write_text("SECRET-LINK-0123456789abcdef")
    (tmp_path / "data.txt").symlink_to(tmp_path / "secret")
    (tmp_path / "mine.py").write_text("print('read', open('data.txt').read())\n" + PLAIN)

    done = grade("mine.py", tmp_path)

    assert done.returncode == 0
    assert "SECRET-LINK" not in done.stdout.decode() + (tmp_path / "mine-report.html").read_text()


def test_deep_folders_are_removed(tmp_path: Path) -> None:
    """However deep somebody has dug, and whatever links and modes are down there, the folder goes and nothing else."""
    kept, folder = tmp_path / "kept", tmp_path / "scratch"
    kept.mkdir()
    (kept / "file").write_text("kept")
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    for number in range(2_500):
        os.mkdir("deeper", dir_fd=here)
        if number % 100 == 0:
            os.symlink(kept, "link", dir_fd=here)
            os.mkdir(f"closed-{number}", 0o000, dir_fd=here)
        below = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)

    remove_tree(folder)

    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (kept / "file").read_text() == "kept"


@pytest.mark.parametrize("there", ["a file", "a link", "nothing"])
def test_only_folders_are_removed(there: str, tmp_path: Path) -> None:
    """A link or a file in the folder's place is no folder: what it leads to stays."""
    kept, place = tmp_path / "kept", tmp_path / "scratch"
    kept.mkdir()
    (kept / "file").write_text("kept")
    if there == "a link":
        place.symlink_to(kept)
    elif there == "a file":
        place.write_text("x")

    remove_tree(place)

    assert (kept / "file").read_text() == "kept"
