"""Findings become points."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.judge import Judgement, TaskJudgement
from grader.core.score import RESULT_SCHEMA, conclude
from grader.model import Array as ModelArray
from grader.model import Comparison, Criterion, Finding, Note, Result, Status, Task, TaskResult
from tests.core.tiny import course, transcript_of

PASSED, PARTIAL, FAILED = Status.PASSED, Status.PARTIAL, Status.FAILED
BLOCKED, MISSING, NOT_GRADED = Status.BLOCKED, Status.MISSING, Status.NOT_GRADED


def finding(name: str, status: Status, **fields: Any) -> Finding:
    """Return a finding of the only task."""
    return Finding(criterion=f"t/{name}", status=status, **fields)


def concluded(criteria: tuple[Criterion, ...], *findings: Finding, fault: str = "", **lead: Any) -> Result:
    """Conclude from the findings of one task."""
    task = Task(id="t", function="f", signature="f()", criteria=criteria)
    assignment = course(tasks=(task,), checks={})
    judged = TaskJudgement(task="t", findings=findings, **lead)
    return conclude(assignment, transcript_of(), Judgement(tasks=(judged,), fault=fault))


def task_of(criteria: tuple[Criterion, ...], *findings: Finding, **lead: Any) -> TaskResult:
    """Return the only task of what was concluded."""
    return concluded(criteria, *findings, **lead).tasks[0]


CORE = Criterion(id="core", points=10, core=True)
SIDE = Criterion(id="side", points=4)
MORE = Criterion(id="more", points=1)


@pytest.mark.parametrize(
    "core, side, task",
    [
        pytest.param(PASSED, PASSED, PASSED, id="all right"),
        pytest.param(PASSED, PARTIAL, PARTIAL, id="part of a side"),
        pytest.param(PASSED, FAILED, PARTIAL, id="a side failed"),
        pytest.param(PASSED, BLOCKED, PARTIAL, id="a side waits"),
        pytest.param(PARTIAL, PASSED, PARTIAL, id="part of the core"),
        pytest.param(PARTIAL, FAILED, PARTIAL, id="part of the core, no side"),
        pytest.param(FAILED, PASSED, FAILED, id="the core failed"),
        pytest.param(FAILED, PARTIAL, FAILED, id="the core failed, part of a side"),
        pytest.param(FAILED, BLOCKED, FAILED, id="nothing right"),
        pytest.param(MISSING, MISSING, MISSING, id="not there"),
        pytest.param(MISSING, PASSED, MISSING, id="partly not there"),
        pytest.param(NOT_GRADED, NOT_GRADED, NOT_GRADED, id="our fault"),
        pytest.param(NOT_GRADED, MISSING, NOT_GRADED, id="our fault goes first"),
        pytest.param(NOT_GRADED, FAILED, NOT_GRADED, id="our fault beside a failure"),
    ],
)
def test_the_status_of_a_task(core: Status, side: Status, task: Status) -> None:
    """A task fails with its core, is partial where points are lost otherwise, and passes at full points."""
    assert task_of((CORE, SIDE), finding("core", core), finding("side", side)).status is task


@pytest.mark.parametrize(
    "status, share, cents",
    [
        pytest.param(PASSED, (0, 1), 1000, id="passed"),
        pytest.param(PASSED, (1, 2), 1000, id="passed, whatever the share"),
        pytest.param(PARTIAL, (1, 2), 500, id="half"),
        pytest.param(PARTIAL, (3, 4), 750, id="three quarters"),
        pytest.param(PARTIAL, (1, 3), 333, id="a third, rounded down"),
        pytest.param(FAILED, (2, 3), 666, id="failed with a share"),
        pytest.param(FAILED, (0, 1), 0, id="failed"),
        pytest.param(MISSING, (0, 1), 0, id="missing"),
        pytest.param(NOT_GRADED, (0, 1), 0, id="not graded"),
    ],
)
def test_the_points_of_a_criterion(status: Status, share: tuple[int, int], cents: int) -> None:
    """Points are whole numbers, parts of them hundredths, and nobody gets more than the part earned."""
    task = task_of((CORE,), finding("core", status, share=share))

    assert [criterion.cents for criterion in task.criteria] == [task.cents] == [cents]
    assert task.max_cents == 1000


WAITS = Criterion(id="waits", points=3, requires="core")


@pytest.mark.parametrize(
    "first, second, status, cents",
    [
        pytest.param(PASSED, PASSED, PASSED, 300, id="passed, passed"),
        pytest.param(PASSED, FAILED, FAILED, 0, id="passed, failed"),
        pytest.param(PARTIAL, PASSED, PASSED, 300, id="partial lets through"),
        pytest.param(FAILED, PASSED, BLOCKED, 0, id="failed, passed"),
        pytest.param(FAILED, PARTIAL, BLOCKED, 0, id="failed, partial"),
        pytest.param(FAILED, MISSING, MISSING, 0, id="missing stays"),
        pytest.param(FAILED, NOT_GRADED, NOT_GRADED, 0, id="our fault stays"),
    ],
)
def test_a_criterion_waits_for_another(first: Status, second: Status, status: Status, cents: int) -> None:
    """What requires a criterion that failed earns nothing and is blocked, not failed."""
    task = task_of(
        (CORE, WAITS), finding("core", first), finding("waits", second, share=(1, 2) if second is PARTIAL else (0, 1))
    )

    assert (task.criteria[1].status, task.criteria[1].cents) == (status, cents)


def test_waiting_goes_on() -> None:
    """What requires a blocked criterion is blocked too."""
    last = Criterion(id="last", points=3, requires="waits")
    task = task_of((CORE, WAITS, last), finding("core", FAILED), finding("waits", PASSED), finding("last", PASSED))

    assert [criterion.status for criterion in task.criteria] == [FAILED, BLOCKED, BLOCKED]


def test_what_waits_says_nothing() -> None:
    """A blocked criterion has no message, numbers or remarks: its time hasn't come."""
    block = ModelArray(dtype="<f8", shape=(), data=b"\0" * 8)
    shown = Comparison(
        name="x", yours=block, expected=block, corner=(), first=(), worst=(), yours_at_worst=0, expected_at_worst=0,
        differing=1, total=1,
    )  # fmt: skip
    said = finding("waits", FAILED, text="t.wrong", params=(("got", 1),), evidence=(shown,), notes=(Note(text="n"),))
    blocked = task_of((CORE, WAITS), finding("core", FAILED), said).criteria[1].finding

    assert (blocked.text, blocked.params, blocked.evidence, blocked.notes) == ("", (), (), ())


