"""Wrong references: one is named only if it alone explains everything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest

from grader.core.misconceptions import Book, Observation, agrees
from grader.core.observed import Seen
from grader.core.values import Pairs, to_value
from grader.model import Call, Failure, Opaque, Outcome


def book() -> Book:
    """Return a book of four mistakes."""
    made = Book()

    @made.add("negated", "t/value", catalogue="N1")
    def _(x: float) -> float:
        """The sign doesn't matter."""
        return -x

    @made.add("halved", "t/value", catalogue="H1")
    def _(x: float) -> float:
        """Half of it is enough."""
        return x / 2

    @made.add("roots", "t/root", catalogue="R1, R2", many=True)
    def _(x: float) -> Iterator[float]:
        """A root is a root."""
        yield from (math.sqrt(x), -math.sqrt(x))

    @made.add("remembers", "t/state", catalogue="S1", fresh=True)
    def _() -> Callable[[float], float]:
        """The first answer is good for ever."""
        kept: list[float] = []

        def predict(x: float) -> float:
            kept.append(x)
            return kept[0]

        return predict

    return made


def seen(*pairs: tuple[float, float]) -> list[Observation]:
    """Return observations of arguments and values."""
    return [Observation(args=(x,), value=y) for x, y in pairs]


@pytest.mark.parametrize(
    "target, observed, named",
    [
        pytest.param("t/value", seen((1, -1), (3, -3)), "negated", id="explains all"),
        pytest.param("t/value", seen((1, -1), (3, 1.5)), "", id="each explains one"),
        pytest.param("t/value", seen((0, 0)), "", id="two explain it"),
        pytest.param("t/value", seen((0, 0), (4, 2)), "halved", id="one case tells them apart"),
        pytest.param("t/value", seen((1, 7)), "", id="nobody explains it"),
        pytest.param("t/value", [], "", id="nothing observed"),
        pytest.param("t/root", seen((4, -2), (9, 3)), "roots", id="any candidate"),
        pytest.param("t/root", seen((-1, 1)), "", id="raises where a value came"),
        pytest.param("t/state", seen((4, 4), (9, 4), (1, 4)), "remembers", id="remembers its calls"),
        pytest.param("t", seen((1, -1), (3, -3)), "negated", id="of a whole task"),
        pytest.param("other", seen((1, -1)), "", id="of another task"),
    ],
)
def test_one_is_named_if_it_alone_explains_all(target: str, observed: list[Observation], named: str) -> None:
    """All values, and no other wrong reference: else nothing is named."""
    made = book()

    assert made.explain(target, observed) == named
    # A second submission starts afresh.
    assert made.explain(target, observed) == named


def test_an_exception_is_an_answer_too() -> None:
    """A wrong reference that raises explains a function that raises the same."""
    raised = Observation(args=(-1,), raised="ValueError", message="math domain error")

    assert book().explain("t/root", [raised]) == "roots"
    assert book().explain("t/root", [Observation(args=(-1,), raised="TypeError")]) == ""
    assert book().explain("t/value", [raised]) == ""


def broken() -> Book:
    """Return a book with a mistake that always raises."""
    made = Book()

    @made.add("wrong_axes", "t/value", catalogue="W1")
    def _(x: object) -> object:
        """NumPy's transpose takes two axes, as other libraries' do."""
        return np.transpose(np.asarray(x), (1, 2))

    @made.add("no_negatives", "t/some", catalogue="W2")
    def _(x: float) -> float:
        """Only some inputs fail."""
        return math.sqrt(x)

    return made


@pytest.mark.parametrize(
    "target, observed, named",
    [
        pytest.param("t/value", [("ValueError", "axes don't match array")] * 2, "wrong_axes", id="same text"),
        pytest.param("t/value", [("ValueError", "not enough values to unpack")] * 2, "", id="another slip's text"),
        pytest.param("t/some", [("", ""), ("ValueError", "my own words")], "no_negatives", id="a value tells enough"),
        pytest.param("t/some", [("", ""), ("TypeError", "my own words")], "", id="another exception"),
    ],
)
def test_exceptions_alone_name_only_by_their_text(target: str, observed: list[tuple[str, str]], named: str) -> None:
    """Where every input raises, the type of an exception says too little: its text has to agree as well."""
    args: list[tuple[object, float | None]] = (
        [(4.0, 2.0), (-4.0, None)] if target == "t/some" else [(np.zeros((2, 3, 4)), None)] * 2
    )
    made = [
        Observation(args=(arg,), value=value, raised=kind, message=message)
        for (arg, value), (kind, message) in zip(args, observed, strict=True)
    ]

    assert broken().explain(target, made) == named


