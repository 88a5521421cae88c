"""What outcomes show: where a function is, what stands for a missing one, and whose fault a failing check is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

import pytest

from grader.core.assignment import Assignment
from grader.core.find import Found, callables, find_function
from grader.core.judge import Judgement, TaskJudgement, judge
from grader.core.observed import Case, Inputs, Observed
from grader.core.score import conclude
from grader.model import Call, Criterion, Failure, Finding, Opaque, Outcome, OutcomeKind, Status, Task, Transcript
from tests.core.tiny import DOUBLE, ENGINE_TEXTS, RIGHT, Double, Triple, course, found, loaded, rehearse, transcript_of


def of(task: str, judgement: Judgement) -> TaskJudgement:
    """Return what was judged of a task."""
    return next(judged for judged in judgement.tasks if judged.task == task)


def statuses(judged: TaskJudgement) -> list[Status]:
    """Return the statuses of its criteria."""
    return [finding.status for finding in judged.findings]


def test_right_functions_pass() -> None:
    """Both functions right: every criterion passed, nothing to say."""
    judgement = judge(course(), rehearse(course(), RIGHT)[0])

    assert {status for judged in judgement.tasks for status in statuses(judged)} == {Status.PASSED}
    assert (judgement.notes, judgement.fault, [judged.text for judged in judgement.tasks]) == ((), "", ["", ""])


def test_judging_is_pure() -> None:
    """The same transcript gives the same judgement, as often as one likes."""
    transcript, _ = rehearse(course(), {"double": lambda x: x, "triple": lambda x: 1 / 0})

    assert judge(course(), transcript) == judge(course(), transcript)


@pytest.mark.parametrize(
    "transcript, text, params",
    [
        pytest.param(loaded("other"), "missing", {"function": "double"}, id="missing"),
        pytest.param(
            loaded("Double", "doubl", "dou_ble"), "ambiguous", {"function": "double", "names": "Double, dou_ble"},
            id="ambiguous",
        ),
        pytest.param(transcript_of(), "missing", {"function": "double"}, id="nothing ran"),
        pytest.param(
            transcript_of(outcomes=(Outcome(call="load/0", kind="raised", failure=Failure(kind="SyntaxError")),)),
            "never_reached", {"function": "double"}, id="stopped at once",
        ),
        pytest.param(
            transcript_of(
                outcomes=(Outcome(call="load/0", kind="raised", failure=Failure(kind="NameError"), callables=("f",)),)
            ),
            "missing", {"function": "double"}, id="stopped after something",
        ),
        pytest.param(
            transcript_of(intake_trouble=True), "never_reached", {"function": "double"}, id="a file that can't run"
        ),
    ],
)  # fmt: skip
def test_a_function_that_is_not_there(transcript: Transcript, text: str, params: dict[str, str]) -> None:
    """Missing, several that resemble it, or never reached: it is said which, and every criterion is missing."""
    judged = of("double", judge(course(), transcript))

    assert (judged.text, dict(judged.params)) == (f"engine.task.{text}", params)
    assert statuses(judged) == [Status.MISSING] * 3
    assert "{" not in ENGINE_TEXTS.render(judged.text, judged.params)


@pytest.mark.parametrize(
    "names, expected",
    [
        pytest.param(("double", "Double"), Found(name="double"), id="right name"),
        pytest.param(("Double",), Found(name="Double", slip=True, candidates=("Double",)), id="slip"),
        pytest.param(("triple",), Found(name=None), id="another task's"),
        pytest.param(("dooble", "doubel"), Found(name=None), id="too far"),
        pytest.param(("doubles", "doublee"), Found(name=None, candidates=("doublee", "doubles")), id="two slips"),
        pytest.param((), Found(name=None), id="no names"),
    ],
)
def test_where_a_function_is(names: tuple[str, ...], expected: Found) -> None:
    """The right name, or the only one that could be a slip of it."""
    assert find_function(course(), DOUBLE, loaded(*names)) == expected


def test_the_last_cells_names_count() -> None:
    """Names are those at the end of the notebook; a cell that left none doesn't take them away."""
    outcomes = (
        Outcome(call="load/1", kind="returned", callables=("double",)),
        Outcome(call="load/2", kind="returned", callables=("double", "helper")),
        Outcome(call="load/3", kind="crashed"),
    )

    assert callables(transcript_of(outcomes=outcomes)) == {"double", "helper"}
    assert callables(transcript_of()) == frozenset()


