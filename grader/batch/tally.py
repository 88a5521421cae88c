"""What a batch comes to: counts, how the scores lie, and who needs attention. It keeps no results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from grader.batch.messages import Row

__all__ = ["MAX_NAMED", "NOTHING_RAN", "Alike", "Tally", "reason_to_look"]

MAX_NAMED = 20
MAX_ALIKE = 3
NOTHING_RAN = "nothing in this file could be run"


class Alike:
    """Those of whom the same is said: how many, and what the first are called."""

    def __init__(self) -> None:
        self.count = 0
        self.names: list[str] = []

    def add(self, name: str) -> None:
        """Count one more."""
        self.count += 1
        if len(self.names) < MAX_ALIKE:
            self.names.append(name)


class Tally:
    """Adds up rows.

    Attributes:
        count: Rows so far.
        not_graded: Those of them without a grade.
        attention: Why somebody needs it, the first such reasons, and who. ``wanting`` counts all of them.
        remarks: What is to be known, the first such things, and of whom. ``remarked`` counts all of it.
        scores: How often each score was reached, in hundredths of a point.
    """

    def __init__(self) -> None:
        self.count = self.not_graded = self.wanting = self.remarked = 0
        self.max_cents = 0
        self.scores: Counter[int] = Counter()
        self.attention: dict[str, Alike] = {}
        self.remarks: dict[str, Alike] = {}

    def add(self, row: Row, title: str, remarks: Sequence[str] = ()) -> None:
        """Count a row; ``title`` is what its attempt is called, ``remarks`` what is to be known of it."""
        self.count += 1
        if row.status == "graded":
            self.scores[row.cents] += 1
            self.max_cents = row.max_cents
        else:
            self.not_graded += 1
        why = reason_to_look(row)
        if why:
            self.wanting += 1
            _note(self.attention, why, title)
        for remark in remarks:
            self.remarked += 1
            _note(self.remarks, remark, title)

    def quantile(self, share: float) -> int:
        """Return the smallest score that at least this share of the graded doesn't exceed, in hundredths."""
        need = share * self.scores.total()
        seen = 0
        for cents in sorted(self.scores):
            seen += self.scores[cents]
            if seen >= need:
                return cents
        return 0

    def tenths(self) -> list[int]:
        """Return how many reached each tenth of the points: 0-9 %, 10-19 %, ..., 90-99 %, and all of them."""
        bins = [0] * 11
        for cents, count in self.scores.items():
            bins[10 * cents // self.max_cents if self.max_cents else 0] += count
        return bins


def _note(said: dict[str, Alike], what: str, name: str) -> None:
    """Note of whom something is said. Three hundred of whom the same is said hide nobody else."""
    if what in said or len(said) < MAX_NAMED:
        said.setdefault(what, Alike()).add(name)


def reason_to_look(row: Row) -> str:
    """Say why somebody should look at a submission, or nothing."""
    if row.status == "not_graded":
        return f"not graded: {row.reason}"
    if row.unloaded:
        return NOTHING_RAN
    return "; ".join(text for kind, text in row.look if kind != "note")
