"""What the batch and its workers tell each other: one JSON document each, and nothing of a course in it."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Literal

from grader.core.standing import Look
from grader.model._data import data, field, replace

__all__ = [
    "Answer",
    "Failed",
    "File",
    "Message",
    "Override",
    "Ready",
    "Request",
    "Row",
    "Setup",
    "decode",
    "dump_row",
    "encode",
    "load_row",
    "row_of",
]

Isolation = Literal["auto", "namespaces", "landlock", "process", "none"]


@data
class Setup:
    """All that stays the same for a whole run.

    Attributes:
        isolation: ``none``: no student code runs, transcripts are judged.
        key: Of the run's seeds, hexadecimal.
        hidden: Of the inputs of its hidden criteria, hexadecimal.
        out: Where a worker writes its results; ``""``: it sends them, since it may be on another machine.
        secrets: Files besides the solutions that student code must not be able to read.
        hints: Up to which level they stand in the reports; None: as the assignment has it.
        digest: Of the course, if another one must not be used.
        versions: Of what judges, where a worker may have others; then it must not work.
        instructor: Make the instructor's report as well, ``instructor.html``.
        afresh: Judge every task, whatever is known of it from before.
    """

    isolation: Isolation
    course: str | None
    assignment: str
    key: str
    hidden: str
    out: str
    secrets: tuple[str, ...] = ()
    hints: int | None = None
    digest: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    instructor: bool = False
    afresh: bool = False


@data
class Ready:
    """A worker can grade. ``seconds`` is what one submission may take at most."""

    assignment: str
    version: str
    digest: str
    title: str
    max_cents: int
    isolation: str
    seconds: float
    tasks: tuple[tuple[str, str], ...] = ()


@data
class File:
    """A file's name and bytes, in base 64; None if it is too large to look at."""

    name: str
    sha256: str
    content: str | None

    @classmethod
    def of(cls, name: str, sha256: str, content: bytes | None) -> File:
        """Make one of bytes."""
        return cls(name=name, sha256=sha256, content=None if content is None else base64.b64encode(content).decode())

    @property
    def raw(self) -> bytes | None:
        """The bytes."""
        return None if self.content is None else base64.b64decode(self.content)


@data
class Override:
    """An instructor's points for one criterion (``"<task>/<criterion>"``), in hundredths, and why.

    ``file`` is how the SHA-256 of the file begins that it was decided for; ``""``: any.
    """

    criterion: str
    cents: int
    reason: str
    by: str
    file: str = ""


@data
class Request:
    """Grade a submission, or judge it again.

    Attributes:
        folder: Name of the folder that its results go to.
        files: The main file and its companions.
        choices: If not 0, it isn't known which file is the main one: it is one of so many first ones.
        transcript: In base 64: judge it, and run nothing.
        kept: Folder whose transcript, beside the results, is to be judged: without sending it.
        made: Of what its files were made before, and the SHA-256 of its ``result.json``: they may be as good now.
        overrides: What an instructor decided.
        sentences: What an instructor wrote for failures that nothing explains, by failure.
    """

    number: int
    folder: str
    files: tuple[File, ...] = ()
    choices: int = 0
    transcript: str = ""
    kept: str = ""
    made: tuple[str, str] = ("", "")
    overrides: tuple[Override, ...] = ()
    sentences: Mapping[str, str] = field(default_factory=dict)


@data
class Row:
    """How one submission ended.

    Attributes:
        number: Its place in the batch.
        name: The file's name.
        folder: Where its results lie, below the output folder.
        reason: Why it isn't graded, in words that follow "not graded:".
        digest: SHA-256 of its ``result.json``, so that a half-written one is noticed.
        tasks: Id, status, points and most points, in hundredths.
        made: SHA-256 of all that its pages are made of, and of the course.
        criteria: Id (``"<task>/<criterion>"``), status, points and most points, in hundredths.
        misconceptions: Pairs of criterion and misconception.
        look: What somebody should look at: kind of note, and the note in words.
        unloaded: Nothing of it could be run, so it has no points.
        unexplained: Failures that no misconception explains: criterion, and the group of those who share it.
        adjusted: An instructor gave other points.
        same_as: Number of the entry that handed in the same, and was run.
        profile: Wall and CPU seconds of each stage.
    """

    number: int
    name: str
    folder: str
    status: Literal["graded", "not_graded"]
    reason: str = ""
    sha256: str = ""
    seed: int = 0
    cents: int = 0
    max_cents: int = 0
    digest: str = ""
    made: str = ""
    isolation: str = ""
    tasks: tuple[tuple[str, str, int, int], ...] = ()
    criteria: tuple[tuple[str, str, int, int], ...] = ()
    misconceptions: tuple[tuple[str, str], ...] = ()
    look: tuple[Look, ...] = ()
    unloaded: bool = False
    unexplained: tuple[tuple[str, str], ...] = ()
    adjusted: bool = False
    same_as: int | None = None
    profile: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@data
class Answer:
    """A row, and the results where the worker doesn't write them itself: files by name, the transcript in base 64."""

    row: Row
    files: Mapping[str, str] = field(default_factory=dict)
    transcript: str = ""


@data
class Failed:
    """A worker can't go on. ``code`` is the exit code that belongs to it; 0: another worker may have better luck."""

    code: int
    message: str
    hint: str = ""


Message = Setup | Ready | Request | Row | Answer | Failed
_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (Setup, Ready, Request, Row, Answer, Failed)}
_PARTS: dict[tuple[str, str], type[Any]] = {
    ("Request", "files"): File,
    ("Request", "overrides"): Override,
    ("Answer", "row"): Row,
}
"""Fields that hold data of ours, or tuples of it."""


def encode(message: Message) -> bytes:
    """Return a message as bytes."""
    return json.dumps([type(message).__name__, _fields(message)]).encode()


def decode(content: bytes) -> Message:
    """Read what `encode` made. Both ends are ours: anything else is a bug, and raises ValueError."""
    kind, fields = json.loads(content)
    made: Message = _built(_KINDS[kind], fields)
    return made


def dump_row(row: Row) -> str:
    """Return a row as the journal keeps it; costs aren't kept."""
    return encode(replace(row, profile={})).decode()


def load_row(text: str) -> Row:
    """Read a row of the journal. Raises ValueError, TypeError, LookupError or AttributeError if it is none."""
    row = decode(text.encode())
    if not isinstance(row, Row):
        raise TypeError("this is no row")
    return row


def row_of(fields: Mapping[str, Any]) -> Row:
    """Return the row whose fields, as JSON holds them, are kept elsewhere."""
    row: Row = _built(Row, dict(fields))
    return row


def _fields(item: Any) -> Any:
    if dataclasses.is_dataclass(item):
        return {field.name: _fields(getattr(item, field.name)) for field in dataclasses.fields(item)}
    return [_fields(part) for part in item] if isinstance(item, tuple) else item


def _built(kind: type[Any], fields: dict[str, Any]) -> Any:
    return kind(**{name: _part(item, _PARTS.get((kind.__name__, name))) for name, item in fields.items()})


def _part(item: Any, kind: type[Any] | None) -> Any:
    if isinstance(item, list):
        return tuple(_part(part, kind) for part in item)
    return _built(kind, item) if kind is not None and isinstance(item, dict) else item
