"""Frames and values on the wire, as the worker speaks them.

A frame is ``GRD1``, a header length (u32), a payload length (u64), a JSON header, raw little-endian array bytes.
A value in the header is null, true, false, or an object with one key: ``i`` (integer in hex), ``f`` (float in hex),
``c`` (two floats), ``s`` (text), ``a`` (index into ``arrays``), ``q`` ([kind, items]), ``o`` (name of a type that
isn't carried). ``arrays`` lists [dtype, shape, kind, clipped]. No pickle, no evaluation, on either side.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .frames import HEAD, MAGIC

MAX_TEXT = 4_000
MAX_NAME = 100
MAX_ITEMS = 4_096
MAX_PAIRS = 64
MAX_DEPTH = 12
MAX_TREE = 700_000
"""Characters of the header for values: with what was printed, it stays below what the parent reads."""
MAX_ARRAYS = 3_800
"""A few less than the parent reads: generators' states come on top."""
MAX_ARRAY_BYTES = 1 << 20
"""Larger arrays keep dtype and shape only: no right answer is that large."""
MAX_PAYLOAD = 6 << 20
"""Of all arrays together; what comes later keeps dtype and shape only."""

# Bound once: student code may replace them in their modules, on purpose or not.
_write, _read = os.write, os.read
_dumps, _loads = json.dumps, json.loads
_array, _ascontiguous, _ndarray, _generic = np.array, np.ascontiguousarray, np.ndarray, np.generic
_getattribute = object.__getattribute__
_generator_types: tuple[type, ...] = (
    type(_ for _ in ()),
    map,
    zip,
    filter,
    range,
    type({}.values()),
    type({}.keys()),
    type(iter([])),
)


