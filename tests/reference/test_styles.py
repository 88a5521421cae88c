"""Styles of students that were once judged wrongly: right ones that lost points, and mistakes that had no name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from grader.model import Status, TaskResult
from reference.attention import solution
from tests.reference.test_full_marks import SOLUTION, graded

softmax = solution.softmax
WIDTHS = (4, 16, 64, 256)


def task_of(function: str, style: Callable[..., Any], seed: int) -> TaskResult:
    """Judge one function beside the solution's others."""
    return next(task for task in graded({**SOLUTION, function: style}, seed).tasks if task.function == function)


def entropy(p: Any) -> float:
    """Return the lesson's entropy."""
    return float(-np.sum(p * np.log(p + 1e-12)))


# ---------------------------------------------------------------------- right


@dataclass
class Two:
    """A result with two names, which unpacks."""

    first: Any
    second: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.first, self.second))


def guarded(x: Any, axis: int = -1) -> Any:
    """No weight is exactly 0, so that its logarithm can be taken."""
    return np.clip(softmax(x, axis), 1e-12, 1.0)


def attention_mapping(Q: Any, K: Any, V: Any) -> Any:
    """The two arrays by their names, the other way round."""
    out, weights = solution.scaled_dot_product_attention(Q, K, V)
    return {"weights": weights, "out": out}


def attention_dataclass(Q: Any, K: Any, V: Any) -> Any:
    """A dataclass that unpacks."""
    return Two(*solution.scaled_dot_product_attention(Q, K, V))


def variance_of(s: Any, d_k: int) -> tuple[float, float]:
    """Return both variances of the same scores."""
    return float(s.var()), float((s / np.sqrt(d_k)).var())


def vectors(rng: Any, n: int, d: int) -> tuple[Any, Any]:
    """Draw queries and keys."""
    return rng.standard_normal((n, d)), rng.standard_normal((n, d))


