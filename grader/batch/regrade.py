"""Judging a run again: without student code, from what its transcripts keep; or running one attempt once more."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

from grader.batch.decisions import decisions_of
from grader.batch.engines import open_engine
from grader.batch.entries import title_of
from grader.batch.messages import Ready, Row
from grader.batch.outputs import write_class_page
from grader.batch.run import Run
from grader.batch.start import judge_setup, setup_of
from grader.errors import UsageError
from grader.model._data import data, replace
from grader.run.isolation import Isolation
from grader.store.journal import Entry, Facts, Journal

__all__ = ["Change", "entry_called", "judge_again", "run_again"]


@data
class Change:
    """What another judgement changed for one entry: criteria with points before and after, in hundredths.

    Attributes:
        criteria: Id, points before and after; only where they differ. A criterion that is new or gone has None.
        same: The very bytes of the result are as before.
    """

    entry: Entry
    before: Row | None
    after: Row
    criteria: tuple[tuple[str, int | None, int | None], ...]
    same: bool


def judge_again(
    journal: Journal,
    entries: Sequence[Entry],
    rows: Mapping[int, Row],
    *,
    course: str | None,
    jobs: int,
    afresh: bool = False,
) -> Generator[Ready | Change, None, None]:
    """Judge transcripts with the course as it is now; yield what the workers say of it, then each change.

    A task whose checks, rubric and engine are as they were keeps its verdict, unless all are judged ``afresh``.
    When all entries that have a transcript were judged, the run is one of the course as it is now. Judging some of
    them needs the course that the others were judged with.

    Raises:
        CourseError: If the course can't be used, or isn't the run's and only some entries are to be judged.
    """
    facts, called = journal.facts, {entry.number: entry for entry in entries}
    whole = {entry.number for entry in entries} >= {number for number, row in rows.items() if row.status == "graded"}
    setup = judge_setup(journal, facts, course, digest="" if whole else facts.digest, afresh=afresh)
    with open_engine("local", jobs=jobs) as engine:
        run = Run(journal, engine.executor, setup, workers=engine.workers, decisions=decisions_of(journal))
        ready = run.introduce(jobs)
        yield ready
        if whole and ready.digest != facts.digest:
            journal.unfinished = "judging it again with the changed course"
            write_class_page(journal)  # whatever ends this process, the page says that grades are mixed
        for row in run.judge(entries, rows):
            yield _change(called[row.number], rows.get(row.number), row)
    if whole:
        journal.facts = _facts_now(facts, ready, course)
        journal.unfinished = ""


def run_again(
    journal: Journal, entries: Sequence[Entry], rows: Mapping[int, Row], *, isolation: Isolation, jobs: int
) -> Generator[Ready | Change, None, None]:
    """Run attempts once more, with the inputs that they had; yield what the workers say, then each change."""
    facts, called = journal.facts, {entry.number: entry for entry in entries}
    setup = setup_of(
        journal,
        seed=facts.seed,
        hidden=facts.hidden,
        course=facts.course,
        assignment=facts.assignment,
        hints=facts.hints,
        isolation=isolation,
        digest=facts.digest,
    )
    with open_engine("local", jobs=jobs) as engine:
        run = Run(journal, engine.executor, setup, workers=engine.workers, decisions=decisions_of(journal), share=False)
        yield run.introduce(jobs)
        for row in run.grade(entries, {}):
            yield _change(called[row.number], rows.get(row.number), row)


def entry_called(entries: Sequence[Entry], name: str) -> Entry:
    """Return the entry whose key, folder, title, learner or learner's id this is.

    Raises:
        UsageError: If there is none, or several.
    """
    keyed = [entry for entry in entries if name in (entry.attempt.key, entry.folder)]
    found = keyed or [
        entry
        for entry in entries
        if name == title_of(entry.attempt)
        or any(name == learner.name or name in dict(learner.ids).values() for learner in entry.attempt.learners)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            f"Nobody in this run is called '{name}'.", hint="index.html names them, with their keys in brackets."
        )
    keys = ", ".join(entry.attempt.key for entry in found[:5])
    raise UsageError(f"Several attempts in this run are called '{name}'.", hint=f"Use one of the keys: {keys}.")


def _change(entry: Entry, before: Row | None, after: Row) -> Change:
    old = {name: cents for name, _, cents, _ in before.criteria} if before else {}
    new = {name: cents for name, _, cents, _ in after.criteria}
    differing = tuple((name, old.get(name), new.get(name)) for name in {**old, **new} if old.get(name) != new.get(name))
    return Change(
        entry=entry,
        before=before,
        after=after,
        criteria=differing,
        same=before is not None and before.digest == after.digest and bool(after.digest),
    )


def _facts_now(facts: Facts, ready: Ready, course: str | None) -> Facts:
    return replace(
        facts,
        course=course,
        version=ready.version,
        digest=ready.digest,
        max_cents=ready.max_cents,
        tasks=ready.tasks,
    )
