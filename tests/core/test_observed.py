"""What a check sees of its calls."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.observed import Case, Drawn, Inputs, Observed, Seen, case_call, unfold
from grader.model import (
    Array,
    Call,
    Criterion,
    Draws,
    Failure,
    Opaque,
    Outcome,
    OutcomeKind,
    Source,
    Step,
    Task,
    Transcript,
    Value,
)
from tests.core.tiny import ENGINE_TEXTS, transcript_of

TASK = Task(id="double", function="double", signature="double(x)", criteria=(Criterion(id="value", points=1),))
SOURCE = Source(kind="RandomState", bit_generator="MT19937", state=None, sha256="")


def step(shape: tuple[int, ...], count: int = 1, method: str = "randn", args: tuple[float, ...] = ()) -> Step:
    """Return a recorded run of equal draws."""
    return Step(source=0, method=method, args=args, shape=shape, dtype="<f8", count=count)


def numbers(n: int, dtype: str = "<f8", shape: tuple[int, ...] | None = None) -> Array:
    """Return 0, 1, 2 ... as they were sent."""
    values = np.arange(n).astype(dtype)
    return Array(dtype=dtype, shape=(n,) if shape is None else shape, data=values.tobytes())


def draws(steps: tuple[Step, ...], values: Array | None, *, complete: bool = True) -> Draws:
    """Return a record of draws."""
    return Draws(sources=(SOURCE,), steps=steps, values=values, complete=complete)


# ---------------------------------------------------------------------- draws


@pytest.mark.parametrize(
    "steps, n, shapes",
    [
        pytest.param((), 0, [], id="nothing drawn"),
        pytest.param((step((2, 3)),), 6, [(1, 2, 3)], id="one table"),
        pytest.param((step(()),), 1, [(1,)], id="one number"),
        pytest.param((step((), count=5),), 5, [(5,)], id="numbers one by one"),
        pytest.param((step((4,), count=3), step((2, 2))), 16, [(3, 4), (1, 2, 2)], id="runs of draws"),
        pytest.param((step((0, 7)), step((3,))), 3, [(1, 0, 7), (1, 3)], id="an empty draw"),
        pytest.param((step((3,), count=0), step((3,))), 3, [(0, 3), (1, 3)], id="a run of none"),
    ],
)
def test_draws_come_back_in_their_shapes(steps: tuple[Step, ...], n: int, shapes: list[tuple[int, ...]]) -> None:
    """Recorded numbers are cut in order, into one array for each run of equal draws."""
    found = unfold(draws(steps, numbers(n)))

    assert found is not None
    assert [item.values.shape for item in found] == shapes
    assert np.concatenate([np.empty(0), *(item.values.ravel() for item in found)]).tolist() == list(range(n))


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(draws((step((3,)),), None), id="numbers not kept"),
        pytest.param(draws((step((3,)),), numbers(3), complete=False), id="not complete"),
        pytest.param(draws((step((3,)),), numbers(2)), id="too few numbers"),
        pytest.param(draws((step((3,)),), numbers(4)), id="too many numbers"),
        pytest.param(draws((step((2,)), step((2,))), numbers(3)), id="last one cut"),
        pytest.param(draws((step((10**12, 10**12)),), numbers(3)), id="vast shape"),
        pytest.param(draws((step((3,), count=10**30),), numbers(3)), id="vast count"),
        pytest.param(draws((step((0, 2**40, 2**40)),), numbers(0)), id="vast shape without numbers"),
        pytest.param(draws((step((-3,)),), numbers(3)), id="negative shape"),
        pytest.param(draws((step((-1, -3)),), numbers(3)), id="twice negative"),
        pytest.param(draws((step((1,) * 80),), numbers(1)), id="more axes than there are"),
        pytest.param(draws((step((3,)),), numbers(3, "<f4")), id="single precision"),
        pytest.param(draws((step((3,)),), numbers(3, "<i8")), id="whole numbers"),
        pytest.param(draws((step((4,)),), numbers(4, shape=(2, 2))), id="numbers in a table"),
        pytest.param(draws((step((3,)),), Array(dtype="<f8", shape=(3,), data=b"", clipped=True)), id="clipped"),
        pytest.param(draws((step((3,)),), Array(dtype="<f8", shape=(3,), data=b"\0" * 9)), id="bytes don't fit"),
    ],
)
def test_a_record_that_does_not_fit_is_no_record(record: Draws) -> None:
    """A record is a claim: if numbers and shapes disagree, the draws count as unknown, and nothing is raised."""
    assert unfold(record) is None


@given(st.lists(st.tuples(st.integers(0, 4), st.lists(st.integers(0, 3), max_size=3)), max_size=5))
def test_unfolding_keeps_every_number_in_order(runs: list[tuple[int, list[int]]]) -> None:
    """Whatever the shapes, all numbers are there once and in order."""
    steps = tuple(step(tuple(shape), count) for count, shape in runs)
    total = sum(count * math.prod(shape) for count, shape in runs)
    found = unfold(draws(steps, numbers(total)))

    assert found is not None
    assert [item.values.shape for item in found] == [(count, *shape) for count, shape in runs]
    assert np.concatenate([np.empty(0), *(item.values.ravel() for item in found)]).tolist() == list(range(total))


@pytest.mark.parametrize(
    "method, args, normal",
    [
        pytest.param("randn", (), True, id="randn"),
        pytest.param("standard_normal", (), True, id="standard_normal"),
        pytest.param("normal", (0.0, 1.0), True, id="normal 0 1"),
        pytest.param("normal", (0.0, 2.0), False, id="wider"),
        pytest.param("normal", (1.0, 1.0), False, id="shifted"),
        pytest.param("uniform", (0.0, 1.0), False, id="uniform"),
        pytest.param("rand", (), False, id="rand"),
    ],
)
def test_which_draws_are_standard_normal(method: str, args: tuple[float, ...], normal: bool) -> None:
    """N(0, 1) counts by whatever method, and nothing else does."""
    drawn = Drawn(source=0, method=method, args=args, shape=(1,), values=np.zeros((1, 1)))

    assert drawn.standard_normal is normal


# ---------------------------------------------------------------------- inputs


def test_inputs_belong_to_seed_task_and_case() -> None:
    """The same names give the same numbers; another seed, task, case or secret gives others."""
    number = Inputs(7, "softmax").number("vector")

    assert number == Inputs(7, "softmax").number("vector")
    others = [
        Inputs(8, "softmax").number("vector"),
        Inputs(7, "attention").number("vector"),
        Inputs(7, "softmax").number("table"),
        Inputs(7, "softmax").hidden.number("vector"),
        Inputs(7, "softmax", secret="one").hidden.number("vector"),
        Inputs(7, "softmax", secret="two").hidden.number("vector"),
    ]
    assert len({number, *others}) == 7
    assert Inputs(7, "softmax", secret="one").number("vector") == number


def test_inputs_stay_what_they_were() -> None:
    """A printed seed replays after an update: these numbers never change."""
    assert [Inputs(1, "softmax").number(name) for name in ("vector", "table")] == [780825, 17375]


@given(st.integers(0, 2**53), st.text(max_size=20))
def test_a_case_can_be_made_again_by_hand(seed: int, name: str) -> None:
    """The generator of a case is ``default_rng`` of its number, and that is short enough to type."""
    inputs = Inputs(seed, "task")
    number = inputs.number(name)

    assert 0 <= number < 1_000_000
    assert inputs.rng(name).random() == np.random.default_rng(number).random()


# ---------------------------------------------------------------------- what was seen


def seen(kind: OutcomeKind, failure: Failure | None = None, value: Value = None) -> Seen:
    """Return what was seen of one call."""
    call = Call(id="double/a", session="main", kind="function", name="double")
    return Seen(call, Outcome(call=call.id, kind=kind, failure=failure, value=value))


def failed(kind: str = "", message: str = "", cell: int | None = None, line: int | None = None) -> Failure:
    """Return how a call failed."""
    return Failure(kind=kind, message=message, cell=cell, line=line)


@pytest.mark.parametrize(
    "kind, failure, text",
    [
        pytest.param("raised", failed("ValueError", "no", 0, 3), "raised_at_line", id="raised in a script"),
        pytest.param("raised", failed("ValueError", "no", 4, 3), "raised_in_cell", id="raised in a notebook"),
        pytest.param("raised", failed("ValueError", "no"), "raised", id="raised elsewhere"),
        pytest.param("raised", failed("ValueError", "", 0, 3), "raised_silent_at_line", id="no message"),
        pytest.param("raised", failed("ValueError", "", 2, 3), "raised_silent_in_cell", id="no message, notebook"),
        pytest.param("raised", failed("ValueError"), "raised_silent", id="no message, elsewhere"),
        pytest.param("raised", failed("RecursionError", "maximum", 0, 3), "endless", id="endless recursion"),
        pytest.param("raised", None, "raised_silent", id="nothing known"),
        pytest.param("timed_out", failed("cpu", "5"), "timed_out", id="too slow"),
        pytest.param("timed_out", failed("asleep", "3"), "asleep", id="asleep"),
        pytest.param("timed_out", failed("deadline", "90"), "deadline", id="no time left"),
        pytest.param("crashed", failed(), "crashed", id="crashed"),
        pytest.param("crashed", failed("exit"), "exited", id="left"),
        pytest.param("crashed", failed("garbled"), "garbled", id="garbled"),
        pytest.param("crashed", failed("scratch"), "scratch", id="scratch"),
        pytest.param("not_run", failed("gave_up"), "gave_up", id="given up"),
        pytest.param("not_run", failed("deadline"), "not_run", id="not run"),
        pytest.param("not_run", None, "not_run", id="not run at all"),
        pytest.param("out_of_memory", failed(), "out_of_memory", id="memory"),
        pytest.param("too_large", failed("answer"), "too_large", id="too large"),
        pytest.param("missing", None, "missing", id="gone"),
    ],
)
def test_a_call_without_an_answer_says_why(kind: OutcomeKind, failure: Failure | None, text: str) -> None:
    """Each way to give no answer has its words in the engine's catalogue, and the parameters fill them."""
    problem = seen(kind, failure).problem()

    assert problem is not None
    assert problem[0] == f"engine.call.{text}"
    assert "{" not in ENGINE_TEXTS.render(*problem)


