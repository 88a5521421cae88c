"""What was worked out from a file is kept beside it, and only ever a saving."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from grader.course.texts import read_toml
from grader.errors import CourseError
from grader.kept import keep, kept, place_of


@pytest.fixture(autouse=True)
def _bytecode_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    """In ``__pycache__``, beside its source, whole, and with nothing else there."""
    place = place_of(tmp_path / "a.toml", "json")
    assert kept(place) is None
    keep(place, b"one")
    keep(place, b"two")

    assert kept(place) == b"two"
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()] == [
        "__pycache__/a.toml.json"
    ]


def test_nothing_is_kept_where_no_bytecode_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``python -B`` leaves no trace of ours either."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    keep(place_of(tmp_path / "a", "b"), b"one")

    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_no_trouble(tmp_path: Path) -> None:
    """Nobody hears of it."""
    (tmp_path / "__pycache__").write_text("a file in the way")
    keep(place_of(tmp_path / "a", "b"), b"one")

    assert kept(place_of(tmp_path / "a", "b")) is None


def test_a_table_is_read_once(tmp_path: Path) -> None:
    """What comes from what is kept is what comes from the file."""
    path = tmp_path / "a.toml"
    path.write_text(
        'title = "Ü"\nlarge = 12345678901234567890\n[part]\nshare = 0.1\nlist = [1, true, "x"]\n', encoding="utf-8"
    )
    first, second = read_toml(path), read_toml(path)

    assert first == second
    assert second == {"title": "Ü", "large": 12345678901234567890, "part": {"share": 0.1, "list": [1, True, "x"]}}
    assert json.loads(kept(place_of(path, "json")) or b"")["table"] == first


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"null",
        b'{"sha256": "0", "table": {"a": 2}}',
        b'{"table": {"a": 2}}',
    ],
)
def test_what_is_broken_or_of_another_file_is_not_used(content: bytes, tmp_path: Path) -> None:
    """The file itself is read, and the right table kept."""
    path = tmp_path / "a.toml"
    path.write_text("a = 1")
    keep(place_of(path, "json"), content)

    assert read_toml(path) == {"a": 1}
    assert json.loads(kept(place_of(path, "json")) or b"")["table"] == {"a": 1}


def test_a_table_that_is_none_is_not_used(tmp_path: Path) -> None:
    """Whatever stands there under the right sum."""
    path = tmp_path / "a.toml"
    path.write_text("a = 1")
    read_toml(path)
    found = json.loads(kept(place_of(path, "json")) or b"")
    keep(place_of(path, "json"), json.dumps({**found, "table": [1]}).encode())

    assert read_toml(path) == {"a": 1}


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """Also one of the same size and time."""
    path = tmp_path / "a.toml"
    for number in (1, 2):
        path.write_text(f"a = {number}")
        assert read_toml(path) == {"a": number}


def test_dates_and_mistakes_are_not_kept(tmp_path: Path) -> None:
    """JSON has no dates; a mistake is told each time."""
    dated, wrong = tmp_path / "a.toml", tmp_path / "b.toml"
    dated.write_text("a = 2020-01-01")
    wrong.write_text("a = ")
    for _ in range(2):
        assert str(read_toml(dated)["a"]) == "2020-01-01"
        with pytest.raises(CourseError, match="isn't valid TOML"):
            read_toml(wrong)

    assert not (tmp_path / "__pycache__").exists()


def test_lines_may_end_in_any_way(tmp_path: Path) -> None:
    """As text files do on other systems."""
    path = tmp_path / "a.toml"
    path.write_bytes(b'a = """one\r\ntwo"""\rb = 1\n')

    assert read_toml(path) == {"a": "one\ntwo", "b": 1}
