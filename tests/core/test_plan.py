"""Which calls come next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from grader.core.observed import Case, Inputs, Observed
from grader.core.plan import plan, start
from grader.model import Failure, Finding, Opaque, Outcome
from tests.core.tiny import RIGHT, Double, Triple, course, loaded, rehearse, transcript_of

WRONG = {"double": lambda x: x + 1, "triple": lambda x: 3 * x}


def test_loading_comes_first() -> None:
    """A script loads in one call, under the seed of the submission."""
    (call,) = plan(course(), transcript_of(seed=11))

    assert (call.id, call.kind, call.session, call.seed, call.draws) == ("load/0", "load", "main", 11, "none")


def test_a_notebook_loads_cell_by_cell() -> None:
    """Cells run in the order of their positions, and what they draw is recorded."""
    transcript = transcript_of(kind="notebook", source=("a", "b"), cell_numbers=(2, 5))
    calls = plan(course(), transcript)

    assert calls == start(transcript)
    assert [(call.id, call.kind, call.name, call.draws) for call in calls] == [
        ("load/2", "cell", "2", "replay"),
        ("load/5", "cell", "5", "replay"),
    ]


def test_a_run_in_rounds() -> None:
    """Visible cases of all tasks, then what only then makes sense, and hidden cases last, in their own session."""
    _, rounds = rehearse(course(), RIGHT)

    assert [[call.id for call in calls] for calls in rounds] == [
        ["load/0"],
        ["double/usual", "double/zero", "triple/usual"],
        ["double/more"],
        ["double/hidden"],
    ]
    assert [{call.session for call in calls} for calls in rounds] == [{"main"}, {"main"}, {"main"}, {"hidden"}]
    assert [{call.hidden for call in calls} for calls in rounds] == [{False}, {False}, {False}, {True}]


def test_what_is_wrong_is_not_asked_further() -> None:
    """A second round is for those whose verdict is open."""
    _, rounds = rehearse(course(), WRONG)

    assert "double/more" not in [call.id for calls in rounds for call in calls]


@pytest.mark.parametrize(
    "functions", [RIGHT, WRONG, {"triple": lambda x: x}, {}], ids=["right", "wrong", "one", "none"]
)
def test_nothing_visible_runs_after_a_hidden_call(functions: dict[str, object]) -> None:
    """Once a hidden input has been given out, nothing that is shown runs any more."""
    transcript, _ = rehearse(course(), functions)  # type: ignore[arg-type]  # all are callable
    hidden = [call.hidden for call in transcript.calls]

    assert hidden == sorted(hidden)
    assert {call.session for call in transcript.calls if call.hidden} <= {"hidden"}
    assert "hidden" not in {call.session for call in transcript.calls if not call.hidden}


def test_planning_is_pure() -> None:
    """The same assignment and transcript give the same calls; nothing is asked twice."""
    one, first = rehearse(course(), WRONG)
    other, second = rehearse(course(), WRONG)
    ids = [call.id for call in one.calls]

    assert (one, first) == (other, second)
    assert plan(course(), loaded("double", "triple")) == plan(course(), loaded("double", "triple"))
    assert len(ids) == len(set(ids))


def test_another_seed_asks_with_other_inputs() -> None:
    """Inputs follow the seed; ids and order of the calls don't."""
    one, other = (plan(course(), loaded("double", "triple", seed=seed)) for seed in (1, 2))

    assert [call.id for call in one] == [call.id for call in other]
    assert one[0].args != other[0].args


@pytest.mark.parametrize(
    "fields",
    [pytest.param({"intake_trouble": True}, id="file"), pytest.param({"trouble": "no worker"}, id="ours")],
)
def test_nothing_is_asked_of_what_cannot_run(fields: dict[str, object]) -> None:
    """A file that can't run, or a run that failed, gets no calls."""
    assert plan(course(), transcript_of(**fields)) == ()


