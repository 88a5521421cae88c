"""What the batch and its job processes tell each other: one JSON document a line, and nothing of a course in it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Literal

from grader.model._data import data

__all__ = ["Failed", "Message", "Ready", "Request", "Row", "Setup", "decode", "encode"]


@data
class Setup:
    """The first line to a job: all that stays the same for its whole life.

    Attributes:
        key: Of the run's seeds, hexadecimal.
        hidden: Of the inputs of its hidden criteria, hexadecimal.
        secrets: Files besides the solutions that student code must not be able to read.
    """

    isolation: Literal["auto", "namespaces", "landlock", "process"]
    course: str | None
    assignment: str
    key: str
    hidden: str
    out: str
    secrets: tuple[str, ...] = ()
    hints: int = 3


@data
class Ready:
    """A job can grade. ``seconds`` is what one submission may take at most."""

    assignment: str
    version: str
    digest: str
    title: str
    max_cents: int
    isolation: str
    seconds: float


@data
class Request:
    """Grade the file at ``path``."""

    number: int
    path: str
    folder: str


@data
class Row:
    """How one submission ended.

    Attributes:
        number: Its place in the batch.
        name: The file's name.
        folder: Where its results lie, below the output folder.
        reason: Why it isn't graded, in words that follow "not graded:".
        look: What somebody should look at: notes for the instructor, in words.
        unloaded: Nothing of it could be run, so it has no points.
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
    look: tuple[str, ...] = ()
    unloaded: bool = False
    profile: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)


@data
class Failed:
    """A job can't go on. ``code`` is the exit code that belongs to it; 0: another job may have better luck."""

    code: int
    message: str
    hint: str = ""


Message = Setup | Ready | Request | Row | Failed
_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (Setup, Ready, Request, Row, Failed)}


def encode(message: Message) -> bytes:
    """Return a message as a line."""
    fields = {field.name: getattr(message, field.name) for field in dataclasses.fields(message)}
    return json.dumps([type(message).__name__, fields]).encode() + b"\n"


def decode(line: bytes) -> Message:
    """Read a line that `encode` made. Both ends are ours: another line is a bug, and raises ValueError."""
    kind, fields = json.loads(line)
    made: Message = _KINDS[kind](
        **{name: tuple(item) if isinstance(item, list) else item for name, item in fields.items()}
    )
    return made
