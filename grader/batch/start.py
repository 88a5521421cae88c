"""How a run is begun, gone on with, judged again: what holds for it, and what its workers are told."""

from __future__ import annotations

from pathlib import Path

from grader.batch.messages import Ready, Setup
from grader.batch.seeds import run_key
from grader.model._data import replace
from grader.pipeline import judged_by
from grader.run.isolation import Isolation
from grader.store.journal import Facts, Journal

__all__ = ["expected_names", "facts_with", "judge_setup", "setup_of"]


def setup_of(journal: Journal, facts: Facts, *, isolation: Isolation, here: bool = True) -> Setup:
    """Return what workers are told; those of another machine (not ``here``) send their results."""
    return Setup(
        isolation=isolation,
        course=facts.course,
        assignment=facts.assignment,
        key=run_key(facts.seed).hex(),
        hidden=facts.hidden,
        out=str(journal.out.resolve()) if here else "",
        # A file that belongs to the run: student code must find no way to it.
        secrets=(str(journal.path.resolve()),) if here else (),
        hints=facts.hints,
        digest=facts.digest,
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


def facts_with(facts: Facts, ready: Ready) -> Facts:
    """Return what holds for a run, now that a worker has said what it grades."""
    return replace(
        facts,
        title=facts.title or ready.title,
        version=ready.version,
        digest=ready.digest,
        max_cents=ready.max_cents,
        isolation=facts.isolation or ready.isolation,
        tasks=ready.tasks,
    )


def expected_names(handout: Path) -> tuple[str, ...]:
    """Return usual names of a submission's file: those of the handout first."""
    names = sorted(path.name for path in handout.glob("*") if path.suffix in (".py", ".ipynb"))
    return (*names, *(name for name in ("submission.py", "submission.ipynb") if name not in names))
