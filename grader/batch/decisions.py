"""What instructors decided of results: points of their own, and sentences for failures that nothing explains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.batch.messages import Override
from grader.batch.roll import Roll
from grader.core.alike import unexplained
from grader.core.score import override
from grader.core.sentence import with_group_sentence
from grader.model import Result
from grader.model._data import data
from grader.store.journal import Journal
from grader.store.overrides import NAME, read_overrides

__all__ = ["Decisions", "decide", "decisions_of", "idle_overrides"]


@data
class Decisions:
    """What holds for a run.

    Attributes:
        overrides: By the attempt's key.
        sentences: By failure.
    """

    overrides: Mapping[str, tuple[Override, ...]]
    sentences: Mapping[str, str]


def decisions_of(journal: Journal) -> Decisions:
    """Read what was decided. Raises UsageError if the overrides can't be read."""
    overrides: defaultdict[str, list[Override]] = defaultdict(list)
    for line in read_overrides(journal.out):
        overrides[line.student].append(
            Override(criterion=line.criterion, cents=line.cents, reason=line.reason, by=line.by, file=line.file)
        )
    return Decisions(
        overrides={student: tuple(found) for student, found in overrides.items()}, sentences=journal.named_failures()
    )


def idle_overrides(out: Path, roll: Roll) -> Iterator[str]:
    """Yield, a sentence each, which lines of the overrides do nothing, or less than they say. Raises UsageError."""
    entries = {entry.attempt.key: entry for entry in roll.entries}
    for line in read_overrides(out):
        entry = entries.get(line.student)
        if entry is None:
            names = {learner.name: key for key, other in entries.items() for learner in other.attempt.learners}
            there = f"; is it '{names[line.student]}'?" if line.student in names else "."
            yield f"{NAME}: no attempt has the key '{line.student}'{there}"
            continue
        row = roll.rows.get(entry.number)
        if row is not None and row.sha256 and not row.sha256.startswith(line.file):
            yield f"{NAME}: {line.criterion} of '{line.student}' was decided for an earlier file, not for this one."
            continue
        most = {name: cents for name, _, _, cents in row.criteria} if row is not None else {}
        if most and line.criterion not in most:
            yield f"{NAME}: '{line.student}' has no criterion '{line.criterion}'. There is: {', '.join(most)}."
        elif most and line.cents > most[line.criterion]:
            yield (
                f"{NAME}: {line.criterion} of '{line.student}' has {most[line.criterion] / 100:g} points, "
                f"so {line.cents / 100:g} count as these."
            )


def decide(result: Result, overrides: Sequence[Override], sentences: Mapping[str, str]) -> Result:
    """Return ``result`` with the decisions in it.

    An override of a criterion that isn't there any more, or of an earlier file of the learner's, is left out.
    """
    for change in overrides:
        if not result.sha256.startswith(change.file):
            continue
        result = override(result, change.criterion, change.cents, reason=change.reason, by=change.by)
    for criterion, failure in unexplained(result) if sentences else ():
        if failure in sentences:
            result = with_group_sentence(result, criterion, sentences[failure])
    return result
