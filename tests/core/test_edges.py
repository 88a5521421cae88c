"""Where one decision of the core turns into another: what mutants showed to be kept by no other test."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from grader.core.compare import SINGLE, Expected, compare
from grader.core.follow import better, to_follow
from grader.core.judge import judge, needs_cells
from grader.core.loading import loading_notes
from grader.core.memory import Memory
from grader.core.misconceptions import Book, Observation, agrees
from grader.core.normality import looks_normal
from grader.core.observed import Case, Inputs, Observed, case_call
from grader.core.plan import plan
from grader.core.score import conclude
from grader.model import Call, Finding, Opaque, Outcome, Status, Value
from tests.core.tiny import DOUBLE, RIGHT, TRIPLE, Double, Triple, answers, course, found, rehearse, transcript_of

PASSED, PARTIAL, FAILED = Status.PASSED, Status.PARTIAL, Status.FAILED

# ---------------------------------------------------------------------- misconceptions

ONES, TWOS = np.ones((2, 2)), np.full((2, 2), 2.0)


@pytest.mark.parametrize(
    "got, predicted, same",
    [
        pytest.param(math.nan, math.nan, True, id="nan for nan"),
        pytest.param(math.nan, 1.0, False, id="nan for a number"),
        pytest.param(1.0, math.nan, False, id="a number for nan"),
        pytest.param(math.inf, math.inf, True, id="infinite for infinite"),
        pytest.param(math.inf, -math.inf, False, id="infinite on the other side"),
        pytest.param(1.0, math.inf, False, id="a number for infinite"),
        pytest.param(math.inf, 1.0, False, id="infinite for a number"),
        pytest.param((ONES, TWOS), (ONES, ONES), False, id="only the first of a pair"),
        pytest.param((TWOS, ONES), (ONES, ONES), False, id="only the second of a pair"),
        pytest.param(1e-10, 0.0, True, id="near zero"),
        pytest.param(1e-8, 0.0, False, id="not so near zero"),
    ],
)
def test_agreement_of_parts_and_of_what_is_not_finite(got: object, predicted: object, same: bool) -> None:
    """Every part has to agree; nan agrees with nan alone, and infinite with infinite."""
    assert agrees(got, predicted) is same


def test_a_pair_may_come_as_a_list() -> None:
    """A mistake that gives a pair explains a list of the same two, not only a tuple."""
    book = Book()

    @book.add("twice", "t/pair", catalogue="T1")
    def _(x: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """One array is as good as two."""
        return x, x

    assert book.explain("t/pair", [Observation(args=(ONES,), value=[ONES, ONES])]) == "twice"
    assert book.explain("t/pair", [Observation(args=(ONES,), value=[ONES, TWOS])]) == ""


# ---------------------------------------------------------------------- draws


def quantiles(n: int, scale: float, shift: float) -> npt.NDArray[np.float64]:
    """Return n numbers as evenly spread as those of a normal law can be: nothing but scale and shift is off."""
    law = NormalDist()
    return np.array([law.inv_cdf((i + 0.5) / n) for i in range(n)]) * scale + shift


@pytest.mark.parametrize(
    "n, scale, shift, normal",
    [
        pytest.param(50, 1.0, 0.0, True, id="few"),
        pytest.param(50, 1.82, 0.0, True, id="few with a variance that few may have"),
        pytest.param(50, 2.2, 0.0, False, id="few with a variance that none have"),
        pytest.param(50, 1.0, 0.8, True, id="few with a mean that few may have"),
        pytest.param(50, 1.0, 0.9, False, id="few with a mean that none have"),
        pytest.param(20_000, 1.02, 0.0, True, id="many"),
        pytest.param(20_000, 1.06, 0.0, False, id="many, too wide for honest ones"),
        pytest.param(20_000, 0.94, 0.0, False, id="many, too narrow"),
        pytest.param(20_000, 1.0, 0.04, True, id="many, a little to the right"),
        pytest.param(20_000, 1.0, 0.05, False, id="many, too far to the right"),
        pytest.param(20_000, 1.0, -0.05, False, id="many, too far to the left"),
    ],
)
def test_mean_and_variance_each_tell(n: int, scale: float, shift: float, normal: bool) -> None:
    """Each alone gives draws away, where the distribution function doesn't yet, and neither accuses honest ones."""
    assert looks_normal(quantiles(n, scale, shift)) is normal


