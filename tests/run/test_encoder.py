"""The worker's encoder: what a function returned, as plain values, whatever it is."""

from __future__ import annotations

import collections
import dataclasses
import enum
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from grader.core.values import Pairs, to_python
from grader.model import Array, Opaque, Seq, Value
from grader.run.inside import frames
from grader.run.inside.wire import MAX_ARRAY_BYTES, MAX_ITEMS, MAX_PAIRS, Encoder, frame
from grader.run.wire import decode_reply


def said(*items: object) -> tuple[Value, ...]:
    """Return what the parent reads when a worker says ``items``: over the real wire, with its limits."""
    encoder = Encoder()
    trees = [encoder.encode(item) for item in items]
    raw = frame({"id": "x", "kind": "returned", "after": trees, "arrays": encoder.arrays}, encoder.buffers)
    _, header, payload = frames.HEAD.unpack(raw[: frames.HEAD.size])
    assert header <= frames.MAX_HEADER
    assert payload <= frames.MAX_PAYLOAD
    body = raw[frames.HEAD.size :]
    after = decode_reply(body[:header], body[header:]).after
    assert after is not None
    return after


class Pair(NamedTuple):
    """What a careful student returns."""

    out: object
    weights: object


class Evil:
    """Each look at it fails or lies."""

    def __getattribute__(self, name: str) -> Any:
        raise SystemExit(name)

    def __len__(self) -> int:
        raise SystemExit

    def __iter__(self) -> Iterator[Any]:
        raise SystemExit

    def __array__(self, *_: object, **__: object) -> Any:
        raise SystemExit

    def __float__(self) -> float:
        raise SystemExit

    def __index__(self) -> int:
        raise SystemExit

    def __eq__(self, other: object) -> bool:
        raise SystemExit

    __hash__ = None  # type: ignore[assignment]  # not even that


class EvilList(list):
    """Says that it has other items at each look."""

    def __iter__(self) -> Iterator[Any]:
        return iter([Evil()])

    def __len__(self) -> int:
        raise SystemExit

    def __getitem__(self, _: Any) -> Any:
        raise SystemExit


class EvilTuple(tuple):
    """The same as a tuple."""

    def __iter__(self) -> Iterator[Any]:
        raise SystemExit


class EvilDict(dict):
    """The same as a mapping."""

    def items(self) -> Any:
        """Fail."""
        raise SystemExit

    def __iter__(self) -> Iterator[Any]:
        raise SystemExit


class EvilStr(str):
    """A text that says another one."""

    def __str__(self) -> str:
        raise SystemExit

    def __getitem__(self, _: Any) -> str:
        raise SystemExit

    def encode(self, *_: Any, **__: Any) -> bytes:
        """Fail."""
        raise SystemExit


class EvilFloat(float):
    """A number that says another one."""

    def hex(self) -> str:
        """Lie."""
        return "0x1p0"


class EvilInt(int):
    """The same, whole."""

    def bit_length(self) -> int:
        """Fail."""
        raise SystemExit


class EvilArray(np.ndarray):
    """An array whose every method lies."""

    dtype = property(lambda self: np.dtype("f4"))
    shape = property(lambda self: (10**9,))
    nbytes = property(lambda self: 0)

    def tobytes(self, *_: Any) -> bytes:
        """Lie."""
        return b"forged"

    def astype(self, *_: Any, **__: Any) -> Any:
        """Fail."""
        raise SystemExit

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise SystemExit


class EvilMeta(type):
    """A type whose name is no text."""

    @property
    def __name__(cls) -> Any:  # type: ignore[override]  # that is the point
        raise SystemExit


class EvilType(metaclass=EvilMeta):
    """An instance of which is asked for its type's name."""


@dataclasses.dataclass
class Point:
    """A result with names."""

    x: int
    y: float


class EvilPoint(Point):
    """A dataclass that is asked for its fields in its own words."""

    def __getattribute__(self, name: str) -> Any:
        raise SystemExit


class Colour(enum.IntEnum):
    """An int by inheritance."""

    RED = 1


def infinite() -> Iterator[int]:
    """Never end."""
    yield from itertools.count()


def holds_itself() -> list[Any]:
    """Return a list that contains itself, several times."""
    items: list[Any] = [1]
    items += [items] * 5
    return items


