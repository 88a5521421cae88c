"""``grade appeal LINE``: open the very case that a learner's report speaks of, for the instructor."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.batch.decisions import decide, decisions_of
from grader.batch.entries import title_of
from grader.batch.messages import Row
from grader.batch.roll import Roll, roll_of
from grader.cli.case import asked
from grader.cli.options import Parser, add_course
from grader.cli.said import shown
from grader.core.assignment import Assignment
from grader.course import find_course, load_assignment
from grader.errors import UsageError
from grader.model import CriterionResult, Result, Transcript
from grader.pipeline import judge_transcript
from grader.render import clean
from grader.render.figures import points
from grader.render.lines import COLUMNS, hanging, split
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
CHANGED = "The course has changed since this run was judged: what follows is by the course as it is now."


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
        title, of = title_of(entry.attempt), f"{points(result.cents)} of {points(result.max_cents)}"
        lines = _told(f"{title}: {row.name}, {of}")
        for other, _ in same:
            lines += _told(f"The same file: {title_of(other.attempt)}")
        if assignment.digest != facts.digest:
            lines += _told(CHANGED)
        texts = Words(assignment.texts)
        lines += _whole(result, texts)
        for criterion, name in _wanted(result, read["place"]):
            lines += ["", *_case(criterion, name, transcript, texts)]
        print("\n".join(lines))
        place = _report(journal, result, assignment, course.template_dirs, row.folder)
    print(f"\nreport for you: {shown(place)}")
    if options.open:
        import webbrowser

        webbrowser.open(place.resolve().as_uri())
    return 0


def _told(text: str, indent: int = 0) -> list[str]:
    return hanging(shown(text), indent)


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
        yield from _told(f"note: {words.plain(note.text, note.params)}")
    for change in result.adjustments:
        before, after = points(change.before), points(change.after)
        yield from _told(f"{change.kind}: {change.target} {before} -> {after}, by {change.by}: {change.reason}")


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
    yield from split(clean.terminal(bare(message_of(finding, words))), COLUMNS, "  ")
    for misconception in finding.misconceptions:
        yield from _told(f"misconception: {misconception}", 2)
    for note in finding.notes:
        yield from _told(f"{note.kind}: {words.plain(note.text, note.params)}", 2)
    outcomes = {outcome.call: outcome for outcome in transcript.outcomes}
    # A check that names no call means all of its task's.
    task = name.partition("/")[0]
    calls = [call for call in transcript.calls if call.id in finding.calls] or [
        call for call in transcript.calls if call.id.startswith(f"{task}/")
    ]
    for call in calls[:MAX_CALLS]:
        yield from asked(call, outcomes.get(call.id))
    if len(calls) > MAX_CALLS:
        yield f"  and {len(calls) - MAX_CALLS} more calls"


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