# ---------------------------------------------------------------------- stand-ins


class Strict(Double):
    """Fails where nothing was called, as checks of a real course do."""

    def judge(self, inputs: Inputs, seen: Observed) -> Iterable[Finding]:
        """Look at each case, whether it is there or not."""
        return [found(f"double/{c.id}", seen["usual"].returned, "") for c in DOUBLE.criteria]


def test_what_is_missing_is_replaced_too() -> None:
    """A function that isn't there at all has its stand-in as one that is wrong has."""
    strict = course(checks={"double": Strict(), "triple": Triple()})
    transcript, _ = rehearse(strict, {"triple": lambda x: x, "triple with double": lambda x: 3 * x})

    assert to_follow(strict, TRIPLE, transcript, Memory()) == "double"


def test_what_is_worth_as_much_is_told_with_the_stand_in() -> None:
    """Of two verdicts worth the same, the one stands that the wrong function has no part in."""
    first = (Finding(criterion="t/a", status=PARTIAL, share=(2, 3)), Finding(criterion="t/b", status=FAILED))
    again = (Finding(criterion="t/a", status=FAILED), Finding(criterion="t/b", status=PASSED))
    stands = better(first, again, {"t/a": 6, "t/b": 4}, "double")

    assert [(finding.status, finding.knock_on) for finding in stands] == [(FAILED, ""), (PASSED, "double")]


# ---------------------------------------------------------------------- cells


class ReadingDouble(Double):
    """Also reads an answer out of cells."""

    def read_cells(self, inputs: Inputs, cells: Iterable[Any]) -> Iterable[Finding]:
        """Find one in every notebook."""
        return [found(f"double/{c.id}", True, "") for c in DOUBLE.criteria]


READING = course(checks={"double": ReadingDouble(), "triple": Triple()})


@pytest.mark.parametrize(
    "kind, names, outcome, needed",
    [
        pytest.param("notebook", ("triple",), None, True, id="missing"),
        pytest.param("notebook", ("double", "triple"), Opaque(kind="ellipsis"), True, id="untouched"),
        pytest.param("notebook", ("double", "triple"), 2, False, id="there"),
        pytest.param("notebook", ("double",), 2, False, id="missing, but its cells aren't read"),
        pytest.param("script", ("triple",), None, False, id="a script"),
    ],
)
def test_when_cells_are_needed(kind: str, names: tuple[str, ...], outcome: Value, needed: bool) -> None:
    """Cells are read where a function that can be answered in them is missing or still as handed out."""
    transcript, _ = rehearse(READING, {name: RIGHT[name] for name in names}, kind=kind)
    answered = [replace(one, value=outcome) if one.call.startswith("double/") else one for one in transcript.outcomes]

    assert needs_cells(READING, replace(transcript, outcomes=tuple(answered))) is needed


def test_an_answer_in_a_cell_says_which_function_it_stands_for() -> None:
    """The note names the function that is missing."""
    transcript = transcript_of(kind="notebook", outcomes=(Outcome(call="load/0", kind="returned"),))
    judged = judge(READING, transcript).tasks[0]

    assert [(note.text, note.params) for note in judged.notes] == [("engine.note.cells", (("function", "double"),))]


# ---------------------------------------------------------------------- calls and texts


def test_a_case_becomes_a_call_with_all_it_asks_for() -> None:
    """Nothing that a check wants of a case is lost on the way to the worker."""
    case = Case(
        id="a",
        args=(1,),
        kwargs={"z": 2, "b": 3},
        seed=5,
        watch=True,
        readonly=True,
        draws="replay",
        hidden=True,
        stage=2,
    )
    wanted = Call(
        id="double/a", session="hidden", kind="function", name="twice", args=(1,), kwargs=(("b", 3), ("z", 2)), seed=5,
        watch=True, readonly=True, draws="replay", hidden=True, stage=2,
    )  # fmt: skip

    assert case_call(case, DOUBLE, "twice") == wanted
    assert case_call(replace(case, hidden=False), DOUBLE, "twice").session == "main"
    followed = case_call(case, TRIPLE, "triple", via="double")
    assert (followed.id, followed.session) == ("triple@double/a", "with double")


