"""What ``grade batch`` prints: lines or counts while it runs, then the scores and who needs attention."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.batch.folder import Folder
from grader.batch.messages import Ready, Row
from grader.batch.tally import Tally, reason_to_look
from grader.render import clean
from grader.render.figures import points

__all__ = ["Output", "shown"]

NAME_COLUMNS = 40


class Output:
    """Prints for whoever reads: counts for a person at a terminal, a line for each submission into a pipe.

    ``done`` counts the submissions that have ended, in whatever order.
    """

    def __init__(self, *, json_format: bool, total: int) -> None:
        self._json, self._total = json_format, total
        self._lines = not json_format and not sys.stdout.isatty()
        self._person = sys.stderr.isatty()
        self._rows: list[dict[str, object]] = []
        self._heard = True
        self.done = 0

    def counted(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass rows on and count them where a person watches."""
        self._count()
        for row in rows:
            self.done += 1
            self._count()
            yield row

    def row(self, row: Row) -> None:
        """Tell of one submission; called in order."""
        if self._json:
            self._rows.append(_entry(row))
        elif self._lines:
            why = reason_to_look(row)
            score = f"{points(row.cents)} of {points(row.max_cents)}" if row.status == "graded" else ""
            told = "   ".join(part for part in (score, why) if part)
            self._say(f"{shown(row.name):<{NAME_COLUMNS}}   {told}")

    def end(self, tally: Tally, folder: Folder, ready: Ready | None, *, out: Path, seed: int) -> None:
        """Print what all of it comes to."""
        self.clear()
        if self._json:
            self._say(_document(tally, ready, self._rows, seed))
            return
        lines = [""] if self._lines else []
        if tally.scores:
            lines += [*_scores(tally), ""]
        if tally.wanting:
            lines += [*_attention(tally), ""]
        graded = tally.count - tally.not_graded
        parts = [f"{graded} of {tally.count} graded", f"reports in {shown(out)}"]
        if folder.others:
            parts.append(f"{folder.others} other item{'s' if folder.others > 1 else ''} left alone")
        if ready is not None:
            parts.append(f"isolation {ready.isolation}")
        self._say("\n".join([*lines, f"{'; '.join(parts)}; again: --seed {seed}"]))

    def clear(self) -> None:
        """Take the counts off the terminal."""
        if self._person:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _count(self) -> None:
        if self._person:
            print(f"\r{self.done} of {self._total} graded", end="", file=sys.stderr, flush=True)

    def _say(self, text: str) -> None:
        if not self._heard:
            return
        try:
            encoding = sys.stdout.encoding or "utf-8"
            print(text.encode(encoding, "replace").decode(encoding), flush=True)
        except BrokenPipeError:
            self._heard = False  # whoever read along has seen enough; grading goes on


def shown(name: str | Path) -> str:
    """Clean a name for the terminal."""
    return clean.terminal(str(name)) or "?"


def _scores(tally: Tally) -> list[str]:
    low, first, middle, third, high = (points(tally.quantile(share)) for share in (0, 0.25, 0.5, 0.75, 1))
    lines = [
        f"scores of {points(tally.max_cents)}: median {middle}, half of them {first} to {third}, all {low} to {high}"
    ]
    bins = tally.tenths()
    names = [f"{10 * tenth}-{10 * tenth + 9} %" for tenth in range(10)] + ["100 %"]
    filled = [f"{name}: {count}" for name, count in zip(names, bins, strict=True) if count]
    return [*lines, "  " + ", ".join(filled)]


def _attention(tally: Tally) -> list[str]:
    lines = [f"to look at ({tally.wanting}):", *(f"  {shown(name)}: {shown(why)}" for name, why in tally.attention)]
    more = tally.wanting - len(tally.attention)
    return [*lines, f"  and {more} more"] if more else lines


def _entry(row: Row) -> dict[str, object]:
    graded = row.status == "graded"
    return {
        "name": clean.json_text(row.name),
        "folder": row.folder,
        "status": row.status,
        "reason": clean.json_text(row.reason),
        "score": _number(row.cents) if graded else None,
        "max_score": _number(row.max_cents) if graded else None,
        "look": [clean.json_text(text) for text in row.look],
        "seed": row.seed if graded else None,
        "sha256": row.sha256,
    }


def _document(tally: Tally, ready: Ready | None, rows: list[dict[str, object]], seed: int) -> str:
    known = None if ready is None else {"id": ready.assignment, "version": ready.version, "digest": ready.digest}
    document = {
        "schema": "grade.batch/1",
        "assignment": known,
        "isolation": None if ready is None else ready.isolation,
        "seed": seed,
        "graded": tally.count - tally.not_graded,
        "not_graded": tally.not_graded,
        "submissions": rows,
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)


def _number(cents: int) -> int | float:
    return cents // 100 if cents % 100 == 0 else cents / 100
