"""What a learner may see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.core.judge import Judgement, TaskJudgement
from grader.core.redact import redact
from grader.core.score import conclude
from grader.model import Array, Chart, Comparison, Finding, Line, Note, Orders, Result, Status, Table
from tests.core.tiny import TASKS, course, transcript_of

PLANTED = "PLANTED"
"""Stands in every field of a hidden finding that can hold a text."""

NUMBER = 31415.9265
"""Stands in every field that can hold a number."""

BLOCK = Array(dtype="<f8", shape=(2, 2), data=np.full((2, 2), NUMBER).tobytes())
EVIDENCE = (
    Comparison(
        name=PLANTED, yours=BLOCK, expected=BLOCK, corner=(0, 0), first=(0, 1), worst=(0, 1),
        yours_at_worst=NUMBER, expected_at_worst=NUMBER, differing=1, total=4,
    ),
    Table(caption=PLANTED, header=(PLANTED,), rows=((PLANTED, NUMBER),), params=(("p", PLANTED),)),
    Chart(id=PLANTED, lines=(Line(label=PLANTED, role="yours", x=(NUMBER,), y=(NUMBER,)),), params=(("p", NUMBER),)),
    Orders(id=PLANTED, first=(0, 1), second=(1, 0), params=(("p", PLANTED),)),
)  # fmt: skip


def planted(criterion: str, status: Status, **changes: Any) -> Finding:
    """Return a finding that has something to hide in every field."""
    fields: dict[str, Any] = {
        "share": (0, 1),
        "text": PLANTED,
        "params": ((PLANTED, NUMBER), ("message", PLANTED)),
        "calls": (f"double/{PLANTED}",),
        "misconceptions": (PLANTED,),
        "knock_on": PLANTED,
        "evidence": EVIDENCE,
        "snippet": f"x = {NUMBER}  # {PLANTED}",
        "notes": (Note(text=PLANTED, params=(("p", PLANTED),)), Note(text=PLANTED, kind="review")),
    }
    return Finding(criterion=criterion, status=status, **{**fields, **changes})


def passed(criterion: str) -> Finding:
    """Return a finding without a word."""
    return Finding(criterion=criterion, status=Status.PASSED)


def result_of(*double: Finding, notes: tuple[Note, ...] = (), task_notes: tuple[Note, ...] = ()) -> Result:
    """Conclude from findings of the first task; the second one passed."""
    tasks = (
        TaskJudgement(task="double", findings=double, notes=task_notes),
        TaskJudgement(task="triple", findings=(passed("triple/value"),)),
    )
    return conclude(course(tasks=TASKS), transcript_of(), Judgement(tasks=tasks, notes=notes))


@pytest.mark.parametrize(
    "status, cents",
    [
        pytest.param(Status.PASSED, 200, id="passed"),
        pytest.param(Status.PARTIAL, 0, id="partial"),
        pytest.param(Status.FAILED, 0, id="failed"),
    ],
)
def test_a_hidden_criterion_leaks_nothing(status: Status, cents: int) -> None:
    """Of a hidden criterion a learner gets verdict and points: no text, number, case, exception or line of code."""
    result = result_of(passed("double/value"), passed("double/zero"), planted("double/secret", status))
    shown = redact(result, "learner")
    hidden = shown.tasks[0].criteria[2]

    assert PLANTED in repr(result)
    assert PLANTED not in repr(shown)
    assert str(NUMBER) not in repr(shown)
    assert "Array" not in repr(shown)
    assert (hidden.status, hidden.cents, hidden.max_cents, hidden.hidden) == (status, cents, 200, True)
    assert shown.tasks[0].text == ("engine.task.hidden" if status is not Status.PASSED else "")


def test_a_visible_message_that_leads_stays() -> None:
    """Where a visible criterion leads the task, its own words are shown."""
    wrong = Finding(criterion="double/value", status=Status.FAILED, text="double.value.wrong", params=(("got", 3),))
    shown = redact(result_of(wrong, passed("double/zero"), planted("double/secret", Status.FAILED)), "learner")

    assert (shown.tasks[0].text, shown.tasks[0].params) == ("double.value.wrong", (("got", 3),))
    assert shown.tasks[0].criteria[0].finding == wrong
    assert PLANTED not in repr(shown)


def test_the_instructor_sees_all() -> None:
    """For the instructor nothing is left out."""
    result = result_of(passed("double/value"), passed("double/zero"), planted("double/secret", Status.FAILED))

    assert redact(result, "instructor") is result


def test_points_are_the_same_for_everybody() -> None:
    """Leaving out changes no status and no points."""
    result = result_of(planted("double/value", Status.FAILED), planted("double/zero", Status.PARTIAL, share=(1, 2)),
                       planted("double/secret", Status.FAILED))  # fmt: skip
    shown = redact(result, "learner")

    assert (shown.cents, shown.max_cents, shown.status) == (result.cents, result.max_cents, result.status)
    assert [(c.status, c.cents) for t in shown.tasks for c in t.criteria] == [
        (c.status, c.cents) for t in result.tasks for c in t.criteria
    ]


@pytest.mark.parametrize(
    "note, shown",
    [
        pytest.param(Note(text="a"), (Note(text="a"),), id="a learner's"),
        pytest.param(Note(text="a", audience="instructor"), (), id="the instructor's"),
        pytest.param(Note(text="a", kind="integrity"), (), id="integrity"),
        pytest.param(Note(text="a", kind="integrity", audience="instructor"), (), id="integrity, the instructor's"),
        pytest.param(
            Note(text="a", params=(("p", PLANTED),), kind="review", audience="instructor"),
            (Note(text="engine.note.review", kind="review"),),
            id="a review without its reason",
        ),
    ],
)
@pytest.mark.parametrize("place", ["result", "task", "criterion"])
def test_notes_by_audience(note: Note, shown: tuple[Note, ...], place: str) -> None:
    """Wherever a note stands, a learner never sees an integrity matter or what is for the instructor alone."""
    value = Finding(criterion="double/value", status=Status.PASSED, notes=(note, note) if place == "criterion" else ())
    result = redact(
        result_of(
            value,
            passed("double/zero"),
            passed("double/secret"),
            notes=(note,) if place == "result" else (),
            task_notes=(note,) if place == "task" else (),
        ),
        "learner",
    )

    notes = {
        "result": result.notes, "task": result.tasks[0].notes, "criterion": result.tasks[0].criteria[0].finding.notes
    }  # fmt: skip
    assert notes[place] == shown
    assert PLANTED not in repr(result)
