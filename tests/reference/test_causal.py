"""The second assignment: written without a change of the engine, fair to every style, exact about each mistake."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from grader.core.assignment import Assignment
from grader.core.catalogue import Catalogue
from grader.core.judge import judge
from grader.core.observed import Inputs
from grader.core.score import conclude
from grader.course import find_course, load_assignment
from grader.course.load import load_module
from grader.model import Result, Status
from grader.run.rehearse import rehearse

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "reference" / "causal_attention"
HANDOUT = ROOT / "exercises" / "causal_attention"
SEEDS = range(6)
MOST_LINES = 150

Function = Callable[..., Any]


def load() -> Assignment:
    """Load the assignment of the checkout."""
    return load_assignment(find_course(ROOT), "causal_attention")


COURSE = load()


def graded(function: Function, seed: int) -> Result:
    """Judge one function in this process."""
    transcript = rehearse(COURSE, {"causal_attention": function}, seed)
    judgement = judge(COURSE, transcript)
    assert judgement.fault == ""
    return conclude(COURSE, transcript, judgement)


def lost(result: Result) -> set[str]:
    """Return the ids of criteria that didn't give all their points."""
    (task,) = result.tasks
    return {criterion.id for criterion in task.criteria if criterion.cents < criterion.max_cents}


def scores_of(Q: Any, K: Any) -> Any:
    """Return the scaled scores."""
    return Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])


def attend(scores: Any, V: Any) -> tuple[Any, Any]:
    """Return ``(out, weights)`` of masked scores."""
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def tril_times_big(Q: Any, K: Any, V: Any) -> Any:
    """Take a large number off by arithmetic with ones and zeros."""
    return attend(scores_of(Q, K) - 1e9 * (1 - np.tril(np.ones((Q.shape[1], Q.shape[1])))), V)


def triu_infinite(Q: Any, K: Any, V: Any) -> Any:
    """Add a triangle of minus infinity."""
    return attend(scores_of(Q, K) + np.triu(np.full((Q.shape[1], Q.shape[1]), -np.inf), k=1), V)


def where_far_down(Q: Any, K: Any, V: Any) -> Any:
    """Put a large negative number in place of a score."""
    i = np.arange(Q.shape[1])
    return attend(np.where(i[:, None] >= i, scores_of(Q, K), -1e4), V)


def by_index(Q: Any, K: Any, V: Any) -> Any:
    """Assign through a boolean mask, and scale after masking."""
    scores = np.einsum("bid,bjd->bij", Q, K)
    scores[:, np.triu(np.ones(scores.shape[1:], dtype=bool), k=1)] = -np.inf
    return attend(scores / Q.shape[-1] ** 0.5, V)


def loops(Q: Any, K: Any, V: Any) -> Any:
    """Go over sequences and positions, looking at the past only."""
    B, T, d = Q.shape
    weights, out = np.zeros((B, T, T)), np.zeros(V.shape)
    for b in range(B):
        for i in range(T):
            e = [float(np.exp(Q[b, i] @ K[b, j] / d**0.5)) for j in range(i + 1)]
            for j in range(i + 1):
                weights[b, i, j] = e[j] / sum(e)
                out[b, i] += weights[b, i, j] * V[b, j]
    return out, weights


def renormalised(Q: Any, K: Any, V: Any) -> Any:
    """Strike weights out after the softmax and share out anew."""
    weights = np.tril(attend(scores_of(Q, K), V)[1])
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def before_the_sum(Q: Any, K: Any, V: Any) -> Any:
    """Multiply the exponentials by the mask, without a shift."""
    e = np.exp(scores_of(Q, K)) * np.tril(np.ones((Q.shape[1], Q.shape[1])))
    weights = e / e.sum(-1, keepdims=True)
    return weights @ V, weights


def logarithms(Q: Any, K: Any, V: Any) -> Any:
    """Take the softmax through its logarithm."""
    scores = triu_scores(Q, K)
    weights = np.exp(scores - np.log(np.exp(scores).sum(-1, keepdims=True)))
    return weights @ V, weights


def triu_scores(Q: Any, K: Any) -> Any:
    """Return masked scores."""
    return scores_of(Q, K) + np.triu(np.full((Q.shape[1], Q.shape[1]), -np.inf), k=1)


def as_lists(Q: Any, K: Any, V: Any) -> Any:
    """Return nested lists in a list."""
    out, weights = triu_infinite(Q, K, V)
    return [out.tolist(), weights.tolist()]


def in_single(Q: Any, K: Any, V: Any) -> Any:
    """Compute in single precision."""
    return triu_infinite(*(array.astype(np.float32) for array in (Q, K, V)))


