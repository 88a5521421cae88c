"""Transcripts as bytes: JSON with arrays in base 64, compressed; read back field by field, never by class name."""

from __future__ import annotations

import base64
import functools
import gzip
import io
import json
import types
import typing
import zlib
from pathlib import Path
from typing import Any

from grader.errors import TranscriptError
from grader.model import Array, Opaque, Seq, Transcript, Value
from grader.model._data import fields_of, is_data
from grader.store.files import write_file

__all__ = ["SCHEMA", "dump_transcript", "load_transcript", "read_transcript", "write_transcript"]

SCHEMA = "grade.transcript/1"
MAX_BYTES = 64 << 20

_BROKEN = (
    OSError, EOFError, zlib.error, ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What reading other bytes than a transcript's may raise."""


def dump_transcript(transcript: Transcript) -> bytes:
    """Return the bytes of a transcript; the same transcript gives the same bytes."""
    text = json.dumps(_tree(transcript), sort_keys=True, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=6, mtime=0)


def load_transcript(content: bytes) -> Transcript:
    """Read a transcript back.

    Raises:
        TranscriptError: If the bytes aren't those of a transcript of this version.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            text = file.read(MAX_BYTES + 1)
        tree = json.loads(text) if len(text) <= MAX_BYTES else None
        if not isinstance(tree, dict) or tree.get("schema") != SCHEMA:
            raise ValueError("another schema")
        transcript = _build(Transcript, tree)
    except _BROKEN as error:
        raise TranscriptError(
            "This file isn't a transcript that this version can read.", hint="Grade the submission again."
        ) from error
    assert isinstance(transcript, Transcript)
    return transcript


def write_transcript(path: Path, transcript: Transcript) -> None:
    """Write a transcript, whole or not at all. Raises OutputError."""
    write_file(path, dump_transcript(transcript))


def read_transcript(path: Path) -> Transcript:
    """Read a transcript. Raises TranscriptError."""
    try:
        return load_transcript(path.read_bytes())
    except OSError as error:
        raise TranscriptError(f"{path}: it can't be read ({error.strerror or error}).") from error


# A value says what it is by the one key of its object; floats travel in hex, so that no bit and no NaN is lost.


def _tree(item: Any) -> Any:
    match item:
        case None | bool() | str():
            return item
        case int():
            return item if abs(item) < 1 << 53 else {"int": hex(item)}
        case float():
            return {"float": item.hex()}
        case complex():
            return {"complex": [item.real.hex(), item.imag.hex()]}
        case bytes():
            return {"bytes": base64.b64encode(item).decode()}
        case tuple():
            return [_tree(part) for part in item]
        case Array() | Seq() | Opaque():
            return {type(item).__name__: _fields(item)}
    return _fields(item)


def _fields(item: Any) -> dict[str, Any]:
    """Fields that differ from their defaults: transcripts are mostly defaults."""
    return {
        name: _tree(value)
        for name, default in fields_of(item.__class__).items()
        if (value := getattr(item, name)) != default or isinstance(value, bool) != isinstance(default, bool)
    }


# Asked once for each class: a value of a hundred thousand parts asks as often, and the answer takes its time.


@functools.cache
def _hints_of(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


_VALUES: dict[str, type[Any]] = {"Array": Array, "Seq": Seq, "Opaque": Opaque}


def _plain(tree: Any) -> Any:
    """Read what stands for itself: a scalar, a tagged scalar or a Value."""
    if not isinstance(tree, dict):
        return tree
    ((tag, body),) = tree.items()
    match tag:
        case "int":
            return int(body, 16)
        case "float":
            return float.fromhex(body)
        case "complex":
            return complex(float.fromhex(body[0]), float.fromhex(body[1]))
        case "bytes":
            return base64.b64decode(body, validate=True)
    return _build(_VALUES[tag], body)


def _build(kind: Any, tree: Any) -> Any:
    """Rebuild what the annotation ``kind`` describes."""
    if kind is Value or kind == Value:
        return _checked(_plain(tree), typing.get_args(Value))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return arguments[arguments.index(tree)]
    if origin is tuple:
        _checked(tree, (list,))
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_build(arguments[0], part) for part in tree)
        return tuple(_build(part_kind, part) for part_kind, part in zip(arguments, tree, strict=True))
    if origin in (typing.Union, types.UnionType):
        if tree is None and type(None) in arguments:
            return None
        made = [argument for argument in arguments if is_data(argument) and argument not in _VALUES.values()]
        if made and isinstance(tree, dict):
            return _build(made[0], tree)
        tuples = [argument for argument in arguments if typing.get_origin(argument) is tuple]
        if tuples and isinstance(tree, list):
            return _build(tuples[0], tree)
        return _checked(_plain(tree), arguments)
    if is_data(kind):
        if kind is Array and set(tree) == {"Array"}:
            tree = tree["Array"]
        hints = _hints_of(kind)
        return kind(**{name: _build(hints[name], part) for name, part in tree.items()})
    # A whole number is a float too, as everywhere in Python.
    return _checked(_plain(tree), (float, int) if kind is float else (kind,))


def _checked(item: Any, kinds: tuple[Any, ...]) -> Any:
    """Return ``item`` if it is exactly of one of these types. Raises TypeError."""
    if type(item) not in kinds:
        raise TypeError(f"a {type(item).__name__} where another type belongs")
    return item
