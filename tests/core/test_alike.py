"""Failures that nothing explains: what depends on the inputs is left out, what doesn't is kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.alike import fingerprint, group_id, unexplained
from grader.core.redact import redact
from grader.core.sentence import SENTENCE, with_group_sentence
from grader.model import Array, Chart, Comparison, Finding, Line, Params, Result, Status, Table
from tests.render.course import TASKS
from tests.render.samples import finding, full_marks, not_graded, one_mistake, result_of, task_result

Doubles = np.ndarray[Any, np.dtype[np.float64]]


def array_of(values: Doubles) -> Array:
    """An array as the model carries it."""
    return Array(dtype="<f8", shape=values.shape, data=np.ascontiguousarray(values, "<f8").tobytes())


def softmax(scores: Doubles) -> Doubles:
    """The right answer of many a task."""
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


def wrong_weights(mistake: Callable[[Doubles], Doubles], seed: int) -> Finding:
    """What is found of a mistake with one seed's inputs."""
    scores = np.random.default_rng(seed).standard_normal((3, 3))
    yours, expected = mistake(scores), softmax(scores)
    at = np.unravel_index(int(np.argmax(np.abs(yours - expected))), yours.shape)
    worst = (int(at[0]), int(at[1]))
    shown = Comparison(
        name="weights",
        yours=array_of(yours),
        expected=array_of(expected),
        corner=(0, 0),
        first=(0, 0),
        worst=worst,
        yours_at_worst=float(yours[worst]),
        expected_at_worst=float(expected[worst]),
        differing=9,
        total=9,
    )
    params: Params = (
        ("at", f"weights[{worst[0]}, {worst[1]}]"),
        ("got", f"{yours[worst]:.3f}"),
        ("expected", f"{expected[worst]:.3f}"),
        ("count", 9),
    )
    return finding("attention/weights", Status.FAILED, text="attention.weights.wrong", params=params, evidence=(shown,))


MISTAKES: dict[str, Callable[[Doubles], Doubles]] = {
    "half as peaked": lambda scores: softmax(scores / 2),
    "twice as peaked": lambda scores: softmax(2 * scores),
    "columns": lambda scores: softmax(scores.T).T,
    "transposed": lambda scores: softmax(scores).T,
    "halved": lambda scores: softmax(scores) / 2,
    "one number": lambda scores: np.full_like(scores, 1 / 3),
    "logarithms": lambda scores: np.log(softmax(scores)),
    "rounded": lambda scores: softmax(scores).round(2),
    "largest is 1": lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True)) ** 1.5,
    "nan": lambda scores: np.full_like(scores, np.nan),
    "reversed rows": lambda scores: softmax(scores)[:, ::-1],
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_group_whatever_the_seed(name: str) -> None:
    """Twenty submissions with inputs of their own make the same mistake: one group."""
    assert len({fingerprint(wrong_weights(MISTAKES[name], seed)) for seed in range(20)}) == 1


def test_different_mistakes_are_different_groups() -> None:
    """Eleven mistakes, eleven groups."""
    groups = {group_id(fingerprint(wrong_weights(mistake, 7))) for mistake in MISTAKES.values()}

    assert len(groups) == len(MISTAKES)


def failed(text: str, **params: str | int | float) -> Finding:
    """A finding with a message."""
    return finding("softmax/rows", Status.FAILED, text=text, params=tuple(params.items()))


@pytest.mark.parametrize(
    "one, other, alike",
    [
        pytest.param(
            failed("engine.call.raised_at_line", kind="ValueError", message="shapes (3,5) and (3,) at 0x7f12", line=3),
            failed("engine.call.raised_in_cell", kind="ValueError", message="shapes (2,4) and (2,) at 0x10", cell=2),
            True,
            id="the same exception in a script and in a cell",
        ),
        pytest.param(
            failed("engine.call.raised", kind="ValueError", message="axes don't match"),
            failed("engine.call.raised", kind="ValueError", message="x must be 1-D"),
            False,
            id="another text",
        ),
        pytest.param(
            failed("engine.call.raised", kind="ValueError", message="bad"),
            failed("engine.call.raised", kind="TypeError", message="bad"),
            False,
            id="another exception",
        ),
        pytest.param(
            failed("engine.compare.shape", expected="(2, 3, 12)", got="(2, 3, 2, 12)"),
            failed("engine.compare.shape", expected="(4, 5, 7)", got="(4, 5, 4, 7)"),
            True,
            id="one shape in other lengths",
        ),
        pytest.param(
            failed("engine.compare.shape", expected="(2, 3, 12)", got="(2, 3)"),
            failed("engine.compare.shape", expected="(2, 3, 12)", got="(3, 12)"),
            False,
            id="another axis missing",
        ),
        pytest.param(failed("a.wrong", got="1.25e-07"), failed("a.wrong", got="-3"), True, id="numbers"),
        pytest.param(failed("a.wrong", got="nan"), failed("a.wrong", got="-3"), False, id="no number"),
        pytest.param(failed("a.wrong"), failed("a.other"), False, id="another message"),
    ],
)
def test_messages(one: Finding, other: Finding, alike: bool) -> None:
    """What a message says of the inputs is left out, what it says of the mistake is kept."""
    assert (fingerprint(one) == fingerprint(other)) is alike


