"""What was handed in."""

from __future__ import annotations

from typing import Literal

from grader.model._data import data
from grader.model.result import Note

__all__ = ["Cell", "Companion", "Submission"]


@data
class Cell:
    """A unit of source that runs in one go: a whole script, or one code cell of a notebook.

    Attributes:
        number: 0 for a script; the 1-based position among all cells of a notebook.
        source: The bytes as handed in (of a notebook cell: UTF-8).
        encoding: Name of the codec that ``source`` is written in, from the allow-list.
    """

    number: int
    source: bytes
    encoding: str = "utf-8"


@data
class Companion:
    """A file that lies beside the submission, read-only, while it runs."""

    name: str
    content: bytes


@data
class Submission:
    """One file handed in, and its companions.

    Attributes:
        name: The file's name as the learner knows it, without a folder.
        kind: ``"script"`` (.py) or ``"notebook"`` (.ipynb).
        cells: What runs, in order. Empty when ``trouble`` is set.
        sha256: Of the main file's bytes, hexadecimal.
        companions: At most 20 files, 5 MB together.
        notes: What intake noticed and the learner should know.
        trouble: Why nothing of the file can run (empty, cut off, not text ...): graded, 0 points.
    """

    name: str
    kind: Literal["script", "notebook"]
    cells: tuple[Cell, ...]
    sha256: str
    companions: tuple[Companion, ...] = ()
    notes: tuple[Note, ...] = ()
    trouble: Note | None = None
