"""Plain values: all that may cross the border to student code and back.

Nothing here holds a live object: an array is its dtype, its shape and its bytes,
a container is a tuple with the name of its kind, and what we don't carry is Opaque.
"""

from __future__ import annotations

from typing import Union

from grader.model._data import data

__all__ = ["Array", "Opaque", "Seq", "Value"]


@data
class Array:
    """An array of a plain numeric dtype.

    Attributes:
        dtype: NumPy's string, little-endian, such as ``"<f8"``.
        shape: As declared by the sender and checked by the decoder.
        data: C-ordered bytes; empty when ``clipped``.
        kind: ``"ndarray"``, ``"scalar"`` (a NumPy scalar) or a subclass's name.
        clipped: The array was larger than an answer can be; only dtype and shape were kept.
    """

    dtype: str
    shape: tuple[int, ...]
    data: bytes
    kind: str = "ndarray"
    clipped: bool = False


@data
class Seq:
    """A container. ``kind`` is ``"list"``, ``"tuple"``, a namedtuple's name or ``"dict"`` (items are pairs)."""

    kind: str
    items: tuple[Value, ...]


@data
class Opaque:
    """Something of a type that isn't carried across; ``kind`` is the type's name. ``...`` is ``"ellipsis"``."""

    kind: str


Value = Union[None, bool, int, float, complex, str, Array, Seq, Opaque]
