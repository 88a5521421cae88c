"""A mistake is paid for once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grader.core.follow import better
from grader.core.judge import judge
from grader.core.score import conclude
from grader.model import Finding, Status
from tests.core.tiny import course, rehearse

PASSED, PARTIAL, FAILED = Status.PASSED, Status.PARTIAL, Status.FAILED
POINTS = {"t/a": 6, "t/b": 4}


def findings(a: Status, b: Status, share: tuple[int, int] = (0, 1)) -> tuple[Finding, ...]:
    """Return the findings of two criteria."""
    return (Finding(criterion="t/a", status=a, share=share), Finding(criterion="t/b", status=b))


@pytest.mark.parametrize(
    "first, again, stands, knock_on",
    [
        pytest.param(findings(FAILED, FAILED), findings(PASSED, PASSED), "again", ["double", "double"], id="all"),
        pytest.param(findings(PASSED, FAILED), findings(PASSED, PASSED), "again", ["", "double"], id="one"),
        pytest.param(findings(PASSED, FAILED), findings(FAILED, PASSED), "first", ["", ""], id="worth less"),
        pytest.param(findings(FAILED, PASSED), findings(PASSED, FAILED), "again", ["double", ""], id="worth more"),
        pytest.param(findings(FAILED, FAILED), findings(FAILED, FAILED), "again", ["", ""], id="no better"),
        pytest.param(
            findings(PARTIAL, PASSED, (1, 2)), findings(PASSED, PASSED), "again", ["double", ""], id="from a part"
        ),
        pytest.param(findings(FAILED, PASSED), findings(PARTIAL, PASSED, (1, 2)), "again", ["", ""], id="to a part"),
    ],
)
def test_the_better_findings_stand(
    first: tuple[Finding, ...], again: tuple[Finding, ...], stands: str, knock_on: list[str]
) -> None:
    """Findings with the stand-in stand if they are worth as much; what is right only thanks to it is marked."""
    found = better(first, again, POINTS, "double")

    assert [finding.status for finding in found] == [
        finding.status for finding in (first if stands == "first" else again)
    ]
    assert [finding.knock_on for finding in found] == knock_on


@pytest.mark.parametrize(
    "functions, status, knock_on",
    [
        pytest.param(
            {"double": lambda x: x, "triple": lambda x: x, "triple with double": lambda x: 3 * x}, PASSED, "double",
            id="right with the stand-in",
        ),
        pytest.param(
            {"double": lambda x: x, "triple": lambda x: x, "triple with double": lambda x: 4 * x}, FAILED, "",
            id="wrong all the same",
        ),
        pytest.param(
            {"double": lambda x: x, "triple": lambda x: x}, FAILED, "", id="the stand-in isn't reached"
        ),
        pytest.param(
            {"double": lambda x: 2 * x, "triple": lambda x: x, "triple with double": lambda x: 3 * x}, FAILED, "",
            id="the used function is right",
        ),
    ],
)  # fmt: skip
def test_a_mistake_is_paid_for_once(functions: dict[str, Callable[..., Any]], status: Status, knock_on: str) -> None:
    """What is right once the wrong function is replaced earns its points, and says so."""
    transcript, _ = rehearse(course(), functions)
    result = conclude(course(), transcript, judge(course(), transcript))
    (criterion,) = result.tasks[1].criteria

    assert (criterion.status, criterion.finding.knock_on) == (status, knock_on)
    assert criterion.cents == (500 if status is PASSED else 0)


def test_the_mistake_itself_is_still_paid_for() -> None:
    """A stand-in repairs what uses a wrong function, never the function."""
    functions = {"double": lambda x: x + 1, "triple": lambda x: x, "triple with double": lambda x: 3 * x}
    transcript, _ = rehearse(course(), functions)
    result = conclude(course(), transcript, judge(course(), transcript))

    assert [task.status for task in result.tasks] == [FAILED, PASSED]
