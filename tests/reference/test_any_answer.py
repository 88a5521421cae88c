"""Whatever a learner's functions return or draw, judging them never fails: that would be our fault, and hide theirs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.core.assignment import Assignment
from grader.core.judge import judge
from grader.core.plan import plan
from grader.core.score import conclude
from grader.course import find_course, load_assignment
from grader.model import Array, Call, Draws, Failure, Opaque, Outcome, Seq, Source, Step, Transcript, Value

TASKS = ("softmax", "attention", "variance", "entropy", "ranking")


@cache
def attention() -> Assignment:
    """Return the assignment, loaded once."""
    return load_assignment(find_course(), "attention")


def array(item: Any, kind: str = "ndarray") -> Array:
    """Return an array as it is sent."""
    made = np.asarray(item)
    return Array(dtype=made.dtype.str, shape=made.shape, data=made.tobytes(), kind=kind)


def seq(*items: Value, kind: str = "tuple") -> Seq:
    """Return a sequence as it is sent."""
    return Seq(kind=kind, items=items)


NUMBERS: list[Value] = [
    None, True, 0, 1, -1, 10**400, -(2**64), 0.0, -0.0, 1.0, 0.25, 1024.0, 5e-324, 1.7e308, math.nan, math.inf,
    -math.inf, 1j, complex(math.nan, 0), "", "1.0", "\x00{got}", Opaque(kind="ellipsis"), Opaque(kind="set"),
    array(1.0, "scalar"), array(np.float32(0.5), "scalar"), array(np.int64(3), "scalar"), array(True, "scalar"),
    array(np.float16(np.inf), "scalar"), array(1 + 1j, "scalar"),
]  # fmt: skip
ARRAYS: list[Value] = [
    array(np.empty(0)), array(np.zeros(1)), array(np.arange(8)), array(np.arange(8.0)[::-1]), array(np.arange(11)),
    array(np.full((2, 3), 1 / 3)), array(np.full((2, 3, 3), np.nan)), array(np.ones((2, 3, 12))),
    array(np.eye(4) * 1e300),
    array(np.zeros((2, 8), np.int8)), array(np.ones((2, 2), complex) * 1j), array(np.ones((2, 3), np.float16)),
    array(np.array([True, False])), array(np.ones((1,) * 10)), array(np.zeros((0, 3, 3))),
    array(np.arange(4, dtype=np.uint64)),
    array(np.full((2, 3), -np.inf, np.float32)), array(np.array([5e-324, 1e308, -1e308, 0])),
    Array(dtype="<f8", shape=(2, 3), data=b"", clipped=True),
    Array(dtype="<f8", shape=(10**9, 10**9), data=b"", clipped=True),
]  # fmt: skip
LEAF = st.sampled_from(NUMBERS + ARRAYS) | st.integers(0, 12) | st.floats(-3, 3)
KINDS = st.sampled_from(["tuple", "list", "Result"])
PAIR = st.builds(lambda a, b: seq(a, b), LEAF, LEAF)
ANSWER = st.recursive(
    LEAF,
    lambda some: (
        st.builds(Seq, kind=KINDS, items=st.lists(some, max_size=9).map(tuple))
        | st.builds(Seq, kind=KINDS, items=st.tuples(some, some))
        | st.builds(Seq, kind=st.just("dict"), items=st.lists(PAIR, max_size=4).map(tuple))
    ),
    max_leaves=12,
)
ORDERS = st.builds(lambda a, b: seq(array(a), array(b)), st.permutations(range(8)), st.permutations(range(8)))
REAL = st.floats(-3, 3) | st.floats() | st.sampled_from([0.0, 1.0, 2.0, 3.0, 1024.0, 1.0788])
NUMBERS_OF_A_SWEEP = st.builds(lambda some: seq(*some), st.lists(REAL, min_size=4, max_size=4))
TWO_NUMBERS = st.builds(lambda a, b: seq(a, b), REAL, REAL)
FAILURES = [
    Outcome(call="", kind="raised", failure=Failure(kind="ValueError", message="{no}", cell=0, line=1)),
    Outcome(call="", kind="raised", failure=Failure(kind="NotImplementedError")),
    Outcome(call="", kind="timed_out", failure=Failure(kind="cpu", message="5")),
    Outcome(call="", kind="crashed"),
    Outcome(call="", kind="too_large"),
    Outcome(call="", kind="missing"),
    Outcome(call="", kind="not_run"),
    Outcome(call="", kind="out_of_memory"),
]
SHAPES = st.sampled_from(
    [
        (), (1,), (3,), (4,), (8, 4), (4, 8), (9, 4), (16,), (8, 16), (100, 3), (50, 7), (2, 5, 3), (0, 3), (64,),
        (8, 64), (2, 8, 4),
    ]
)  # fmt: skip
METHODS = st.sampled_from(["randn", "standard_normal", "normal", "uniform"])


@st.composite
def draws(draw: st.DrawFn) -> Draws | None:
    """Return a record of some draws, honest or not."""
    if draw(st.integers(0, 4)) == 0:
        return None
    steps = tuple(
        Step(source=0, method=method, args=(0.0, 1.0) if method == "normal" else (), shape=shape, dtype="<f8", count=n)
        for method, shape, n in draw(st.lists(st.tuples(METHODS, SHAPES, st.integers(1, 3)), max_size=5))
    )
    total = sum(step.count * math.prod(step.shape) for step in steps)
    numbers = np.random.default_rng(total).standard_normal(total) * draw(
        st.sampled_from([1.0, 1.0, 1.0, 0.0, math.nan])
    )
    source = Source(kind="RandomState", bit_generator="MT19937", state=None, sha256="")
    return Draws(
        sources=(source,),
        steps=steps,
        values=array(numbers) if draw(st.integers(0, 5)) else None,
        complete=bool(draw(st.integers(0, 5))),
        others=("permutation",) if draw(st.booleans()) else (),
    )


OUTCOMES = st.builds(
    lambda value, record, after: Outcome(call="", kind="returned", value=value, draws=record, args_after=after),
    ANSWER | ORDERS | NUMBERS_OF_A_SWEEP | TWO_NUMBERS,
    draws(),
    st.none() | st.lists(LEAF, max_size=3).map(tuple),
) | st.sampled_from(FAILURES)


def answered(task: str, outcomes: list[Outcome]) -> Transcript:
    """Ask until the plan is empty; calls are answered with ``outcomes``, over and over."""
    assignment = attention()
    function = assignment.task(task).function
    transcript = Transcript(
        schema="grade.transcript/1", assignment="attention", version="1", digest="", name="work.py", kind="script",
        sha256="0" * 64, seed=3, source=("",), cell_numbers=(0,),
    )  # fmt: skip
    for _ in range(12):
        calls: tuple[Call, ...] = plan(assignment, transcript)
        if not calls:
            break
        made = tuple(
            Outcome(call=call.id, kind="returned", callables=(function,))
            if call.kind == "load"
            else replace(outcomes[number % len(outcomes)], call=call.id)
            for number, call in enumerate(calls)
        )
        transcript = replace(transcript, calls=(*transcript.calls, *calls), outcomes=(*transcript.outcomes, *made))
    return transcript


@pytest.mark.parametrize("task", TASKS)
def test_any_answer_can_be_judged(task: str) -> None:
    """No answer, no draws and no way to fail make a check fail, and points stay within their bounds."""

    @given(st.lists(OUTCOMES, min_size=1, max_size=4))
    @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    def judged(outcomes: list[Outcome]) -> None:
        transcript = answered(task, outcomes)
        judgement = judge(attention(), transcript)
        result = conclude(attention(), transcript, judgement)

        assert judgement.fault == ""
        assert 0 <= result.cents <= attention().task(task).points * 100

    judged()


WORDS = st.sampled_from(
    [
        "raw", "scaled", "entropy", "order", "argsort", "True", "d_k", "1024", "256", "|", "=", "[", "]", "\n", "nan",
        "1e400", "-1.5e-5", "1027.900", "1.0038", "1.0787", "0 1 2 3 4 5 6 7", "[7 6 5 4 3 2 1 0]", "np.float64(1.234)",
        "\x00", "٣٤٥",
    ]
)  # fmt: skip
PRINTED = st.lists(WORDS | st.floats().map(str), max_size=12).map(" ".join)
NAMES = st.sampled_from(
    ["raw_var", "scaled_var", "entropies", "order_unscaled", "order_scaled", "a", "b", "scores", "_"]
)
SOURCES = st.sampled_from(
    ["", "print(x)", "# Exercise 1: variance at d_k = 1024", "np.argsort(w)", "entropy(p)", "assert (a == b).all()"]
)
CELLS = st.builds(
    lambda source, stdout, names, value, record: (
        source, Outcome(call="", kind="returned", stdout=stdout, names=tuple(names), value=value, draws=record)
    ),
    SOURCES,
    PRINTED,
    st.lists(st.tuples(NAMES, ANSWER | ORDERS | NUMBERS_OF_A_SWEEP | REAL), max_size=4),
    st.none() | ANSWER,
    draws(),
)  # fmt: skip


@given(st.lists(CELLS, min_size=1, max_size=3))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_any_cell_can_be_judged(cells: list[tuple[str, Outcome]]) -> None:
    """Whatever a notebook's cells print, leave in names or draw, reading an answer out of them never fails."""
    numbers = tuple(range(1, len(cells) + 1))
    transcript = Transcript(
        schema="grade.transcript/1", assignment="attention", version="1", digest="", name="work.ipynb", kind="notebook",
        sha256="0" * 64, seed=3, source=tuple(source for source, _ in cells), cell_numbers=numbers,
        outcomes=tuple(
            replace(outcome, call=f"load/{number}") for number, (_, outcome) in zip(numbers, cells, strict=True)
        ),
    )  # fmt: skip

    assert judge(attention(), transcript).fault == ""


def test_a_vast_claim_costs_no_time() -> None:
    """A record that claims more samples than any memory holds is judged like another."""
    steps = tuple(Step(source=0, method="randn", args=(), shape=(2**40, 1024), dtype="<f8") for _ in "QK")
    source = Source(kind="RandomState", bit_generator="MT19937", state=None, sha256="")
    outcome = Outcome(
        call="load/1", kind="returned", names=(("raw_var", 1025.5), ("scaled_var", 1.0015)),
        draws=Draws(sources=(source,), steps=steps),
    )  # fmt: skip
    transcript = Transcript(
        schema="grade.transcript/1", assignment="attention", version="1", digest="", name="work.ipynb", kind="notebook",
        sha256="0" * 64, seed=3, source=("",), cell_numbers=(1,), outcomes=(outcome,),
    )  # fmt: skip

    assert judge(attention(), transcript).fault == ""
