"""Right answers in single precision or rounded get the same points for every seed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from grader.api import Drawn, Seen
from grader.core.judge import judge
from grader.core.score import conclude
from grader.core.values import to_value
from grader.course import find_course, load_assignment
from grader.model import Call, Outcome, TaskResult
from grader.run.rehearse import rehearse

ASSIGNMENT = load_assignment(find_course(), "attention")


def task_of(name: str, function: Callable[..., Any], seed: int) -> TaskResult:
    """Judge one function alone."""
    alone = replace(ASSIGNMENT, tasks=(replace(ASSIGNMENT.task(name), uses=()),))
    transcript = rehearse(alone, {alone.tasks[0].function: function}, seed)
    return conclude(alone, transcript, judge(alone, transcript)).tasks[0]


def sweep(d_ks: Sequence[int], n_keys: int, seed: int, dtype: Any = np.float64, repeats: int = 1) -> list[float]:
    """Return right entropies, calculated in ``dtype``."""
    rng = np.random.RandomState(seed)
    found = []
    for d in d_ks:
        total = 0.0
        for _ in range(repeats):
            q, keys = rng.randn(d).astype(dtype), rng.randn(n_keys, d).astype(dtype)
            scores = keys @ q
            p = np.exp(scores - scores.max())
            p /= p.sum()
            total += float(-np.sum(p * np.log(np.maximum(p, dtype(1e-30)))))
        found.append(total / repeats)
    return found


def in_float32(d_ks: Sequence[int], n_keys: int, seed: int) -> list[float]:
    """Calculate in single precision."""
    return sweep(d_ks, n_keys, seed, np.float32)


def three_decimals(d_ks: Sequence[int], n_keys: int, seed: int) -> list[float]:
    """Round to three decimals."""
    return [round(h, 3) for h in sweep(d_ks, n_keys, seed)]


def averaged_and_rounded(d_ks: Sequence[int], n_keys: int, seed: int) -> list[float]:
    """Average over draws, then round."""
    return [round(h, 4) for h in sweep(d_ks, n_keys, seed, repeats=20)]


@pytest.mark.parametrize(
    "function, seed, note",
    [
        *((in_float32, seed, "note.single") for seed in (12, 30, 60)),
        *((three_decimals, seed, "note.rounded") for seed in (26, 49, 74)),
        (averaged_and_rounded, 0, "note.rounded"),
    ],
    ids=lambda item: getattr(item, "__name__", str(item)),
)
def test_right_entropies_of_less_precision_pass(function: Callable[..., Any], seed: int, note: str) -> None:
    """Entropies in float32, to three decimals or averaged and rounded fit their draws, and a note says which."""
    task = task_of("entropy", function, seed)

    assert (task.status, task.cents) == ("passed", task.max_cents)
    assert note in {note.text for criterion in task.criteria for note in criterion.finding.notes}


def test_entropies_of_two_decimals_are_not_explained() -> None:
    """Too few decimals agree with anything."""
    task = task_of("entropy", lambda d_ks, n_keys, seed: [round(h, 2) for h in sweep(d_ks, n_keys, seed)], 1)

    assert task.cents < task.max_cents


@pytest.mark.parametrize("swapped, passed", [((), True), ((2,), True), ((7,), True), ((2, 7), False)], ids=str)
@pytest.mark.parametrize("known", [False, True], ids=["unknown draws", "known draws"])
def test_orders_may_differ_in_one_call_only_where_draws_are_unknown(
    swapped: tuple[int, ...], passed: bool, known: bool
) -> None:
    """In single precision one of many calls may have a tie; where the draws are known, they tell whether it is one."""
    calls = 0

    def function(d_k: int, n_keys: int, seed: int) -> tuple[Any, Any]:
        nonlocal calls
        calls += 1
        rng = np.random.default_rng(seed)
        if known:
            q, keys = rng.standard_normal(d_k), rng.standard_normal((n_keys, d_k))
        else:
            even = rng.random((2, n_keys + 1, d_k))
            both = np.sqrt(-2 * np.log1p(-even[0])) * np.cos(2 * np.pi * even[1])
            q, keys = both[0], both[1:]
        first = np.argsort(keys @ q)
        second = first.copy()
        if calls in swapped:
            second[[0, 1]] = second[[1, 0]]
        return first, second

    task = task_of("ranking", function, 1)

    assert (task.cents == task.max_cents) is (passed if not known else 2 not in swapped)


@pytest.mark.parametrize("seed", [37, 42, 45])
def test_rows_in_float32_through_log_sum_exp_add_up_to_one(seed: int) -> None:
    """Forms through log-sum-exp round the scores themselves: rows of large ones are off by more than the last place."""

    def function(Q: Any, K: Any, V: Any) -> tuple[Any, Any]:
        Q, K, V = (array.astype(np.float32) for array in (Q, K, V))
        scores = Q @ K.transpose(0, 2, 1) / np.float32(np.sqrt(Q.shape[-1]))
        weights = np.exp(scores - logsumexp(scores, axis=-1, keepdims=True))
        return weights @ V, weights

    task = task_of("attention", function, seed)

    assert (task.status, task.cents) == ("passed", task.max_cents)


def answered(first: Any, second: Any, q: Any, keys: Any) -> Any:
    """Return what the checks of the ranking make of these two orders and draws."""
    module = sys.modules[type(ASSIGNMENT.checks["ranking"]).__module__]
    arguments = (("d_k", q.size), ("n_keys", len(keys)))
    call = Call(id="ranking/first", session="main", kind="function", name="compare_rankings", kwargs=arguments)
    seen = Seen(call, Outcome(call=call.id, kind="returned", value=to_value((first, second))))
    seen.drawn = tuple(Drawn(source=0, method="randn", args=(), shape=a.shape, values=a[None]) for a in (q, keys))
    return vars(module)["_Answer"](seen)


FORMS: dict[str, Callable[[Any], Any]] = {
    "order": lambda order: order,
    "reversed": lambda order: order[::-1],
    "ranks": np.argsort,
    "reversed ranks": lambda order: len(order) - 1 - np.argsort(order),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("which", [0, 1], ids=["first", "second"])
@pytest.mark.parametrize("gap, tied", [(1e-6, True), (1e-2, False)], ids=["near", "apart"])
def test_neighbours_that_are_equal_in_single_precision_may_be_swapped(
    form: str, which: int, gap: float, tied: bool
) -> None:
    """Two scores that float32 can't tell apart may stand in either order, in whatever form; others may not."""
    rng = np.random.default_rng(5)
    q, keys = rng.standard_normal(256), rng.standard_normal((8, 256))
    keys[3] = keys[6] + q * (gap / (q @ q))
    order = np.argsort(keys @ q)
    orders = [order, order.copy()]
    at = list(order).index(6)
    orders[which][[at, at + 1]] = order[[at + 1, at]]

    first, second = (FORMS[form](o) for o in orders)
    answer = answered(first, second, q, keys)

    assert not answer.equal
    assert answer.tied is tied


def test_unscaled_weights_that_underflow_may_be_swapped() -> None:
    """Scores far below the largest are no weights any more in float32: their order is nobody's fault."""
    rng = np.random.default_rng(5)
    q, keys = rng.standard_normal(256), rng.standard_normal((8, 256))
    keys[:2] -= q[None] * (np.array([[130.0], [140.0]]) / (q @ q))
    order = np.argsort(keys @ q)
    swapped = order.copy()
    swapped[[0, 1]] = order[[1, 0]]

    assert answered(swapped, order, q, keys).tied
    assert not answered(order, swapped, q, keys).tied


@pytest.mark.parametrize("decimals", [2, 3, 4])
def test_rounded_shares_are_worth_the_same_for_every_seed(decimals: int) -> None:
    """Rounding that some probes of large scores can't see costs what it costs, whatever is drawn."""

    def softmax(x: Any, axis: int = -1) -> Any:
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return np.round(e / e.sum(axis=axis, keepdims=True), decimals)

    scores = {(task.cents, task.status) for task in (task_of("softmax", softmax, seed) for seed in range(12))}

    assert len(scores) == 1
    assert scores.pop()[0] < 2000
