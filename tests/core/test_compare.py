"""Expected beside yours: complaints in their order, tolerances, and the block that is shown."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.core.compare import DOUBLE, RELATIVE_CEILING, SINGLE, Expected, as_array, compare, picture, unit_of
from grader.core.values import Pairs, to_python
from grader.model import Array, Opaque, Param

TABLE = np.array([[0.25, 0.5, 0.25], [0.125, 0.375, 0.5]])


def expected(value: npt.ArrayLike = TABLE, units: float = 8, *, weights: bool = False) -> Expected:
    """Return a right answer whose rounding errors are ``units`` of its own size."""
    wide = np.asarray(value, dtype=np.longdouble)
    size = np.abs(np.asarray(value, dtype=np.float64))
    return Expected(value=wide, units=np.full(wide.shape, float(units)), scale=size, weights=weights)


def with_entry(index: tuple[int, ...], value: complex, dtype: type = float) -> npt.NDArray[np.generic]:
    """Return the table with one other entry."""
    changed: npt.NDArray[Any] = TABLE.astype(dtype)
    changed[index] = value
    return changed


@pytest.mark.parametrize(
    "got, text",
    [
        pytest.param(None, "engine.compare.none", id="None"),
        pytest.param("0.25", "engine.compare.type", id="text"),
        pytest.param(True, "engine.compare.type", id="True"),
        pytest.param(Opaque(kind="generator"), "engine.compare.type", id="opaque"),
        pytest.param(Pairs(items=((0, 1.0),)), "engine.compare.type", id="mapping"),
        pytest.param([[1.0, 2.0], [3.0]], "engine.compare.type", id="ragged list"),
        pytest.param([[1.0, None, 2.0]] * 2, "engine.compare.type", id="list with None"),
        pytest.param([["a", "b", "c"]] * 2, "engine.compare.type", id="list of texts"),
        pytest.param([Opaque(kind="object")], "engine.compare.type", id="list of opaque"),
        pytest.param(10**400, "engine.compare.type", id="a number beyond every dtype"),
        pytest.param(np.array(["a"]), "engine.compare.type", id="array of texts"),
        pytest.param(with_entry((0, 1), 0.5 + 1e-30j, complex), "engine.compare.complex", id="imaginary part"),
        pytest.param(np.zeros((3, 2), complex) + 1j, "engine.compare.complex", id="complex before shape"),
        pytest.param(TABLE.T, "engine.compare.shape", id="transposed"),
        pytest.param(TABLE[None], "engine.compare.shape", id="axis too many"),
        pytest.param(0.25, "engine.compare.shape", id="one number"),
        pytest.param([], "engine.compare.shape", id="empty list"),
        pytest.param(np.full((3, 2), np.nan), "engine.compare.shape", id="shape before finite"),
        pytest.param(with_entry((0, 0), math.nan), "engine.compare.not_finite", id="nan"),
        pytest.param(with_entry((1, 2), -math.inf), "engine.compare.not_finite", id="infinite"),
        pytest.param(with_entry((0, 2), math.nan) * 2, "engine.compare.not_finite", id="finite before values"),
        pytest.param(with_entry((1, 1), 0.376), "engine.compare.values", id="wrong value"),
        pytest.param(TABLE > 0.3, "engine.compare.values", id="array of bools"),
        pytest.param(np.zeros((2, 3), np.int64), "engine.compare.values", id="whole numbers"),
        pytest.param(np.zeros((2, 3), np.uint64) - np.uint64(1), "engine.compare.values", id="the largest number"),
    ],
)
def test_the_first_complaint_is_said(got: object, text: str) -> None:
    """There, type, dtype, shape, finite, values: whatever fails first is said, by the learner's name."""
    verdict = compare(got, expected(), "weights")

    assert (verdict.passed, verdict.text) == (False, text)
    assert str(dict(verdict.params)["name"]).startswith("weights")
    assert verdict.values_wrong == (text == "engine.compare.values")


def array(dtype: str, data: bytes, *, kind: str = "ndarray", clipped: bool = False) -> Array:
    """Return an array as it was sent."""
    return Array(dtype=dtype, shape=(2, 3), data=data, kind=kind, clipped=clipped)


@pytest.mark.parametrize(
    "got",
    [
        pytest.param(TABLE, id="float64"),
        pytest.param(TABLE.astype(np.float32), id="float32"),
        pytest.param(TABLE.astype(np.float16), id="float16 that is exact"),
        pytest.param(TABLE.astype(complex), id="complex without imaginary part"),
        pytest.param(TABLE.astype(np.complex64), id="single complex"),
        pytest.param(np.asfortranarray(TABLE), id="column order"),
        pytest.param(to_python(array("<f8", TABLE.tobytes(), kind="MaskedArray")), id="subclass"),
    ],
)
def test_right_answers_pass_without_a_word(got: object) -> None:
    """A right array passes, whatever its dtype, its order or the subclass that it came as."""
    verdict = compare(got, expected(), "weights")

    assert (verdict.passed, verdict.notes, verdict.comparison) == (True, (), None)


