"""What instructors decided of results: points of their own, and sentences for failures that nothing explains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from grader.batch.messages import Override
from grader.core.alike import unexplained
from grader.core.score import override
from grader.core.sentence import with_group_sentence
from grader.model import Result
from grader.model._data import data
from grader.store.journal import Journal
from grader.store.overrides import read_overrides

__all__ = ["Decisions", "decide", "decisions_of"]


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
            Override(criterion=line.criterion, cents=line.cents, reason=line.reason, by=line.by)
        )
    return Decisions(
        overrides={student: tuple(found) for student, found in overrides.items()}, sentences=journal.named_failures()
    )


def decide(result: Result, overrides: Sequence[Override], sentences: Mapping[str, str]) -> Result:
    """Return ``result`` with the decisions in it. An override of a criterion that isn't there any more is left out."""
    for change in overrides:
        result = override(result, change.criterion, change.cents, reason=change.reason, by=change.by)
    for criterion, failure in unexplained(result) if sentences else ():
        if failure in sentences:
            result = with_group_sentence(result, criterion, sentences[failure])
    return result
