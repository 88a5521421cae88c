"""Twelve typical submissions, graded once for all tests that look at their reports."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from grader.core.redact import redact
from grader.intake import submission_from_bytes
from grader.model import Result, Submission, Transcript
from grader.model._data import replace
from grader.render.view import ReportView, build
from tests.pipeline.bench import assignment, graded

__all__ = ["REPORTS", "SEED", "TYPICAL", "page_of", "place_of", "result_of", "submission_of", "view_of"]

ROOT = Path(__file__).resolve().parents[2]
REPORTS = (ROOT / "reports",)
SEED = 2340

TYPICAL = {
    "full_marks": "examples/right.py",
    "no_scale": "no_scale.py",
    "softmax_axis": "axis0_hardcoded.py",
    "swapped_pair": "tuple_swapped.py",
    "exception": "dot_t.py",
    "syntax_error": "syntax_error.py",
    "not_started": "exercises/attention/submission.py",
    "constant_variance": "theory.py",
    "entropy": "entropy_mean.py",
    "ranking": "one_descending.py",
    "two_mistakes": "noscale_nomax.py",
    "notebook": "examples/with_mistake.ipynb",
}
"""What is handed in: a file of the project, or one of ``tests/data/submissions``."""


def place_of(name: str) -> Path:
    """Return where one of them lies."""
    path = TYPICAL[name]
    return ROOT / path if "/" in path else ROOT / "tests" / "data" / "submissions" / f"{path}.txt"


def submission_of(name: str) -> Submission:
    """Read one of them."""
    place = place_of(name)
    return submission_from_bytes(place.name.removesuffix(".txt"), place.read_bytes())


@cache
def result_of(name: str) -> tuple[Transcript, Result]:
    """Grade one of them, once."""
    return graded(submission_of(name), SEED)


def view_of(name: str) -> ReportView:
    """Return what its learner may see, with what depends on the machine replaced."""
    result = replace(
        result_of(name)[1],
        environment=(("isolation", "ISOLATION"), ("numpy", "NUMPY"), ("python", "PYTHON")),
        judged=(("grader", "GRADER"),),
    )
    return build(redact(result, "learner"), assignment())


def page_of(name: str) -> str:
    """Return its report."""
    from grader.render.html import report

    return report(view_of(name), REPORTS)