def test_a_missing_function_is_not_called() -> None:
    """Only what is there is asked, under the name that it has."""
    calls = plan(course(), loaded("Double"))

    assert [(call.id, call.name) for call in calls] == [("double/usual", "Double"), ("double/zero", "Double")]
    assert plan(course(), loaded()) == ()


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param({"kind": "returned", "value": Opaque(kind="ellipsis")}, id="ellipsis"),
        pytest.param({"kind": "raised", "failure": Failure(kind="NotImplementedError")}, id="not implemented"),
    ],
)
def test_an_untouched_function_is_left_alone(outcome: dict[str, object]) -> None:
    """What is still as handed out isn't asked again, and gives no hidden input away."""
    first = plan(course(), loaded("double"))
    made = tuple(Outcome(call=call.id, **outcome) for call in first)  # type: ignore[arg-type]  # fields of Outcome
    before = loaded("double")
    transcript = replace(before, calls=(*before.calls, *first), outcomes=(*before.outcomes, *made))

    assert plan(course(), transcript) == ()


class Wary(Double):
    """Can judge nothing before its hidden case has run."""

    def judge(self, inputs: Inputs, seen: Observed) -> Iterable[Finding]:
        """Look at the hidden case first."""
        assert seen["hidden"].returned
        yield from super().judge(inputs, seen)


def test_what_only_a_hidden_case_shows_is_not_followed_through() -> None:
    """A stand-in's session would be a visible one after the hidden inputs were given out."""
    functions = {"double": lambda x: x + 1, "triple": lambda x: x, "triple with double": via_double}
    transcript, _ = rehearse(course(checks={"double": Wary(), "triple": Triple()}), functions)

    hidden = [call.hidden for call in transcript.calls]

    assert any(hidden)
    assert hidden == sorted(hidden)


class Lazy(Double):
    """Asks for a hidden case only."""

    def plan(self, inputs: Inputs, seen: Observed) -> Iterable[Case]:
        """One hidden case."""
        yield Case(id="hidden", args=(1,), hidden=True)


def test_hidden_cases_wait_for_other_tasks_too() -> None:
    """A task that has hidden cases only waits until every other task has nothing visible left."""
    lazy = course(checks={"double": Lazy(), "triple": Triple()})

    assert [call.id for call in plan(lazy, loaded("double", "triple"))] == ["triple/usual"]


# ---------------------------------------------------------------------- follow-through


def via_double(x: int) -> int:
    """Give the right answer, as it comes with a stand-in."""
    return 3 * x


def test_what_uses_a_wrong_function_is_asked_again_with_a_stand_in() -> None:
    """Where both are wrong, the one that uses the other runs once more with the stand-in, before hidden cases."""
    functions = {"double": lambda x: x + 1, "triple": lambda x: x, "triple with double": via_double}
    _, rounds = rehearse(course(), functions)

    assert [[call.id for call in calls] for calls in rounds][2:] == [["triple@double/usual"], ["double/hidden"]]
    assert rounds[2][0].session == "with double"


@pytest.mark.parametrize(
    "functions",
    [
        pytest.param(RIGHT, id="both right"),
        pytest.param(WRONG, id="the user is right"),
        pytest.param({"double": RIGHT["double"]}, id="no user"),
    ],
)
def test_no_stand_in_without_need(functions: dict[str, object]) -> None:
    """A stand-in is put in only where the function used and the one that uses it are both wrong."""
    _, rounds = rehearse(course(), functions)  # type: ignore[arg-type]  # all are callable

    assert not [call.id for calls in rounds for call in calls if "@" in call.id]


def test_a_missing_function_is_stood_in_for() -> None:
    """What uses a function that isn't there is asked again with the stand-in, as with a wrong one."""
    _, rounds = rehearse(course(), {"triple": lambda x: x, "triple with double": via_double})

    assert [[call.id for call in calls] for calls in rounds][1:] == [["triple/usual"], ["triple@double/usual"]]
