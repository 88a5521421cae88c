"""What a view model holds: a template, ours or a course's, can show no more than that."""

from __future__ import annotations

import pytest

from grader.core.redact import Audience, redact
from grader.model import Note, Status
from grader.render.document import to_json
from grader.render.view import build
from tests.core.test_redact import NUMBER, PLANTED, passed, planted, result_of
from tests.core.tiny import course
from tests.render.course import engine_texts

AUDIENCES: tuple[Audience, ...] = ("learner", "instructor")
TEXTS = {
    PLANTED: f"{PLANTED} {{message}}",
    "title": "Tiny",
    f"{PLANTED}.next": f"next {PLANTED}",
    **{f"{PLANTED}.hint{level}": f"hint {PLANTED}" for level in (1, 2, 3)},
    **{f"misconception.{PLANTED}.{part}": f"{part} {PLANTED}" for part in ("title", "text", "next", "hint1")},
}
"""A catalogue that tells all that a hidden finding has."""


@pytest.mark.parametrize("status", [Status.PASSED, Status.PARTIAL, Status.FAILED])
def test_a_learner_s_view_holds_nothing_that_is_hidden(status: Status) -> None:
    """Neither a hidden finding nor what is for the instructor stands anywhere in the view or the document."""
    notes = (Note(text=PLANTED, audience="instructor"), Note(text=PLANTED, kind="integrity"))
    assignment = course(texts={**engine_texts(), **TEXTS})
    result = result_of(
        passed("double/value"), passed("double/zero"), planted("double/secret", status), notes=notes, task_notes=notes
    )
    public = redact(result, "learner")
    theirs = repr(build(public, assignment)) + to_json(public, assignment)
    ours = repr(build(result, assignment, audience="instructor")) + to_json(result, assignment)

    assert PLANTED not in theirs
    assert str(NUMBER) not in theirs
    assert PLANTED in ours


def test_ids_and_calls_are_the_instructor_s() -> None:
    """Of a visible finding a learner reads what it says, and an instructor also what to look up."""
    assignment = course(texts={**engine_texts(), **TEXTS})
    wrong = planted("double/value", Status.FAILED)
    result = result_of(wrong, passed("double/zero"), passed("double/secret"))
    views = {audience: build(redact(result, audience), assignment, audience=audience) for audience in AUDIENCES}
    behind = {name: [found.behind for task in view.tasks for found in task.findings] for name, view in views.items()}

    assert behind["learner"] == [()]
    assert PLANTED in repr(behind["instructor"])
    assert "double/value" in repr(behind["instructor"])
    assert f"double/{PLANTED}" not in repr(views["learner"])


def test_a_hint_that_isn_t_shown_isn_t_there() -> None:
    """The view and the document have the hints up to the level that is shown."""
    assignment = course(texts={**engine_texts(), **TEXTS}, hints_shown=1)
    result = redact(
        result_of(planted("double/value", Status.FAILED), passed("double/zero"), passed("double/secret")), "learner"
    )
    found = {hints: build(result, assignment, hints=hints).tasks[0].findings[0] for hints in (None, 0, 2, 3)}

    assert {hints: len(one.hints) for hints, one in found.items()} == {None: 1, 0: 0, 2: 2, 3: 3}
    assert {hints: one.held for hints, one in found.items()} == {None: True, 0: True, 2: True, 3: False}
    assert to_json(result, assignment).count("hint PLANTED") == 1
