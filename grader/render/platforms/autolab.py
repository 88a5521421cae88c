"""Autolab's autoresult, the last line of standard output: https://docs.autolabproject.com/lab/ .

The line before it is the semantic feedback of https://docs.autolabproject.com/features/formatted-feedback/ .
"""

from __future__ import annotations

import json

from grader.model import Status
from grader.render.platforms.told import Told, Verdict, number

__all__ = ["autolab"]

MAX_HINT = 2_000
"""Characters; Autolab keeps the whole output as feedback."""


def autolab(told: Told) -> str:
    """Return two lines: a table of what passed, and the scores by the task's id, which names Autolab's problem.

    A task that could not be graded has no score here: Autolab then keeps none for it.
    """
    # With its parentheses, a function's name is none of Autolab's own keys.
    stages: dict[str, dict[str, object]] = {}
    for verdict in told.verdicts:
        stages.setdefault(f"{verdict.function}()", {})[f"{verdict.title} ({verdict.score})"] = _test(told, verdict)
    scores = {task.id: number(task.cents) for task in told.result.tasks if task.status is not Status.NOT_GRADED}
    feedback: dict[str, object] = {"_presentation": "semantic", "stages": list(stages), **stages}
    return f"{_line(feedback)}\n{_line({'scores': scores})}\n"


def _test(told: Told, verdict: Verdict) -> dict[str, object]:
    if verdict.status is Status.PASSED:
        return {"passed": True}
    text = "\n".join(part for part in (verdict.word, told.text(verdict)) if part)
    return {"passed": False, "hint": text if len(text) <= MAX_HINT else text[: MAX_HINT - 1] + "…"}


def _line(document: dict[str, object]) -> str:
    """Write JSON as one line of ASCII, whatever the terminal's encoding is."""
    return json.dumps(document, allow_nan=False)
