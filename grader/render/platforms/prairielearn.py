"""PrairieLearn's ``/grade/results/results.json``: https://docs.prairielearn.com/externalGrading/ ."""

from __future__ import annotations

import json

from grader.render.platforms.told import Told, Verdict, number
from grader.render.words import marked

__all__ = ["MAX_BYTES", "prairielearn"]

MAX_BYTES = 1_000_000
"""The limit of the whole file."""

CAPS = (20_000, 4_000, 1_000, 300, 80, 0)
"""Characters of one text: the first of these with which the file is small enough is taken."""


def prairielearn(told: Told) -> str:
    """Return the text of ``results.json``, at most ``MAX_BYTES`` long.

    What could not be graded is ``gradable: false``: PrairieLearn then neither takes nor gives points, and no attempt
    is used up.
    """
    if told.result.status != "graded":
        reason = _cut(" ".join(marked(told.summary).split()), CAPS[1])
        return _text({"gradable": False, "format_errors": [reason], "message": told.view.heading})
    for cap in CAPS:
        text = _text(_graded(told, cap))
        if len(text.encode()) <= MAX_BYTES:
            return text
    return _text({"gradable": True, "score": _share(told), "message": told.view.heading})


def _graded(told: Told, cap: int) -> dict[str, object]:
    return {
        "gradable": True,
        "score": _share(told),
        "message": told.view.heading,
        "output": _cut(marked(told.summary), cap),
        "tests": [_test(told, verdict, cap) for verdict in told.verdicts],
    }


def _share(told: Told) -> float:
    """Return the score as PrairieLearn counts it: from 0 to 1."""
    result = told.result
    return min(1.0, max(0.0, result.cents / result.max_cents)) if result.max_cents else 0.0


def _test(told: Told, verdict: Verdict, cap: int) -> dict[str, object]:
    return {
        "name": _cut(f"{verdict.function}: {verdict.title}", 300),
        "points": number(verdict.cents),
        "max_points": number(verdict.max_cents),
        "message": _cut(verdict.word, 300),
        "output": _cut(told.text(verdict), cap),
    }


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(0, most - 1)] + "…"


def _text(document: dict[str, object]) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True) + "\n"
