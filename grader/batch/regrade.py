"""Judging a run again: without student code, from what its transcripts keep; or running one attempt once more."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from grader.batch.decisions import decisions_of
from grader.batch.engines import open_engine
from grader.batch.entries import title_of
from grader.batch.messages import Ready, Row
from grader.batch.outputs import write_class_page
from grader.batch.roll import Roll
from grader.batch.run import Run
from grader.batch.start import facts_with, judge_setup, setup_of
from grader.errors import UsageError
from grader.model._data import data, replace
from grader.render import clean
from grader.run.isolation import Isolation
from grader.store.journal import Entry, Journal

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
    roll: Roll,
    entries: Sequence[Entry],
    *,
    course: str | None,
    jobs: int,
    afresh: bool = False,
) -> Generator[Ready | Change, None, None]:
    """Judge transcripts of ``entries`` with the course as it is now; yield what the workers say, then each change.

    A task whose checks, rubric and engine are as they were keeps its verdict, unless all are judged ``afresh``.
    When all entries that have a transcript were judged, the run is one of the course as it is now. Judging some of
    them needs the course that the others were judged with.

    Raises:
        CourseError: If the course can't be used, or isn't the run's and only some entries are to be judged.
    """
    facts, rows, called = roll.facts, roll.rows, {entry.number: entry for entry in entries}
    whole = {entry.number for entry in entries} >= {number for number, row in rows.items() if row.status == "graded"}
    setup = judge_setup(journal, facts, course, digest="" if whole else facts.digest, afresh=afresh)
    with open_engine("local", jobs=jobs) as engine:
        run = Run(journal, engine.executor, setup, workers=engine.workers, decisions=decisions_of(journal))
        ready = run.introduce(jobs)
        yield ready
        if whole and ready.digest != facts.digest:
            journal.unfinished = "judging it again with the changed course"
            write_class_page(journal, roll)  # whatever ends this process, the page says that grades are mixed
        for row in run.judge(entries, rows):
            yield _change(called[row.number], rows.get(row.number), row)
    if whole:
        journal.facts = facts_with(replace(facts, course=course), ready)
        journal.unfinished = ""


def run_again(
    journal: Journal, roll: Roll, entries: Sequence[Entry], *, isolation: Isolation, jobs: int
) -> Generator[Ready | Change, None, None]:
    """Run attempts once more, with the inputs that they had; yield what the workers say, then each change."""
    setup, called = setup_of(journal, roll.facts, isolation=isolation), {entry.number: entry for entry in entries}
    with open_engine("local", jobs=jobs) as engine:
        run = Run(journal, engine.executor, setup, workers=engine.workers, decisions=decisions_of(journal), share=False)
        yield run.introduce(jobs)
        for row in run.grade(entries, {}):
            yield _change(called[row.number], roll.rows.get(row.number), row)


def entry_called(entries: Sequence[Entry], name: str) -> Entry:
    """Return the entry whose key, folder, title, learner or learner's id this is.

    Raises:
        UsageError: If there is none, or several.
    """
    keyed = [entry for entry in entries if name in (entry.attempt.key, entry.folder)]
    found = keyed or [entry for entry in entries if name in _names(entry)]
    if not found:
        # What can't be shown can't be copied from where it is shown either.
        found = [entry for entry in entries if _seen(name) in map(_seen, (entry.attempt.key, *_names(entry)))]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            f"Nobody in this run is called '{name}'.", hint="index.html names them, with their keys in brackets."
        )
    keys = [entry.attempt.key for entry in found[:5]]
    kind, names = ("keys", keys) if keys == list(map(_seen, keys)) else ("folders", [one.folder for one in found[:5]])
    raise UsageError(
        f"Several attempts in this run are called '{name}'.", hint=f"Use one of the {kind}: {', '.join(names)}."
    )


def _names(entry: Entry) -> Iterator[str]:
    yield title_of(entry.attempt)
    for learner in entry.attempt.learners:
        yield learner.name
        yield from dict(learner.ids).values()


def _seen(name: str) -> str:
    return " ".join(clean.terminal(name).split())


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
