"""A whole course on disk, small enough to be read at a glance."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ASSIGNMENT", "CHECKS", "FEEDBACK", "MISCONCEPTIONS", "STAND_IN", "replace_in", "write_course"]

ASSIGNMENT = """\
id = "doubling"
version = "1.0"
packages = ["numpy"]
inert_modules = ["matplotlib"]

[limits]
call_seconds = 2.5
memory_mib = 512

[[task]]
id = "double"
function = "double"
signature = "double(x)"
criteria = [
  { id = "value", points = 6, core = true },
  { id = "zero", points = 2, requires = "value" },
  { id = "secret", points = 2, hidden = true },
]

[[task]]
id = "triple"
uses = ["double"]
function = "triple"
signature = "triple(x)"
criteria = [{ id = "value", points = 5, core = true }]
"""
FEEDBACK = """\
"title" = "Doubling"
"double.title" = "Twice"
"triple.title" = "Three times"
[double.value]
title = "right value"
[double.zero]
title = "zero stays zero"
[double.secret]
title = "other numbers"
[triple.value]
title = "right value"
"""
CHECKS = """\
from . import helper

class Checks:
    factor = helper.FACTOR
    def plan(self, inputs, seen):
        return ()
    def judge(self, inputs, seen):
        return ()

TASKS = {"double": Checks(), "triple": Checks()}
"""
MISCONCEPTIONS = """\
from grader.api import Book

BOOK = Book()

@BOOK.add("halved", "double/value", catalogue="H1")
def _(x):
    \"\"\"Half of it is enough.\"\"\"
    return x / 2
"""
STAND_IN = "def double(x):\n    return 2 * x\n"


def write_course(root: Path, *, factor: int = 2) -> Path:
    """Write the course below ``root`` and return the folder of its reference."""
    folder = root / "reference" / "doubling"
    (folder / "stand_ins").mkdir(parents=True)
    files = {
        "__init__.py": "",
        "assignment.toml": ASSIGNMENT,
        "feedback.en.toml": FEEDBACK,
        "checks.py": CHECKS,
        "helper.py": f"FACTOR = {factor}\n",
        "misconceptions.py": MISCONCEPTIONS,
        "stand_ins/double.py": STAND_IN,
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def replace_in(path: Path, old: str, new: str) -> None:
    """Put ``new`` in place of ``old``, which must be there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