EXACT: dict[str, tuple[object, Value]] = {
    "None": (None, None),
    "True": (True, True),
    "an int": (-12, -12),
    "a large int": (1 << 1000, 1 << 1000),
    "a float": (0.1, 0.1),
    "a complex": (1 - 2j, 1 - 2j),
    "a text": ("ü✓", "ü✓"),
    "a lone surrogate": ("a\ud800", "a?"),
    "ellipsis": (..., Opaque(kind="ellipsis")),
    "a pair of ellipsis": ((..., ...), Seq(kind="tuple", items=(Opaque(kind="ellipsis"),) * 2)),
    "a list": ([1, [2]], Seq(kind="list", items=(1, Seq(kind="list", items=(2,))))),
    "a namedtuple": (Pair(1, 2), Seq(kind="Pair", items=(1, 2))),
    "a generator": ((i for i in range(3)), Seq(kind="generator", items=(0, 1, 2))),
    "a map": (map(abs, [-1, 2]), Seq(kind="map", items=(1, 2))),
    "a zip": (zip([1], [2], strict=True), Seq(kind="zip", items=(Seq(kind="tuple", items=(1, 2)),))),
    "a range": (range(3), Seq(kind="range", items=(0, 1, 2))),
    "dict values": ({"a": 1}.values(), Seq(kind="dict_values", items=(1,))),
    "a long range": (range(10**9), Opaque(kind="range")),
    "an endless generator": (infinite(), Opaque(kind="generator")),
    "a set": ({1}, Opaque(kind="set")),
    "bytes": (b"x", Opaque(kind="bytes")),
    "a function": (abs, Opaque(kind="builtin_function_or_method")),
    "a module": (np, Opaque(kind="module")),
    "a huge int": (1 << 5000, Opaque(kind="a very large int")),
    "an int enum": (Colour.RED, Opaque(kind="Colour")),
    "an evil object": (Evil(), Opaque(kind="Evil")),
    "an evil list": (EvilList([1, 2]), Seq(kind="EvilList", items=(1, 2))),
    "an evil tuple": (EvilTuple([1, 2]), Seq(kind="EvilTuple", items=(1, 2))),
    "an evil dict": (
        EvilDict(a=1),
        Seq(kind="dict", items=(Seq(kind="tuple", items=("a", 1)),)),
    ),
    "an evil text": (EvilStr("x"), Opaque(kind="EvilStr")),
    "an evil float": (EvilFloat(2.0), Opaque(kind="EvilFloat")),
    "an evil int": (EvilInt(2), Opaque(kind="EvilInt")),
    "an evil type": (EvilType(), Opaque(kind="EvilType")),
    "a dataclass": (Point(1, 2.0), Seq(kind="Point", items=(1, 2.0))),
    "an evil dataclass": (EvilPoint(1, 2.0), Seq(kind="EvilPoint", items=(1, 2.0))),
    "a dataclass itself": (Point, Opaque(kind="type")),
    "an ordered dict": (
        collections.OrderedDict(a=1),
        Seq(kind="dict", items=(Seq(kind="tuple", items=("a", 1)),)),
    ),
}


@pytest.mark.parametrize("item, expected", EXACT.values(), ids=EXACT)
def test_what_is_said_of_an_object(item: object, expected: Value) -> None:
    """Only exact types are values; of all else the type's name is said, and no method of it is asked."""
    (value,) = said(item)

    assert value == expected
    assert type(value) is type(expected)


ARRAYS: dict[str, tuple[Any, str, tuple[int, ...], str, list[Any]]] = {
    "float64": (np.array([1.5, 2]), "<f8", (2,), "ndarray", [1.5, 2.0]),
    "big-endian": (np.array([1, 2], dtype=">i4"), "<i4", (2,), "ndarray", [1, 2]),
    "float16": (np.array([1.5], dtype=np.float16), "<f2", (1,), "ndarray", [1.5]),
    "longdouble": (np.array([1.5], dtype=np.longdouble), "<f8", (1,), "ndarray", [1.5]),
    "clongdouble": (np.array([1.5j], dtype=np.clongdouble), "<c16", (1,), "ndarray", [1.5j]),
    "bool": (np.array([True, False]), "|b1", (2,), "ndarray", [True, False]),
    "0-d": (np.array(2.5), "<f8", (), "ndarray", [2.5]),
    "scalar": (np.float64(2.5), "<f8", (), "scalar", [2.5]),
    "longdouble scalar": (np.longdouble(2.5), "<f8", (), "scalar", [2.5]),
    "bool scalar": (np.True_, "|b1", (), "scalar", [True]),
    "empty": (np.empty((0, 3)), "<f8", (0, 3), "ndarray", []),
    "transposed": (np.arange(6).reshape(2, 3).T, "<i8", (3, 2), "ndarray", [0, 3, 1, 4, 2, 5]),
    "strided": (np.arange(6.0)[::-2], "<f8", (3,), "ndarray", [5.0, 3.0, 1.0]),
    "broadcast": (np.broadcast_to(1.0, (2, 2)), "<f8", (2, 2), "ndarray", [1.0] * 4),
    "a matrix": (np.ones((1, 1)).view(np.matrix), "<f8", (1, 1), "matrix", [1.0]),
    "masked": (np.ma.array([1.0, 2.0], mask=[False, True]), "<f8", (2,), "MaskedArray", [1.0, 2.0]),
    "an evil subclass": (np.arange(3.0).view(EvilArray), "<f8", (3,), "EvilArray", [0.0, 1.0, 2.0]),
}


