"""How a run is begun, gone on with, judged again: what its workers are told, and the rows that still hold."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from grader.batch.messages import Ready, Row, Setup
from grader.batch.pages import is_whole
from grader.batch.run import load_row
from grader.batch.seeds import run_key
from grader.pipeline import judged_by
from grader.run.isolation import Isolation
from grader.store.journal import Entry, Facts, Journal

__all__ = ["entries_to_do", "expected_names", "facts_of", "judge_setup", "rows_of", "setup_of"]


def setup_of(
    journal: Journal,
    *,
    seed: int,
    hidden: str,
    course: str | None,
    assignment: str,
    hints: int | None,
    isolation: Isolation,
    digest: str = "",
    here: bool = True,
) -> Setup:
    """Return what workers are told; those of another machine (not ``here``) send their results."""
    return Setup(
        isolation=isolation,
        course=course,
        assignment=assignment,
        key=run_key(seed).hex(),
        hidden=hidden,
        out=str(journal.out.resolve()) if here else "",
        # A file that belongs to the run: student code must find no way to it.
        secrets=(str(journal.path.resolve()),) if here else (),
        hints=hints,
        digest=digest,
        versions=() if here else judged_by(),
    )


def judge_setup(journal: Journal, facts: Facts, course: str | None, *, digest: str = "", afresh: bool = False) -> Setup:
    """Return what workers are told that judge transcripts and run nothing; ``afresh``: with no verdict of before."""
    return Setup(
        isolation="none",
        course=course,
        assignment=facts.assignment,
        key="",
        hidden="",
        out=str(journal.out.resolve()),
        hints=facts.hints,
        digest=digest,
        afresh=afresh,
    )


def facts_of(
    ready: Ready, *, source: str, kind: str, title: str, seed: int, hidden: str, course: str | None, hints: int | None
) -> Facts:
    """Return what holds for a run, once a worker has said what it grades."""
    return Facts(
        source=source,
        kind=kind,
        title=title or ready.title,
        seed=seed,
        hidden=hidden,
        course=course,
        assignment=ready.assignment,
        version=ready.version,
        digest=ready.digest,
        max_cents=ready.max_cents,
        isolation=ready.isolation,
        hints=hints,
        tasks=ready.tasks,
    )


def expected_names(handout: Path) -> tuple[str, ...]:
    """Return usual names of a submission's file: those of the handout first."""
    names = sorted(path.name for path in handout.glob("*") if path.suffix in (".py", ".ipynb"))
    return (*names, *(name for name in ("submission.py", "submission.ipynb") if name not in names))


def rows_of(journal: Journal) -> dict[int, Row]:
    """Return how entries ended, by number. A row that can't be read counts for none: its entry is done again."""
    rows = {}
    for ended in journal.ended():
        with contextlib.suppress(ValueError, TypeError, LookupError, AttributeError):
            rows[ended.number] = load_row(ended.row)
    return rows


def entries_to_do(journal: Journal, rows: Mapping[int, Row]) -> Iterator[Entry]:
    """Yield what still has to be graded: what never ended, what couldn't be graded, and what isn't whole on the disk.

    A row may have outlived the files that it speaks of, if the power went.
    """
    for entry in journal.entries():
        row = rows.get(entry.number)
        if row is None or row.status != "graded" or not _whole(journal, row):
            yield entry


def _whole(journal: Journal, row: Row) -> bool:
    try:
        kept = journal.transcript(row.folder).lstat()
    except OSError:
        return False
    return stat.S_ISREG(kept.st_mode) and kept.st_size > 0 and is_whole(journal.out / row.folder, row.digest)