def variance_standardised(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Entries are brought to the mean 0 and the variance 1 exactly."""
    Q, K = ((x - x.mean()) / x.std() for x in vectors(np.random.default_rng(seed), n_samples, d_k))
    return variance_of((Q * K).sum(axis=1), d_k)


def variance_columns_standardised(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """The same, feature by feature, as preprocessing does it."""
    Q, K = ((x - x.mean(axis=0)) / x.std(axis=0) for x in vectors(np.random.default_rng(seed), n_samples, d_k))
    return variance_of((Q * K).sum(axis=1), d_k)


def variance_drawn_again(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """The scaled variance is measured from vectors of its own."""
    rng = np.random.default_rng(seed)
    raw, scaled = (np.einsum("ij,ij->i", *vectors(rng, n_samples, d_k)) for _ in range(2))
    return raw.var(), (scaled / np.sqrt(d_k)).var()


def variance_mapping(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Both numbers by their names."""
    raw, scaled = solution.measure_variance(d_k, n_samples, seed)
    return {"raw_var": raw, "scaled_var": scaled}


def variance_boxes(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Each number in a list of its own."""
    raw, scaled = solution.measure_variance(d_k, n_samples, seed)
    return [raw], [scaled]


def entropy_key_by_key(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """Keys are drawn one at a time, after their query."""
    rng = np.random.default_rng(seed)
    found = []
    for d in d_ks:
        q = rng.standard_normal(d)
        found.append(entropy(softmax(np.array([rng.standard_normal(d) @ q for _ in range(n_keys)]))))
    return found


def entropy_keys_then_query(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """Keys are drawn one at a time, before their query, and seeded anew for each width."""
    found = []
    for d in d_ks:
        rng = np.random.RandomState(seed)
        keys = [rng.randn(d) for _ in range(n_keys)]
        q = rng.randn(d)
        found.append([entropy(softmax(np.array([k @ q for k in keys])))])
    return found


def entropy_from_a_pool(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """All numbers are drawn at once and cut."""
    pool = iter(np.random.default_rng(seed).standard_normal(sum(d_ks) * (n_keys + 1)))
    found = []
    for d in d_ks:
        part = np.fromiter(pool, float, d * (n_keys + 1))
        found.append(entropy(softmax(part[d:].reshape(n_keys, d) @ part[:d])))
    return found


def entropy_of_many_queries(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """The mean over many queries against the same keys."""
    rng = np.random.default_rng(seed)
    found = []
    for d in d_ks:
        w = softmax(rng.standard_normal((30, d)) @ rng.standard_normal((n_keys, d)).T)
        found.append(float(-(w * np.log(w + 1e-12)).sum(axis=-1).mean()))
    return found


def entropy_rows(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """A table of two columns: width and entropy."""
    return np.column_stack([d_ks, solution.entropy_sweep(d_ks, n_keys, seed)])


def entropy_columns(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """The widths, then the entropies, as for a plot."""
    return list(d_ks), solution.entropy_sweep(d_ks, n_keys, seed)


def entropy_records(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """A record for each width, as for a data frame."""
    found = solution.entropy_sweep(d_ks, n_keys, seed)
    return [{"d_k": d, "entropy": h} for d, h in zip(d_ks, found, strict=True)]


def weights_of(d_k: int, n_keys: int, seed: int) -> tuple[Any, Any]:
    """Return the unscaled and the scaled weights of drawn vectors."""
    rng = np.random.default_rng(seed)
    s = rng.standard_normal((n_keys, d_k)) @ rng.standard_normal(d_k)
    return softmax(s), softmax(s / np.sqrt(d_k))


def ranks_from_one(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """Ranks as statisticians count them, as floats."""
    return tuple(w.argsort().argsort() + 1.0 for w in weights_of(d_k, n_keys, seed))


def ranking_mapping(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """Both orders by their names."""
    raw, scaled = (w.argsort() for w in weights_of(d_k, n_keys, seed))
    return {"order_unscaled": raw, "order_scaled": scaled}


def ranking_dataclass(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """A dataclass that unpacks."""
    return Two(*(w.argsort() for w in weights_of(d_k, n_keys, seed)))


RIGHT: list[tuple[str, Callable[..., Any]]] = [
    ("softmax", guarded),
    ("scaled_dot_product_attention", attention_mapping),
    ("scaled_dot_product_attention", attention_dataclass),
    ("measure_variance", variance_standardised),
    ("measure_variance", variance_columns_standardised),
    ("measure_variance", variance_drawn_again),
    ("measure_variance", variance_mapping),
    ("measure_variance", variance_boxes),
    ("entropy_sweep", entropy_key_by_key),
    ("entropy_sweep", entropy_keys_then_query),
    ("entropy_sweep", entropy_from_a_pool),
    ("entropy_sweep", entropy_of_many_queries),
    ("entropy_sweep", entropy_rows),
    ("entropy_sweep", entropy_columns),
    ("entropy_sweep", entropy_records),
    ("compare_rankings", ranks_from_one),
    ("compare_rankings", ranking_mapping),
    ("compare_rankings", ranking_dataclass),
]


@pytest.mark.parametrize("function, style", RIGHT, ids=lambda item: getattr(item, "__name__", item))
def test_right_answers_in_a_student_s_own_style(function: str, style: Callable[..., Any]) -> None:
    """All points, no review, nobody is accused of anything."""
    for seed in (3, 4):
        task = task_of(function, style, seed)

        assert [(c.id, c.finding.text) for c in task.criteria if c.status is not Status.PASSED] == []
        assert task.cents == task.max_cents
        assert [n.text for c in task.criteria for n in c.finding.notes if n.kind == "review"] == []


# ---------------------------------------------------------------------- wrong


def raw_typed(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """The raw variance is known, so only the scaled one is measured."""
    return float(d_k), solution.measure_variance(d_k, n_samples, seed)[1]


def vectors_added(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """A sum in place of a product."""
    Q, K = vectors(np.random.default_rng(seed), n_samples, d_k)
    return variance_of((Q + K).sum(axis=1), d_k)


def without_sign(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Sizes of the products are added up."""
    Q, K = vectors(np.random.default_rng(seed), n_samples, d_k)
    return variance_of(np.abs(Q * K).sum(axis=1), d_k)


def one_key_short(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """The query is counted as a key."""
    return solution.entropy_sweep(d_ks, n_keys - 1, seed)


def uniform_query(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """The query is drawn between 0 and 1."""
    rng = np.random.RandomState(seed)
    return [entropy(softmax(rng.randn(n_keys, d) @ rng.rand(d))) for d in d_ks]


def sorted_entropies(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """They are said to fall, so they are put in order."""
    return sorted(solution.entropy_sweep(d_ks, n_keys, seed), reverse=True)


def never_rising(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """The same by a running minimum."""
    return np.minimum.accumulate(solution.entropy_sweep(d_ks, n_keys, seed))


def one_decimal(d_ks: Any = WIDTHS, n_keys: int = 8, seed: int = 42) -> Any:
    """Stored as printed."""
    return [round(h, 1) for h in solution.entropy_sweep(d_ks, n_keys, seed)]


def positions_from_one(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """Positions as people count them."""
    return tuple(w.argsort() + 1 for w in weights_of(d_k, n_keys, seed))


def always_eight_keys(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """The number of keys is the exercise's, whatever was asked."""
    return tuple(w.argsort() for w in weights_of(d_k, 8, seed))


def always_256(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """The width is the exercise's, whatever was asked."""
    return tuple(w.argsort() for w in weights_of(256, n_keys, seed))


def values_as_keys(Q: Any, K: Any, V: Any) -> Any:
    """Queries are matched with the values."""
    w = softmax(Q @ V.transpose(0, 2, 1) / np.sqrt(Q.shape[-1]))
    return w @ V, w


def in_halves(x: Any, axis: int = -1) -> Any:
    """float16 is enough."""
    return softmax(np.asarray(x, dtype=np.float16), axis)


def tiny_numerators(x: Any, axis: int = -1) -> Any:
    """A thousandth is added to each exponential."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return (e + 1e-3) / e.sum(axis=axis, keepdims=True)


WRONG: list[tuple[str, Callable[..., Any], str, int]] = [
    ("measure_variance", raw_typed, "raw_exactly_width", 1400),
    ("measure_variance", vectors_added, "sums_in_place_of_products", 800),
    ("measure_variance", without_sign, "products_without_sign", 800),
    ("entropy_sweep", one_key_short, "keys_miscounted", 900),
    ("entropy_sweep", uniform_query, "entropy_other_numbers", 300),
    ("entropy_sweep", sorted_entropies, "made_to_fall", 900),
    ("entropy_sweep", never_rising, "made_to_fall", 900),
    ("entropy_sweep", one_decimal, "entropy_rounded", 900),
    ("compare_rankings", positions_from_one, "positions_from_one", 1300),
    ("compare_rankings", always_eight_keys, "ranking_arguments_ignored", 1300),
    ("compare_rankings", always_256, "ranking_arguments_ignored", 1300),
    ("scaled_dot_product_attention", values_as_keys, "values_matched", 1500),
    ("softmax", in_halves, "half_precision", 200),
    ("softmax", tiny_numerators, "epsilon_in_total", 1100),
]


@pytest.mark.parametrize(
    "function, style, name, cents", WRONG, ids=[f"{style.__name__}-{name}" for _, style, name, _ in WRONG]
)
def test_mistakes_are_named_and_cost_the_same_for_every_seed(
    function: str, style: Callable[..., Any], name: str, cents: int
) -> None:
    """The one mistake is named, with the same points whatever was drawn."""
    for seed in (5, 6, 7):
        task = task_of(function, style, seed)

        assert {m for c in task.criteria for m in c.finding.misconceptions} == {name}
        assert task.cents == cents


def test_what_overflows_in_one_case_is_not_paid_for_twice() -> None:
    """Weights that aren't numbers at d_k = 1 cost the weights; the averages of all other inputs are right."""

    def by_logarithm(Q: Any, K: Any, V: Any) -> Any:
        with np.errstate(all="ignore"):
            w = softmax(Q @ K.transpose(0, 2, 1) / np.log(Q.shape[-1]))
        return w @ V, w

    task = task_of("scaled_dot_product_attention", by_logarithm, 1)
    status = {c.id: c.status for c in task.criteria}

    assert (status["weights"], status["out"]) == (Status.FAILED, Status.PASSED)
