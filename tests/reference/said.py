"""Functions as learners write them, right and wrong, and what is said of one."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from grader.core.assignment import Assignment
from grader.core.catalogue import Catalogue
from grader.core.judge import judge
from grader.core.score import conclude
from grader.course import find_course, load_assignment
from grader.model import CriterionResult, Status
from grader.run.rehearse import rehearse

Function = Callable[..., Any]


@cache
def attention() -> Assignment:
    """Return the assignment, loaded once."""
    return load_assignment(find_course(), "attention")


def criteria(name: str, function: Function, seed: int = 1) -> dict[str, CriterionResult]:
    """Return the criteria of the only function that a submission has."""
    transcript = rehearse(attention(), {name: function}, seed)
    result = conclude(attention(), transcript, judge(attention(), transcript))
    return {one.id: one for task in result.tasks if task.function == name for one in task.criteria}


def said(found: Mapping[str, CriterionResult]) -> dict[str, str]:
    """Return points and text of each criterion that isn't passed without a word, and its notes behind them."""
    words = {
        name: " ".join([f"{one.cents / 100:g}", one.finding.text, *(f"+{note.text}" for note in one.finding.notes)])
        for name, one in found.items()
    }
    return {name: text.strip() for name, text in words.items() if text.strip() != f"{found[name].max_cents / 100:g}"}


# ---------------------------------------------------------------------- softmax


def softmax(x: Any, axis: int = -1, *, top: bool = True, epsilon: float = 0.0) -> Any:
    """The lesson's softmax."""
    e = np.exp(x - x.max(axis=axis, keepdims=True) if top else x)
    return e / (e.sum(axis=axis, keepdims=True) + epsilon)


def in_place(x: Any, axis: int = -1) -> Any:
    """Takes the maximum off the learner's own input."""
    x -= x.max(axis=axis, keepdims=True)
    return softmax(x, axis)


def like_the_input(x: Any, axis: int = -1) -> Any:
    """Writes into an array of the input's dtype: whole numbers become 0."""
    out = np.zeros_like(x)
    out[...] = softmax(x, axis)
    return out


def in_place_and_like_the_input(x: Any, axis: int = -1) -> Any:
    """Makes both slips."""
    out = like_the_input(x, axis)
    x += 1
    return out


def divided_in_place(x: Any, axis: int = -1) -> Any:
    """A float can't be written into whole numbers."""
    x = x.copy()
    x -= x.mean(axis=axis, keepdims=True)
    return softmax(x, axis)


def two_thousand(x: Any, axis: int = -1) -> Any:
    """Raises for the two inputs with scores of 2000."""
    if abs(x).max() > 1500:
        raise ValueError("too large")
    return softmax(x, axis)


def hundreds(x: Any, axis: int = -1) -> Any:
    """Right but for scores in the thousands, which it cuts off."""
    return softmax(np.clip(x, -1500, 1500), axis)


def whole_numbers_fail(x: Any, axis: int = -1) -> Any:
    """Raises for whole numbers."""
    if x.dtype.kind == "i":
        raise TypeError("no floats")
    return softmax(x, axis)


# ---------------------------------------------------------------------- attention


def attend(Q: Any, K: Any, V: Any, scale: float | None = None) -> Any:
    """The lesson's attention, or with another factor on the scores."""
    factor = Q.shape[-1] ** -0.5 if scale is None else scale
    w = softmax(Q @ K.transpose(0, 2, 1) * factor)
    return w @ V, w


def with_weights(change: Callable[[Any], Any]) -> Function:
    """Attention whose weights were changed before they were used."""

    def scaled_dot_product_attention(Q: Any, K: Any, V: Any) -> Any:
        w = change(attend(Q, K, V)[1])
        return w @ V, w

    return scaled_dot_product_attention


def inputs_changed(Q: Any, K: Any, V: Any) -> Any:
    """Scales the learner's own Q."""
    out = attend(Q, K, V)
    Q /= 2
    V += 1
    return out


def negative(w: Any) -> Any:
    """Rows that sum to 1 and have entries below 0."""
    w = w.copy()
    if w.shape[-1] > 1:
        w[..., 0] += 2
        w[..., 1] -= 2
    return w


# ---------------------------------------------------------------------- exercises


