"""Gradescope's ``results.json``: https://gradescope-autograders.readthedocs.io/en/latest/specs/ ."""

from __future__ import annotations

import json
import math

from grader.model import Status
from grader.render import clean
from grader.render.platforms.told import Told, Verdict, number
from grader.render.words import marked

__all__ = ["MAX_BYTES", "gradescope", "gradescope_failure", "gradescope_refusal"]

MAX_BYTES = 4 << 20
"""Gradescope names no limit; a page that a browser shows at once is small."""

Json = dict[str, object]


def gradescope(told: Told, *, page: str = "", seconds: float | None = None, isolation: str = "") -> str:
    """Return the text of ``results.json``.

    Every test is visible: Gradescope hides the total where one isn't, and a hidden criterion's test holds no more
    than its verdict. What prints to standard output stays with the instructor.

    A result that is not graded has no ``score``, neither of its own nor in a test. The specification asks for one, so
    Gradescope reports a failed autograder and records nothing: the fault is ours, and a 0 would be the learner's.

    Args:
        told: What is told of the result.
        page: The same as HTML, for the head of the page; its plain words if there is none.
        seconds: How long it took.
        isolation: How the code was kept apart, if none of it ran.
    """
    result = told.result
    graded = result.status == "graded"
    environment = dict(result.environment)
    document: Json = {
        **_head(seconds),
        "output": page or marked(told.summary),
        "output_format": "html" if page else "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "tests": [_test(told, verdict, graded) for verdict in told.verdicts],
        "extra_data": {
            "status": result.status,
            "assignment": result.assignment,
            "version": result.version,
            "digest": result.digest,
            "sha256": result.sha256,
            "seed": result.seed,
            "max_score": number(result.max_cents),
            "isolation": environment.get("isolation", isolation),
        },
    }
    if graded:
        document["score"] = number(result.cents)
    text = _text(document)
    if page and len(text.encode()) > MAX_BYTES:
        return gradescope(told, seconds=seconds, isolation=isolation)
    return text


def gradescope_refusal(message: str, *, seconds: float | None = None) -> str:
    """Return a result of 0 points that says why nothing was graded: what was handed in can't be."""
    tests: list[Json] = []
    document: Json = {**_head(seconds), "score": 0, "output": message, "output_format": "text", "tests": tests}
    return _text({**document, "extra_data": {"status": "refused"}})


def gradescope_failure(message: str, *, seconds: float | None = None) -> str:
    """Return a result without a score: the fault is ours (see ``gradescope``)."""
    tests: list[Json] = []
    document: Json = {**_head(seconds), "output": message, "output_format": "text", "tests": tests}
    return _text({**document, "extra_data": {"status": "not_graded"}})


def _head(seconds: float | None) -> Json:
    head: Json = {"visibility": "visible", "stdout_visibility": "hidden"}
    if seconds is not None and math.isfinite(seconds):
        head["execution_time"] = round(seconds, 3)
    return head


def _test(told: Told, verdict: Verdict, graded: bool) -> Json:
    test: Json = {
        "name": f"{verdict.function}: {verdict.title}",
        "number": verdict.id,
        "status": "passed" if verdict.status is Status.PASSED else "failed",
        "max_score": number(verdict.max_cents),
        "output": "\n\n".join(part for part in (verdict.word, told.text(verdict)) if part),
        "visibility": "visible",
    }
    if graded:
        test["score"] = number(verdict.cents)
    return test


def _text(document: Json) -> str:
    """Write strict JSON; every string in it is clean already, but for what comes from outside a result."""
    cleaned = {key: clean.json_text(value) if isinstance(value, str) else value for key, value in document.items()}
    return json.dumps(cleaned, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True) + "\n"