def test_a_stop_of_unknown_kind_has_a_name() -> None:
    """Where the kind of an exception got lost, the text has a word in its place."""
    (note,) = loading_notes(transcript_of(outcomes=(Outcome(call="load/0", kind="raised"),)))

    assert dict(note.params)["kind"] == "Exception"


def test_only_an_assignments_own_tasks_are_found() -> None:
    """A task goes by its id; another id is a KeyError that names it."""
    assert course().task("triple") is TRIPLE
    with pytest.raises(KeyError, match="quadruple"):
        course().task("quadruple")


def test_cut_output_counts_wherever_it_is_visible() -> None:
    """One visible call of many is enough for the note; a hidden call says nothing of what it printed."""
    calls = tuple(Call(id=f"t/{n}", session="main", kind="function", name="f", hidden=n == 2) for n in (1, 2, 3))
    cut = {n: tuple(Outcome(call=c.id, kind="returned", stdout_cut=c.id == f"t/{n}") for c in calls) for n in (1, 2)}
    texts = {n: [note.text for note in loading_notes(transcript_of(calls=calls, outcomes=cut[n]))] for n in (1, 2)}

    assert texts == {1: ["engine.load.output_cut"], 2: []}


# ---------------------------------------------------------------------- comparison


def test_the_worst_entry_is_one_of_the_wrong_ones() -> None:
    """Where all differences are small, the largest of them is shown, and none that is right."""
    right = Expected(value=np.ones(4, np.longdouble), units=np.full(4, 8.0), scale=np.ones(4))
    verdict = compare(np.array([1, 1, 1.25, 1.125]), right, "x")

    assert verdict.comparison is not None
    assert (verdict.comparison.first, verdict.comparison.worst) == ((2,), (2,))


def test_a_note_of_precision_names_what_it_is_of() -> None:
    """Both ways to less than double precision say of which value they speak."""
    right = Expected(value=np.ones(2, np.longdouble), units=np.full(2, 8.0), scale=np.ones(2))
    off = np.array([1, 1 + 4 * SINGLE])

    for answer in (off, off.astype(np.float32)):
        assert [note.params for note in compare(answer, right, "out").notes] == [(("name", "out"),)]


# ---------------------------------------------------------------------- points, faults, memory


def test_a_part_of_more_is_worth_more_than_all_of_less() -> None:
    """Findings are weighed by points: five sixths of six are more than four."""
    first = (Finding(criterion="t/a", status=PARTIAL, share=(5, 6)), Finding(criterion="t/b", status=FAILED))
    again = (Finding(criterion="t/a", status=FAILED), Finding(criterion="t/b", status=PASSED))

    assert better(first, again, {"t/a": 6, "t/b": 4}, "double") == first


def test_our_trouble_leaves_no_task_out() -> None:
    """Every task is there and not graded, so that a result can be made of it."""
    transcript = replace(rehearse(course(), RIGHT)[0], trouble="no worker")

    assert [judged.task for judged in judge(course(), transcript).tasks] == ["double", "triple"]


def test_a_result_keeps_what_ran_and_what_judged() -> None:
    """Versions of both sides are carried over."""
    transcript = replace(rehearse(course(), RIGHT)[0], environment=(("python", "3.11"),))
    result = conclude(course(), transcript, judge(course(), transcript), judged=(("grader", "1"),))

    assert (result.environment, result.judged) == ((("python", "3.11"),), (("grader", "1"),))


@pytest.mark.parametrize("functions", [RIGHT, {**RIGHT, "double": lambda x: x}], ids=["right", "wrong"])
def test_a_memory_changes_nothing(functions: dict[str, Any]) -> None:
    """Planned and judged with one memory from round to round, all is as it is with none."""
    memory, transcript = Memory(), transcript_of()
    while calls := plan(course(), transcript, memory):
        assert calls == plan(course(), transcript)
        # One by one, as a worker's answers may come: what was known of fewer outcomes is out of date.
        for call in calls:
            outcomes = (*transcript.outcomes, answers(call, functions))
            transcript = replace(transcript, calls=(*transcript.calls, call), outcomes=outcomes)
            assert judge(course(), transcript, memory) == judge(course(), transcript)
    changed = tuple(replace(one, value=7) if one.call == "double/zero" else one for one in transcript.outcomes)
    other = replace(transcript, outcomes=changed)

    assert judge(course(), other, memory) == judge(course(), other)