def with_epsilon(Q: Any, K: Any, V: Any) -> Any:
    """Guard the division by a tiny number."""
    e = np.exp(triu_scores(Q, K) - triu_scores(Q, K).max(-1, keepdims=True))
    weights = e / (e.sum(-1, keepdims=True) + 1e-12)
    return weights @ V, weights


RIGHT = [
    tril_times_big, triu_infinite, where_far_down, by_index, loops, renormalised, before_the_sum, logarithms, as_lists,
    in_single, with_epsilon,
]  # fmt: skip


@pytest.mark.parametrize("function", RIGHT, ids=[function.__name__ for function in RIGHT])
def test_right_styles_get_all_points(function: Function) -> None:
    """Whatever the style, a right answer gets full marks for every seed, and nothing is diagnosed."""
    results = [graded(function, seed) for seed in SEEDS]

    assert [(result.cents, lost(result)) for result in results] == [(100_00, set())] * len(SEEDS)
    assert not any(criterion.finding.misconceptions for result in results for criterion in result.tasks[0].criteria)


MISTAKES = {
    "no_mask": {"future", "weights"},
    "looks_ahead": {"future", "weights"},
    "zero_scores": {"future", "weights"},
    "weak_mask": {"future", "weights"},
    "first_row_open": {"future", "weights"},
    "strict": {"rows", "weights"},
    "after_softmax": {"rows", "weights"},
    "no_scale": {"weights"},
    "columns": {"rows", "weights"},
    "all_nan": {"future", "rows", "weights", "out"},
}


def test_every_misconception_has_its_row() -> None:
    """The table below knows all of them."""
    assert {entry.id for entry in COURSE.misconceptions} == set(MISTAKES)


@pytest.mark.parametrize("name", MISTAKES, ids=MISTAKES)
def test_misconceptions_are_named_and_cost_once(name: str) -> None:
    """A mistake loses the criteria that it breaks and no others; it leads the task with its own text."""
    (entry,) = (entry for entry in COURSE.misconceptions if entry.id == name)

    for seed in SEEDS:
        result = graded(entry.predict, seed)
        (task,) = result.tasks
        named = {found for criterion in task.criteria for found in criterion.finding.misconceptions}

        assert (lost(result), named, task.text) == (MISTAKES[name], {name}, f"misconception.{name}.text")
        assert task.status is Status.FAILED


def with_scores(change: Function) -> Function:
    """Return a function whose scores are masked by ``change(scores, past)``."""

    def causal_attention(Q: Any, K: Any, V: Any) -> Any:
        return attend(change(scores_of(Q, K), np.tri(Q.shape[1], dtype=bool)), V)

    return causal_attention


def constant(Q: Any, K: Any, V: Any) -> Any:
    """Look at oneself alone."""
    weights = np.broadcast_to(np.eye(Q.shape[1]), (len(Q), Q.shape[1], Q.shape[1]))
    return weights @ V, weights


def unmasked_out(Q: Any, K: Any, V: Any) -> Any:
    """Return masked weights beside an output that looks ahead."""
    return attend(scores_of(Q, K), V)[0], triu_infinite(Q, K, V)[1]


def one_sequence(Q: Any, K: Any, V: Any) -> Any:
    """Lose the batch."""
    out, weights = triu_infinite(Q, K, V)
    return out[0], weights[0]


def swapped(Q: Any, K: Any, V: Any) -> Any:
    """Return the pair in the other order."""
    return triu_infinite(Q, K, V)[::-1]


def in_place(Q: Any, K: Any, V: Any) -> Any:
    """Scale the caller's queries."""
    Q /= Q.shape[-1] ** 0.5
    return attend(np.where(np.tri(Q.shape[1]), Q @ K.transpose(0, 2, 1), -np.inf), V)


def flat_in_place(Q: Any, K: Any, V: Any) -> Any:
    """Give the caller's values another shape."""
    result = triu_infinite(Q, K, V)
    V.shape = (V.size,)
    return result


def stops(Q: Any, K: Any, V: Any) -> Any:
    """Forget that there is a batch axis."""
    return Q @ K.T