def normal_by_hand(seed: int, *shape: int) -> Any:
    """Normal numbers that no recorder sees: SplitMix64, then Box and Muller."""
    size = int(np.prod(shape))
    with np.errstate(over="ignore"):
        z = (np.arange(1, 2 * size + 1, dtype=np.uint64) + np.uint64(seed * 1_000_003)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    u = ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    return (np.sqrt(-2 * np.log1p(-u[:size])) * np.cos(2 * np.pi * u[size:])).reshape(shape)


def by_hand(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Both variances of numbers that no recorder sees."""
    s = (normal_by_hand(seed, n_samples, d_k) * normal_by_hand(seed + 10_000, n_samples, d_k)).sum(1)
    return s.var(), s.var() / d_k


def measured(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """The lesson's measurement."""
    rng = np.random.default_rng(seed)
    s = (rng.standard_normal((n_samples, d_k)) * rng.standard_normal((n_samples, d_k))).sum(1)
    return s.var(), (s / np.sqrt(d_k)).var()


def unseeded(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Draws anew each time."""
    return measured(d_k, n_samples, int(np.random.randint(1 << 30)))


def scores_of(seed: int, d: int, n: int) -> Any:
    """Draw a query and its keys; return the scores."""
    rng = np.random.RandomState(seed)
    q = rng.randn(d)
    return rng.randn(n, d) @ q


def scores_by_hand(seed: int, d: int, n: int) -> Any:
    """The same of numbers that no recorder sees."""
    return normal_by_hand(2 * seed, n, d) @ normal_by_hand(2 * seed + 1, d)


def entropy(p: Any, epsilon: float = 1e-12) -> Any:
    """The lesson's entropy."""
    return -np.sum(p * np.log(p + epsilon))


def sweep(measure: Callable[[Any], Any] = entropy, scores: Callable[..., Any] = scores_of) -> Function:
    """A sweep that takes ``measure`` of the weights."""

    def entropy_sweep(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> Any:
        return [measure(softmax(scores(seed, d, n_keys))) for d in d_ks]

    return entropy_sweep


def without_zeros(p: Any) -> Any:
    """0 log 0 is nan."""
    with np.errstate(all="ignore"):
        return -np.sum(p * np.log(p))


def one_width_off(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> Any:
    """The second of four values is another one."""
    found = sweep()(d_ks, n_keys, seed)
    return [h + 0.3 if (d, n_keys) == (16, 8) else h for d, h in zip(d_ks, found, strict=True)]


def averaged(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> Any:
    """Means over five draws."""
    return [np.mean([entropy(softmax(scores_of(seed + 7 * i, d, n_keys))) for i in range(5)]) for d in d_ks]


def ranked(order: Callable[[Any, Any], Any], scores: Callable[..., Any] = scores_of) -> Function:
    """A comparison that makes ``order`` of the scores and the scaled ones."""

    def compare_rankings(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
        s = scores(seed, d_k, n_keys)
        return order(s, s / np.sqrt(d_k))

    return compare_rankings


def orders(s: Any, scaled: Any) -> Any:
    """The lesson's answer."""
    return np.argsort(softmax(s)), np.argsort(softmax(scaled))


def refuse(*args: Any, **kwargs: Any) -> Any:
    """Raise."""
    raise RuntimeError("not today")


def refuse_others(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> Any:
    """Raises for other widths than the lesson's."""
    return sweep()(d_ks, n_keys, seed) if len(d_ks) == 4 else refuse()


def attention_of(change: Callable[[Any, Any], Any]) -> Function:
    """Attention that returns something else made of ``out`` and ``weights``."""
    return lambda Q, K, V: change(*attend(Q, K, V))


def variance_of(change: Callable[[Any, Any], Any], measure: Function = measured) -> Function:
    """A measurement that returns something else made of both variances."""
    return lambda d_k=1024, n_samples=10_000, seed=42: change(*measure(d_k, n_samples, seed))


def entropies_of(change: Callable[[Any, Any], Any]) -> Function:
    """A sweep that returns something else made of the widths and their entropies."""
    return lambda d_ks=(4, 16, 64, 256), n_keys=8, seed=42: change(d_ks, sweep()(d_ks, n_keys, seed))


def always_seed_42(function: Function) -> Function:
    """Call the function with the same seed, whatever was asked."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{**kwargs, "seed": 42})

    return wrapped


def uniform_numbers(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Of other numbers than those asked for."""
    s = np.random.default_rng(seed).random((n_samples, d_k)).sum(1)
    return s.var(), s.var() / d_k


def shuffled(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """A random order, twice."""
    order = np.random.RandomState(seed).permutation(n_keys)
    return order, order


def wrong_where_wide(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Right in few dimensions, twice too much in many."""
    raw, scaled = by_hand(d_k, n_samples, seed)
    return (2 * raw, 2 * scaled) if d_k > 1000 else (raw, scaled)


def drawn_for_show(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """Draws a query and keys, and orders other numbers."""
    scores_of(seed, d_k, n_keys)
    return orders(*(scores_by_hand(seed, d_k, n_keys),) * 2)


Said = dict[str, str]

NO_ANSWER = re.compile(r"raised|no_answer|no_pair|nothing_returned|compare\.type")
"""Lines that print an answer fail where there is none."""


def check_said(name: str, function: Function, expected: Said) -> None:
    """Check points, text and notes of every criterion; what is said can be read, and lines to try can be run."""
    found = criteria(name, function)
    texts = Catalogue(attention().texts)

    assert said(found) == expected
    named = {name for one in found.values() for name in one.finding.misconceptions}
    assert named == set(re.findall(r"misconception\.(\w+)\.text", " ".join(expected.values())))
    for one in found.values():
        assert None not in one.finding.evidence
        asked = [(note.kind, note.audience) for note in one.finding.notes if note.text.endswith(".review")]
        assert set(asked) <= {("review", "instructor")}
        assert one.finding.calls or not one.finding.text or one.status is Status.PASSED
        if one.finding.snippet and not NO_ANSWER.search(" ".join(expected.values())):
            handed_in = types.ModuleType("rehearsal")
            setattr(handed_in, name, function)
            with contextlib.redirect_stdout(io.StringIO()) as printed, pytest.MonkeyPatch.context() as patch:
                patch.setitem(sys.modules, "rehearsal", handed_in)
                exec(one.finding.snippet, {})
            assert printed.getvalue()
        for text, params in [(one.finding.text, one.finding.params), *((n.text, n.params) for n in one.finding.notes)]:
            assert "{" not in texts.get(text, params)
