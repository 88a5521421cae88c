"""What a folder of hand-ins holds, and the names that we make."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from grader.batch import folder as folder_module
from grader.batch.folder import folder_name, list_folder
from grader.errors import UsageError

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


def test_digits_that_agree_by_chance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files never share a folder."""
    made = folder_name
    monkeypatch.setattr(folder_module, "folder_name", lambda name, attempt=0: made("same.py", attempt))
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).touch()

    assert len({entry.folder for entry in list_folder(tmp_path).entries}) == 3


def test_what_is_graded(tmp_path: Path) -> None:
    """Files with the two suffixes, by name; what isn't an ordinary file has its reason, all else is left alone."""
    for name in ("b.py", "a.PY", "c.ipynb", "notes.txt", ".hidden.py", "._c.ipynb"):
        (tmp_path / name).touch()
    (tmp_path / "d.py").mkdir()
    (tmp_path / "e.py").symlink_to(tmp_path / "b.py")
    os.mkfifo(tmp_path / "f.py")
    found = list_folder(tmp_path)

    assert [(entry.path.name, entry.trouble[:8]) for entry in found.entries] == [
        ("a.PY", ""), ("b.py", ""), ("c.ipynb", ""), ("e.py", "it is a "), ("f.py", "it is no"),
    ]  # fmt: skip
    assert found.others == 2


@pytest.mark.parametrize("name, said", [("nowhere", "no folder"), ("file", "is a file"), ("empty", "no .py or .ipynb")])
def test_no_such_folder(name: str, said: str, tmp_path: Path) -> None:
    """Wrong usage says what is wrong."""
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=said):
        list_folder(tmp_path / name)
