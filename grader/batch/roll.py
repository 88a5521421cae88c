"""A run as its journal has it: what holds for it, its entries, and how they ended. It is read once and handed on."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Mapping, Sequence

from grader.batch.messages import Row, load_row
from grader.batch.pages import is_whole
from grader.model._data import data
from grader.store.journal import Entry, Facts, Journal

__all__ = ["Roll", "roll_of", "rows_of", "rows_that_hold"]


@data
class Roll:
    """All that is known of a run.

    Attributes:
        entries: In order.
        rows: How they ended, by number; one that has no row hasn't ended.
    """

    facts: Facts
    entries: tuple[Entry, ...]
    rows: Mapping[int, Row]


def roll_of(journal: Journal, entries: tuple[Entry, ...] | None = None) -> Roll:
    """Read a run; ``entries`` are those that were read before. Raises UsageError if it never began, OutputError."""
    facts = journal.facts
    return Roll(facts=facts, entries=journal.entries() if entries is None else entries, rows=rows_of(journal))


def rows_of(journal: Journal) -> dict[int, Row]:
    """Return how entries ended, by number. A row that can't be read counts for none: its entry is done again."""
    rows = {}
    for ended in journal.ended():
        with contextlib.suppress(ValueError, TypeError, LookupError, AttributeError):
            rows[ended.number] = load_row(ended.row)
    return rows


def rows_that_hold(journal: Journal, entries: Sequence[Entry]) -> dict[int, Row]:
    """Return the rows of what needn't be graded again, by number: it was graded, and is whole on the disk.

    A row may have outlived the files that it speaks of, if the power went.
    """
    rows = rows_of(journal)
    known = [row for entry in entries if (row := rows.get(entry.number)) is not None and row.status == "graded"]
    return {row.number: row for row in known if _whole(journal, row)}


def _whole(journal: Journal, row: Row) -> bool:
    try:
        kept = journal.transcript(row.folder).lstat()
    except OSError:
        return False
    return stat.S_ISREG(kept.st_mode) and kept.st_size > 0 and is_whole(journal.out / row.folder, row.digest)
