"""What a platform's reader is given, and what it says."""

from __future__ import annotations

from collections.abc import Callable

from grader.lms.tree import Entry, View
from grader.model._data import data
from grader.model.attempt import Learner

__all__ = ["TYPED_IN", "Handed", "Reader", "Reading"]

TYPED_IN = "the answer is a text typed into the LMS, not a file"


@data
class Handed:
    """An attempt as a platform's names tell of it, before any file of it is looked at.

    Attributes:
        files: Each file's name as the learner gave it, and its entry, in the source's order.
        reason: Why there is nothing to grade, if no file can be graded: ``TYPED_IN``.
        trouble: Why there is nothing to grade, whatever was handed in.

    The others are those of ``grader.model.attempt.Attempt``.
    """

    key: str
    learners: tuple[Learner, ...]
    files: tuple[tuple[str, Entry], ...]
    label: str = ""
    submitted: str = ""
    late: bool | None = None
    number: int = 0
    reason: str = ""
    trouble: str = ""
    remarks: tuple[str, ...] = ()


@data
class Reading:
    """What a source says.

    Attributes:
        title: The assignment's name, or ``""``.
        attempts: In an order that is the same each time.
        others: What belongs to nobody, and why, each a sentence.
    """

    title: str
    attempts: tuple[Handed, ...]
    others: tuple[str, ...] = ()


@data
class Reader:
    """A platform.

    Attributes:
        kind: Its name for ``read_source``.
        name: Its name for people.
        share: Which part of a view's entries are named as it names them, from 0 to 1.
        read: Reads a view; the text is the assignment's id in the source, ``""`` if the source has only one.
    """

    kind: str
    name: str
    share: Callable[[View], float]
    read: Callable[[View, str], Reading]