@pytest.mark.parametrize(
    "got",
    [
        pytest.param(0.5, id="float"),
        pytest.param(np.float64(0.5), id="scalar"),
        pytest.param(np.float32(0.5), id="single scalar"),
        pytest.param(np.array(0.5), id="array without axes"),
        pytest.param(to_python(Array(dtype="<f8", shape=(), data=np.float64(0.5).tobytes(), kind="scalar")), id="sent"),
    ],
)
def test_a_single_number_passes(got: object) -> None:
    """Where one number is asked for, every kind of number will do."""
    assert compare(got, expected(0.5), "x").passed


def test_a_wrong_single_number_is_named_without_an_index() -> None:
    """One number is compared in words for one number."""
    verdict = compare(0.75, expected(0.5), "x")

    assert verdict.text == "engine.compare.value"
    assert dict(verdict.params)["at"] == "x"
    assert verdict.comparison is not None
    assert (verdict.comparison.worst, verdict.comparison.total) == ((), 1)


@pytest.mark.parametrize(
    "got",
    [pytest.param(TABLE.tolist(), id="lists"), pytest.param(tuple(map(tuple, TABLE.tolist())), id="tuples")],
)
def test_nested_lists_pass_with_a_note(got: object) -> None:
    """Lists of right numbers cost no points, and the note names what they are."""
    verdict = compare(got, expected(), "out")

    assert verdict.passed
    assert [(note.text, note.params) for note in verdict.notes] == [("engine.note.lists", (("name", "out"),))]


def test_a_wrong_list_keeps_its_note() -> None:
    """The remark on lists isn't lost when the values are wrong."""
    verdict = compare((TABLE + 1).tolist(), expected(), "out")

    assert (verdict.values_wrong, [note.text for note in verdict.notes]) == (True, ["engine.note.lists"])


def test_a_clipped_array_is_no_answer() -> None:
    """Of an array that was too large only its shape is known: that is said, and nothing is compared."""
    clipped = to_python(Array(dtype="<f8", shape=(2, 3), data=b"", clipped=True))
    verdict = compare(clipped, expected(), "out")

    assert verdict.text == "engine.compare.type"
    assert dict(verdict.params)["got"] == "a value of type ndarray of shape (2, 3)"


# ---------------------------------------------------------------------- tolerance


@pytest.mark.parametrize(
    "dtype, unit",
    [
        pytest.param("f8", DOUBLE, id="float64"),
        pytest.param("f4", SINGLE, id="float32"),
        pytest.param("f2", SINGLE, id="float16 counts as float32"),
        pytest.param("c16", DOUBLE, id="complex128"),
        pytest.param("c8", SINGLE, id="complex64"),
        pytest.param("i1", DOUBLE, id="small whole numbers"),
        pytest.param("u8", DOUBLE, id="large whole numbers"),
        pytest.param("?", DOUBLE, id="bool"),
    ],
)
def test_the_unit_of_an_answer(dtype: str, unit: float) -> None:
    """A dtype's own rounding counts, but nothing coarser than single precision."""
    assert unit_of(np.dtype(dtype)) == unit


@pytest.mark.parametrize(
    "dtype, input_unit, error, passed, notes",
    [
        pytest.param("f8", DOUBLE, 7 * DOUBLE, True, [], id="double within"),
        pytest.param("f8", DOUBLE, 10 * DOUBLE, True, ["engine.note.single_precision"], id="double, barely beyond"),
        pytest.param("f8", DOUBLE, 7 * SINGLE, True, ["engine.note.single_precision"], id="double at single precision"),
        pytest.param("f8", DOUBLE, 10 * SINGLE, False, [], id="double, wrong"),
        pytest.param("f8", SINGLE, 7 * SINGLE, True, [], id="single inputs"),
        pytest.param("f8", SINGLE, 10 * SINGLE, False, [], id="single inputs, wrong"),
        pytest.param("f4", DOUBLE, 7 * SINGLE, True, ["engine.note.single_precision"], id="single answer"),
        pytest.param("f4", DOUBLE, 10 * SINGLE, False, [], id="single answer, wrong"),
        pytest.param("f2", DOUBLE, 2.0**-9, False, [], id="half answer, wrong"),
    ],
)
def test_tolerance_follows_from_rounding(
    dtype: str, input_unit: float, error: float, passed: bool, notes: list[str]
) -> None:
    """Eight units are allowed here: of the answer's or the inputs' precision, and with a note of single precision."""
    answer = np.array([1 + error, 1.0]).astype(dtype)
    verdict = compare(answer, expected([1, 1]), "x", input_unit=input_unit)

    assert (verdict.passed, [note.text for note in verdict.notes]) == (passed, notes)


