"""What is told first of a task, and the learner's own line."""

from __future__ import annotations

import pytest

from grader.core.judge import _with_lines
from grader.core.lead import LINES, in_order_of_telling
from grader.model import CriterionResult, Failure, Finding, Outcome, Status
from grader.model._data import replace
from tests.core.tiny import transcript_of


def criterion(name: str, status: Status, *, core: bool = False) -> CriterionResult:
    """Return a criterion with a status."""
    found = Finding(criterion=f"t/{name}", status=status)
    return CriterionResult(id=name, status=status, cents=0, max_cents=100, core=core, hidden=False, finding=found)


@pytest.mark.parametrize(
    "criteria, requires, told",
    [
        pytest.param([("a", "failed", False), ("b", "failed", True)], {}, ["b", "a"], id="core first"),
        pytest.param([("a", "partial", False), ("b", "passed", True)], {}, ["a"], id="what is right isn't told"),
        pytest.param(
            [("shape", "failed", False), ("values", "blocked", True), ("out", "failed", True)],
            {"values": "shape"}, ["shape", "out"], id="what a core one waits for leads",
        ),
        pytest.param(
            [("a", "failed", False), ("b", "blocked", False), ("c", "failed", True)],
            {"b": "a"}, ["c", "a"], id="what another one waits for doesn't",
        ),
    ],
)  # fmt: skip
def test_order(criteria: list[tuple[str, str, bool]], requires: dict[str, str], told: list[str]) -> None:
    """Core criteria and the causes of their waiting come first, else in the rubric's order."""
    made = [criterion(name, Status(status), core=core) for name, status, core in criteria]

    assert [one.id for one in in_order_of_telling(made, requires)] == told


@pytest.mark.parametrize(
    "source, cells, at, said",
    [
        pytest.param(("x = 1\n    return 1 / 0  # mine",), (0,), (0, 2), ["return 1 / 0  # mine"], id="a script"),
        pytest.param(("x = 1", "y\nz"), (3, 5), (5, 1), ["y"], id="a cell"),
        pytest.param(("x = 1",), (3,), (4, 1), [], id="a cell that isn't there"),
        pytest.param(("x = 1",), (0,), (0, 9), [], id="a line that isn't there"),
        pytest.param(("x = 1",), (0,), (None, None), [], id="somewhere else"),
        pytest.param(("\n\n",), (0,), (0, 1), [], id="an empty line"),
    ],
)
def test_the_learner_s_own_line(
    source: tuple[str, ...], cells: tuple[int, ...], at: tuple[int | None, int | None], said: list[str]
) -> None:
    """Where a call stopped, the line stands as it was handed in, taken from the bytes and nowhere else."""
    failure = Failure(kind="ValueError", message="no", cell=at[0], line=at[1])
    outcome = Outcome(call="double/one", kind="raised", failure=failure)
    transcript = transcript_of(source=source, cell_numbers=cells, outcomes=(outcome,))
    wrong = Finding(criterion="double/value", status=Status.FAILED, calls=("double/one",))
    (told,) = _with_lines((wrong,), transcript)

    assert [str(dict(note.params)["code"]) for note in told.notes] == said
    assert [note.text for note in told.notes] == [LINES[bool(at[0])]] * len(said)
    assert _with_lines((replace(wrong, calls=()),), transcript) == (replace(wrong, calls=()),)


def test_what_passed_has_no_line() -> None:
    """A call may stop where it should."""
    outcome = Outcome(call="double/one", kind="raised", failure=Failure(kind="ValueError", cell=0, line=1))
    right = Finding(criterion="double/value", status=Status.PASSED, calls=("double/one",))

    assert _with_lines((right,), transcript_of(outcomes=(outcome,))) == (right,)