def test_an_answer_has_no_problem() -> None:
    """What returned needs no excuse."""
    assert seen("returned", value=1.0).problem() is None


@pytest.mark.parametrize(
    "one, untouched",
    [
        pytest.param(seen("returned", value=Opaque(kind="ellipsis")), True, id="ellipsis"),
        pytest.param(seen("raised", failed("NotImplementedError")), True, id="not implemented"),
        pytest.param(seen("raised", failed("ValueError")), False, id="another exception"),
        pytest.param(seen("raised"), False, id="unknown exception"),
        pytest.param(seen("returned"), False, id="None"),
        pytest.param(seen("timed_out", value=Opaque(kind="ellipsis")), False, id="timed out"),
    ],
)
def test_untouched_calls(one: Seen, untouched: bool) -> None:
    """``...`` and NotImplementedError are the handout; anything else is work."""
    assert one.untouched is untouched


def test_seen_gives_numpy_objects() -> None:
    """Arguments, keywords, the answer and the arguments afterwards are objects to compute with."""
    table = np.eye(2)
    call = case_call(Case(id="a", args=(table, 2), kwargs={"axis": 0}, watch=True), TASK, "double")
    outcome = Outcome(call=call.id, kind="returned", value=call.args[0], args_after=call.args)
    one = Seen(call, outcome)

    np.testing.assert_array_equal(one.value, table)
    assert one.kwargs == {"axis": 0}
    assert one.args[1] == 2
    assert one.args_after is not None
    np.testing.assert_array_equal(one.args_after[0], one.args[0])
    assert Seen(call, Outcome(call=call.id, kind="returned")).args_after is None
    assert one.drawn is None