def test_half_precision_is_never_enough() -> None:
    """Numbers rounded to half precision are wrong where that shows."""
    thirds = np.full(3, 1 / 3)

    assert not compare(thirds.astype(np.float16), expected(thirds), "x").passed
    assert compare(thirds.astype(np.float32), expected(thirds), "x").passed


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("units", [1e6, 1e12, 1e300, math.inf])
def test_tolerance_has_a_ceiling(dtype: str, units: float) -> None:
    """However many rounding errors are claimed, a thousandth of the scale is the most that passes."""
    right = expected([1024.0], units)
    too_far = np.array([1024 * (1 + 2 * RELATIVE_CEILING)]).astype(dtype)
    near = np.array([1025.0]).astype(dtype)

    assert not compare(too_far, right, "x").passed
    assert compare(near, right, "x").passed


@given(st.floats(1e-300, 1e300), st.floats(0, 1e15), st.sampled_from(["f8", "f4"]))
def test_nothing_beyond_the_ceiling_passes(value: float, units: float, dtype: str) -> None:
    """No tolerance is wider than a thousandth, beside what is subnormal in single precision."""
    got = np.array([value * 1.0011])

    assert not compare(got, expected([value], units), "x").passed or abs(got[0] - value) < 1e-37


def test_an_exact_answer_uses_nothing_of_the_tolerance() -> None:
    """``used`` is the largest share of the tolerance that an entry took."""
    right = expected([1.0, 2.0], 8)

    assert compare(np.array([1.0, 2.0]), right, "x").used == 0
    assert compare(np.array([1.0, 2.0 + 8 * DOUBLE]), right, "x").used == pytest.approx(0.5)


def test_an_empty_array_is_right_when_it_is_expected() -> None:
    """No entries, nothing wrong."""
    verdict = compare(np.empty((0, 3)), expected(np.empty((0, 3))), "x")

    assert (verdict.passed, verdict.used) == (True, 0.0)


# ---------------------------------------------------------------------- what is shown


def test_not_finite_names_the_first_and_counts_all() -> None:
    """The first entry that isn't finite is named, with its value, and all are counted."""
    got = TABLE.copy()
    got[0, 2], got[1, 0] = math.inf, math.nan
    verdict = compare(got, expected(), "softmax(x)")

    assert dict(verdict.params) == {"name": "softmax(x)[0, 2]", "got": "inf", "count": 2, "total": 6}


def test_a_wrong_shape_says_both() -> None:
    """A complaint about the shape gives the expected one and the learner's."""
    params = dict(compare(TABLE.T, expected(), "weights").params)

    assert params == {"name": "weights", "expected": "(2, 3)", "got": "(3, 2)"}


@pytest.mark.parametrize(
    "hint, text",
    [pytest.param("course.flat", "course.flat", id="said"), pytest.param("", "engine.compare.shape", id="silent")],
)
def test_a_course_can_say_more_of_a_shape(hint: str, text: str) -> None:
    """A course's words for a shape take the place of the engine's; no words leave them."""
    seen: list[tuple[int, ...]] = []

    def shape_hint(shape: tuple[int, ...]) -> str:
        seen.append(shape)
        return hint

    assert compare(TABLE.ravel(), expected(), "out", shape_hint=shape_hint).text == text
    assert seen == [(6,)]


def test_first_worst_and_counts() -> None:
    """The first wrong entry in reading order, the largest difference, and how many differ of how many."""
    right = np.zeros((2, 3, 4))
    got = right.copy()
    got[0, 1, 2], got[1, 2, 0], got[1, 2, 3] = 0.5, -2.0, 0.25
    verdict = compare(got, expected(right), "out")
    shown = verdict.comparison

    assert shown is not None
    assert (shown.first, shown.worst, shown.differing, shown.total) == ((0, 1, 2), (1, 2, 0), 3, 24)
    assert (shown.yours_at_worst, shown.expected_at_worst) == (-2.0, 0.0)
    assert shown.name == "out[1]"
    wanted: dict[str, Param] = {
        "name": "out", "at": "out[1, 2, 0]", "got": "-2.000", "expected": "0.000", "count": 3, "total": 24
    }  # fmt: skip
    assert dict(verdict.params) == wanted