def test_a_slip_counts_with_a_note() -> None:
    """A function whose name is nearly right is graded, and one sentence gives the right name."""
    functions = {"Double": RIGHT["double"], "triple": RIGHT["triple"]}
    judged = of("double", judge(course(), rehearse(course(), functions)[0]))

    assert statuses(judged) == [Status.PASSED] * 3
    assert [(note.text, dict(note.params)) for note in judged.notes] == [
        ("engine.note.slip", {"function": "double", "got": "Double"})
    ]


def stubs(outcome: Any) -> Transcript:
    """Return a transcript in which every call of ``double`` ended as ``outcome`` says."""
    transcript, _ = rehearse(course(), RIGHT)
    outcomes = tuple(
        Outcome(call=one.call, **outcome) if one.call.startswith("double/") else one for one in transcript.outcomes
    )
    return replace(transcript, outcomes=outcomes)


@pytest.mark.parametrize(
    "outcome, status",
    [
        pytest.param({"kind": "returned", "value": Opaque(kind="ellipsis")}, Status.MISSING, id="ellipsis"),
        pytest.param(
            {"kind": "raised", "failure": Failure(kind="NotImplementedError")}, Status.MISSING, id="not implemented"
        ),
        pytest.param({"kind": "returned", "value": None}, Status.FAILED, id="None is work"),
        pytest.param({"kind": "raised", "failure": Failure(kind="NameError")}, Status.FAILED, id="an error is work"),
    ],
)
def test_an_untouched_function_is_missing(outcome: dict[str, Any], status: Status) -> None:
    """What is still as handed out hasn't been started: it isn't wrong."""
    judged = of("double", judge(course(), stubs(outcome)))

    assert set(statuses(judged)) == {status}
    assert judged.text == ("engine.task.untouched" if status is Status.MISSING else "")


# ---------------------------------------------------------------------- our own faults


class Failing(Double):
    """Fails in one of its two functions, at once or in the second round."""

    def __init__(self, where: str) -> None:
        self.where = where

    def plan(self, inputs: Inputs, seen: Observed) -> Iterable[Case]:
        """Fail, or ask as usual."""
        if self.where == "plan" or (self.where == "second plan" and len(seen)):
            raise ZeroDivisionError("ours")
        return super().plan(inputs, seen)

    def judge(self, inputs: Inputs, seen: Observed) -> Iterable[Finding]:
        """Fail at once, in the middle, or leave something out."""
        findings = list(super().judge(inputs, seen))
        match self.where:
            case "judge":
                raise ZeroDivisionError("ours")
            case "late":
                return (finding for finding in [*findings, 1 / 0])  # type: ignore[misc]  # never comes so far
            case "forgets":
                return findings[:-1]
            case "twice":
                return [*findings, findings[0]]
            case "stranger":
                return [*findings[:-1], found("triple/value", True, "")]
        return findings


@pytest.mark.parametrize("where", ["plan", "second plan", "judge", "late", "forgets", "twice", "stranger"])
def test_a_check_that_fails_is_our_fault(where: str) -> None:
    """A task whose checks fail isn't graded, nobody loses a point by it, and the other task stands."""
    broken = course(checks={"double": Failing(where), "triple": Triple()})
    transcript, _ = rehearse(broken, RIGHT)
    judgement = judge(broken, transcript)

    assert statuses(of("double", judgement)) == [Status.NOT_GRADED] * 3
    assert of("double", judgement).text == "engine.task.not_graded"
    assert judgement.fault.startswith("double: ")
    assert statuses(of("triple", judgement)) == [Status.PASSED]
    assert conclude(broken, transcript, judgement).status == "not_graded"


def test_a_failing_check_does_not_stop_what_follows() -> None:
    """Where checks of a used task fail, the task that uses it is planned and judged by itself."""
    broken = course(checks={"double": Failing("judge"), "triple": Triple()})
    transcript, _ = rehearse(broken, {"double": RIGHT["double"], "triple": lambda x: x})
    judgement = judge(broken, transcript)

    assert statuses(of("triple", judgement)) == [Status.FAILED]
    assert of("triple", judgement).text == ""


@pytest.mark.parametrize("kind", ["script", "notebook"])
def test_trouble_of_ours_grades_nothing(kind: Literal["script", "notebook"]) -> None:
    """If the run itself failed, no task is graded, whatever ran."""
    transcript = replace(rehearse(course(), RIGHT)[0], trouble="no worker", kind=kind)
    judgement = judge(course(), transcript)

    assert {status for judged in judgement.tasks for status in statuses(judged)} == {Status.NOT_GRADED}
    assert judgement.fault == "no worker"


