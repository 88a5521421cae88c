"""What ``grade batch`` prints: lines or counts while it runs, then the scores and who needs attention."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.batch.entries import title_of
from grader.batch.messages import Row
from grader.batch.tally import MAX_NAMED, Alike, Tally, reason_to_look
from grader.cli.said import shortened, shown, told
from grader.lms.sources import Source
from grader.render import clean
from grader.render.figures import points
from grader.store.journal import Entry, Facts

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Output"]

NAME_COLUMNS = 40
DECIDED = "points that were changed before count for this file too: see overrides.toml"


class Output:
    """Prints for whoever reads: a bar for a person at a terminal, a line for each submission into a pipe.

    Args:
        entries: All of the run.
        done: How those ended that an earlier part of the run has told of, by number.
        json_format: Print one document at the end.

    Attributes:
        done: How many submissions have ended, in whatever order; those of an earlier part of the run too.
        tally: What those come to that were told of, and those before.
        isolation: How student code is kept apart, once that is known.
    """

    def __init__(self, entries: Sequence[Entry], done: Mapping[int, Row], *, json_format: bool) -> None:
        self.done, self.total, self.tally, self.isolation = len(done), len(entries), Tally(), ""
        self._entries = {entry.number: entry for entry in entries}
        self._json = json_format
        self._lines = not json_format and not sys.stdout.isatty()
        self._rows: list[dict[str, object]] = []
        self._heard = True
        for row in done.values():
            self._count(row)
        self._bar: tuple[Progress, TaskID] | None = _bar(self.done, self.total) if sys.stderr.isatty() else None

    def counted(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass rows on and count them where a person watches."""
        for row in rows:
            self.done += 1
            if self._bar is not None:
                progress, task = self._bar
                progress.update(task, completed=self.done)
            yield row

    def row(self, row: Row) -> None:
        """Tell of one submission; called in order."""
        entry = self._count(row, *([DECIDED] if row.adjusted else []))
        if self._lines:
            why = reason_to_look(row)
            score = f"{points(row.cents)} of {points(row.max_cents)}" if row.status == "graded" else ""
            said = "   ".join(part for part in (score, why) if part)
            title = shown(title_of(entry.attempt))
            self._say(f"{title}{' ' * (NAME_COLUMNS - clean.width(title))}   {clean.terminal(said)}")

    def end(self, source: Source, facts: Facts, written: tuple[str, ...], *, out: Path) -> None:
        """Print what all of it comes to; ``written`` are files for the instructor."""
        self.clear()
        tally = self.tally
        if self._json:
            self._say(_document(tally, source, facts, self.isolation, self._rows))
            return
        lines = [""] if self._lines else []
        if tally.scores:
            lines += [*_scores(tally), ""]
        if tally.wanting:
            lines += [*_named("to look at", tally.wanting, tally.attention), ""]
        if tally.remarked:
            lines += [*_named("to know", tally.remarked, tally.remarks), ""]
        if source.others:
            lines += [f"left alone ({len(source.others)}):", *(f"  {text}" for text in source.others[:MAX_NAMED])]
            lines += [*_more(len(source.others) - MAX_NAMED), ""]
        graded = tally.count - tally.not_graded
        parts = [f"{graded} of {tally.count} graded", f"reports in {out}"]
        parts.append(f"isolation {self.isolation}")
        if written:
            lines.append(f"for you: {', '.join(str(out / name) for name in written)}")
        for line in told([*lines, f"{'; '.join(parts)}; again: --seed {facts.seed}"]):
            self._say(line)

    def _count(self, row: Row, *remarks: str) -> Entry:
        entry = self._entries[row.number]
        self.tally.add(row, title_of(entry.attempt), (*entry.attempt.remarks, *remarks))
        if self._json:
            self._rows.append(_entry(row, entry))
        return entry

    def clear(self) -> None:
        """Take the bar off the terminal."""
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None

    def _say(self, text: str) -> None:
        if not self._heard:
            return
        try:
            encoding = sys.stdout.encoding or "utf-8"
            print(text.encode(encoding, "replace").decode(encoding), flush=True)
        except BrokenPipeError:
            self._heard = False  # whoever read along has seen enough; grading goes on


def _bar(done: int, total: int) -> tuple[Progress, TaskID]:
    """Show how far it is, how fast, and how long it will take."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    progress = Progress(
        "graded", BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn(), console=Console(stderr=True),
        transient=True,
    )  # fmt: skip
    task = progress.add_task("", total=total, completed=done)
    progress.start()
    return progress, task


def _scores(tally: Tally) -> list[str]:
    low, first, middle, third, high = (points(tally.quantile(share)) for share in (0, 0.25, 0.5, 0.75, 1))
    lines = [
        f"scores of {points(tally.max_cents)}: median {middle}, half of them {first} to {third}, all {low} to {high}"
    ]
    bins = tally.tenths()
    names = [f"{10 * tenth}-{10 * tenth + 9} %" for tenth in range(10)] + ["100 %"]
    filled = [f"{name}: {count}" for name, count in zip(names, bins, strict=True) if count]
    return [*lines, "  " + ", ".join(filled)]


def _named(head: str, count: int, said: Mapping[str, Alike]) -> list[str]:
    """Return a list under its head: who, and what of them; not all may be named."""
    lines = []
    for text, alike in said.items():
        more = alike.count - len(alike.names)
        names = ", ".join(map(shortened, alike.names)) + (f" and {more} more" if more else "")
        lines.append(f"  {names}: {text}")
    return [f"{head} ({count}):", *lines, *_more(count - sum(alike.count for alike in said.values()))]


def _more(count: int) -> list[str]:
    return [f"  and {count} more"] if count > 0 else []


def _entry(row: Row, entry: Entry) -> dict[str, object]:
    graded = row.status == "graded"
    attempt = entry.attempt
    return {
        "number": row.number,
        "key": clean.json_text(attempt.key),
        "learners": [
            {"name": clean.json_text(learner.name), "ids": {kind: clean.json_text(id_) for kind, id_ in learner.ids}}
            for learner in attempt.learners
        ],
        "late": attempt.late,
        "same_as": row.same_as,
        "name": clean.json_text(row.name),
        "folder": row.folder,
        "status": row.status,
        "reason": clean.json_text(row.reason),
        "score": _number(row.cents) if graded else None,
        "max_score": _number(row.max_cents) if graded else None,
        "remarks": [clean.json_text(text) for text in attempt.remarks],
        "look": [clean.json_text(text) for kind, text in row.look if kind != "note"],
        "seed": row.seed if graded else None,
        "sha256": row.sha256,
    }


def _document(tally: Tally, source: Source, facts: Facts, isolation: str, rows: list[dict[str, object]]) -> str:
    known = {"id": facts.assignment, "version": facts.version, "digest": facts.digest}
    document = {
        "schema": "grade.batch/1",
        "assignment": known,
        "isolation": isolation,
        "seed": facts.seed,
        "graded": tally.count - tally.not_graded,
        "not_graded": tally.not_graded,
        "others": [clean.json_text(text) for text in source.others],
        "submissions": sorted(rows, key=lambda row: int(str(row["number"]))),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)


def _number(cents: int) -> int | float:
    return cents // 100 if cents % 100 == 0 else cents / 100