@pytest.mark.parametrize(
    "case, via, call_id, session",
    [
        pytest.param(Case(id="a"), "", "double/a", "main", id="visible"),
        pytest.param(Case(id="a", hidden=True), "", "double/a", "hidden", id="hidden"),
        pytest.param(Case(id="a"), "softmax", "double@softmax/a", "with softmax", id="with a stand-in"),
    ],
)
def test_where_a_case_runs(case: Case, via: str, call_id: str, session: str) -> None:
    """Hidden cases and stand-ins have sessions of their own."""
    call = case_call(case, TASK, "double", via=via)

    assert (call.id, call.session, call.name, call.hidden) == (call_id, session, "double", case.hidden)


def test_keywords_are_in_one_order() -> None:
    """The same case gives the same call, however its keywords were written."""
    one = case_call(Case(id="a", kwargs={"b": 1, "a": 2}), TASK, "double")
    other = case_call(Case(id="a", kwargs={"a": 2, "b": 1}), TASK, "double")

    assert one == other


def test_keywords_are_in_the_order_of_the_signature() -> None:
    """A function that has other names for its parameters can be given them by place."""
    task = replace(TASK, signature="double(size=(1, 2), amount=3)")
    call = case_call(Case(id="a", kwargs={"zero": 0, "amount": 1, "size": 2, "extra": 3}), task, "double")

    assert [name for name, _ in call.kwargs] == ["size", "amount", "extra", "zero"]


def answered(*ids: str) -> Transcript:
    """Return a transcript in which each of these calls gave 1."""
    calls = tuple(Call(id=name, session="main", kind="function", name="double") for name in ids)
    return transcript_of(calls=calls, outcomes=tuple(Outcome(call=name, kind="returned", value=1) for name in ids))


def test_a_task_sees_its_own_calls() -> None:
    """Other tasks' calls, those with stand-ins, and outcomes that nobody asked for aren't seen."""
    transcript = answered("load/0", "double/a", "double/b/1", "double/b/2", "double@softmax/a", "doubled/a")
    unasked = Outcome(call="double/unasked", kind="returned")
    transcript = transcript_of(calls=transcript.calls, outcomes=(*transcript.outcomes, unasked))
    found = Observed(TASK, transcript)

    assert [one.id for one in found] == ["double/a", "double/b/1", "double/b/2"]
    assert (len(found), "a" in found, "unasked" in found) == (3, True, False)
    assert [one.id for one in found.all_of("b/")] == ["double/b/1", "double/b/2"]
    assert [one.id for one in Observed(TASK, transcript, via="softmax")] == ["double@softmax/a"]
    with pytest.raises(KeyError):
        found["unasked"]


def test_a_task_is_untouched_if_all_of_it_is() -> None:
    """One answer among stubs, or no call at all, isn't untouched."""
    call = Call(id="double/a", session="main", kind="function", name="double")
    other = Call(id="double/b", session="main", kind="function", name="double")
    stub = Outcome(call=call.id, kind="returned", value=Opaque(kind="ellipsis"))
    done = Outcome(call=other.id, kind="returned", value=1.0)

    assert Observed(TASK, transcript_of(calls=(call,), outcomes=(stub,))).untouched
    assert not Observed(TASK, transcript_of(calls=(call, other), outcomes=(stub, done))).untouched
    assert not Observed(TASK, transcript_of()).untouched
