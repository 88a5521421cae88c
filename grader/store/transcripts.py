"""Transcripts as bytes: compressed JSON, and behind it the arrays' own bytes; read back field by field.

::

    "grade.transcript" NUL | length of the JSON (8) | CRC-32 of what follows (4) | JSON, compressed | arrays

Numbers that were drawn can't be compressed: in base 64 they would take a third more, and most of the time.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import types
import typing
import zlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from grader.errors import TranscriptError
from grader.model import Array, Opaque, Seq, Transcript, Value
from grader.model._data import fields_of, is_data
from grader.store.files import write_file

__all__ = ["SCHEMA", "dump_transcript", "load_transcript", "read_transcript", "write_transcript"]

SCHEMA = "grade.transcript/1"
MAX_BYTES = 64 << 20

_MAGIC = b"grade.transcript\0"
_ARRAYS: ContextVar[memoryview] = ContextVar("arrays")
"""Of the transcript that is being read."""

_BROKEN = (
    OSError, EOFError, zlib.error, ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What reading other bytes than a transcript's may raise."""


def dump_transcript(transcript: Transcript) -> bytes:
    """Return the bytes of a transcript; the same transcript gives the same bytes."""
    arrays = _Arrays()
    with _without_collecting():
        text = json.dumps(_fields(transcript, arrays), sort_keys=True, separators=(",", ":"))
    return _packed(text.encode(), arrays.content)


def load_transcript(content: bytes) -> Transcript:
    """Read a transcript back.

    Raises:
        TranscriptError: If the bytes aren't those of a transcript of this version.
    """
    try:
        text, arrays = _unpacked(content)
        with _without_collecting():
            tree = json.loads(text)
            if not isinstance(tree, dict) or tree.get("schema") != SCHEMA:
                raise ValueError("another schema")
            before = _ARRAYS.set(arrays)
            try:
                transcript = _reader(Transcript)(tree)
            finally:
                _ARRAYS.reset(before)
    except _BROKEN as error:
        raise TranscriptError(
            "This file isn't a transcript that this version can read.", hint="Grade the submission again."
        ) from error
    assert isinstance(transcript, Transcript)
    return transcript


def _packed(text: bytes, arrays: bytes | bytearray) -> bytes:
    packed = zlib.compress(text, 6)
    body = packed + arrays
    return b"".join((_MAGIC, len(packed).to_bytes(8, "big"), zlib.crc32(body).to_bytes(4, "big"), body))


def _unpacked(content: bytes) -> tuple[bytes, memoryview]:
    """Return the JSON and the arrays' bytes. Raises ValueError, zlib.error."""
    head = len(_MAGIC)
    if len(content) < head + 12 or not content.startswith(_MAGIC) or len(content) > MAX_BYTES:
        raise ValueError("no transcript")
    length, crc = (int.from_bytes(content[head + at : head + end], "big") for at, end in ((0, 8), (8, 12)))
    body = memoryview(content)[head + 12 :]
    if length > len(body) or zlib.crc32(body) != crc:
        raise ValueError("not whole")
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(body[:length], MAX_BYTES)
    if not unpacker.eof:
        raise ValueError("too large")
    return text, body[length:]


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


class _Arrays:
    """The bytes of arrays behind one another; what is the same stands there once."""

    def __init__(self) -> None:
        self.content = bytearray()
        self._known: dict[bytes, int] = {}

    def add(self, content: bytes) -> list[int]:
        """Add bytes and return where they are."""
        place = self._known.get(content)
        if place is None:
            place = self._known[content] = len(self.content)
            self.content += content
        return [place, len(content)]


def _tree(item: Any, arrays: _Arrays) -> Any:
    kind = type(item)
    if item is None or kind is bool or kind is str:
        return item
    if kind is int:
        return item if abs(item) < 1 << 53 else {"int": hex(item)}
    if kind is float:
        return {"float": item.hex()}
    if kind is tuple:
        return [_tree(part, arrays) for part in item]
    if kind is bytes:
        return {"bytes": arrays.add(item)}
    if kind is complex:
        return {"complex": [item.real.hex(), item.imag.hex()]}
    if kind in _TAGGED:
        return {kind.__name__: _fields(item, arrays)}
    return _fields(item, arrays)


def _fields(item: Any, arrays: _Arrays) -> dict[str, Any]:
    """Fields that differ from their defaults: transcripts are mostly defaults."""
    return {
        name: _tree(value, arrays)
        for name, default in fields_of(item.__class__).items()
        if (value := getattr(item, name)) != default or isinstance(value, bool) != isinstance(default, bool)
    }


_TAGGED = frozenset([Array, Seq, Opaque])


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
            return _array(body)
    raise LookupError(tag)


def _array(place: list[int]) -> bytes:
    start, length = place
    arrays = _ARRAYS.get()
    if type(start) is not int or type(length) is not int or not 0 <= start <= start + length <= len(arrays):
        raise ValueError("an array outside")
    return bytes(arrays[start : start + length])


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
    return isinstance(kind, type) and is_data(kind)


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
    readers = {name: _reader(hints[name]) for name in fields_of(kind)}

    def read(tree: Any) -> Any:
        if kind is Array and len(tree) == 1 and "Array" in tree:
            tree = tree["Array"]
        return kind(**{name: readers[name](part) for name, part in tree.items()})

    return read
