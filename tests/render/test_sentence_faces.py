"""An instructor's sentence for a group stands in every face, as text."""

from __future__ import annotations

import json
import re

from grader.core.redact import redact
from grader.core.sentence import with_group_sentence
from grader.model import Result
from grader.render.document import to_json
from grader.render.html import fragment, report
from grader.render.terminal import summary
from grader.render.view import build
from tests.render.checker import read
from tests.render.course import REPORTS, assignment
from tests.render.samples import HOSTILE, failing, one_mistake

SENTENCE = "You divide before you multiply: `a / b * c`."
TOLD = "Your instructor says: You divide before you multiply: a / b * c."


def faces(result: Result) -> tuple[str, str, str]:
    """Return the words of the report, of the fragment and of the terminal."""
    view = build(redact(result, "learner"), assignment())
    terminal = summary(view, colour=False, unicode=True)
    return (
        read(report(view, [REPORTS])).text,
        read(fragment(view, [REPORTS])).text,
        " ".join(terminal.split()),
    )


def flat(text: str) -> str:
    """Without the spaces that marks leave behind."""
    return re.sub(r"\s+(?=[.,:])", "", text)


def test_every_face_tells_it_once() -> None:
    """In the report and the fragment with its task, in the terminal with the summary."""
    for text in faces(with_group_sentence(one_mistake(), "attention/weights", SENTENCE)):
        assert flat(text).count(TOLD) == 1


def test_of_a_task_that_isnt_the_next_step() -> None:
    """The terminal tells it under the task's name."""
    result = with_group_sentence(failing(), "variance/measured", SENTENCE)

    for text in faces(result):
        assert flat(text).count(TOLD) == 1
    assert f"measure_variance {TOLD}" in flat(faces(result)[2])


def test_of_a_hidden_criterion() -> None:
    """It is the instructor's own, so it is told; what is hidden stays hidden."""
    for text in faces(with_group_sentence(failing(), "ranking/equal", SENTENCE)):
        assert TOLD in flat(text)


def test_in_json() -> None:
    """Other programs find it among the task's notes."""
    document = json.loads(to_json(with_group_sentence(one_mistake(), "attention/weights", SENTENCE), assignment()))

    (note,) = document["tasks"][1]["notes"]
    assert note["message"] == f"Your instructor says: {SENTENCE}"


def test_it_stays_text() -> None:
    """An instructor may paste anything."""
    for text in faces(with_group_sentence(one_mistake(), "attention/weights", HOSTILE)):
        assert "<script>alert(1)</script>" in text
        assert "{score}" in text
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