def test_curves_and_tables() -> None:
    """A law is told by how it grows, a table by a factor; the scatter of draws changes neither."""
    x = (4.0, 16.0, 64.0, 256.0, 1024.0)

    def curve(power: float, seed: int) -> Finding:
        noise = np.random.default_rng(seed).normal(1, 0.05, len(x))
        yours = Line(label="raw", role="yours", x=x, y=tuple(float(v) for v in np.array(x) ** power * noise))
        theory = Line(label="theory", role="expected", x=x, y=x)
        return finding("variance/raw", Status.FAILED, evidence=(Chart(id="c", lines=(yours, theory)),))

    def table(factor: float, seed: int) -> Finding:
        right = np.random.default_rng(seed).uniform(0.2, 2, 4)
        rows = tuple((d, f"{v * factor:.4f}", f"{v:.4f}") for d, v in zip((4, 16, 64, 256), right, strict=True))
        return finding("entropy/fit", Status.FAILED, evidence=(Table(caption="t", header=("a", "b", "c"), rows=rows),))

    for made, values in ((curve, (0.5, 1.5, 2.0, 0.0)), (table, (1.4427, 0.125, 0.4809))):
        groups = [{fingerprint(made(value, seed)) for seed in range(20)} for value in values]
        assert [len(group) for group in groups] == [1] * len(values)
        assert len(set.union(*groups)) == len(values)


@given(
    st.lists(st.tuples(st.text(), st.one_of(st.text(), st.integers(), st.floats()))),
    st.lists(st.floats(), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 3), st.text(), st.floats()), max_size=5),
)
def test_nothing_breaks_it(params: list[tuple[str, Any]], numbers: list[float], rows: list[tuple[Any, ...]]) -> None:
    """Whatever a finding holds, it has a fingerprint, and always the same."""
    values = np.array(numbers)
    shown = Comparison(
        name="x",
        yours=array_of(values),
        expected=array_of(values[::-1]),
        corner=(0,),
        first=(0,),
        worst=(0,),
        yours_at_worst=0.0,
        expected_at_worst=0.0,
        differing=1,
        total=len(numbers),
    )
    line = Line(label="l", role="yours", x=tuple(numbers), y=tuple(numbers))
    chart = Chart(id="c", lines=(line, replace(line, role="expected")))
    table = Table(caption="t", header=("a", "b", "c"), rows=tuple(rows))
    whole = finding("a/b", Status.FAILED, params=tuple(params), evidence=(shown, chart, table))
    alone = finding("a/b", Status.FAILED, params=tuple(params), evidence=(table,))

    for one in (whole, alone):
        assert fingerprint(one) == fingerprint(one)
        assert re.fullmatch("[a-z2-9]{6}", group_id(fingerprint(one)))


def broken(*, misconceptions: tuple[str, ...] = ()) -> Result:
    """Two criteria of one task fail."""
    softmax_task, attention, *others = TASKS
    out = finding("attention/out", Status.FAILED, text="attention.out.differs")
    weights = finding("attention/weights", Status.FAILED, text="attention.weights.wrong", misconceptions=misconceptions)
    made = task_result(attention, {"weights": weights, "out": out}, status=Status.FAILED)
    return result_of((task_result(softmax_task), made, *(task_result(task) for task in others)))


def test_a_task_is_unexplained_as_a_whole() -> None:
    """One entry for a task, of the criterion that leads it; what one misconception explains is explained."""
    ((criterion, group),) = unexplained(broken())

    assert criterion == "attention/weights"
    assert unexplained(broken()) == ((criterion, group),)
    assert unexplained(broken(misconceptions=("no-scale",))) == ()
    assert unexplained(full_marks()) == ()
    assert unexplained(not_graded()) == ()


def test_a_sentence_is_a_note_of_its_task() -> None:
    """The learner gets it, once; no point and no finding changes."""
    result = with_group_sentence(one_mistake(), "attention/weights", "Look at the **order**.")
    again = with_group_sentence(result, "attention/weights", "Look at the **order**.")
    (note,) = redact(result, "learner").tasks[1].notes

    assert again == result
    assert (note.text, note.params) == (SENTENCE, (("sentence", "Look at the **order**."),))
    assert replace(result, tasks=one_mistake().tasks) == one_mistake()
    assert [task.criteria for task in result.tasks] == [task.criteria for task in one_mistake().tasks]


@pytest.mark.parametrize("criterion", ["", "attention", "attention/nothing", "nothing/weights"])
def test_a_sentence_needs_its_criterion(criterion: str) -> None:
    """A group of another assignment names nothing here."""
    with pytest.raises(ValueError, match="no criterion"):
        with_group_sentence(one_mistake(), criterion, "A sentence.")
