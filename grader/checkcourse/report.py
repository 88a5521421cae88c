"""What checking a course gives: one Proof after the other, each with its problems."""

from __future__ import annotations

from pathlib import Path

from grader.model._data import data

__all__ = ["Problem", "Proof"]


@data
class Problem:
    """Something that has to be put right: in which file, at which key or function, and what."""

    file: Path
    key: str
    says: str

    def __str__(self) -> str:
        where = f"{self.file}, {self.key}" if self.key else str(self.file)
        return f"{where}: {self.says}"


@data
class Proof:
    """One thing that a course has to show.

    Attributes:
        name: One word.
        says: What was shown, or how much of it.
        problems: What is wrong; the proof holds if there is nothing.
        listed: Worth knowing, and no problem.
    """

    name: str
    says: str
    problems: tuple[Problem, ...] = ()
    listed: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether there is no problem."""
        return not self.problems
