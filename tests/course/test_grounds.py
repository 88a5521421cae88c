"""What a verdict rests on: a change of anything that could change it changes its digest, and nothing else does."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course import Course, find_course, grounds_of, load_assignment
from tests.course.small import replace_in, write_course

ALL = ("softmax", "attention", "variance", "entropy", "ranking")


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """Return the reference folder of a copy of the course that comes with the grader."""
    for name in ("exercises", "reference"):
        shutil.copytree(find_course().root / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "reference" / "attention"


def grounds(folder: Path) -> dict[str, str]:
    """Return the digests of the course whose reference folder this is."""
    course = Course(root=folder.parent.parent)
    return grounds_of(course, load_assignment(course, folder.name))


def add(name: str, text: str) -> Callable[[Path], None]:
    """Return what writes a line at the end of a file."""

    def change(folder: Path) -> None:
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(text)

    return change


CHANGES: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "nothing": (lambda folder: None, ()),
    "a text": (add("feedback.en.toml", '\n["softmax.large"]\n"more" = "Another word."\n'), ()),
    "a text of snippets": (add("feedback.en.toml", '\n["engine.snippet"]\n"stand_in" = "Other words."\n'), ALL),
    "a check": (add("variance.py", "\nMORE = 1\n"), ("variance",)),
    "checks of a task that others use": (
        add("softmax.py", "\nMORE = 1\n"),
        ("softmax", "attention", "entropy", "ranking"),
    ),
    "what all checks import": (add("oracle.py", "\nMORE = 1\n"), ALL),
    "a wrong reference": (add("wrong_out.py", "\nMORE = 1\n"), ALL),
    "the solution, which no check imports": (add("solution.py", "\nMORE = 1\n"), ()),
    "the package": (add("__init__.py", "\nMORE = 1\n"), ALL),
    "a stand-in": (add("stand_ins/softmax.py", "\nMORE = 1\n"), ALL),
    "points": (lambda folder: replace_in(folder / "assignment.toml", "points = 8", "points = 9"), ("variance",)),
    "limits": (add("assignment.toml", "\n"), ()),
    "only who makes the checks": (add("checks.py", "\nMORE = 1\n"), ()),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_change_touches(name: str, shipped: Path) -> None:
    """A verdict's digest changes with what it rests on."""
    change, touched = CHANGES[name]
    before = grounds(shipped)
    change(shipped)
    after = grounds(shipped)

    assert set(before) == set(after) == set(ALL)
    assert {task for task in ALL if before[task] != after[task]} == set(touched)


UNKNOWN = {
    "another library": "import scipy",
    "a module that reads files": "from pathlib import Path",
    "late": "def late():\n    import json",
    "an import that nobody can read": "numbers = __import__('random')",
    "a file": "text = open",
    "arrays of a file": "import numpy as np\nread = np.load",
    "code of a text": "run = exec",
    "out of the course": "if 0:\n    from ...elsewhere import thing",
}


@pytest.mark.parametrize("line", UNKNOWN.values(), ids=UNKNOWN)
def test_checks_that_rest_on_more_have_none(line: str, tmp_path: Path) -> None:
    """What can change without a change in the course, or in our versions, is judged each time."""
    folder = write_course(tmp_path)
    assert grounds(folder).keys() == {"double", "triple"}
    (folder / "more.py").write_text(f"def unused():\n    {line.replace(chr(10), chr(10) + '    ')}\n", encoding="utf-8")
    replace_in(folder / "checks.py", "from . import helper", "from . import helper, more")

    assert grounds(folder) == {}


def test_sub_packages_are_followed(tmp_path: Path) -> None:
    """A module of a package in the course counts with the packages that it lies in."""
    folder = write_course(tmp_path)
    (folder / "deep").mkdir()
    (folder / "deep" / "__init__.py").write_text("", encoding="utf-8")
    (folder / "deep" / "one.py").write_text("from .two import ONE\n", encoding="utf-8")
    (folder / "deep" / "two.py").write_text("ONE = 1\n", encoding="utf-8")
    replace_in(folder / "checks.py", "from . import helper", "from . import helper\nfrom .deep.one import ONE")
    seen = [grounds(folder)]
    for name in ("deep/two.py", "deep/one.py", "deep/__init__.py"):
        add(name, "# another\n")(folder)
        seen.append(grounds(folder))

    assert len({tuple(found.values()) for found in seen}) == 4


def test_checks_that_were_made_with_something_rest_on_who_made_them(tmp_path: Path) -> None:
    """An object's own attributes come from where it was made."""
    folder = write_course(tmp_path)
    (folder / "kind.py").write_text(
        "from . import checks_of\n\nclass Kind(checks_of.Checks):\n    def __init__(self, n):\n        self.n = n\n",
        encoding="utf-8",
    )
    shutil.move(folder / "checks.py", folder / "checks_of.py")
    (folder / "checks.py").write_text(
        "from . import checks_of, kind\n\nTASKS = {**checks_of.TASKS, 'double': kind.Kind(1)}\n", encoding="utf-8"
    )
    before = grounds(folder)
    replace_in(folder / "checks.py", "Kind(1)", "Kind(2)")
    after = grounds(folder)

    assert before["double"] != after["double"]
    assert before["triple"] != after["triple"]  # it uses the other one
