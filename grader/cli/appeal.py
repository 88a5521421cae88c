"""``grade appeal LINE``: open the very case that a learner's report speaks of, for the instructor."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from grader.batch.decisions import decide, decisions_of
from grader.batch.entries import title_of
from grader.batch.messages import Row
from grader.batch.roll import Roll, roll_of
from grader.cli.batch_output import shown
from grader.cli.options import Parser, add_course
from grader.core.assignment import Assignment
from grader.core.values import to_python
from grader.course import find_course, load_assignment
from grader.errors import UsageError
from grader.model import Array, Call, CriterionResult, Opaque, Outcome, Result, Seq, Transcript, Value
from grader.pipeline import judge_transcript
from grader.render.figures import points
from grader.render.task_view import message_of
from grader.render.words import Words, bare
from grader.store import read_transcript
from grader.store.files import make_folder, write_file
from grader.store.journal import Entry, Journal

__all__ = ["parser", "run"]

LINE = re.compile(
    r"(?<!\S)(?P<place>[\w./-]+)\s+(?P<seed>\d+)\s+(?P<head>[0-9a-f]{8,64})(?:(?:…|\.\.\.)(?P<tail>[0-9a-f]{4}))?(?!\S)"
)
MAX_CALLS = 6
MAX_SHOWN = 400
MAX_ENTRIES = 24
"""Larger arrays are told by their shape."""

WIDTH = 80


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade appeal``."""
    made = Parser(
        prog="grade appeal",
        description="Open the case that the last line of a report names: what was asked, what came back, what was "
        "found, and the whole report as an instructor sees it.",
    )
    made.add_argument(
        "line", metavar="LINE", nargs="+", help="the line that the student sent: criterion, seed and file"
    )
    made.add_argument(
        "--run", metavar="RUN", type=Path, default=Path(),
        help="the folder that grade batch wrote its results to (default: this one)",
    )  # fmt: skip
    made.add_argument("--open", action="store_true", help="open the instructor's report in a browser")
    add_course(made)
    return made


def run(words: Sequence[str]) -> int:
    """Print the case and write the instructor's report; return the exit code."""
    options = parser().parse_args(words)
    line = " ".join(options.line)
    read = LINE.search(line)
    if read is None:
        raise UsageError(
            f"'{shown(line[:80])}' isn't such a line.",
            hint='It looks like: "attention/weights 2340 3fa9c1d2…0b1c".',
        )
    with Journal(options.run, new=False) as journal:
        roll = roll_of(journal)
        (entry, row), *same = _found(journal, roll, int(read["seed"]), read["head"], read["tail"] or "")
        facts = roll.facts
        course = find_course(options.course or (Path(facts.course) if facts.course else None))
        assignment = load_assignment(course, facts.assignment)
        transcript = read_transcript(journal.transcript(row.folder))
        decisions = decisions_of(journal)
        result = decide(
            judge_transcript(assignment, transcript),
            decisions.overrides.get(entry.attempt.key, ()),
            decisions.sentences,
        )
        print(
            f"{shown(title_of(entry.attempt))}: {shown(row.name)}, {points(result.cents)} of {points(result.max_cents)}"
        )
        for other, _ in same:
            print(f"The same file: {shown(title_of(other.attempt))}")
        if assignment.digest != facts.digest:
            print("The course has changed since this run was judged: what follows is by the course as it is now.")
        texts = Words(assignment.texts)
        for line in _whole(result, texts):
            print(line)
        for criterion, name in _wanted(result, read["place"]):
            print()
            for line in _case(criterion, name, transcript, texts):
                print(line)
        place = _report(journal, result, assignment, course.template_dirs, row.folder)
    print(f"\nreport for you: {shown(place)}")
    if options.open:
        import webbrowser

        webbrowser.open(place.resolve().as_uri())
    return 0


def _found(journal: Journal, roll: Roll, seed: int, head: str, tail: str) -> list[tuple[Entry, Row]]:
    """Return the attempt that the line is of; several, if they handed in the same."""
    found = []
    for entry in roll.entries:
        row = roll.rows.get(entry.number)
        if row is not None and row.seed == seed and row.sha256.startswith(head) and row.sha256.endswith(tail):
            found.append((entry, row))
    if found:
        return found
    raise UsageError(
        f"No submission of the run in '{shown(journal.out)}' has this seed and file.",
        hint="The student may have sent the line of a run of their own: grade FILE --seed N makes the same inputs.",
    )


