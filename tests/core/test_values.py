"""Plain values and NumPy objects, there and back."""

from __future__ import annotations

import enum
import math
from collections import namedtuple
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.core.values import DTYPES, Pairs, byte_count, is_untouched, kind_name, to_python, to_value
from grader.model import Array, Opaque, Seq, Value

SENT = st.sampled_from(sorted(DTYPES)).map(np.dtype)
ARRAYS = SENT.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)))
SCALARS = SENT.flatmap(hnp.from_dtype)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text(max_size=8)


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return lists and tuples of these."""
    return st.recursive(
        leaves, lambda some: st.lists(some, max_size=3) | st.lists(some, max_size=3).map(tuple), max_leaves=8
    )


def same(one: object, other: object) -> bool:
    """Whether two objects are the same to the bit, NaN and the sign of zero included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (np.ndarray, np.generic)):
        a, b = np.asarray(one), np.asarray(other)
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(one, (list, tuple)):
        assert isinstance(other, (list, tuple))
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (float, complex)):
        return repr(one) == repr(other)
    return one == other


@given(nested(PLAIN | ARRAYS | SCALARS))
def test_what_is_sent_comes_back(item: object) -> None:
    """Numbers, texts, arrays and scalars, nested however they are, come back with their types and to the bit."""
    assert same(to_python(to_value(item)), item)


@given(ARRAYS)
def test_an_array_is_its_bytes(item: npt.NDArray[np.generic]) -> None:
    """The bytes are as many as shape and dtype declare, in C order; the array made of them can't be written to."""
    value = to_value(item)
    assert isinstance(value, Array)
    back = to_python(value)

    assert len(value.data) == byte_count(value) == item.nbytes
    assert isinstance(back, np.ndarray)
    assert not back.flags.writeable


TABLE = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(np.asfortranarray(TABLE), id="column order"),
        pytest.param(np.arange(24.0).reshape(4, 6)[::2, ::2], id="strided"),
        pytest.param(TABLE[:, ::-1], id="negative strides"),
        pytest.param(np.broadcast_to(np.float64(2), (2, 3)), id="broadcast"),
        pytest.param(TABLE.astype(">f8"), id="big-endian"),
        pytest.param(TABLE.astype(">i4"), id="big-endian whole numbers"),
        pytest.param(TABLE.astype(np.longdouble), id="extended precision"),
        pytest.param(np.ma.masked_array(TABLE), id="subclass"),
    ],
)
def test_layout_is_no_part_of_a_value(item: npt.NDArray[np.generic]) -> None:
    """However an array lies in memory, its numbers and its shape come back."""
    back = to_python(to_value(item))

    assert type(back) is np.ndarray
    np.testing.assert_array_equal(back, np.asarray(item))
    assert back.dtype.str in DTYPES


Point = namedtuple("Point", "x y")


class Color(enum.IntEnum):
    """A number that isn't only a number."""

    RED = 1


@pytest.mark.parametrize(
    "item",
    [
        pytest.param({}, id="dict"),
        pytest.param({1}, id="set"),
        pytest.param(b"x", id="bytes"),
        pytest.param(object(), id="object"),
        pytest.param(Fraction(1, 2), id="fraction"),
        pytest.param(Color.RED, id="enum"),
        pytest.param(..., id="ellipsis"),
        pytest.param(np.array([None]), id="object array"),
        pytest.param(np.array(["a"]), id="array of texts"),
        pytest.param(np.array([np.datetime64("2020-01-01")]), id="dates"),
        pytest.param(np.zeros(2, dtype="f8,i4"), id="records"),
        pytest.param([1, [2, object()]], id="deep inside"),
    ],
)
def test_other_types_are_refused(item: object) -> None:
    """What can't be carried is refused with its type, never sent as something else."""
    with pytest.raises(TypeError, match="can be sent"):
        to_value(item)


def test_a_namedtuple_is_sent_as_a_tuple() -> None:
    """A trusted namedtuple arrives as what it is made of."""
    assert to_value(Point(1, 2)) == Seq(kind="tuple", items=(1, 2))


@pytest.mark.parametrize(
    "value, python",
    [
        pytest.param(Seq(kind="list", items=(1, "a")), [1, "a"], id="list"),
        pytest.param(Seq(kind="tuple", items=(1, None)), (1, None), id="tuple"),
        pytest.param(Seq(kind="Result", items=(1, 2)), (1, 2), id="namedtuple"),
        pytest.param(Seq(kind="list", items=(Seq(kind="tuple", items=()),)), [()], id="nested"),
        pytest.param(
            Seq(kind="dict", items=(Seq(kind="tuple", items=(4, 1.5)), Seq(kind="tuple", items=(4, 2.5)))),
            Pairs(items=((4, 1.5), (4, 2.5))),
            id="mapping with one key twice",
        ),
        pytest.param(
            Seq(kind="dict", items=(1, Seq(kind="tuple", items=(1,)), Seq(kind="tuple", items=("k", 2)))),
            Pairs(items=(("k", 2),)),
            id="mapping with pieces that are no pairs",
        ),
        pytest.param(Opaque(kind="set"), Opaque(kind="set"), id="opaque"),
    ],
)
def test_containers_come_back_as_what_they_were(value: Value, python: object) -> None:
    """Lists are lists, named tuples are tuples, and of a mapping no dict is built."""
    assert to_python(value) == python


