"""A small course for tests: the tasks of the first assignment, and texts beside the engine's own."""

from __future__ import annotations

import tomllib
from pathlib import Path

from grader.core.assignment import Assignment
from grader.model import Criterion, Limits, Task

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "reports"

TASKS = (
    Task(
        id="softmax",
        function="softmax",
        signature="softmax(x, axis=-1)",
        criteria=(
            Criterion(id="rows", points=10, core=True),
            Criterion(id="axis", points=4, core=True),
            Criterion(id="large", points=4),
            Criterion(id="input", points=2),
        ),
    ),
    Task(
        id="attention",
        function="scaled_dot_product_attention",
        signature="scaled_dot_product_attention(Q, K, V)",
        criteria=(
            Criterion(id="shapes", points=3),
            Criterion(id="sums", points=3),
            Criterion(id="weights", points=15, core=True),
            Criterion(id="out", points=7, core=True),
            Criterion(id="input", points=2),
        ),
    ),
    Task(
        id="variance",
        function="measure_variance",
        signature="measure_variance(d_k=1024, n_samples=10_000, seed=42)",
        criteria=(
            Criterion(id="measured", points=8, core=True),
            Criterion(id="raw", points=6, core=True, requires="measured"),
            Criterion(id="scaled", points=6, core=True, requires="measured"),
        ),
    ),
    Task(
        id="entropy",
        function="entropy_sweep",
        signature="entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42)",
        criteria=(Criterion(id="fit", points=12, core=True), Criterion(id="arguments", points=3)),
    ),
    Task(
        id="ranking",
        function="compare_rankings",
        signature="compare_rankings(d_k=256, n_keys=8, seed=42)",
        criteria=(
            Criterion(id="draws", points=5, core=True),
            Criterion(id="equal", points=8, core=True, hidden=True),
            Criterion(id="form", points=2),
        ),
    ),
)

TEXTS = {
    "title": "Scaled dot-product attention",
    "softmax.title": "`softmax`",
    "softmax.rows.title": "rows are distributions with the right values",
    "softmax.axis.title": "the `axis` argument decides",
    "softmax.large.title": "scores in the thousands stay finite and right",
    "softmax.input.title": "input kept, whole numbers work",
    "attention.title": "`scaled_dot_product_attention`",
    "attention.shapes.title": "returns `(out, weights)` in the right shapes",
    "attention.sums.title": "every row of `weights` adds up to 1",
    "attention.weights.title": "`weights` have the right values",
    "attention.out.title": "`out` is `weights @ V`",
    "attention.input.title": "`Q`, `K` and `V` are left as they were",
    "variance.title": "Exercise 1, `measure_variance`",
    "variance.measured.title": "both numbers come from drawn vectors",
    "variance.raw.title": "raw variance near d_k",
    "variance.scaled.title": "scaled variance near 1",
    "entropy.title": "Exercise 2, `entropy_sweep`",
    "entropy.fit.title": "the four entropies fit their draws",
    "entropy.arguments.title": "they follow the arguments",
    "ranking.title": "Exercise 3, `compare_rankings`",
    "ranking.draws.title": "orders belong to real draws",
    "ranking.equal.title": "both orders are right and equal",
    "ranking.form.title": "two orders of `n_keys` numbers",
    "misconception.no-scale.title": "the scores are not divided by √d_k",
    "misconception.no-scale.catalogue": "A01",
    "misconception.no-scale.text": (
        "Your attention weights are too peaked, and more so the wider the head is.\n\n"
        "Your scores enter the softmax multiplied by {factor}. The lesson multiplies by 1/√d_k, here {right}."
    ),
    "misconception.no-scale.hint1": "The line that makes `weights` out of `scores`.",
    "misconception.no-scale.hint2": (
        "A score adds up d_k products, so its typical size is √d_k. "
        "Something has to bring it back to 1 before the softmax."
    ),
    "misconception.no-scale.hint3": "`scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])`",
    "misconception.no-scale.next": (
        "in `scaled_dot_product_attention`, put your code between the scores and the softmax beside the lesson's "
        "four steps: score, scale, normalize, average."
    ),
    "attention.out.differs": "`out` isn't your own `weights` times `V`: the shapes fit, the numbers don't.",
    "attention.out.differs.hint1": "The last line of the function, where `weights` meets `V`.",
    "attention.own": "Judged with your own weights: one mistake costs once.",
    "variance.theory": (
        "Your two numbers are the ones that the theory predicts, and the prediction is right. The exercise asks you "
        "to check it against random vectors."
    ),
    "variance.theory.hint1": 'The lesson\'s section "Proving It: Score Variance Tracks d_k".',
    "variance.theory.hint2": "One row of `Q` and one row of `K` give one score; `n_samples` scores have a variance.",
    "variance.theory.hint3": "```\nscores = np.sum(Q * K, axis=1)\nraw_var = scores.var()\n```",
    "variance.theory.next": "in `measure_variance`, draw `Q` and `K` and compute the two variances from them.",
    "variance.calls": "Three calls, and what one measurement with 2,000 samples gives",
    "variance.calls.call": "call",
    "variance.calls.yours": "yours",
    "variance.calls.measured": "one measurement",
    "largest.title": "Largest weight against the width of the head",
    "largest.x": "d_k",
    "largest.y": "largest weight (mean)",
    "largest.says": "Yours climbs from {low} at d_k 4 to {high} at d_k 256; scaled, it stays near 0.35.",
    "largest.yours": "yours",
    "largest.expected": "scaled",
    "largest.band": "19 of 20 runs",
    "largest.law": "never above 1",
    "largest.equal": "equal shares",
    "places.title": "Your two orders",
    "places.first": "unscaled",
    "places.second": "scaled",
    "places.says": "All lines should run level; {equal} of {n} do.",
    "note.slow": "`{function}` took most of the time.",
    "note.hostile": "Your file says {message}, and in code `{message}`.",
    "note.review": "The draws of this call could not be followed.",
    "engine.task.missing": "There is no function `{function}` in your file.",
    "engine.task.not_graded": "One of our own checks stopped working here.",
}


def engine_texts() -> dict[str, str]:
    """The engine's own texts, flattened to dotted keys."""
    return _flat(tomllib.loads((REPORTS / "texts.en.toml").read_text(encoding="utf-8")), "")


def _flat(table: dict[str, object], prefix: str) -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = str(value)
    return flat


def assignment(texts: dict[str, str] | None = None) -> Assignment:
    """An assignment with the engine's texts, ours, and those of ``texts`` over them."""
    return Assignment(
        id="attention",
        version="1.0",
        language="en",
        digest="d" * 64,
        tasks=TASKS,
        limits=Limits(),
        packages=("numpy",),
        inert_modules=(),
        texts={**engine_texts(), **TEXTS, **(texts or {})},
        checks={},
    )