def read_exact(fd: int, count: int) -> bytes:
    """Read ``count`` bytes. Raises EOFError at the end of the stream."""
    parts, left = [], count
    while left:
        part = _read(fd, min(left, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def read_frame(fd: int) -> tuple[dict[str, Any], bytes]:
    """Read a request of the (trusted) parent."""
    magic, header, payload = HEAD.unpack(read_exact(fd, HEAD.size))
    if magic != MAGIC:
        raise EOFError
    head: dict[str, Any] = _loads(read_exact(fd, header))
    return head, read_exact(fd, payload)


def frame(head: dict[str, Any], buffers: Sequence[bytes] = ()) -> bytes:
    """Return the bytes of a frame."""
    text = _dumps(head, allow_nan=False).encode("utf-8", "replace")
    payload = b"".join(buffers)
    return HEAD.pack(MAGIC, len(text), len(payload)) + text + payload


def write_all(fd: int, content: bytes) -> None:
    """Write all of ``content``."""
    view = memoryview(content)
    while len(view):
        view = view[_write(fd, view) :]


def text(item: object, limit: int = MAX_TEXT) -> str:
    """Return ``item`` as an exact, capped ``str`` that JSON can carry."""
    if not issubclass(type(item), str):
        return "?"
    plain = str.__str__(item)[:limit]
    return plain.encode("utf-8", "replace").decode("utf-8")


def type_name(item: object) -> str:
    """Name the type of ``item``; a metaclass may make ``__name__`` anything."""
    try:
        return text(type.__dict__["__name__"].__get__(type(item)), MAX_NAME)
    except BaseException:
        return "?"


class Encoder:
    """Describes returned objects as plain values. Looks at each object once, by exact type, and copies it first."""

    def __init__(self) -> None:
        self.arrays: list[list[object]] = []
        self.buffers: list[bytes] = []
        self._room, self._payload = MAX_TREE, MAX_PAYLOAD

    def encode(self, item: object, depth: int = 0) -> object:
        """Return the JSON tree of ``item``; what can't be carried becomes its type's name."""
        if depth > MAX_DEPTH or self._room <= 0:
            return self._leaf({"o": "a structure that is too deep or too large"})
        kind = type(item)
        if issubclass(kind, (_ndarray, _generic)):
            return self._encode_array(item, kind)
        if issubclass(kind, (list, tuple)):
            base = list if issubclass(kind, list) else tuple
            parts: list[object] = list(base.__iter__(item))[:MAX_ITEMS]  # type: ignore[arg-type]  # by the line above
            return self._sequence(base.__name__ if kind is base else type_name(item), parts, depth)
        if issubclass(kind, dict):
            pairs: list[Any] = list(dict.items(item))[:MAX_PAIRS]  # type: ignore[arg-type]  # by the line above
            return self._sequence("dict", pairs, depth)
        fields = _find_fields(kind)
        if fields:
            values = [_getattribute(item, name) for name in fields[:MAX_PAIRS]]
            return self._sequence(type_name(item), values, depth)
        if kind in _generator_types:
            taken = []
            for part in item:  # type: ignore[attr-defined]  # by the line above
                taken.append(part)
                if len(taken) > MAX_PAIRS:
                    return self._leaf({"o": type_name(item)})
            return self._sequence(type_name(item), taken, depth)
        return self._leaf(_scalar(item, kind))

    def _leaf(self, node: object) -> object:
        self._room -= len(_dumps(node)) + 2
        return node

    def _sequence(self, name: str, parts: list[object], depth: int) -> object:
        self._room -= len(name) + 20
        nodes: list[object] = []
        for part in parts:
            full = self._room <= 0
            nodes.append(self.encode(part, depth + 1))
            if full:
                break
        return {"q": [name, nodes]}

    def _encode_array(self, item: object, kind: type) -> object:
        # A copy through the base class: a subclass's own methods are never asked.
        plain = _array(item, copy=True, order="C", subok=False)
        if plain.dtype.kind not in "biufc":
            return self._leaf({"o": f"an array of dtype {text(str(plain.dtype), 30)}"})
        if len(self.arrays) >= MAX_ARRAYS:
            return self._leaf({"o": "one array too many"})
        if plain.dtype.itemsize > (16 if plain.dtype.kind == "c" else 8):
            plain = plain.astype("<c16" if plain.dtype.kind == "c" else "<f8")
        plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        name = "scalar" if issubclass(kind, _generic) else "ndarray" if kind is _ndarray else type_name(item)
        clipped = plain.nbytes > min(MAX_ARRAY_BYTES, self._payload)
        meta = [plain.dtype.str, list(plain.shape), name, clipped]
        self._leaf(meta)
        self._payload -= 0 if clipped else plain.nbytes
        self.arrays.append(meta)
        self.buffers.append(b"" if clipped else plain.tobytes())
        return self._leaf({"a": len(self.arrays) - 1})


def _find_fields(kind: type) -> list[str]:
    """Return the names of a dataclass's fields; none of another class."""
    for base in type.mro(kind):
        fields = type.__dict__["__dict__"].__get__(base).get("__dataclass_fields__")
        if type(fields) is dict:
            return [name for name in fields if type(name) is str]
    return []


def _scalar(item: object, kind: type) -> object:
    if item is None or item is True or item is False:
        return item
    if item is ...:
        return {"o": "ellipsis"}
    if kind is int:
        number: int = item  # type: ignore[assignment]  # by exact type
        return {"i": hex(number)} if int.bit_length(number) <= 1024 else {"o": "a very large int"}
    if kind is float:
        return {"f": float.hex(item)}  # type: ignore[arg-type]  # by exact type
    if kind is complex:
        return {"c": [float.hex(item.real), float.hex(item.imag)]}  # type: ignore[attr-defined]  # by exact type
    if kind is str:
        return {"s": text(item)}
    return {"o": type_name(item)}


def decode(tree: Any, arrays: Sequence[Any], payload: bytes, *, readonly: bool) -> Any:
    """Rebuild a request's value: the parent is trusted."""
    if not isinstance(tree, dict):
        return tree
    ((key, value),) = tree.items()
    if key == "i":
        return int(value, 16)
    if key == "f":
        return float.fromhex(value)
    if key == "c":
        return complex(float.fromhex(value[0]), float.fromhex(value[1]))
    if key == "s":
        return value
    if key == "q":
        items = [decode(part, arrays, payload, readonly=readonly) for part in value[1]]
        return items if value[0] == "list" else tuple(items)
    start = sum(_size(meta) for meta in arrays[:value])
    dtype, shape, kind, _ = arrays[value]
    flat = np.frombuffer(payload, dtype=dtype, count=_size(arrays[value]) // np.dtype(dtype).itemsize, offset=start)
    array = flat.reshape(shape).copy()
    if kind == "scalar":
        return array[()]
    array.flags.writeable = not readonly
    return array


def _size(meta: Any) -> int:
    size = np.dtype(meta[0]).itemsize
    for length in meta[1]:
        size *= length
    return int(size)
