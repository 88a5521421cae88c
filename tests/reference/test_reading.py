"""Numbers and orders out of whatever a learner returned."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.values import Pairs
from grader.model import Opaque
from reference.attention.reading import MAX_LENGTH, Read, decimals_of, read_entropies, read_numbers, read_order


@pytest.mark.parametrize(
    "value, numbers",
    [
        pytest.param((1.5, 2), [1.5, 2.0], id="tuple"),
        pytest.param([1.5, 2], [1.5, 2.0], id="list"),
        pytest.param(np.array([1.5, 2]), [1.5, 2.0], id="array"),
        pytest.param(np.array([[1.5], [2]]), [1.5, 2.0], id="column"),
        pytest.param((np.float64(1.5), np.int64(2)), [1.5, 2.0], id="scalars"),
        pytest.param((np.array(1.5), np.array([2.0])), [1.5, 2.0], id="arrays of one number"),
        pytest.param((math.nan, math.inf), [math.nan, math.inf], id="not finite"),
        pytest.param(np.array(1.5), [1.5], id="array without axes"),
        pytest.param((), [], id="nothing"),
        pytest.param(1.5, [], id="a number alone"),
        pytest.param(None, [], id="None"),
        pytest.param("1.5 2.0", [], id="text"),
        pytest.param(("1.5", 2.0), [], id="a text among numbers"),
        pytest.param((True, 2.0), [], id="True isn't a number"),
        pytest.param((np.bool_(True), 2.0), [], id="nor NumPy's"),
        pytest.param((1.5, None), [], id="None among numbers"),
        pytest.param((1.5, [2.0]), [1.5, 2.0], id="one in a box"),
        pytest.param((1.5, [2.0, 3.0]), [], id="nested"),
        pytest.param((1.5, [[2.0]]), [], id="nested twice"),
        pytest.param((1.5, np.array([2.0, 3.0])), [], id="an array among numbers"),
        pytest.param((1j, 2.0), [], id="complex"),
        pytest.param(Pairs(items=((4, 1.5),)), [], id="mapping"),
        pytest.param(Opaque(kind="set"), [], id="opaque"),
        pytest.param([1.0] * (MAX_LENGTH + 1), [], id="too long"),
        pytest.param(np.ones((9, 9)), [], id="too large a table"),
        pytest.param(np.array(["a"]), [], id="array of texts"),
    ],
)
def test_numbers(value: object, numbers: list[float]) -> None:
    """A flat sequence of real numbers is read, whatever it came as; anything else isn't."""
    np.testing.assert_array_equal([read.value for read in read_numbers(value)], numbers)


@pytest.mark.parametrize(
    "item, single",
    [
        pytest.param(1.5, False, id="float"),
        pytest.param(np.float64(1.5), False, id="double"),
        pytest.param(np.float32(1.5), True, id="single"),
        pytest.param(np.float16(1.5), True, id="half"),
        pytest.param(np.int8(1), False, id="small whole number"),
    ],
)
def test_single_precision_is_remembered(item: object, single: bool) -> None:
    """A number knows whether it came in single precision."""
    assert [read.single for read in read_numbers([item])] == [single]


WIDTHS = (4, 16)
BOTH = [Read(1.5), Read(0.5)]