@pytest.mark.parametrize(
    "array, kind",
    [
        pytest.param(Array(dtype="<f8", shape=(3,), data=b"", clipped=True), "ndarray of shape (3,)", id="clipped"),
        pytest.param(Array(dtype="<f8", shape=(3,), data=b"\0" * 23), "ndarray of shape (3,)", id="too short"),
        pytest.param(Array(dtype="<f8", shape=(1,), data=b"\0" * 16), "ndarray of shape (1,)", id="too long"),
        pytest.param(Array(dtype="<f8", shape=(10**30,), data=b"\0" * 8), f"ndarray of shape ({10**30},)", id="vast"),
        pytest.param(Array(dtype="<f8", shape=(-1, -1), data=b"\0" * 8), "ndarray of shape (-1, -1)", id="negative"),
        pytest.param(
            Array(dtype="<f8", shape=(0, 2**62, 4), data=b""), f"ndarray of shape (0, {2**62}, 4)", id="vast none"
        ),
        pytest.param(Array(dtype="<f8", shape=(1,) * 65, data=b"\0" * 8), f"ndarray of shape {(1,) * 65}", id="axes"),
        pytest.param(Array(dtype="|O8", shape=(1,), data=b"\0" * 8), "ndarray of shape (1,)", id="objects"),
        pytest.param(Array(dtype="<M8[s]", shape=(1,), data=b"\0" * 8), "ndarray of shape (1,)", id="dates"),
        pytest.param(Array(dtype="<c32", shape=(), data=b"\0" * 32, kind="x"), "x of shape ()", id="no such complex"),
    ],
)
def test_an_array_that_does_not_add_up_is_opaque(array: Array, kind: str) -> None:
    """Bytes are only read as numbers if dtype, shape and length agree."""
    assert to_python(array) == Opaque(kind=kind)


def test_a_subclass_comes_back_as_a_plain_array() -> None:
    """Of a subclass the numbers are carried, never its behaviour."""
    back = to_python(Array(dtype="<f8", shape=(2,), data=np.ones(2).tobytes(), kind="matrix"))

    assert type(back) is np.ndarray


@given(st.lists(st.tuples(st.integers(), st.floats(allow_nan=False)), max_size=5))
def test_pairs_keep_order_and_length(items: list[tuple[int, float]]) -> None:
    """Pairs are read in the order in which they were sent."""
    pairs = Pairs(items=tuple(items))

    assert (len(pairs), list(pairs)) == (len(items), items)


ELLIPSIS = Opaque(kind="ellipsis")


@pytest.mark.parametrize(
    "value, untouched",
    [
        pytest.param(ELLIPSIS, True, id="ellipsis"),
        pytest.param(Seq(kind="tuple", items=(ELLIPSIS, ELLIPSIS)), True, id="pair"),
        pytest.param(Seq(kind="list", items=(Seq(kind="tuple", items=(ELLIPSIS,)),)), True, id="nested"),
        pytest.param(Seq(kind="tuple", items=(ELLIPSIS, 1.0)), False, id="half done"),
        pytest.param(Seq(kind="tuple", items=(ELLIPSIS, None)), False, id="half None"),
        pytest.param(Seq(kind="tuple", items=()), False, id="empty tuple"),
        pytest.param(Seq(kind="list", items=(Seq(kind="list", items=()),)), False, id="empty inside"),
        pytest.param(None, False, id="None"),
        pytest.param(0.0, False, id="zero"),
        pytest.param("ellipsis", False, id="the word"),
        pytest.param(Opaque(kind="Ellipsis"), False, id="another type"),
        pytest.param(Seq(kind="ellipsis", items=(1,)), False, id="a namedtuple called so"),
    ],
)
def test_untouched_is_only_what_the_handout_returns(value: Value, untouched: bool) -> None:
    """``...`` alone or in containers of nothing else is untouched; None, 0 and a half-done pair are answers."""
    assert is_untouched(value) is untouched


@pytest.mark.parametrize(
    "item, name",
    [
        pytest.param(None, "None", id="None"),
        pytest.param(np.zeros((2, 3)), "an array of shape (2, 3)", id="array"),
        pytest.param(np.array(1.0), "an array of shape ()", id="array without axes"),
        pytest.param(np.float64(1), "a single number", id="scalar"),
        pytest.param(1, "a single number", id="int"),
        pytest.param(math.nan, "a single number", id="nan"),
        pytest.param(True, "a single True or False", id="bool"),
        pytest.param(np.bool_(True), "a single True or False", id="NumPy bool"),
        pytest.param([1, 2], "a list of 2", id="list"),
        pytest.param((), "a tuple of 0", id="tuple"),
        pytest.param(Pairs(items=()), "a dictionary", id="mapping"),
        pytest.param(Opaque(kind="set"), "a value of type set", id="opaque"),
        pytest.param("text", "a value of type str", id="text"),
        pytest.param(1j, "a value of type complex", id="complex"),
    ],
)
def test_kinds_are_named_as_learners_know_them(item: object, name: str) -> None:
    """A sentence can say what came back."""
    assert kind_name(item) == name
