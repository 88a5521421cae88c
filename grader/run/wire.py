"""The trusted side of the wire: requests are written, replies are read and believed in nothing but their form.

The decoder knows exact types, multiplies shapes as Python integers, caps everything before it looks at it, and
raises one error, ``Malformed``. What it lets through is plain values: a forged reply can only say what a function
returned, which is what it is allowed to say.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from grader.core.values import DTYPES
from grader.model import Array, Draws, Event, Failure, Opaque, Seq, Source, Step, Value
from grader.model._data import data
from grader.run.inside.frames import HEAD, MAGIC

__all__ = ["Malformed", "Reply", "clean", "decode_reply", "encode_request"]

MAX_NODES = 60_000
MAX_DEPTH = 16
MAX_TEXT = 4_000
MAX_NAME = 100
MAX_STDOUT = 1 << 17
MAX_STEPS = 4_096
MAX_SOURCES = 64
MAX_AXES = 32

_SURROGATE = re.compile("[\ud800-\udfff\x00\ufffe\uffff]")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Malformed(Exception):
    """A reply that isn't one."""


@data
class Reply:
    """A reply whose form is right."""

    id: str
    kind: str
    value: Value = None
    after: tuple[Value, ...] | None = None
    draws: Draws | None = None
    names: tuple[tuple[str, Value], ...] = ()
    callables: tuple[str, ...] = ()
    stdout: str = ""
    cut: bool = False
    remarks: tuple[str, ...] = ()
    failure: Failure | None = None
    events: tuple[Event, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


def clean(text: str, limit: int = MAX_TEXT) -> str:
    """Cap ``text`` and replace what no file format or database takes: lone surrogates, NUL, noncharacters."""
    return _SURROGATE.sub("\ufffd", text[:limit])


# ------------------------------------------------------------------ requests


def encode_request(head: dict[str, Any], payload: bytes = b"", values: dict[str, Any] | None = None) -> bytes:
    """Return the frame of a request; ``values`` maps keys of the header to Values or tuples of them."""
    arrays: list[list[object]] = []
    buffers: list[bytes] = []

    def tree(value: Value) -> object:
        match value:
            case None | bool():
                return value
            case int():
                return {"i": hex(value)}
            case float():
                return {"f": value.hex()}
            case complex():
                return {"c": [value.real.hex(), value.imag.hex()]}
            case str():
                return {"s": value}
            case Array():
                arrays.append([value.dtype, list(value.shape), value.kind, False])
                buffers.append(value.data)
                return {"a": len(arrays) - 1}
            case Seq():
                return {"q": [value.kind, [tree(item) for item in value.items]]}
            case Opaque():
                raise TypeError(f"a value of type {value.kind} can't be sent")

    full = dict(head)
    for key, given in (values or {}).items():
        full[key] = [[item[0], tree(item[1])] if isinstance(item, tuple) else tree(item) for item in given]
    full["arrays"] = arrays
    text = json.dumps(full).encode()
    body = payload + b"".join(buffers)
    return HEAD.pack(MAGIC, len(text), len(body)) + text + body


# ------------------------------------------------------------------ replies


def decode_reply(header: bytes, payload: bytes) -> Reply:
    """Read a reply.

    Raises:
        Malformed: If its form is wrong in any way.
    """
    try:
        head = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise Malformed("the header isn't JSON") from error
    if type(head) is not dict:
        raise Malformed("the header is no object")
    decoder = _Decoder(head.get("arrays", []), payload)
    after = head.get("after")
    return Reply(
        id=_text(head.get("id"), MAX_NAME),
        kind=_text(head.get("kind"), MAX_NAME),
        value=decoder.value(head.get("value")),
        after=None if after is None else tuple(decoder.value(item) for item in _list(after, 16)),
        draws=decoder.draws(head.get("draws")),
        names=tuple(
            (_text(pair[0], MAX_NAME), decoder.value(pair[1])) for pair in map(_pair, _list(head.get("names", []), 256))
        ),
        callables=tuple(_text(name, MAX_NAME) for name in _list(head.get("callables", []), 1_000)),
        stdout=_text(head.get("stdout", ""), MAX_STDOUT),
        cut=_bool(head.get("cut", False)),
        remarks=tuple(_text(item, 80) for item in _list(head.get("remarks", []), 20)),
        failure=_failure(head.get("failure")),
        events=tuple(
            Event(kind=_text(pair[0], MAX_NAME), detail=_text(pair[1], 100))
            for pair in map(_pair, _list(head.get("events", []), 256))
        ),
        environment=tuple(
            (_text(pair[0], MAX_NAME), _text(pair[1], MAX_NAME))
            for pair in map(_pair, _list(head.get("environment", []), 16))
        ),
    )


class _Decoder:
    def __init__(self, metas: object, payload: bytes) -> None:
        self._nodes = 0
        self._arrays: list[Array] = []
        at = 0
        for meta in _list(metas, 4_096):
            if type(meta) is not list or len(meta) != 4:
                raise Malformed("array")
            dtype, shape, kind, clipped = meta
            if type(dtype) is not str or dtype not in DTYPES or type(clipped) is not bool:
                raise Malformed("array")
            lengths = tuple(_int(length, 0, 1 << 40) for length in _list(shape, MAX_AXES))
            _check_size(lengths)
            size = 0 if clipped else math.prod(lengths) * int(dtype[2:])
            if at + size > len(payload):
                raise Malformed("an array longer than the payload")
            self._arrays.append(
                Array(
                    dtype=dtype,
                    shape=lengths,
                    data=payload[at : at + size],
                    kind=_text(kind, MAX_NAME),
                    clipped=clipped,
                )
            )
            at += size
        if at != len(payload):
            raise Malformed("payload length")

    def value(self, tree: object, depth: int = 0) -> Value:
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > MAX_DEPTH:
            raise Malformed("too many nodes")
        if tree is None or type(tree) is bool:
            return tree
        if type(tree) is not dict or len(tree) != 1:
            raise Malformed("node")
        ((key, item),) = tree.items()
        match key:
            case "i":
                return _hex_int(item)
            case "f":
                return _hex_float(item)
            case "c":
                parts = _list(item, 2)
                if len(parts) != 2:
                    raise Malformed("complex")
                return complex(_hex_float(parts[0]), _hex_float(parts[1]))
            case "s":
                return _text(item, MAX_TEXT)
            case "a":
                return self._arrays[_int(item, 0, len(self._arrays) - 1)]
            case "q":
                kind, items = _pair(item)
                values = tuple(self.value(part, depth + 1) for part in _list(items, 4_096))
                return Seq(kind=_text(kind, MAX_NAME), items=values)
            case "o":
                return Opaque(kind=_text(item, MAX_NAME))
        raise Malformed("node")

    def draws(self, tree: object) -> Draws | None:
        if tree is None:
            return None
        if type(tree) is not dict:
            raise Malformed("draws")
        sources = tuple(self._source(item) for item in _list(tree.get("sources"), MAX_SOURCES))
        steps = tuple(_step(item, len(sources)) for item in _list(tree.get("steps"), MAX_STEPS))
        values = tree.get("values")
        array = None if values is None else self._arrays[_int(values, 0, len(self._arrays) - 1)]
        if array is not None and (array.dtype != "<f8" or len(array.shape) != 1 or array.clipped):
            raise Malformed("draws")
        others = tuple(_text(name, MAX_NAME) for name in _list(tree.get("others", []), 32))
        if values is None and not steps:
            array = Array(dtype="<f8", shape=(0,), data=b"")
        return Draws(sources=sources, steps=steps, values=array, complete=_bool(tree.get("complete")), others=others)

    def _source(self, item: object) -> Source:
        parts = _list(item, 4)
        if len(parts) != 4:
            raise Malformed("source")
        digest = _text(parts[3], 64)
        if digest and not _DIGEST.fullmatch(digest):
            raise Malformed("digest")
        return Source(
            kind=_text(parts[0], MAX_NAME),
            bit_generator=_text(parts[1], MAX_NAME),
            state=self.value(parts[2]),
            sha256=digest,
        )


def _step(item: object, sources: int) -> Step:
    parts = _list(item, 6)
    if len(parts) != 6:
        raise Malformed("step")
    args = []
    for number in _list(parts[2], 4):
        # A real worker sends floats. JSON has no inf or nan, but json.loads would take them.
        if type(number) is not float or not math.isfinite(number):
            raise Malformed("argument of a draw")
        args.append(number)
    shape = tuple(_int(length, 0, 1 << 40) for length in _list(parts[3], MAX_AXES))
    count = _int(parts[5], 1, 1 << 32)
    _check_size((count, *shape))
    return Step(
        source=_int(parts[0], 0, sources - 1),
        method=_text(parts[1], MAX_NAME),
        args=tuple(args),
        shape=shape,
        dtype=_text(parts[4], 8),
        count=count,
    )


def _check_size(shape: tuple[int, ...]) -> None:
    """Refuse a shape that NumPy can't make; zeros are left out, since (0, 2**40, 2**40) is one too."""
    if math.prod(length or 1 for length in shape) * 16 >= 1 << 62:
        raise Malformed("shape")


def _failure(tree: object) -> Failure | None:
    if tree is None:
        return None
    if type(tree) is not dict:
        raise Malformed("failure")
    cell, line = tree.get("cell"), tree.get("line")
    return Failure(
        kind=_text(tree.get("kind"), MAX_NAME),
        message=_text(tree.get("message"), 500),
        cell=None if cell is None else _int(cell, 0, 1 << 31),
        line=None if line is None else _int(line, -(1 << 62), 1 << 62),
    )


def _text(item: object, limit: int) -> str:
    if type(item) is not str:
        raise Malformed("text")
    return clean(item, limit)


def _bool(item: object) -> bool:
    if type(item) is not bool:
        raise Malformed("bool")
    return item


def _int(item: object, low: int, high: int) -> int:
    if type(item) is not int or not low <= item <= high:
        raise Malformed("integer")
    return item


def _list(item: object, limit: int) -> list[Any]:
    if type(item) is not list or len(item) > limit:
        raise Malformed("list")
    return item


def _pair(item: object) -> Sequence[Any]:
    if type(item) is not list or len(item) != 2:
        raise Malformed("pair")
    return item


def _hex_int(item: object) -> int:
    if type(item) is not str or len(item) > 300:
        raise Malformed("integer")
    try:
        return int(item, 16)
    except ValueError as error:
        raise Malformed("integer") from error


def _hex_float(item: object) -> float:
    if type(item) is not str or len(item) > 40:
        raise Malformed("float")
    try:
        return float.fromhex(item)
    except (ValueError, OverflowError) as error:
        raise Malformed("float") from error