WRONG: dict[str, tuple[Function, set[str], str]] = {
    "lowered_by_50": (with_scores(lambda s, past: np.where(past, s, s - 50)), {"future", "weights"}, "future.wrong"),
    "lowered_by_100": (with_scores(lambda s, past: np.where(past, s, s - 100)), {"future", "weights"}, "future.wrong"),
    "minus_50": (with_scores(lambda s, past: np.where(past, s, -50)), {"future", "weights"}, "future.wrong"),
    "constant": (constant, {"future", "rows", "weights", "out"}, "constant"),
    "unmasked_out": (unmasked_out, {"future", "out"}, "future.moved"),
    "in_place": (in_place, {"kept"}, "kept.wrong"),
    "flat_in_place": (flat_in_place, {"kept"}, "kept.wrong"),
    "one_sequence": (one_sequence, {"shapes", "future", "rows", "weights", "out", "kept"}, "batch_lost"),
    "swapped": (swapped, {"shapes", "future", "rows", "weights", "out", "kept"}, "shape"),
    "one_value": (lambda Q, K, V: V, {"shapes", "future", "rows", "weights", "out", "kept"}, "no_pair"),
    "ragged": (lambda Q, K, V: ([[1.0], [1.0, 2.0]], K), {"shapes", "future", "rows", "weights", "out", "kept"}, ""),
    "nothing": (lambda Q, K, V: None, {"shapes", "future", "rows", "weights", "out", "kept"}, "no_pair"),
    "stops": (stops, {"shapes", "future", "rows", "weights", "out", "kept"}, ""),
    "huge": (
        lambda Q, K, V: (V * 1e300, triu_infinite(Q, K, V)[1] * 1e300), {"future", "rows", "weights", "out"}, "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG, ids=WRONG)
def test_other_mistakes_lose_what_they_break(name: str) -> None:
    """Where no misconception explains the numbers, the property that is violated is said, for every seed alike."""
    function, expected, text = WRONG[name]

    for seed in SEEDS:
        result = graded(function, seed)

        assert lost(result) == expected
        assert not any(criterion.finding.misconceptions for criterion in result.tasks[0].criteria)
        if text:
            assert result.tasks[0].text == f"causal.{text}"
        said = [criterion.finding for criterion in result.tasks[0].criteria]
        assert not [one.text for one in said if "{" in Catalogue(load().texts).get(one.text, one.params)]


def test_untouched_handout_gets_nothing() -> None:
    """What is handed out is worth no points and counts as not started."""
    names: dict[str, Any] = {"__name__": "handout"}
    exec(compile((HANDOUT / "submission.py").read_text(encoding="utf-8"), "submission.py", "exec"), names)
    result = graded(names["causal_attention"], 1)

    assert (result.cents, result.tasks[0].status) == (0, Status.MISSING)


def test_script_and_notebook_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """The notebook is valid, carries no outputs, has the script's function to the letter and runs as it is."""
    notebook = nbformat.read(HANDOUT / "submission.ipynb", as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    code = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    script = (HANDOUT / "submission.py").read_text(encoding="utf-8")
    exec(compile(code, "submission.ipynb", "exec"), {})

    assert "Ellipsis" in capsys.readouterr().out
    assert [cell.id for cell in notebook.cells] == [
        "title", "imports", "causal-text", "causal", "check-text", "check",
    ]  # fmt: skip
    assert [cell.id for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")] == []
    assert _function(code) == _function(script)


def _function(source: str) -> str:
    (node,) = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])


def grade(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line of the checkout."""
    command = [sys.executable, "-m", "grader", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def test_the_command_line_knows_it(tmp_path: Path) -> None:
    """``start`` hands it out, ``grade --assignment`` grades it; without, a file is still graded as the lesson's."""
    started = grade("start", "--assignment", "causal_attention", str(tmp_path / "work"))
    right = tmp_path / "right.py"
    right.write_bytes((REFERENCE / "solution.py").read_bytes())
    options = ["--seed", "3", "--format", "json", "--out", str(tmp_path / "out")]
    chosen = grade(str(right), "--assignment", "causal_attention", *options)
    default = grade(str(right), *options)

    assert (started.returncode, chosen.returncode, default.returncode) == (0, 0, 0)
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == [
        "README.md", "submission.ipynb", "submission.py",
    ]  # fmt: skip
    assert (json.loads(chosen.stdout)["assignment"]["id"], json.loads(chosen.stdout)["score"]) == (
        "causal_attention",
        100,
    )
    assert json.loads(default.stdout)["assignment"]["id"] == "attention"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_learner_can_make_every_case_again(seed: int) -> None:
    """The lines that a report shows give the very arrays that the function was called with."""
    checks: Any = load_module(REFERENCE, COURSE.digest, "checks")

    for code, stack in checks.made(Inputs(seed, "causal")).values():
        names: dict[str, Any] = {"np": np}
        exec(code, names)
        assert all(np.array_equal(names[name], array) for name, array in zip("QKV", stack, strict=True))


def lines_of(path: Path) -> int:
    """Count lines as cloc does: without blank lines, comments and docstrings."""
    source = path.read_text(encoding="utf-8")
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type not in silent]
    used = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            used -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(used)


def test_an_assignment_is_short() -> None:
    """Solution, checks and misconceptions together are at most 150 lines of code."""
    assert sum(lines_of(path) for path in REFERENCE.rglob("*.py")) <= MOST_LINES


def test_the_engine_has_no_part_in_it() -> None:
    """No file of the engine mentions this assignment."""
    found = [path for path in (ROOT / "grader").rglob("*.py") if "causal" in path.read_text(encoding="utf-8").lower()]

    assert found == []