def _whole(result: Result, words: Words) -> Iterator[str]:
    """Yield what is said of the file as a whole, and which points somebody changed."""
    for note in result.notes:
        text = shown(words.plain(note.text, note.params))
        yield textwrap.fill(f"note: {text}", WIDTH, subsequent_indent="  ")
    for change in result.adjustments:
        yield (
            f"{change.kind}: {shown(change.target)} {points(change.before)} -> {points(change.after)}, "
            f"by {shown(change.by)}: {shown(change.reason)}"
        )


def _wanted(result: Result, place: str) -> Iterator[tuple[CriterionResult, str]]:
    """Yield the criterion that the line names, or all of the task, or all that aren't right."""
    found = [(criterion, f"{task.id}/{criterion.id}") for task in result.tasks for criterion in task.criteria]
    yield from (
        [one for one in found if one[1] == place]
        or [one for one in found if one[1].startswith(f"{place}/")]
        or [one for one in found if one[0].cents < one[0].max_cents]
    )


def _case(criterion: CriterionResult, name: str, transcript: Transcript, words: Words) -> Iterator[str]:
    finding = criterion.finding
    yield f"{name}: {criterion.status}, {points(criterion.cents)} of {points(criterion.max_cents)}"
    message = bare(message_of(finding, words))
    if message:
        yield textwrap.fill(shown(message), WIDTH, initial_indent="  ", subsequent_indent="  ")
    for misconception in finding.misconceptions:
        yield f"  misconception: {misconception}"
    for note in finding.notes:
        yield f"  {note.kind}: {shown(words.plain(note.text, note.params))}"
    outcomes = {outcome.call: outcome for outcome in transcript.outcomes}
    # A check that names no call means all of its task's.
    task = name.partition("/")[0]
    calls = [call for call in transcript.calls if call.id in finding.calls] or [
        call for call in transcript.calls if call.id.startswith(f"{task}/")
    ]
    for call in calls[:MAX_CALLS]:
        yield from _asked(call, outcomes.get(call.id))
    if len(calls) > MAX_CALLS:
        yield f"  and {len(calls) - MAX_CALLS} more calls"


def _asked(call: Call, outcome: Outcome | None) -> Iterator[str]:
    arguments = [_value(arg) for arg in call.args] + [f"{name}={_value(arg)}" for name, arg in call.kwargs]
    yield f"  call {call.id} (seed {call.seed}): {call.name}({', '.join(arguments)})"
    if outcome is None:
        return
    failure = outcome.failure
    if failure is not None:
        where = f", line {failure.line}" if failure.line else ""
        yield f"    {outcome.kind}: {shown(f'{failure.kind} {failure.message}')}{where}"
    else:
        yield f"    {outcome.kind}: {_value(outcome.value)}"
    if outcome.stdout:
        yield f"    printed: {shown(outcome.stdout[:MAX_SHOWN])}"


def _value(value: Value) -> str:
    match value:
        case Array():
            array = to_python(value)
            if isinstance(array, np.ndarray) and array.size <= MAX_ENTRIES:
                return f"array{value.shape} {np.array2string(array, precision=6, separator=', ', max_line_width=9999)}"
            return f"array{value.shape} of {value.dtype[1:]}"
        case Seq():
            parts = [_value(item) for item in value.items[:6]] + ["..."] * (len(value.items) > 6)
            return f"{value.kind}({', '.join(parts)})"
        case Opaque():
            return f"something of the type {shown(value.kind)}"
    return shown(repr(value))[:MAX_SHOWN]


def _report(journal: Journal, result: Result, assignment: Assignment, templates: tuple[Path, ...], folder: str) -> Path:
    """Write the report as an instructor sees it, where no learner's files lie."""
    from grader.cli.show import ALL_HINTS
    from grader.render.html import report
    from grader.render.view import build

    place = journal.root / "appeals"
    make_folder(place)
    path = place / f"{folder}.html"
    write_file(path, report(build(result, assignment, hints=ALL_HINTS, audience="instructor"), templates))
    return path
