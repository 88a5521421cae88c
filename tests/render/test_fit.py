"""A page that would be too large shows less, the least telling first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.model import Band, Evidence, Note, Params, Result, Status, Table
from grader.render.fit import LETTERS, LEVELS, leaner
from grader.render.html import MOST_BYTES, fragment, report
from grader.render.view import ReportView, build
from tests.render.checker import read
from tests.render.course import REPORTS, TASKS, assignment
from tests.render.samples import (
    LARGEST,
    PLACES,
    SHARES,
    WEIGHTS,
    block,
    finding,
    full_marks,
    one_mistake,
    result_of,
    task_result,
)

MANY = tuple(map(float, range(5_000)))
LOUD = "<&>\"'" * 2_000
"""A text that gets five times as long when it is escaped."""


def evidence() -> tuple[Evidence, ...]:
    """One of each kind, with more of everything than is ever shown."""
    rows = block([[-1234.5678 * (64 * row + column) for column in range(64)] for row in range(64)])
    line = replace(LARGEST.lines[0], x=MANY, y=MANY)
    region = Band(label=LOUD, x=MANY, low=MANY, high=MANY)
    return (
        replace(SHARES, name=LOUD, yours=block([MANY[:64]] * 64), expected=rows),
        replace(WEIGHTS, name=LOUD, yours=rows, expected=block([MANY[:64]] * 64)),
        Table(caption="variance.calls", header=(LOUD,) * 500, rows=((LOUD,) * 500,) * 500),
        replace(LARGEST, lines=(line,) * 100, band=region, bands=(region,) * 100),
        replace(PLACES, first=tuple(range(5_000)), second=tuple(range(5_000))),
    )


def hostile(times: int, *, said: str = LOUD) -> Result:
    """Every criterion of all tasks fails, with each kind of evidence so many times, and says a lot."""
    tasks = []
    for task in TASKS:
        notes = tuple(Note(text="note.hostile", params=(("message", f"{said}{at}"),)) for at in range(40 * bool(said)))
        found = {}
        for one in task.criteria:
            params: Params = (("message", f"{said}{one.id}"), ("factor", said))
            found[one.id] = finding(
                f"{task.id}/{one.id}",
                Status.FAILED,
                text="note.hostile",
                params=params,
                evidence=evidence() * times,
                snippet=f"# {said}{one.id}",
                notes=notes,
            )
        tasks.append(task_result(task, found, status=Status.FAILED, notes=notes))
    return result_of(tuple(tasks), name=f"{said}.py")


@pytest.mark.parametrize("times", [1, 4, 10])
@pytest.mark.parametrize("said", ["", LOUD], ids=["quiet", "loud"])
def test_a_page_stays_small_whatever_a_submission_says(times: int, said: str) -> None:
    """Below 200 kB, with all points and statuses, the next step and the hints; it says that something is missing."""
    view = build(hostile(times, said=said), assignment())
    for face in (report, fragment):
        text = face(view, [REPORTS])
        assert len(text.encode()) < MOST_BYTES
        assert "were left out, so that this page stays small" in text
        assert read(text).wrong == []
        assert text.count("Not yet") >= 5 + sum(len(task.criteria) for task in TASKS)
        assert "Next step:" in text


def test_four_of_each_task_keep_the_pictures_that_lead() -> None:
    """Where only evidence is too much, every task keeps that of its first finding."""
    view = build(hostile(1, said=""), assignment())
    lean = leaner(view, 1)

    assert [len(task.findings[0].evidence) for task in lean.tasks] == [2] * 5
    assert [len(found.evidence) for task in lean.tasks for found in task.findings[1:]] == [0] * 9


def test_an_honest_page_is_whole() -> None:
    """What fits is shown as it is."""
    for result in (full_marks(), one_mistake()):
        text = report(build(result, assignment()), [REPORTS])
        assert "stays small" not in text


def test_each_level_shows_less() -> None:
    """Pictures go first, then long texts; hints, points and what is next stay to the last."""
    view = build(hostile(2), assignment())
    levels = [leaner(view, level) for level in range(LEVELS + 1)]
    shown = [sum(len(found.evidence) for task in one.tasks for found in task.findings) for one in levels]

    assert levels[0] is view
    assert shown == sorted(shown, reverse=True)
    assert (shown[-1], len(set(shown))) == (0, LEVELS + 1)
    assert all(longest(one) <= most + 1 for one, most in zip(levels[1:], LETTERS[1:], strict=True))
    assert [(task.id, task.score, task.status, task.criteria) for task in levels[-1].tasks] == [
        (task.id, task.score, task.status, task.criteria) for task in view.tasks
    ]
    assert bool(levels[-1].next) == bool(view.next)


def longest(view: ReportView) -> int:
    """Return the letters of the longest stretch of text that a submission may have filled."""
    texts = [text for task in view.tasks for text in (task.message, *task.notes, *(f.message for f in task.findings))]
    return max(len(span.text) for text in (*texts, *view.notes) for paragraph in text for span in paragraph.spans)
