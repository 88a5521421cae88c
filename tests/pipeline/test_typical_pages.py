"""Reports of typical submissions, graded for real: what a learner reads, and the lines that they may run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course import find_course, load_assignment
from grader.intake import submission_from_bytes
from grader.model import Result, Transcript
from grader.pipeline import grade
from grader.render.html import MOST_BYTES
from grader.render.words import bare
from grader.run.runner import Scratch
from tests.pipeline.again import disagreement, failing, rerun
from tests.pipeline.bench import forking, graded
from tests.pipeline.test_submissions import handed_in
from tests.pipeline.typical import SEED, TYPICAL, page_of, place_of, result_of, view_of

Golden = Callable[[str, str], None]
OTHERS = (
    "axis_ignored.py", "cached.py", "dks_hardcoded.py", "inplace.py", "no_keepdims.py", "no_max.py", "of_scores.py",
    "softmax_axis1.py", "std.py", "temperature.py",
)  # fmt: skip
"""Mistakes beside the typical ones whose lines do something else: call twice, stop, or need a stand-in."""

NO_MASK = """\
import numpy as np

def causal_attention(Q, K, V):
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V + 1, weights
"""


@pytest.mark.parametrize("name", TYPICAL)
def test_typical_page_golden(name: str, golden: Golden) -> None:
    """The page is what it was, but for the versions of what ran and judged."""
    golden(f"typical/{name}.html", page_of(name))


@pytest.mark.parametrize("name", TYPICAL)
def test_one_next_step(name: str) -> None:
    """Whoever isn't done reads one next step; who has full marks reads that another seed follows when it counts."""
    view, page = view_of(name), page_of(name)

    assert page.count('class="next"') == (name != "full_marks")
    assert ("another seed" in bare(view.after)) == ("another seed" in page) == (name == "full_marks")
    assert len(page.encode()) < MOST_BYTES / 2


def check_lines(judged: tuple[Transcript, Result], source: Path, folder: Path) -> int:
    """Run the lines of every criterion that isn't right; return how many there are."""
    transcript, result = judged
    found = list(failing(result))
    assert [criterion.finding.criterion for _, criterion in found if not criterion.finding.snippet] == []
    again = rerun(source, folder, [(function, criterion.finding.snippet) for function, criterion in found])
    assert len(again) == len(found)
    for (_, criterion), one in zip(found, again, strict=True):
        assert disagreement(criterion.finding, transcript, one) == "", criterion.finding.criterion
    return len(found)


@pytest.mark.parametrize("name", TYPICAL)
def test_the_lines_make_the_very_case(name: str, tmp_path: Path) -> None:
    """``Run this case yourself``: what it calls the function with, and what comes back, are what was judged."""
    some = name not in ("full_marks", "syntax_error", "not_started")

    assert bool(check_lines(result_of(name), place_of(name), tmp_path)) == some


@pytest.mark.parametrize("file", OTHERS)
def test_lines_of_other_mistakes_run_too(file: str, tmp_path: Path) -> None:
    """Every criterion that fails has such lines, also where one call doesn't show the mistake."""
    source = place_of("no_scale").with_name(f"{file}.txt")

    assert check_lines(graded(handed_in(file), SEED), source, tmp_path) > 0


def test_lines_of_another_assignment(tmp_path: Path) -> None:
    """The second course has them as well: no mask, and an output that is off."""
    source = tmp_path / "head.py"
    source.write_text(NO_MASK, encoding="utf-8")
    submission = submission_from_bytes(source.name, source.read_bytes())
    causal = load_assignment(find_course(), "causal_attention")
    judged = grade(causal, submission, SEED, Scratch(forking(), submission))
    (tmp_path / "again").mkdir()

    assert check_lines(judged, source, tmp_path / "again") == 3


def test_lines_that_make_another_case_are_noticed(tmp_path: Path) -> None:
    """Another seed is another input, and another line another answer."""
    transcript, result = result_of("no_scale")
    ((function, criterion),) = failing(result)
    snippet = criterion.finding.snippet
    seed = snippet.partition("default_rng(")[2].partition(")")[0]
    changed = [snippet.replace(seed, f"{seed}1"), snippet.replace("print", "str"), "1 / 0"]
    found = rerun(place_of("no_scale"), tmp_path, [(function, lines) for lines in changed])
    said = [disagreement(criterion.finding, transcript, one) for one in found]

    assert ["other arguments" in said[0], said[1], said[2]] == [
        True,
        "nothing was printed",
        "the function wasn't called (ZeroDivisionError: division by zero)",
    ]