@pytest.mark.parametrize(
    "shape, at, name, corner, block",
    [
        pytest.param((5,), (3,), "x", (0,), (5,), id="vector"),
        pytest.param((6, 6), (5, 0), "x", (0, 0), (6, 6), id="whole table"),
        pytest.param((7,), (0,), "x", (0,), (4,), id="start of a vector"),
        pytest.param((9,), (8,), "x", (5,), (4,), id="end of a vector"),
        pytest.param((20, 20), (10, 3), "x", (8, 1), (4, 4), id="middle of a table"),
        pytest.param((20, 20), (19, 0), "x", (16, 0), (4, 4), id="corner of a table"),
        pytest.param((2, 20), (1, 10), "x", (0, 8), (2, 4), id="low table"),
        pytest.param((20, 1), (7, 0), "x", (5, 0), (4, 1), id="column"),
        pytest.param((2, 3, 8, 8), (1, 2, 7, 4), "x[1, 2]", (4, 2), (4, 4), id="four axes"),
    ],
)
def test_the_block_around_the_worst_entry(
    shape: tuple[int, ...], at: tuple[int, ...], name: str, corner: tuple[int, ...], block: tuple[int, ...]
) -> None:
    """Up to 6 by 6 all is shown, else 4 by 4 around the worst entry, within the array."""
    got = np.ones(shape)
    got[at] = 9
    shown = compare(got, expected(np.ones(shape)), "x").comparison

    assert shown is not None
    assert (shown.name, shown.corner, shown.yours.shape, shown.expected.shape) == (name, corner, block, block)


@given(
    hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_dims=4, max_side=9), elements=st.floats(-100, 100)),
    st.data(),
)
def test_what_is_shown_is_cut_from_the_arrays(got: npt.NDArray[np.float64], data: st.DataObject) -> None:
    """Whatever the shapes, the block is a part of both arrays and the worst entry lies in it."""
    elements = st.floats(-100, 100)
    right = data.draw(hnp.arrays(np.float64, got.shape, elements=elements))
    verdict = compare(got, expected(right), "x")
    shown = verdict.comparison

    assert verdict.passed == (shown is None)
    if shown is None:
        np.testing.assert_allclose(got, right, rtol=1e-6, atol=1e-30)
        return
    lead, inner = shown.worst[:-2], shown.worst[-2:]
    yours, wanted = to_python(shown.yours), to_python(shown.expected)
    assert isinstance(yours, np.ndarray)
    cut = tuple(slice(c, c + length) for c, length in zip(shown.corner, yours.shape, strict=True))
    np.testing.assert_array_equal(yours, got[lead][cut])
    np.testing.assert_array_equal(wanted, right[lead][cut])
    assert max(yours.shape, default=0) <= 6
    assert all(c <= i < c + n for c, i, n in zip(shown.corner, inner, yours.shape, strict=True))
    assert abs(got - right).max() == abs(got[shown.worst] - right[shown.worst])
    assert shown.first <= shown.worst
    assert 1 <= shown.differing <= shown.total == got.size


@pytest.mark.parametrize(
    "worst, weights, heat",
    [
        pytest.param(0.9, True, True, id="weights"),
        pytest.param(1.5, True, False, id="outside 0..1"),
        pytest.param(-0.1, True, False, id="negative"),
        pytest.param(0.9, False, False, id="no weights"),
    ],
)
def test_only_weights_are_a_heat_map(worst: float, weights: bool, heat: bool) -> None:
    """Colours stand for weights, and only while the learner's own entries lie in 0..1."""
    shown = compare(with_entry((0, 0), worst), expected(weights=weights), "w").comparison

    assert shown is not None
    assert shown.weights is heat


@pytest.mark.parametrize(
    "value, text",
    [
        pytest.param(0.0004, "0.0004", id="small"),
        pytest.param(0.0, "0.000", id="zero"),
        pytest.param(-0.25, "-0.250", id="usual"),
        pytest.param(123456.0, "1.23e+05", id="large"),
        pytest.param(1e300, "1e+300", id="huge"),
    ],
)
def test_numbers_are_written_shortly(value: float, text: str) -> None:
    """Three decimals where they tell something, else three significant digits."""
    params = dict(compare(np.array([value]), expected([7.0]), "x").params)

    assert params["got"] == text


def test_a_picture_of_what_is_right() -> None:
    """A right answer is shown beside the expected one, with nothing marked as differing."""
    shown = picture(TABLE, expected(weights=True), "weights")

    assert shown is not None
    assert (shown.name, shown.differing, shown.total, shown.weights) == ("weights", 0, 6, True)
    assert to_python(shown.yours).tolist() == TABLE.tolist()  # type: ignore[attr-defined]  # an array


@pytest.mark.parametrize("got", [None, "x", np.zeros((3, 2)), np.zeros((0, 3))])
def test_no_picture_of_anything_else(got: object) -> None:
    """What isn't an array of the expected shape has no picture."""
    assert picture(got, expected(), "weights") is None


def test_as_array_reads_numbers_only() -> None:
    """Arrays stay what they are; True isn't a number here."""
    found, verdict = as_array(TABLE, "x")

    assert found is TABLE
    assert verdict.passed
    assert as_array(False, "x")[0] is None
