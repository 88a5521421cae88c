"""Which files come along with a submission."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.intake import companions
from grader.intake.beside import MAX_BYTES, MAX_FILES
from grader.model import Companion


def names(found: tuple[Companion, ...]) -> list[str]:
    """Return the names of companions."""
    return [companion.name for companion in found]


@pytest.mark.parametrize(
    "source, expected",
    [
        (b"import helper\n", ["helper.py"]),
        (b"from helper import f\n", ["helper.py"]),
        (b"open('data.csv')", ["data.csv"]),
        (
            b"np.load('w.npy'), np.load(\"w.npz\"), 'my data.txt', 'UPPER.CSV'",
            ["UPPER.CSV", "my data.txt", "w.npy", "w.npz"],
        ),
        (b"helpers, myhelper, data, data.csvx, mydata.csv, w", []),
        ("open('tête.csv')".encode(), ["tête.csv"]),
        (b"a.py a conftest.py conftest sitecustomize usercustomize x.pth x fast.so fast .hidden.csv c.pyc", []),
        (b"json.py json random random.py numpy numpy.py grader __init__.py __init__", []),
        (b"link.csv folder.csv", []),
        (b"", []),
        (b"\xff\xfe helper \x00", ["helper.py"]),
    ],
)
def test_only_what_is_named_comes_along(tmp_path: Path, source: bytes, expected: list[str]) -> None:
    """Files of the right kinds that the source names as words; never links, folders, hidden files, or what shadows."""
    names_there = """
        a.py helper.py data.csv w.npy w.npz UPPER.CSV tête.csv conftest.py sitecustomize.py usercustomize.py x.pth
        fast.so .hidden.csv c.pyc json.py random.py numpy.py grader.py __init__.py A.PY
    """
    for name in names_there.split():
        (tmp_path / name).write_bytes(b"1\n")
    (tmp_path / "my data.txt").write_bytes(b"1\n")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "data.csv")
    found, notes = companions(tmp_path / "a.py", source)
    assert (names(found), notes) == (expected, ())
    assert all(companion.content == b"1\n" for companion in found)


def test_a_companion_brings_its_own(tmp_path: Path) -> None:
    """What a Python companion names comes along too, round in circles as well."""
    (tmp_path / "one.py").write_bytes(b"import two, main\n")
    (tmp_path / "two.py").write_bytes(b"import one; open('three.txt')\n")
    (tmp_path / "three.txt").write_bytes(b"four.txt\n")
    (tmp_path / "four.txt").write_bytes(b"")
    (tmp_path / "main.ipynb").write_bytes(b"")
    assert names(companions(tmp_path / "main.ipynb", b"import one")[0]) == ["one.py", "three.txt", "two.py"]


def test_there_is_a_limit_to_their_number(tmp_path: Path) -> None:
    """The first 20 by name come along, and a note names some of the others."""
    for number in range(MAX_FILES + 4):
        (tmp_path / f"d{number:02}.csv").write_bytes(b"1\n")
    source = " ".join(f"d{number:02}.csv" for number in range(MAX_FILES + 4)).encode()
    found, notes = companions(tmp_path / "a.py", source)
    assert names(found) == [f"d{number:02}.csv" for number in range(MAX_FILES)]
    assert [note.text for note in notes] == ["intake.left_out"]
    assert dict(notes[0].params)["names"] == "`d20.csv`, `d21.csv`, `d22.csv` ..."


def test_there_is_a_limit_to_their_size(tmp_path: Path) -> None:
    """A file that doesn't fit is left out with a note; smaller ones after it still come along."""
    for name, size in (("a.csv", 3_000_000), ("b.csv", MAX_BYTES + 1), ("c.csv", 3_000_000), ("d.csv", 2_000_000)):
        (tmp_path / name).write_bytes(b"1" * size)
    found, notes = companions(tmp_path / "x.py", b"a.csv b.csv c.csv d.csv")
    assert names(found) == ["a.csv", "d.csv"]
    assert dict(notes[0].params)["names"] == "`b.csv`, `c.csv`"


def test_a_folder_that_cannot_be_listed_has_none(tmp_path: Path) -> None:
    """Without a listing there are no companions, and no exception."""
    assert companions(tmp_path / "gone" / "a.py", b"data.csv") == ((), ())
