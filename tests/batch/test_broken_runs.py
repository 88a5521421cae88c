"""A run's folder that isn't as it was left: damaged, of another version, with links in it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.batch.course import write_course
from tests.batch.test_resume import everything
from tests.cli.shell import LINUX, Done, grade, one_sentence


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a course, two files and a run of them in it."""
    root = tmp_path_factory.mktemp("graded")
    write_course(root / "course")
    (root / "hand-ins").mkdir()
    for name in ("a", "b"):
        (root / "hand-ins" / f"{name}.py").write_text(f"def say():\n    return 'right'\n# {name}\n", encoding="utf-8")
    assert batch(root, new=True).returncode == 0
    return root


@pytest.fixture
def root(graded: Path, tmp_path: Path) -> Path:
    """Return a copy that may be broken."""
    return Path(shutil.copytree(graded, tmp_path / "root"))


def batch(root: Path, *words: object, new: bool = False) -> Done:
    """Grade the files, or go on."""
    here = ("--course", root / "course", "--isolation", "process", "--jobs", 1, "--out", root / "run")
    return grade("batch", root / "hand-ins", *here, *words, new=new)


def journal(root: Path) -> Path:
    """Return the journal's file."""
    return root / "run" / ".grade" / "journal.sqlite"


def sql(text: str) -> Callable[[Path], None]:
    """Return what changes the journal."""

    def change(root: Path) -> None:
        connection = sqlite3.connect(journal(root))
        connection.executescript(text)
        connection.close()

    return change


DAMAGED: dict[str, tuple[Callable[[Path], object], int, str]] = {
    "no database": (lambda root: journal(root).write_bytes(b"\0garbage" * 500), 4, "is damaged"),
    "cut short": (lambda root: journal(root).write_bytes(journal(root).read_bytes()[:5000]), 4, "is damaged"),
    "a table is gone": (sql("DROP TABLE ended; CREATE TABLE ended (x)"), 4, "journal"),
    "facts of other fields": (sql("UPDATE facts SET value = '{}' WHERE name = 'facts'"), 4, "is damaged"),
    "facts that are no JSON": (sql("UPDATE facts SET value = 'x' WHERE name = 'facts'"), 4, "is damaged"),
    "no revision": (sql("UPDATE facts SET value = 'x' WHERE name = 'revision'"), 4, "is damaged"),
    "exports that are a list": (sql("UPDATE facts SET value = '[1]' WHERE name = 'exported'"), 4, "is damaged"),
    "an entry of other fields": (sql("UPDATE entry SET entry = '{}' WHERE number = 1"), 4, "is damaged"),
    "another version": (sql("PRAGMA user_version = 2"), 2, "another version"),
}


@pytest.mark.parametrize("title", DAMAGED)
def test_a_damaged_journal(title: str, root: Path) -> None:
    """One sentence that says what to do, and no result is touched."""
    damage, code, said = DAMAGED[title]
    damage(root)
    before = everything(root / "run")
    for done in (batch(root, "--resume"), grade("regrade", root / "run")):
        one_sentence(done, code, said)
    results = {name: content for name, content in before.items() if "/" in name}
    assert results.items() <= everything(root / "run").items()


@pytest.mark.parametrize("row", ["x", '["Row", {"number": 0, "odd": 1}]', '["Setup", {}]', "[]"])
def test_a_row_that_can_t_be_read(row: str, root: Path) -> None:
    """Its entry is graded again, with the same bytes."""
    before = everything(root / "run")
    sql(f"UPDATE ended SET row = '{row}' WHERE number = 0")(root)
    done = batch(root, "--resume")
    assert (done.returncode, done.stderr) == (0, "")
    assert everything(root / "run") == before


def _lock(root: Path) -> None:
    (root / "run" / ".grade" / "lock.sqlite").unlink()
    (root / "run" / ".grade" / "lock.sqlite").mkdir()


def _overrides(root: Path) -> None:
    (root / "run" / "overrides.toml").mkdir()


@pytest.mark.parametrize(
    "change, code, said", [(_lock, 4, "lock.sqlite can't be used"), (_overrides, 2, "overrides.toml: it is no file")]
)
def test_a_folder_in_a_file_s_place(change: Callable[[Path], None], code: int, said: str, root: Path) -> None:
    """One sentence."""
    change(root)
    one_sentence(batch(root, "--resume"), code, said)


@LINUX
@pytest.mark.parametrize("name", [".grade", ".grade/journal.sqlite", ".grade/transcripts", ".grade/files"])
def test_a_run_behind_a_link(name: str, root: Path) -> None:
    """Nothing that a run keeps is written through a link."""
    place, elsewhere = root / "run" / name, root / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    one_sentence(batch(root, "--resume"), 4, "is a link")


@LINUX
def test_an_export_behind_a_link(root: Path) -> None:
    """A link in the place of an LMS's folder is neither written to nor cleaned up."""
    elsewhere = root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "feedback-1.zip").write_text("somebody's")
    (root / "run" / "moodle").symlink_to(elsewhere)
    one_sentence(grade("export", root / "run", "--to", "moodle"), 4, "is a link")
    assert [path.name for path in elsewhere.iterdir()] == ["feedback-1.zip"]


def test_what_a_killed_run_unpacked(root: Path) -> None:
    """Files of an archive that nobody needs any more go away with the next run."""
    left = root / "run" / ".grade" / "incoming-x"
    (left / "deep").mkdir(parents=True)
    assert batch(root, "--resume").returncode == 0
    assert not left.exists()
