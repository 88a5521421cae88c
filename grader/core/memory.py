"""What was worked out about a transcript that grows: nothing is looked at twice while it is planned and judged.

Only a saving: with an empty memory every answer is the same.
"""

from __future__ import annotations

import operator

from grader.core.assignment import Assignment
from grader.core.find import inputs_of
from grader.core.observed import Case, Inputs, Observed, case_prefix
from grader.model import Finding, Outcome, Task, Transcript

__all__ = ["Memory"]


class _Known:
    """One task's outcomes, and what its checks made of them."""

    def __init__(self, outcomes: list[Outcome], observed: Observed) -> None:
        self.outcomes, self.observed = outcomes, observed
        self.cases: list[Case] | None = None
        self.findings: tuple[Finding, ...] | None = None


class Memory:
    """Of one submission; it is handed from round to round."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _Known] = {}
        self._inputs: dict[str, Inputs] = {}

    def observed(self, task: Task, transcript: Transcript, via: str = "") -> Observed:
        """Return what was seen of ``task``, or of its calls with the stand-in ``via``."""
        return self._of(task, transcript, via).observed

    def cases(self, assignment: Assignment, task: Task, transcript: Transcript, via: str = "") -> list[Case]:
        """Return the cases that the checks of ``task`` want. Raises what they raise."""
        known = self._of(task, transcript, via)
        if known.cases is None:
            known.cases = list(assignment.checks[task.id].plan(self._inputs_of(task, transcript), known.observed))
        return known.cases

    def findings(
        self, assignment: Assignment, task: Task, transcript: Transcript, via: str = ""
    ) -> tuple[Finding, ...]:
        """Return what the checks of ``task`` find. Raises what they raise."""
        known = self._of(task, transcript, via)
        if known.findings is None:
            known.findings = tuple(assignment.checks[task.id].judge(self._inputs_of(task, transcript), known.observed))
        return known.findings

    def _inputs_of(self, task: Task, transcript: Transcript) -> Inputs:
        return self._inputs.setdefault(task.id, inputs_of(task, transcript))

    def _of(self, task: Task, transcript: Transcript, via: str) -> _Known:
        prefix = case_prefix(task, via)
        outcomes = [outcome for outcome in transcript.outcomes if outcome.call.startswith(prefix)]
        known = self._known.get((task.id, via))
        if known is not None and _same(known.outcomes, outcomes):
            return known
        observed = Observed(task, transcript, via=via, before=None if known is None else known.observed)
        self._known[task.id, via] = known = _Known(outcomes, observed)
        return known


def _same(before: list[Outcome], now: list[Outcome]) -> bool:
    return len(before) == len(now) and all(map(operator.is_, before, now))
