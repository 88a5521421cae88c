"""Right functions get full marks, whatever their style and whatever the seed; judged in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from grader.core.assignment import Assignment
from grader.core.judge import judge
from grader.core.redact import redact
from grader.core.score import conclude
from grader.course import find_course, load_assignment
from grader.model import Result, Status
from grader.run.rehearse import rehearse
from reference.attention import solution

Functions = Mapping[str, Callable[..., Any]]
softmax = solution.softmax


@cache
def attention() -> Assignment:
    """Return the assignment, loaded once."""
    return load_assignment(find_course(), "attention")


SOLUTION: dict[str, Callable[..., Any]] = {
    name: getattr(solution, name)
    for name in (
        "softmax", "scaled_dot_product_attention", "measure_variance", "entropy_sweep", "compare_rankings",
    )
}  # fmt: skip


def graded(functions: Functions, seed: int = 1) -> Result:
    """Judge plain functions and conclude."""
    transcript = rehearse(attention(), functions, seed)
    return conclude(attention(), transcript, judge(attention(), transcript))


def notes(result: Result) -> list[str]:
    """Return every note that a learner reads, and every request for a review."""
    criteria = [criterion for task in result.tasks for criterion in task.criteria]
    return [note.text for criterion in criteria for note in criterion.finding.notes]


@pytest.mark.parametrize("seed", [0, 1, 2, 2**53 - 1])
def test_the_solution_gets_full_marks(seed: int) -> None:
    """The solution has all points for every seed, without a note, a message or a review."""
    result = graded(SOLUTION, seed)

    assert (result.cents, result.max_cents, result.status) == (10_000, 10_000, "graded")
    assert {task.status for task in result.tasks} == {Status.PASSED}
    assert notes(result) == []
    assert {task.text for task in result.tasks} == {""}


def test_a_learner_sees_of_full_marks_what_there_is() -> None:
    """Nothing of a right submission is hidden from its learner."""
    result = graded(SOLUTION)

    assert redact(result, "learner") == result


def test_judging_a_transcript_again_gives_the_same() -> None:
    """A result is a function of the transcript."""
    transcript = rehearse(attention(), SOLUTION, 5)

    assert judge(attention(), transcript) == judge(attention(), transcript)


def test_nothing_is_worth_nothing() -> None:
    """A file without any of the functions has no points, and every task is missing."""
    result = graded({"helper": softmax})

    assert result.cents == 0
    assert {task.status for task in result.tasks} == {Status.MISSING}


@pytest.mark.parametrize("missing", SOLUTION)
def test_tasks_stand_by_themselves(missing: str) -> None:
    """A function that is missing costs its own points only."""
    result = graded({name: function for name, function in SOLUTION.items() if name != missing})

    assert [task.function for task in result.tasks if task.status is Status.MISSING] == [missing]
    assert {task.status for task in result.tasks if task.function != missing} == {Status.PASSED}


# ---------------------------------------------------------------------- exercises in other styles


def pair_of(scores: Any, d_k: int) -> tuple[Any, Any]:
    """Return both variances of these scores."""
    return scores.var(), (scores / np.sqrt(d_k)).var()


def generator(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """default_rng, keys first, as a list."""
    rng = np.random.default_rng(seed)
    K, Q = rng.standard_normal((n_samples, d_k)), rng.standard_normal((n_samples, d_k))
    return list(pair_of((Q * K).sum(1), d_k))


def random_state(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """A RandomState of its own, einsum, sample variance."""
    rng = np.random.RandomState(seed)
    s = np.einsum("nd,nd->n", rng.randn(n_samples, d_k), rng.normal(size=(n_samples, d_k)))
    return np.var(s, ddof=1), np.var(s / d_k**0.5, ddof=1)


def sample_by_sample(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """A loop over samples."""
    np.random.seed(seed)
    s = np.array([np.dot(np.random.randn(d_k), np.random.randn(d_k)) for _ in range(n_samples)])
    return pair_of(s, d_k)


def in_blocks(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Blocks of three hundred, the last one smaller."""
    np.random.seed(seed)
    sizes = [300] * (n_samples // 300) + ([n_samples % 300] if n_samples % 300 else [])
    parts = [(np.random.randn(size, d_k) * np.random.randn(size, d_k)).sum(-1) for size in sizes]
    return pair_of(np.concatenate(parts), d_k)


def one_array(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Queries and keys in one draw."""
    Q, K = np.random.default_rng(seed).standard_normal((2, n_samples, d_k))
    return np.array(pair_of((Q * K).sum(-1), d_k))


def wide_rows(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Queries and keys side by side."""
    X = np.random.RandomState(seed).standard_normal((n_samples, 2 * d_k))
    return pair_of((X[:, :d_k] * X[:, d_k:]).sum(1), d_k)


def as_columns(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Vectors are columns."""
    np.random.seed(seed)
    Q, K = np.random.randn(d_k, n_samples), np.random.randn(d_k, n_samples)
    return pair_of((Q * K).sum(0), d_k)


def mean_of_squares(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Uncentred: the mean is known to be 0."""
    np.random.seed(seed)
    s = (np.random.randn(n_samples, d_k) * np.random.randn(n_samples, d_k)).sum(1)
    return float(np.mean(s**2)), float(np.mean((s / np.sqrt(d_k)) ** 2))


def whole_table(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """All n times n scores, as some lectures have it."""
    np.random.seed(seed)
    table = np.random.randn(n_samples, d_k) @ np.random.randn(n_samples, d_k).T
    return pair_of(table, d_k)


def without_seed(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """No seed at all: measured all the same."""
    s = (np.random.randn(n_samples, d_k) * np.random.randn(n_samples, d_k)).sum(1)
    return pair_of(s, d_k)


def divided_first(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """The query is divided before the product; both come as a namedtuple-like tuple."""
    rng = np.random.default_rng(seed)
    Q, K = rng.normal(size=(n_samples, d_k)), rng.normal(0.0, 1.0, (n_samples, d_k))
    return (Q * K).sum(1).var(), (Q / np.sqrt(d_k) * K).sum(1).var()


VARIANCES = (
    generator, random_state, sample_by_sample, in_blocks, one_array, wide_rows, as_columns, mean_of_squares,
    whole_table, without_seed, divided_first,
)  # fmt: skip


def entropy(p: Any) -> float:
    """Return the entropy without an epsilon."""
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def seed_per_width(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> Any:
    """Seeded anew for each width."""
    found = []
    for d_k in d_ks:
        np.random.seed(seed)
        q, K = np.random.randn(d_k), np.random.randn(n_keys, d_k)
        found.append(entropy(softmax(K @ q)))
    return found


def keys_before_query(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> Any:
    """One generator, keys first, an array comes back."""
    rng = np.random.default_rng(seed)
    return np.array([entropy(softmax(rng.standard_normal((n_keys, d)) @ rng.standard_normal(d))) for d in d_ks])


def key_columns(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> Any:
    """Keys are columns, a mapping comes back."""
    rng = np.random.RandomState(seed)
    return {d: entropy(softmax(rng.randn(d) @ rng.randn(d, n_keys))) for d in d_ks}


def cut_from_the_widest(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> Any:
    """Drawn once for the widest, cut for the others."""
    rng = np.random.default_rng(seed)
    q, K = rng.standard_normal(max(d_ks)), rng.standard_normal((n_keys, max(d_ks)))
    return tuple(entropy(softmax(K[:, :d] @ q[:d])) for d in d_ks)


def row_vectors(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> Any:
    """Everything has two axes; entropy by scores."""
    np.random.seed(seed)
    found = []
    for d in d_ks:
        s = (np.random.randn(1, d) @ np.random.randn(n_keys, d).T)[0]
        s = s - s.max()
        found.append(np.log(np.exp(s).sum()) - (softmax(s) * s).sum())
    return found


def averaged(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> Any:
    """The mean over ten draws."""
    rng = np.random.default_rng(seed)
    return [
        float(np.mean([entropy(softmax(rng.standard_normal((n_keys, d)) @ rng.standard_normal(d))) for _ in range(10)]))
        for d in d_ks
    ]


ENTROPIES = (seed_per_width, keys_before_query, key_columns, cut_from_the_widest, row_vectors, averaged)


def from_scores(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """Argsort of the scores: softmax keeps their order."""
    rng = np.random.default_rng(seed)
    s = rng.standard_normal((n_keys, d_k)) @ rng.standard_normal(d_k)
    return np.argsort(s), np.argsort(s / np.sqrt(d_k))


def descending_lists(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """From the largest weight on, as lists."""
    np.random.seed(seed)
    q, K = np.random.randn(d_k), np.random.randn(n_keys, d_k)
    return [np.argsort(-softmax(s)).tolist() for s in (K @ q, K @ q / np.sqrt(d_k))]


def sorted_by_key(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """Python's sorted with a key."""
    rng = np.random.RandomState(seed)
    w = softmax(rng.randn(d_k) @ rng.randn(d_k, n_keys))
    order = sorted(range(n_keys), key=w.__getitem__)
    return order, order


def ranks(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """Ranks of the positions in place of their order."""
    np.random.seed(seed)
    q, K = np.random.randn(d_k), np.random.randn(n_keys, d_k)
    return tuple(softmax(s).argsort().argsort() for s in (K @ q, K @ q / np.sqrt(d_k)))


def one_table(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """Both orders in one array, query and keys in one draw."""
    X = np.random.default_rng(seed).standard_normal((n_keys + 1, d_k))
    s = X[1:] @ X[0]
    return np.argsort(np.stack([softmax(s), softmax(s / 16)]), axis=1)


RANKINGS = (from_scores, descending_lists, sorted_by_key, ranks, one_table)
STYLES = [
    *[pytest.param("measure_variance", style, id=f"variance-{style.__name__}") for style in VARIANCES],
    *[pytest.param("entropy_sweep", style, id=f"entropy-{style.__name__}") for style in ENTROPIES],
    *[pytest.param("compare_rankings", style, id=f"ranking-{style.__name__}") for style in RANKINGS],
]


@pytest.mark.parametrize("function, style", STYLES)
def test_every_style_gets_full_marks(function: str, style: Callable[..., Any]) -> None:
    """Order of the draws, generator, divisor, form of the answer: none costs a point or asks for a review."""
    for seed in (1, 2):
        result = graded({function: style}, seed)
        task = next(task for task in result.tasks if task.function == function)

        assert [(c.id, c.status, c.finding.text) for c in task.criteria if c.status is not Status.PASSED] == []
        assert task.cents == task.max_cents
        assert not [text for text in notes(result) if "review" in text]


WRONG: dict[str, tuple[str, Callable[..., Any]]] = {
    "variance-theory": ("measure_variance", lambda d_k=1024, n_samples=10_000, seed=42: (float(d_k), 1.0)),
    "variance-constant": ("measure_variance", lambda d_k=1024, n_samples=10_000, seed=42: (1.003 * d_k, 1.003)),
    "variance-divided-by-width": (
        "measure_variance",
        lambda d_k=1024, n_samples=10_000, seed=42: (
            (raw := solution.measure_variance(d_k, n_samples, seed)[0]), raw / d_k**2,
        ),
    ),
    "variance-blocks-with-a-rest-not-scaled": (
        "measure_variance", lambda d_k=1024, n_samples=10_000, seed=42: (in_blocks(d_k, n_samples, seed)[0],) * 2,
    ),
    "entropy-typed": ("entropy_sweep", lambda d_ks=(4,), n_keys=8, seed=42: [1.2, 0.7, 0.3, 0.01][: len(d_ks)]),
    "entropy-in-bits": (
        "entropy_sweep",
        lambda d_ks=(4,), n_keys=8, seed=42: [h / np.log(2) for h in solution.entropy_sweep(d_ks, n_keys, seed)],
    ),
    "ranking-index-list": (
        "compare_rankings", lambda d_k=256, n_keys=8, seed=42: (np.arange(n_keys), np.arange(n_keys)),
    ),
    "ranking-at-random": (
        "compare_rankings",
        lambda d_k=256, n_keys=8, seed=42: (np.random.RandomState(seed).permutation(n_keys),) * 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_was_not_measured_is_not_paid_for(name: str) -> None:
    """A number that no draws give, or that they give in a wrong way, doesn't pass."""
    function, style = WRONG[name]
    task = next(task for task in graded({function: style}).tasks if task.function == function)

    assert task.status in (Status.FAILED, Status.PARTIAL)
    assert task.cents < task.max_cents


def test_a_wrong_softmax_is_paid_for_once() -> None:
    """With the stand-in in its place, what only uses softmax keeps its points."""

    def along_columns(x: Any, axis: int = -1) -> Any:
        return solution.softmax(x, 0)

    def attention_by(own: Callable[..., Any]) -> Callable[..., Any]:
        def scaled_dot_product_attention(Q: Any, K: Any, V: Any) -> Any:
            w = own(Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1]))
            return w @ V, w

        return scaled_dot_product_attention

    functions = {**SOLUTION, "softmax": along_columns}
    wrong = rehearse(attention(), {**functions, "scaled_dot_product_attention": attention_by(along_columns)}, 1)
    right = rehearse(attention(), {**functions, "scaled_dot_product_attention": attention_by(softmax)}, 1)
    # In this process there are no sessions: what a worker with the stand-in would have answered is put in by hand.
    answers = {outcome.call: outcome for outcome in right.outcomes}
    mended = tuple(
        replace(answers[outcome.call.replace("@softmax", "")], call=outcome.call) if "@" in outcome.call else outcome
        for outcome in wrong.outcomes
    )
    transcript = replace(wrong, outcomes=mended)
    result = conclude(attention(), transcript, judge(attention(), transcript))
    by_id = {task.id: task for task in result.tasks}

    assert any("@softmax" in call.id for call in transcript.calls)
    assert by_id["softmax"].status is Status.FAILED
    assert by_id["attention"].status is Status.PASSED
    assert {criterion.finding.knock_on for criterion in by_id["attention"].criteria} >= {"softmax"}
