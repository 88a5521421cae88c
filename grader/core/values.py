"""Between plain values and the NumPy objects that checks compute with."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from grader.model import Array, Opaque, Seq, Value
from grader.model._data import data

__all__ = ["DTYPES", "Pairs", "Python", "byte_count", "is_untouched", "kind_name", "to_python", "to_value"]

DTYPES = frozenset(
    ["|b1", "|i1", "|u1"] + [f"<{kind}{size}" for kind, sizes in (("i", (2, 4, 8)), ("u", (2, 4, 8)),
                                                                  ("f", (2, 4, 8)), ("c", (8, 16))) for size in sizes]
)  # fmt: skip
"""The dtypes that cross the border. No object, string, datetime or record ever does; extended precision is cast."""

Python = object
"""What ``to_python`` gives: None, a Python number or text, list, tuple, Pairs, Opaque, array or NumPy scalar."""


@data
class Pairs:
    """A mapping as its pairs, in its order: keys may collide on purpose, so no dict is built of them."""

    items: tuple[tuple[object, object], ...]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[tuple[object, object]]:
        return iter(self.items)


def byte_count(array: Array) -> int:
    """Bytes that shape and dtype declare, as a Python integer of any size."""
    return math.prod(array.shape) * int(array.dtype[2:])


def to_python(value: Value) -> object:
    """Return the object that ``value`` describes; arrays are read-only views.

    A clipped array comes back as Opaque, since its numbers weren't kept.
    """
    match value:
        case Array():
            if value.clipped or value.dtype not in DTYPES or len(value.data) != byte_count(value):
                return Opaque(kind=f"{value.kind} of shape {value.shape}")
            try:
                array: npt.NDArray[np.generic] = np.frombuffer(value.data, dtype=value.dtype).reshape(value.shape)
            except ValueError:
                # The product is right and the shape is none: negative, too many axes, or vast beside a zero.
                return Opaque(kind=f"{value.kind} of shape {value.shape}")
            return array[()] if value.kind == "scalar" and array.ndim == 0 else array
        case Seq(kind="list"):
            return [to_python(item) for item in value.items]
        case Seq(kind="dict"):
            return Pairs(
                items=tuple(
                    (to_python(item.items[0]), to_python(item.items[1]))
                    for item in value.items
                    if isinstance(item, Seq) and len(item.items) == 2
                )
            )
        case Seq():
            return tuple(to_python(item) for item in value.items)
        case _:
            return value


def to_value(item: object) -> Value:
    """Describe a trusted object as a plain value.

    Raises:
        TypeError: For a type that isn't carried.
    """
    if item is None or (isinstance(item, (bool, int, float, complex, str)) and type(item).__module__ == "builtins"):
        return item
    if isinstance(item, (np.ndarray, np.generic)):
        array = np.asarray(item)
        if array.dtype.kind == "f" and array.dtype.itemsize > 8:
            array = array.astype(np.float64)
        array = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).reshape(array.shape)
        if array.dtype.str not in DTYPES:
            raise TypeError(f"no array of dtype {array.dtype} can be sent")
        kind = "scalar" if isinstance(item, np.generic) else "ndarray"
        return Array(dtype=array.dtype.str, shape=array.shape, data=array.tobytes(), kind=kind)
    if isinstance(item, (list, tuple)):
        return Seq(kind="list" if isinstance(item, list) else "tuple", items=tuple(to_value(part) for part in item))
    raise TypeError(f"no {type(item).__name__} can be sent")


def is_untouched(value: Value) -> bool:
    """Whether ``value`` is what the handout returns: ``...``, alone or in a container that holds nothing else."""
    if isinstance(value, Opaque):
        return value.kind == "ellipsis"
    return isinstance(value, Seq) and bool(value.items) and all(is_untouched(item) for item in value.items)


def kind_name(item: object) -> str:
    """Name the type of ``item`` as a learner knows it."""
    match item:
        case None:
            return "None"
        case np.ndarray():
            return f"an array of shape {item.shape}"
        case Pairs():
            return "a dictionary"
        case Opaque():
            return f"a value of type {item.kind}"
        case bool() | np.bool_():
            return "a single True or False"
        case int() | float() | np.number():
            return "a single number"
        case list() | tuple():
            return f"a {type(item).__name__} of {len(item)}"
        case _:
            return f"a value of type {type(item).__name__}"
