"""Grades to send, with their reports on disk."""

from __future__ import annotations

from pathlib import Path

from grader.model.attempt import Attempt, HandedFile, Learner
from grader.model.gradebook import Grade, Gradebook, TaskGrade

FRAGMENT = """<h3>{points} of 100 points</h3>
<p>Quote: &#34;a, b; c&#34; and back\\slash and =1+1</p>
<pre>first
  second</pre>
<table style="border-collapse:collapse"><tr><th scope="row">shape</th><td>3 / 3</td></tr></table>
"""


def grade(
    folder: Path,
    name: str,
    cents: int = 8750,
    *,
    number: str = "",
    ids: tuple[tuple[str, str], ...] = (),
    files: tuple[str, ...] = ("submission.py",),
    label: str = "",
    report: bytes | None = None,
    max_cents: int = 10000,
) -> Grade:
    """Make a graded attempt whose reports lie below ``folder``."""
    key = number or dict(ids).get("canvas") or name or "x"
    place = folder / f"r{len(list(folder.iterdir()))}"
    place.mkdir()
    (place / "report.html").write_bytes(report if report is not None else f"<p>Report of {key}</p>".encode())
    (place / "fragment.html").write_text(FRAGMENT.format(points=cents / 100), encoding="utf-8")
    learner = Learner(name=name, ids=(*((("participant", number),) if number else ()), *ids))
    attempt = Attempt(
        key=key,
        learners=(learner,),
        files=tuple(HandedFile(name=one, path=folder / "nowhere") for one in files),
        label=label or (f"{name or 'Participant'}_{number}_assignsubmission_file" if number else ""),
    )
    return Grade(
        attempt=attempt,
        status="graded",
        cents=cents,
        max_cents=max_cents,
        tasks=(TaskGrade(id="shape", title="shape", status="partial", cents=cents, max_cents=max_cents),),
        folder=place.name,
        reports=place,
    )


def ungraded(name: str, number: str = "", reason: str = "the worker stopped") -> Grade:
    """Make an attempt that isn't graded."""
    learner = Learner(name=name, ids=(("participant", number),) if number else ())
    return Grade(attempt=Attempt(key=name, learners=(learner,), files=()), status="not_graded", reason=reason)


def book(*grades: Grade, title: str = "HW1", max_cents: int = 10000) -> Gradebook:
    """Make a gradebook."""
    return Gradebook(assignment="hw1", title=title, max_cents=max_cents, grades=grades)