@pytest.mark.parametrize("item, dtype, shape, kind, flat", ARRAYS.values(), ids=ARRAYS)
def test_arrays(item: object, dtype: str, shape: tuple[int, ...], kind: str, flat: list[object]) -> None:
    """An array is said with the numbers in its own memory, little-endian and in C order."""
    (value,) = said(item)

    assert isinstance(value, Array)
    assert (value.dtype, value.shape, value.kind, value.clipped) == (dtype, shape, kind, False)
    assert np.frombuffer(value.data, dtype=value.dtype).tolist() == flat


@pytest.mark.parametrize(
    "item, kind",
    [
        (np.array([1, "a", None], dtype=object), "an array of dtype object"),
        (np.array(Evil, dtype=object), "an array of dtype object"),
        (np.array(["a"]), "an array of dtype <U1"),
        (np.array(["2024-01-01"], dtype="M8[D]"), "an array of dtype datetime64[D]"),
        (np.zeros(2, dtype=[("a" * 200, "f8")]), None),
    ],
    ids=["objects", "0-d object", "texts", "dates", "records"],
)
def test_arrays_of_other_things_are_named(item: object, kind: str | None) -> None:
    """Of an array that holds no numbers only the dtype is said, capped."""
    (value,) = said(item)

    assert isinstance(value, Opaque)
    assert value.kind == kind or (kind is None and len(value.kind) <= 60)


def test_large_arrays_keep_dtype_and_shape() -> None:
    """An array beyond a megabyte is clipped: how it looked is said, its numbers aren't."""
    large = np.zeros(MAX_ARRAY_BYTES // 8 + 1)
    fits, clipped = said(large[:-1], large)

    assert isinstance(fits, Array)
    assert isinstance(clipped, Array)
    assert len(fits.data) == MAX_ARRAY_BYTES
    assert (clipped.clipped, clipped.shape, clipped.data) == (True, large.shape, b"")
    assert isinstance(to_python(clipped), Opaque)


def test_many_large_arrays_fit_into_one_reply() -> None:
    """However many arrays there are, the reply is one that the parent takes: the last are clipped."""
    (value,) = said([np.zeros(MAX_ARRAY_BYTES // 8) for _ in range(20)])

    assert isinstance(value, Seq)
    parts = [part for part in value.items if isinstance(part, Array)]
    assert len(parts) == 20
    assert not parts[0].clipped
    assert parts[-1].clipped


def test_lists_of_numpy_scalars() -> None:
    """Two lists of 10,000 NumPy scalars are no crash: what is beyond the cap is left out."""
    scores = list(np.arange(10_000.0))
    (value,) = said((scores, scores))

    assert isinstance(value, Seq)
    first, second = value.items
    assert isinstance(first, Seq)
    assert isinstance(second, Seq)
    assert len(first.items) == MAX_ITEMS
    assert to_python(first.items[5]) == 5.0


def test_many_texts_fit_into_one_reply() -> None:
    """A long list of long texts is no crash either."""
    (value,) = said([["\u2713" * 3000] * 4000] * 3)

    assert isinstance(value, Seq)


@pytest.mark.parametrize(
    "make",
    [
        lambda: holds_itself(),
        lambda: [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]],
        lambda: [[0.5] * 4096] * 50,
        lambda: {"a": {"b": [holds_itself()]}},
        lambda: [0] * 10**6,
    ],
    ids=["holds itself", "deep", "wide", "in mappings", "long"],
)
def test_structures_end(make: Callable[[], object]) -> None:
    """What is deep, wide, long or contains itself is said as far as it goes, and the parent can read it."""
    (value,) = said(make())

    assert value is not None
    assert len(json.dumps(repr(value))) < 10**7


def test_mappings_are_capped_pairs() -> None:
    """A mapping is its first pairs in their order, and keys that collide on purpose stay pairs."""
    colliding = {key * ((1 << 61) - 1): key for key in range(200)}
    (value,) = said(colliding)

    pairs = to_python(value)
    assert isinstance(pairs, Pairs)
    assert len(pairs) == MAX_PAIRS
    assert [item for _, item in pairs] == list(range(MAX_PAIRS))


def test_an_iterator_that_fails_is_the_functions_failure() -> None:
    """A generator that raises raises where it is read: in the worker, as the call's own failure."""

    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("later")

    with pytest.raises(ValueError, match="later"):
        Encoder().encode(broken())