@pytest.mark.parametrize(
    "dtype, off, named",
    [
        pytest.param(np.float32, 1e-4, "negated", id="single precision in, a double out"),
        pytest.param(np.float32, 1e-2, "", id="beyond single precision"),
        pytest.param(np.float64, 1e-4, "", id="double precision in"),
    ],
)
def test_single_precision_is_that_of_the_arguments_too(dtype: type, off: float, named: str) -> None:
    """A float32 input leaves its rounding in whatever comes back."""
    x: npt.NDArray[np.floating] = np.array([1.0, 2.0, 3.0], dtype)
    made = [Observation(args=(x,), value=-x.astype(np.float64) * (1 + off))]

    assert book().explain("t/value", made) == named


def test_a_book_refuses_what_it_cannot_tell() -> None:
    """A name twice, or a mistake without a belief, is refused by name."""
    made = book()

    with pytest.raises(ValueError, match="'negated': is there twice"):
        made.add("negated", "t/value", catalogue="N2")(abs)
    with pytest.raises(ValueError, match="'empty': its belief is missing"):
        made.add("empty", "t/value", catalogue="E1")(lambda x: x)
    assert len(made) == 4


def test_entries_keep_what_was_said_of_them() -> None:
    """Belief, target and task are there to be read."""
    entry = book()["roots"]

    assert (entry.belief, entry.target, entry.task, entry.catalogue) == ("A root is a root.", "t/root", "t", "R1, R2")
    assert [one.id for one in book()] == ["negated", "halved", "roots", "remembers"]


TABLE = np.array([[0.25, 0.75], [0.5, 0.5]])


@pytest.mark.parametrize(
    "got, predicted, same",
    [
        pytest.param(1.0, 1.0, True, id="equal"),
        pytest.param(1, 1.0, True, id="whole number"),
        pytest.param(1.0 + 1e-7, 1.0, True, id="rounding"),
        pytest.param(1.0 + 1e-5, 1.0, False, id="beyond rounding"),
        pytest.param(np.float32(1 + 1e-4), 1.0, True, id="single precision"),
        pytest.param(np.float32(1 + 1e-3), 1.0, False, id="beyond single precision"),
        pytest.param(TABLE, TABLE.copy(), True, id="arrays"),
        pytest.param(TABLE, TABLE.T, False, id="transposed"),
        pytest.param(TABLE[0], TABLE, False, id="would broadcast"),
        pytest.param(TABLE.tolist(), TABLE, True, id="nested lists"),
        pytest.param([[1.0], [1.0, 2.0]], TABLE, False, id="ragged lists"),
        pytest.param(np.array([np.nan, 1]), np.array([np.nan, 1]), True, id="nan where nan is"),
        pytest.param(np.array([1, np.nan]), np.array([np.nan, 1]), False, id="nan elsewhere"),
        pytest.param(np.array([np.inf]), np.array([np.inf]), True, id="infinite"),
        pytest.param((TABLE, TABLE), (TABLE, TABLE), True, id="pair"),
        pytest.param([TABLE, TABLE], (TABLE, TABLE), True, id="pair as a list"),
        pytest.param(np.array([TABLE, TABLE]), (TABLE, TABLE), True, id="pair as an array"),
        pytest.param((TABLE,), (TABLE, TABLE), False, id="half a pair"),
        pytest.param(TABLE[0, 0], (TABLE, TABLE), False, id="number for a pair"),
        pytest.param(None, None, True, id="None"),
        pytest.param(None, 0.0, False, id="None for a number"),
        pytest.param(0.0, None, False, id="number for None"),
        pytest.param(True, True, True, id="True"),
        pytest.param(1, True, False, id="one for True"),
        pytest.param("a", "a", True, id="text"),
        pytest.param("1.0", 1.0, False, id="text for a number"),
        pytest.param(Opaque(kind="set"), 1.0, False, id="opaque"),
        pytest.param(Pairs(items=((0, 1.0),)), (1.0,), False, id="mapping"),
        pytest.param(np.array(["a"]), np.array([1.0]), False, id="array of texts"),
        pytest.param(1j, 1.0, False, id="complex"),
    ],
)
def test_agreement(got: object, predicted: object, same: bool) -> None:
    """Same structure, same shapes, same numbers but for rounding."""
    assert agrees(got, predicted) is same


@pytest.mark.parametrize(
    "outcome, value, raised",
    [
        pytest.param({"kind": "returned", "value": to_value(2.0)}, 2.0, "", id="returned"),
        pytest.param({"kind": "raised", "failure": Failure(kind="KeyError")}, None, "KeyError", id="raised"),
        pytest.param({"kind": "raised"}, None, "?", id="raised, unknown"),
        pytest.param({"kind": "timed_out", "failure": Failure(kind="cpu")}, None, "?", id="timed out"),
    ],
)
def test_observations_of_calls(outcome: dict[str, object], value: object, raised: str) -> None:
    """What no wrong reference can do, such as hang, is explained by none."""
    call = Call(id="t/a", session="main", kind="function", name="f")
    made = Observation.of(Seen(call, Outcome(call=call.id, **outcome)), (1,), b=1, a=2)  # type: ignore[arg-type]

    assert (made.args, made.kwargs, made.value, made.raised) == ((1,), (("a", 2), ("b", 1)), value, raised)
