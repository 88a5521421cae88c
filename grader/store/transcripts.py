"""Transcripts as bytes: JSON with arrays in base 64, compressed; read back field by field, never by class name."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import functools
import gc
import gzip
import io
import json
import types
import typing
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grader.errors import TranscriptError
from grader.model import Array, Opaque, Seq, Transcript, Value
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
    with _without_collecting():
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
        with _without_collecting():
            tree = json.loads(text) if len(text) <= MAX_BYTES else None
            if not isinstance(tree, dict) or tree.get("schema") != SCHEMA:
                raise ValueError("another schema")
            transcript = _reader(Transcript)(tree)
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


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Let the garbage collector rest.

    Hundreds of thousands of new parts would wake it again and again, and no part of a transcript refers back.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


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
        field.name: _tree(value)
        for field in _fields_of(item.__class__)
        if (value := getattr(item, field.name)) != field.default
        or isinstance(value, bool) != isinstance(field.default, bool)
    }


@functools.cache
def _fields_of(kind: Any) -> tuple[dataclasses.Field[Any], ...]:
    """Asked once for each class: a value of a hundred thousand parts asks as often."""
    return dataclasses.fields(kind)


# For each annotation a reader is made once. A transcript has tens of thousands of parts, and working out anew for each
# of them what its annotation means took nine tenths of the time.

_Reader = Callable[[Any], Any]
_BARE = frozenset([type(None), bool, int, float, str])
_VALUES: dict[str, Any] = {"Array": Array, "Seq": Seq, "Opaque": Opaque}


def _value(tree: Any) -> Any:
    """Read a Value: a scalar that stands for itself, or an object whose one key says what it is."""
    if type(tree) in _BARE:
        return tree
    if type(tree) is not dict:
        raise TypeError("no value")
    ((tag, body),) = tree.items()
    if tag == "Seq":
        return _sequence(body)
    if tag in _VALUES:
        return _reader(_VALUES[tag])(body)
    item = _tagged(tag, body)
    if type(item) is bytes:
        raise TypeError("bytes are no value")
    return item


def _sequence(body: dict[str, Any]) -> Seq:
    """Read what most parts of a large value are."""
    kind, items = body["kind"], body["items"]
    if len(body) != 2 or type(kind) is not str or type(items) is not list:
        raise TypeError("no sequence")
    return Seq(kind=kind, items=tuple([_value(part) for part in items]))


def _tagged(tag: str, body: Any) -> Any:
    match tag:
        case "int":
            return int(body, 16)
        case "float":
            return float.fromhex(body)
        case "complex":
            return complex(float.fromhex(body[0]), float.fromhex(body[1]))
        case "bytes":
            return base64.b64decode(body, validate=True)
    raise LookupError(tag)


@functools.cache
def _reader(kind: Any) -> _Reader:
    """Return what rebuilds that which the annotation ``kind`` describes."""
    if kind == Value:
        return _value
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        known = {argument: argument for argument in arguments}
        return lambda tree: known[tree]
    if origin is tuple:
        return _tuples(*arguments)
    if origin in (typing.Union, types.UnionType):
        return _alternatives(arguments)
    if _is_class(kind):
        return _parts(kind)
    # A whole number is a float too, as everywhere in Python.
    return _exactly((float, int) if kind is float else (kind,))


def _is_class(kind: Any) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


def _exactly(kinds: tuple[Any, ...]) -> _Reader:
    """Return a reader of scalars of exactly one of these types."""

    def read(tree: Any) -> Any:
        if type(tree) is dict:
            ((tag, body),) = tree.items()
            tree = _tagged(tag, body)
        if type(tree) not in kinds:
            raise TypeError(f"a {type(tree).__name__} where another type belongs")
        return tree

    return read


def _tuples(*kinds: Any) -> _Reader:
    """Return a reader of tuples: any number of one kind, or one of each."""
    readers = [_reader(kind) for kind in kinds if kind is not Ellipsis]
    each = readers[0] if Ellipsis in kinds else None

    def read(tree: Any) -> tuple[Any, ...]:
        if type(tree) is not list:
            raise TypeError("no list")
        if each is not None:
            return tuple([each(part) for part in tree])
        return tuple([reader(part) for reader, part in zip(readers, tree, strict=True)])

    return read


def _alternatives(kinds: tuple[Any, ...]) -> _Reader:
    """Return a reader of a union: of at most one class, one kind of tuple and scalars."""
    classes = [_reader(kind) for kind in kinds if _is_class(kind)]
    tuples = [_reader(kind) for kind in kinds if typing.get_origin(kind) is tuple]
    scalar = _exactly(kinds)
    of_class, of_tuple = classes[0] if classes else scalar, tuples[0] if tuples else scalar

    def read(tree: Any) -> Any:
        if tree is None and type(None) in kinds:
            return None
        return (of_class if type(tree) is dict else of_tuple if type(tree) is list else scalar)(tree)

    return read


def _parts(kind: Any) -> _Reader:
    """Return a reader of one of the model's classes: a table of fields that differ from their defaults."""
    hints = typing.get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name]) for field in _fields_of(kind)}

    def read(tree: Any) -> Any:
        if kind is Array and len(tree) == 1 and "Array" in tree:
            tree = tree["Array"]
        return kind(**{name: readers[name](part) for name, part in tree.items()})

    return read
