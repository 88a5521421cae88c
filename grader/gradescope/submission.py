"""Which of the files that were handed in is the submission."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from grader.model._data import data
from grader.render import clean

__all__ = ["Choice", "find_submission"]

SUFFIXES = (".py", ".ipynb")
MAX_ENTRIES = 5_000
MAX_DEPTH = 6
_SKIPPED = frozenset({"__MACOSX", "__pycache__", "node_modules", "venv"})


@data
class Choice:
    """The file, or the sentence that says why there is none."""

    path: Path | None
    problem: str = ""


def find_submission(folder: Path, names: Sequence[str]) -> Choice:
    """Choose a file: the one with a name of the handout, else the only ``.py`` or ``.ipynb`` file.

    Files in folders below count too, as a repository or a zipped folder brings them. Links are never followed.

    Args:
        folder: What was handed in.
        names: File names that the handout has.
    """
    found = _candidates(folder)
    if not found:
        return Choice(
            path=None, problem=f"There is no .py or .ipynb file in what you handed in. Hand in {_either(names)}."
        )
    expected = {name.lower() for name in names}
    named = [path for path in found if path.name.lower() in expected]
    chosen = named or found
    if len(chosen) == 1:
        return Choice(path=chosen[0])
    listed = ", ".join(clean.terminal(str(path.relative_to(folder)))[:80] for path in chosen[:5])
    more = f" and {len(chosen) - 5} more" if len(chosen) > 5 else ""
    advice = "Hand in only one of them." if named else f"Name yours {_either(names)}, or hand in that file alone."
    return Choice(path=None, problem=f"Several files could be your submission: {listed}{more}. {advice}")


def _either(names: Sequence[str]) -> str:
    return " or ".join(names) or "one .py or .ipynb file"


def _candidates(folder: Path) -> list[Path]:
    """Return regular files with our suffixes, those nearest to the top first."""
    found: list[Path] = []
    seen = 0
    for place, folders, files in os.walk(folder):
        here = Path(place)
        deep = len(here.relative_to(folder).parts) >= MAX_DEPTH
        folders[:] = [] if deep else sorted(name for name in folders if name not in _SKIPPED and name[:1] != ".")
        for name in sorted(files):
            seen += 1
            path = here / name
            if path.suffix in SUFFIXES and name[:1] != "." and path.is_file() and not path.is_symlink():
                found.append(path)
        if seen > MAX_ENTRIES:
            break
    return sorted(found, key=lambda path: (len(path.parts), path))