@pytest.mark.parametrize(
    "findings, text",
    [
        pytest.param([("core", PASSED, ""), ("side", PASSED, "")], "", id="nothing to say"),
        pytest.param([("core", FAILED, "c"), ("side", FAILED, "s")], "c", id="the core first"),
        pytest.param([("core", PASSED, "own"), ("side", FAILED, "s")], "s", id="what passed doesn't lead"),
        pytest.param([("core", FAILED, ""), ("side", FAILED, "s")], "s", id="the first that says something"),
        pytest.param([("core", PASSED, ""), ("side", PARTIAL, "s")], "s", id="a part"),
    ],
)
def test_one_message_leads_a_task(findings: list[tuple[str, Status, str]], text: str) -> None:
    """The message of a task is that of its first criterion that isn't right, core criteria first."""
    made = [finding(name, status, text=said, params=(("from", name),)) for name, status, said in findings]
    task = task_of((SIDE, CORE), *made)

    assert task.text == text
    assert bool(task.params) == bool(text)


def test_a_tasks_own_message_leads() -> None:
    """What is said of a task as a whole goes before what its criteria say."""
    task = task_of((CORE,), finding("core", FAILED, text="c"), text="engine.task.missing", params=(("function", "f"),))

    assert (task.text, task.params) == ("engine.task.missing", (("function", "f"),))


def test_a_result_names_what_it_is_of() -> None:
    """Assignment, file, seed and versions are carried over, and points add up."""
    result = concluded((CORE, SIDE), finding("core", PASSED), finding("side", PARTIAL, share=(1, 4)))

    assert (result.schema, result.status, result.cents, result.max_cents) == (RESULT_SCHEMA, "graded", 1100, 1400)
    assert (result.assignment, result.version, result.name, result.seed) == ("tiny", "1", "work.py", 7)
    assert (result.digest, result.sha256, result.environment, result.adjustments) == ("d" * 64, "0" * 64, (), ())


def test_a_fault_of_ours_is_a_status() -> None:
    """If a check failed the result says that it isn't graded."""
    assert concluded((CORE,), finding("core", NOT_GRADED), fault="t: KeyError").status == "not_graded"


CRITERIA = (CORE, SIDE, MORE)


@given(
    st.tuples(*(st.sampled_from(list(Status)) for _ in CRITERIA)),
    st.tuples(*(st.integers(1, 12).flatmap(lambda b: st.tuples(st.integers(0, b), st.just(b))) for _ in CRITERIA)),
)
def test_points_stay_within_their_bounds(statuses: tuple[Status, ...], shares: tuple[tuple[int, int], ...]) -> None:
    """Whatever is found, points lie between none and all, add up, and all of them mean that the task passed."""
    made = [
        finding(criterion.id, status, share=share if status is PARTIAL else (0, 1))
        for criterion, status, share in zip(CRITERIA, statuses, shares, strict=True)
    ]
    task = task_of(CRITERIA, *made)

    assert 0 <= task.cents == sum(c.cents for c in task.criteria) <= task.max_cents
    assert all(0 <= c.cents <= c.max_cents for c in task.criteria)
    assert (task.status is PASSED) == (set(statuses) == {PASSED})