@pytest.mark.parametrize(
    "value, numbers, form",
    [
        pytest.param([1.5, 0.5], BOTH, "sequence", id="list"),
        pytest.param(np.array([1.5, 0.5]), BOTH, "sequence", id="array"),
        pytest.param([1.5], [Read(1.5)], "sequence", id="too few"),
        pytest.param(Pairs(items=((4, 1.5), (16, 0.5))), BOTH, "mapping", id="mapping"),
        pytest.param(Pairs(items=((4.0, 1.5), (np.int64(16), 0.5))), BOTH, "mapping", id="other keys of that size"),
        pytest.param(Pairs(items=(("d4", 1.5), ("d16", 0.5))), BOTH, "mapping", id="keys in words"),
        pytest.param(Pairs(items=((4, 1.5), (16, "x"))), [], "", id="mapping to a text"),
        pytest.param([(4, 1.5), (16, 0.5)], BOTH, "pairs", id="pairs"),
        pytest.param(((4, 1.5), [16, 0.5]), BOTH, "pairs", id="pairs of both kinds"),
        pytest.param([(1.5, 4), (0.5, 16)], [], "", id="pairs the other way"),
        pytest.param([(4, 1.5), (64, 0.5)], [], "", id="pairs of other widths"),
        pytest.param([(4, 1.5), 0.5], [], "", id="half pairs"),
        pytest.param(None, [], "", id="None"),
        pytest.param(1.5, [], "", id="one number"),
        pytest.param("1.5 0.5", [], "", id="text"),
        pytest.param([], [], "", id="empty list"),
    ],
)
def test_entropies(value: object, numbers: list[Read], form: str) -> None:
    """One number a width: as a sequence, a mapping or pairs of width and number."""
    assert read_entropies(value, WIDTHS) == (numbers, form)


@pytest.mark.parametrize(
    "values, places",
    [
        pytest.param([1.0788], 4, id="four"),
        pytest.param([1.0788, 1.47], 4, id="trailing zeros count with the others"),
        pytest.param([1.5, 2.0], 1, id="one"),
        pytest.param([3.0], 0, id="none"),
        pytest.param([0.123456], 6, id="six"),
        pytest.param([0.1234567], None, id="seven"),
        pytest.param([1.5, math.pi], None, id="one that isn't rounded"),
        pytest.param([-0.25], 2, id="negative"),
        pytest.param([1e22], 0, id="large"),
        pytest.param([math.nan], None, id="nan"),
    ],
)
def test_decimals(values: list[float], places: int | None) -> None:
    """To how many decimals all of the numbers were rounded, if they were."""
    assert decimals_of(values) == places


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=4), st.integers(0, 6))
def test_rounded_numbers_have_few_decimals(values: list[float], places: int) -> None:
    """What was rounded has at most that many decimals."""
    found = decimals_of([round(value, places) for value in values])

    assert found is not None
    assert found <= places


@pytest.mark.parametrize(
    "value, order",
    [
        pytest.param([2, 0, 1], [2, 0, 1], id="list"),
        pytest.param((2, 0, 1), [2, 0, 1], id="tuple"),
        pytest.param(np.array([2, 0, 1]), [2, 0, 1], id="array"),
        pytest.param(np.array([[2, 0, 1]]), [2, 0, 1], id="row"),
        pytest.param(np.array([2.0, 0.0, 1.0]), [2, 0, 1], id="floats"),
        pytest.param(np.array([2, 0, 1], np.uint8), [2, 0, 1], id="small whole numbers"),
        pytest.param([np.int64(2), 0, 1.0], [2, 0, 1], id="mixed"),
        pytest.param([2, 0], None, id="too short"),
        pytest.param([2, 0, 1, 3], None, id="too long"),
        pytest.param([2, 0, 0], None, id="one twice"),
        pytest.param([3, 2, 1], [2, 1, 0], id="counted from one"),
        pytest.param([4, 3, 2], None, id="counted from two"),
        pytest.param([2, 0, 1.5], None, id="no whole number"),
        pytest.param([2, 0, math.nan], None, id="nan"),
        pytest.param([0.2, 0.3, 0.5], None, id="weights"),
        pytest.param(np.array([True, False, True]), None, id="bools"),
        pytest.param(np.array(["2", "0", "1"]), None, id="texts"),
        pytest.param("201", None, id="text"),
        pytest.param(None, None, id="None"),
        pytest.param(Pairs(items=()), None, id="mapping"),
        pytest.param(np.arange(100.0), None, id="far too long"),
    ],
)
def test_orders(value: object, order: list[int] | None) -> None:
    """A permutation of the positions is read, whatever sequence it came as."""
    found = read_order(value, 3)

    assert (None if found is None else found.tolist()) == order


@given(st.permutations(range(8)))
def test_every_permutation_is_an_order(order: list[int]) -> None:
    """What argsort can give is read as it is."""
    found = read_order(np.array(order), 8)

    assert found is not None
    assert found.tolist() == order
