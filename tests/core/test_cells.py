"""A notebook's cells as evidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.cells import MAX_TOKENS, CellSeen, cells_of
from grader.core.values import to_value
from grader.model import Array, Draws, Outcome, Source, Step
from tests.core.tiny import transcript_of


def cell(stdout: str) -> CellSeen:
    """Return a cell that printed this."""
    return CellSeen(1, "", Outcome(call="load/1", kind="returned", stdout=stdout))


@pytest.mark.parametrize(
    "text, numbers",
    [
        pytest.param("raw 1027.900 scaled 1.0038", [(1027.9, 0.0005), (1.0038, 0.00005)], id="the lesson's"),
        pytest.param("[0.0003, 1.7909]", [(0.0003, 0.00005), (1.7909, 0.00005)], id="list"),
        pytest.param("np.float64(0.153)", [(0.153, 0.0005)], id="NumPy's wrapper"),
        pytest.param("[np.int64(512), np.float32(0.25)]", [(512, 0.5)], id="wrappers in a list"),
        pytest.param("1.25e-05 and 3.500E+2", [(1.25e-5, 5e-8), (350.0, 0.05)], id="exponents"),
        pytest.param("-27.000 +24.29 .125", [(-27.0, 0.0005), (24.29, 0.005), (0.125, 0.0005)], id="signs"),
        pytest.param("4 16 64 0.5 1e-9", [], id="too few digits"),
        pytest.param("256 | 256.391", [(256, 0.5), (256.391, 0.0005)], id="three digits"),
        pytest.param("0.000", [(0.0, 0.0005)], id="zeros after the point count"),
        pytest.param("x1234 1234x v1.234 1.2.345 0x1234", [], id="parts of words"),
        pytest.param("d_k=1024: 1.234%", [(1024, 0.5), (1.234, 0.0005)], id="signs around"),
        pytest.param("nan inf", [], id="not finite"),
        pytest.param("٣٤٥٦", [], id="other digits"),
        pytest.param("1" * 41, [], id="too long"),
        pytest.param(f"{'1' * 38}.5", [(float("1" * 38), 0.05)], id="as long as may be"),
        pytest.param("1e400 1.234e999 -1.234e400 1.234", [(1.234, 0.0005)], id="beyond every float"),
        pytest.param("1.234e-999 1.5e308", [(0.0, 0.0)], id="below every float"),
    ],
)
def test_printed_numbers(text: str, numbers: list[tuple[float, float]]) -> None:
    """Numbers of three digits and more count, each with half a unit of its last digit."""
    found = cell(text).numbers

    assert [number.value for number in found] == [value for value, _ in numbers]
    assert [number.half_unit for number in found] == pytest.approx([half for _, half in numbers])


def test_at_most_so_many_numbers() -> None:
    """Whoever prints everything shows nothing: 64 numbers count."""
    assert len(cell("1.234 " * 1000).numbers) == 64


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    """Whatever was printed, reading it never fails."""
    assert len(cell(text).numbers) <= MAX_TOKENS


@given(st.floats(-1e6, 1e6).filter(lambda x: abs(x) >= 1), st.integers(3, 8))
def test_a_number_lies_within_half_a_unit(x: float, decimals: int) -> None:
    """The number that was printed lies within half a unit of its last digit of what is read."""
    (number,) = cell(f"{x:.{decimals}f}").numbers

    assert abs(number.value - x) <= number.half_unit * (1 + 1e-6) + 1e-9


def test_names_and_the_last_lines_value() -> None:
    """New variables go by their names, the value shown by ``_``."""
    outcome = Outcome(call="load/1", kind="returned", names=(("a", 1.5), ("p", to_value(np.eye(2)))), value=2.5)
    names = CellSeen(1, "", outcome).names

    assert (names["a"], names["_"], list(names)) == (1.5, 2.5, ["a", "p", "_"])
    assert "_" not in CellSeen(1, "", Outcome(call="load/1", kind="returned")).names


def test_draws_of_a_cell() -> None:
    """Numbers are there if they were kept, methods and shapes in any case."""
    step = Step(source=0, method="randn", args=(), shape=(2,), dtype="<f8")
    source = Source(kind="RandomState", bit_generator="MT19937", state=None, sha256="")
    values = Array(dtype="<f8", shape=(2,), data=np.arange(2.0).tobytes())
    kept = Outcome(call="load/1", kind="returned", draws=Draws(sources=(source,), steps=(step,), values=values))
    lost = Outcome(call="load/1", kind="returned", draws=Draws(sources=(source,), steps=(step,)))
    drawn = CellSeen(1, "", kept).drawn

    assert drawn is not None
    assert drawn[0].values.tolist() == [[0.0, 1.0]]
    assert CellSeen(1, "", lost).drawn is None
    assert CellSeen(1, "", lost).steps == (step,)
    assert (cell("").drawn, cell("").steps) == (None, ())


def test_cells_of_a_notebook() -> None:
    """Cells that ran come in order with their own source; a script has none."""
    outcomes = tuple(Outcome(call=f"load/{n}", kind="returned") for n in (2, 5, 9))
    notebook = transcript_of(kind="notebook", source=("a", "b"), cell_numbers=(2, 5), outcomes=outcomes)

    assert [(one.number, one.source) for one in cells_of(notebook)] == [(2, "a"), (5, "b")]
    assert cells_of(transcript_of(outcomes=outcomes)) == ()