@pytest.mark.parametrize("kind", ["timed_out", "out_of_memory", "crashed", "too_large", "missing", "not_run"])
def test_a_learners_fault_is_never_ours(kind: OutcomeKind) -> None:
    """However a call ended, the task is graded."""
    judgement = judge(course(), stubs({"kind": kind}))

    assert judgement.fault == ""
    assert statuses(of("double", judgement)) == [Status.FAILED] * 3


@pytest.mark.parametrize(
    "name, kind, snippet",
    [
        pytest.param("work.py", "script", "import numpy as np\nfrom work import double\nprint(1)", id="script"),
        pytest.param("my work.py", "script", "import numpy as np\nprint(1)", id="no name to import"),
        pytest.param("2.py", "script", "import numpy as np\nprint(1)", id="a number"),
        pytest.param("work.ipynb", "notebook", "import numpy as np\nprint(1)", id="notebook"),
    ],
)
def test_lines_to_try_run_as_they_are(name: str, kind: str, snippet: str) -> None:
    """Lines of Python begin with the imports that they need."""
    transcript, _ = rehearse(course(), {**RIGHT, "double": lambda x: x + 1}, name=name, kind=kind)

    assert {finding.snippet for finding in of("double", judge(course(), transcript)).findings} == {snippet}


# ---------------------------------------------------------------------- answers in cells


class ReadingDouble(Double):
    """Also reads ``twice`` out of a notebook's cells."""

    def read_cells(self, inputs: Inputs, cells: Iterable[Any]) -> Iterable[Finding]:
        """Pass if a cell left the name ``twice``, fail if ``half``, say nothing otherwise."""
        names = {name for cell in cells for name in cell.names}
        if not names & {"twice", "half"}:
            return ()
        return [found(f"double/{c.id}", "twice" in names, "double.cell") for c in DOUBLE.criteria]


def reading() -> Assignment:
    """Return the course whose first task can be answered in cells."""
    return course(checks={"double": ReadingDouble(), "triple": Triple()})


@pytest.mark.parametrize(
    "kind, names, status, text",
    [
        pytest.param("notebook", ("twice",), Status.PASSED, "", id="right"),
        pytest.param("notebook", ("half",), Status.FAILED, "", id="wrong"),
        pytest.param("notebook", ("other",), Status.MISSING, "engine.task.missing", id="no answer"),
        pytest.param("script", ("twice",), Status.MISSING, "engine.task.missing", id="a script has no cells"),
    ],
)
def test_an_answer_in_a_cell(kind: str, names: tuple[str, ...], status: Status, text: str) -> None:
    """Where a function is missing, what a notebook's cells show counts in its place, with a note."""
    outcome = Outcome(call="load/0", kind="returned", names=tuple((name, 2) for name in names))
    judged = of("double", judge(reading(), transcript_of(kind=kind, outcomes=(outcome,))))

    assert (set(statuses(judged)), judged.text) == ({status}, text)
    assert [note.text for note in judged.notes] == ([] if text else ["engine.note.cells"])


def test_a_function_goes_before_cells() -> None:
    """A function that is there is judged, whatever cells show."""
    transcript, _ = rehearse(reading(), {**RIGHT, "double": lambda x: x + 1}, kind="notebook")
    first, *rest = transcript.outcomes
    transcript = replace(transcript, outcomes=(replace(first, names=(("twice", 2),)), *rest))

    assert Status.FAILED in statuses(of("double", judge(reading(), transcript)))


class Generous(Triple):
    """Gives more than there is."""

    def __init__(self, share: tuple[int, int]) -> None:
        self.share = share

    def judge(self, inputs: Inputs, seen: Observed) -> Iterable[Finding]:
        """Give a share that is none."""
        yield Finding(criterion="triple/value", status=Status.PARTIAL, share=self.share)


@pytest.mark.parametrize("share", [(3, 2), (-1, 2), (0, 0)])
def test_a_share_that_is_none_is_our_fault(share: tuple[int, int]) -> None:
    """No check can give more points than a criterion has, or take some away."""
    assignment = course(checks={"double": Double(), "triple": Generous(share)})
    transcript, _ = rehearse(assignment, RIGHT)

    judged = judge(assignment, transcript)

    assert "triple/value has the share" in judged.fault
    assert statuses(of("triple", judged)) == [Status.NOT_GRADED]


def test_a_criterion_without_tasks_checks_is_our_fault() -> None:
    """A task that has no checks at all isn't graded."""
    task = Task(id="lost", function="double", signature="", criteria=(Criterion(id="a", points=1),))
    broken = course(tasks=(task,), checks={})
    call = Call(id="lost/a", session="main", kind="function", name="double")
    judgement = judge(broken, loaded("double", seed=1))

    assert statuses(judgement.tasks[0]) == [Status.NOT_GRADED]
    assert call.id not in judgement.fault
