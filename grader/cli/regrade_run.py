"""``grade regrade RUN``: judge a whole class again, and say who changed, by how much, by which criterion."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.batch.decisions import idle_overrides
from grader.batch.entries import title_of
from grader.batch.executor import default_jobs
from grader.batch.messages import Ready
from grader.batch.outputs import write_outputs
from grader.batch.regrade import Change, entry_called, judge_again, run_again
from grader.batch.roll import Roll, roll_of
from grader.cli.said import shown, told
from grader.errors import GraderError, UsageError
from grader.render import clean
from grader.render.figures import points
from grader.store.journal import Journal

__all__ = ["changes_said", "kept_anyway", "regrade_run", "settle", "warn_of_overrides"]


def regrade_run(options: argparse.Namespace) -> int:
    """Judge again, print the changes, and return the exit code."""
    refused = {
        "--out": options.out,
        "--hints": options.hints,
        "--fail-under": options.fail_under,
        "--audience": None if options.audience == "learner" else options.audience,
    }
    for name, value in refused.items():
        if value is not None:
            raise UsageError(f"{name} isn't of a whole run.", hint="Its results stay in their folder.")
    if options.course is not None and not options.course.is_dir():
        raise UsageError(f"{options.course}: there is no such folder.", hint="Give --course the folder of a course.")
    with Journal(options.path, new=False) as journal:
        roll = roll_of(journal)
        facts, rows = roll.facts, roll.rows
        if options.assignment not in ("", facts.assignment):
            raise UsageError(f"The run is of '{facts.assignment}', not of '{options.assignment}'.")
        course = facts.course if options.course is None else str(options.course.resolve())
        jobs = options.jobs or default_jobs()
        if options.rerun:
            chosen = [entry_called(roll.entries, name) for name in options.rerun]
            again = run_again(journal, roll, chosen, isolation=options.isolation, jobs=min(jobs, len(chosen)))
        else:
            chosen = [entry for entry in roll.entries if entry.number in rows and rows[entry.number].status == "graded"]
            if not chosen:
                raise UsageError("Nothing of this run was graded.", hint="Go on with it by grade batch ... --resume.")
            again = judge_again(journal, roll, chosen, course=course, jobs=jobs, afresh=options.afresh)
        return settle(journal, roll, again, json_format=options.format == "json")


@contextlib.contextmanager
def kept_anyway(run: Path) -> Iterator[None]:
    """Say of a decision that can't be taken over now that it is kept."""
    try:
        yield
    except GraderError as error:
        error.hint = f"{error.hint} What you decided is kept: grade regrade {run} takes it over.".strip()
        raise


def settle(journal: Journal, roll: Roll, again: Iterable[Ready | Change], *, json_format: bool = False) -> int:
    """Take changes in, write what is written of the whole run, and print them; return the exit code.

    Args:
        journal: Of the run.
        roll: The run as it was before.
        again: What changes it.
        json_format: Print a JSON document.
    """
    changes = [item for item in again if isinstance(item, Change)]
    changes.sort(key=lambda change: change.entry.number)
    if any(not change.same for change in changes):
        journal.changed()
    roll = roll_of(journal, roll.entries)
    write_outputs(journal, roll)
    warn_of_overrides(journal, roll)
    if json_format:
        print(json.dumps([_entry(change) for change in changes], ensure_ascii=False, indent=1, sort_keys=True))
    else:
        for line in told([*changes_said(changes), f"results in {journal.out}"]):
            print(line)
    return 4 if any(change.after.status != "graded" for change in changes) else 0


def warn_of_overrides(journal: Journal, roll: Roll) -> None:
    """Say which decisions don't do what they say."""
    for line in told((f"grade: {sentence}" for sentence in idle_overrides(journal.out, roll)), sys.stderr):
        print(line, file=sys.stderr)


def changes_said(changes: Iterable[Change]) -> list[str]:
    """Return lines: who changed, by how much, by which criterion; then what all of it comes to."""
    lines: list[str] = []
    by_criterion: Counter[str] = Counter()
    judged = same = changed = 0
    for change in changes:
        judged += 1
        same += change.same
        title = shown(title_of(change.entry.attempt))
        after, before = change.after, change.before
        if after.status != "graded":
            lines.append(f"{title}: not graded: {shown(after.reason)}")
            continue
        was = points(before.cents) if before is not None and before.status == "graded" else "not graded"
        if change.criteria:
            changed += 1
            by_criterion.update(name for name, _, _ in change.criteria)
            parts = [f"{name} {_points(old)} -> {_points(new)}" for name, old, new in change.criteria]
            lines.append(f"{title}: {was} -> {points(after.cents)} ({', '.join(parts)})")
    if by_criterion:
        lines.append("")
        lines += [f"{name}: {count} changed" for name, count in sorted(by_criterion.items())]
    lines.append(f"{judged} judged, {changed} with other points, {same} with the same bytes as before")
    return lines


def _points(cents: int | None) -> str:
    return "none" if cents is None else points(cents)


def _entry(change: Change) -> dict[str, object]:
    before = change.before
    return {
        "key": clean.json_text(change.entry.attempt.key),
        "before": None if before is None or before.status != "graded" else before.cents / 100,
        "after": None if change.after.status != "graded" else change.after.cents / 100,
        "reason": clean.json_text(change.after.reason),
        "criteria": [
            {"id": name, "before": None if old is None else old / 100, "after": None if new is None else new / 100}
            for name, old, new in change.criteria
        ],
        "same_bytes": change.same,
    }
