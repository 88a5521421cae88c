"""What a wrong function is paid, and what is said of it: criterion by criterion, so that no verdict shifts unseen."""

from __future__ import annotations

import contextlib
import io
import re
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
from grader.model import Comparison, CriterionResult, Status
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

CASES = [
    pytest.param(
        "softmax",
        lambda x, axis=-1: softmax(x, axis, epsilon=1e-3),
        {
            "values": "5 misconception.epsilon_in_total.text",
            "axis": "2 softmax.axis.wrong",
            "large": "2 softmax.large.wrong",
        },
        id="softmax-epsilon",
    ),
    pytest.param(
        "softmax",
        lambda x, axis=-1: softmax(x, axis).round(4),
        {
            "values": "5 misconception.rounded_shares.text",
            "axis": "2 softmax.axis.wrong",
            "large": "1 softmax.large.wrong",
        },
        id="softmax-rounded",
    ),
    pytest.param(
        "softmax",
        np.errstate(all="ignore")(lambda x, axis=-1: softmax(x, axis, top=False)),
        {"large": "0 misconception.no_max.text"},
        id="softmax-no maximum taken off",
    ),
    pytest.param(
        "softmax",
        lambda x, axis=-1: softmax(x),
        {"axis": "0 misconception.axis_ignored.text"},
        id="softmax-axis ignored",
    ),
    pytest.param(
        "softmax",
        in_place,
        {"care": "1 misconception.input_changed.text"},
        id="softmax-input changed",
    ),
    pytest.param(
        "softmax",
        like_the_input,
        {"care": "1 misconception.whole_number_container.text"},
        id="softmax-whole numbers cut off",
    ),
    pytest.param(
        "softmax",
        in_place_and_like_the_input,
        {"care": "0 misconception.whole_number_container.text"},
        id="softmax-two slips",
    ),
    pytest.param(
        "softmax",
        divided_in_place,
        {"care": "1 softmax.care.whole_raised"},
        id="softmax-whole numbers raise",
    ),
    pytest.param(
        "softmax",
        whole_numbers_fail,
        {"care": "1 softmax.care.whole_raised"},
        id="softmax-a TypeError of its own",
    ),
    pytest.param(
        "softmax",
        two_thousand,
        {"large": "2 engine.call.raised"},
        id="softmax-large scores raise",
    ),
    pytest.param(
        "softmax",
        hundreds,
        {"large": "3 softmax.large.wrong"},
        id="softmax-one large score wrong",
    ),
    pytest.param(
        "softmax",
        lambda x, axis=-1: softmax(x * 1.5, axis),
        {"values": "0 softmax.values.wrong", "axis": "0 softmax.axis.wrong", "large": "0 softmax.large.wrong"},
        id="softmax-another temperature",
    ),
    pytest.param(
        "softmax",
        refuse,
        {
            "values": "0 engine.call.raised",
            "axis": "0 engine.call.raised",
            "large": "0 engine.call.raised",
            "care": "0 softmax.care.no_answer",
        },
        id="softmax-raises",
    ),
    pytest.param(
        "softmax",
        lambda x, axis=-1: softmax(x.astype(np.float32), axis),
        {"values": "10  +engine.note.single_precision", "axis": "4  +engine.note.single_precision"},
        id="softmax-single precision",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: out),
        {"shapes": "0 misconception.only_out.text", "rows": "0", "weights": "0"},
        id="attention-out only",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: weights),
        {"shapes": "0 misconception.only_weights.text", "rows": "0", "weights": "0", "out": "0 engine.compare.shape"},
        id="attention-weights only",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: None),
        {
            "shapes": "0 misconception.nothing_returned.text",
            "rows": "0",
            "weights": "0",
            "out": "0 engine.compare.none",
        },
        id="attention-None",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: (weights, out)),
        {"shapes": "0 misconception.pair_swapped.text"},
        id="attention-swapped",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        lambda Q, K, V: attend(Q, K, V, 1)[::-1],
        {
            "shapes": "0 misconception.pair_swapped.text",
            "weights": "0 misconception.no_scale.text +attention.measured.same",
            "out": "7 attention.out.own_weights",
        },
        id="attention-swapped and not scaled",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: [out.tolist(), weights.tolist()]),
        {"shapes": "3  +engine.note.lists", "weights": "15  +engine.note.lists", "out": "7  +engine.note.lists"},
        id="attention-lists",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        lambda Q, K, V: attend(Q, K, V, 1),
        {"weights": "0 misconception.no_scale.text +attention.measured.same", "out": "7 attention.out.own_weights"},
        id="attention-not scaled",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        lambda Q, K, V: attend(Q, K, V, 0.5),
        {"weights": "0 misconception.scale_fixed.text +attention.measured.same", "out": "7 attention.out.own_weights"},
        id="attention-a fixed scale",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        lambda Q, K, V: attend(Q, K, V, Q.shape[-1] ** -0.3),
        {"weights": "0 attention.weights.wrong +attention.measured.scale", "out": "7 attention.out.own_weights"},
        id="attention-another power",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        with_weights(lambda w: np.full_like(w, 1 / w.shape[-1])),
        {"weights": "0 misconception.weights_constant.text +attention.measured.same", "out": "0 attention.degenerate"},
        id="attention-uniform weights",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        with_weights(lambda w: np.zeros_like(w) + np.eye(w.shape[-1])),
        {"weights": "0 misconception.weights_constant.text", "out": "0 attention.degenerate"},
        id="attention-identity",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        with_weights(negative),
        {
            "rows": "0 attention.rows.negative",
            "weights": "0 attention.weights.wrong",
            "out": "7 attention.out.own_weights",
        },
        id="attention-negative weights",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        with_weights(lambda w: w.transpose(0, 2, 1)),
        {
            "rows": "0 attention.rows.columns",
            "weights": "0 misconception.weights_transposed.text",
            "out": "7 attention.out.own_weights",
        },
        id="attention-columns sum to 1",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        with_weights(lambda w: w / 2),
        {"rows": "0 attention.rows.sum", "weights": "0 attention.weights.wrong", "out": "7 attention.out.own_weights"},
        id="attention-rows sum to a half",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        with_weights(lambda w: w * 1.0005),
        {"rows": "0 attention.rows.sum", "weights": "0 attention.weights.wrong", "out": "7 attention.out.own_weights"},
        id="attention-rows a little off",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        with_weights(lambda w: w * np.nan),
        {
            "rows": "0 attention.rows.sum",
            "weights": "0 engine.compare.not_finite",
            "out": "0 engine.compare.not_finite",
        },
        id="attention-nan",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: (out[0], weights[0])),
        {
            "shapes": "0 misconception.one_sequence_returned.text",
            "rows": "0",
            "weights": "0",
            "out": "0 engine.compare.shape",
        },
        id="attention-first sequence only",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: ("out", "weights")),
        {"shapes": "0 engine.compare.type", "rows": "0", "weights": "0", "out": "0 engine.compare.type"},
        id="attention-texts",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        lambda Q, K, V: (attend(Q, K, K)[0], attend(Q, K, V)[1]),
        {"out": "0 misconception.out_keys.text"},
        id="attention-keys in place of values",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: (3 * out, weights)),
        {"out": "0 attention.out.wrong"},
        id="attention-out three times",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        inputs_changed,
        {"kept": "0 misconception.inputs_changed.text"},
        id="attention-inputs changed",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        refuse,
        {"shapes": "0 engine.call.raised", "rows": "0", "weights": "0", "out": "0", "kept": "0"},
        id="attention-raises",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: (out.astype(np.float32), weights.astype(np.float32))),
        {"weights": "15  +engine.note.single_precision"},
        id="attention-single precision",
    ),
    pytest.param(
        "measure_variance",
        by_hand,
        {"measured": "8  +variance.review", "raw": "6  +variance.review", "scaled": "6  +variance.review"},
        id="variance-unrecorded",
    ),
    pytest.param(
        "measure_variance",
        always_seed_42(by_hand),
        {"measured": "0 misconception.same_numbers_always.text", "raw": "0", "scaled": "0"},
        id="variance-unrecorded and always the same",
    ),
    pytest.param(
        "measure_variance",
        variance_of(lambda raw, scaled: (raw, raw), by_hand),
        {"measured": "8  +variance.review", "raw": "6  +variance.review", "scaled": "0 variance.scaled.wrong"},
        id="variance-unrecorded and not scaled",
    ),
    pytest.param(
        "measure_variance",
        variance_of(lambda raw, scaled: (raw, 1.0), by_hand),
        {"measured": "8  +variance.review", "raw": "6  +variance.review", "scaled": "0 variance.scaled.unexplained"},
        id="variance-unrecorded beside a typed number",
    ),
    pytest.param(
        "measure_variance",
        lambda d_k=1024, n_samples=10_000, seed=42: (d_k, 1.0),
        {"measured": "0 misconception.theory_returned.text", "raw": "0", "scaled": "0"},
        id="variance-typed",
    ),
    pytest.param(
        "measure_variance",
        lambda d_k=1024, n_samples=10_000, seed=42: (1.003 * d_k, 1.003),
        {"measured": "0 misconception.same_numbers_always.text", "raw": "0", "scaled": "0"},
        id="variance-typed and a little off",
    ),
    pytest.param(
        "measure_variance",
        variance_of(lambda raw, scaled: (scaled, raw)),
        {"raw": "3 misconception.variances_swapped.text", "scaled": "3 misconception.variances_swapped.text"},
        id="variance-swapped",
    ),
    pytest.param(
        "measure_variance",
        lambda d_k=1024, n_samples=10_000, seed=42: measured(d_k, 1300, seed),
        {"measured": "4 misconception.samples_ignored.text"},
        id="variance-other samples",
    ),
    pytest.param(
        "measure_variance",
        variance_of(lambda raw, scaled: (np.nan, scaled)),
        {"measured": "0 variance.not_finite", "raw": "0", "scaled": "0"},
        id="variance-nan",
    ),
    pytest.param(
        "measure_variance",
        variance_of(lambda raw, scaled: (raw, scaled, 1.0)),
        {"measured": "0 variance.form", "raw": "0", "scaled": "0"},
        id="variance-three numbers",
    ),
    pytest.param(
        "measure_variance",
        unseeded,
        {"measured": "8  +variance.note.unseeded"},
        id="variance-drawn anew",
    ),
    pytest.param(
        "measure_variance",
        variance_of(lambda raw, scaled: (raw**0.5, scaled**0.5)),
        {"raw": "0 misconception.standard_deviation.text", "scaled": "0 variance.scaled.unexplained"},
        id="variance-standard deviations",
    ),
    pytest.param(
        "measure_variance",
        variance_of(lambda raw, scaled: (raw, 1.0)),
        {"scaled": "0 misconception.scaled_exactly_one.text"},
        id="variance-a typed 1",
    ),
    pytest.param(
        "measure_variance",
        uniform_numbers,
        {"raw": "0 variance.raw.wrong", "scaled": "0 variance.scaled.wrong"},
        id="variance-uniform numbers",
    ),
    pytest.param(
        "measure_variance",
        refuse,
        {"measured": "0 engine.call.raised", "raw": "0", "scaled": "0"},
        id="variance-raises",
    ),
    pytest.param(
        "measure_variance",
        variance_of(lambda raw, scaled: (round(float(raw), 3), round(float(scaled), 3))),
        {"raw": "6  +note.rounded", "scaled": "6  +note.rounded"},
        id="variance-rounded",
    ),
    pytest.param(
        "measure_variance",
        variance_of(lambda raw, scaled: (1.01 * raw, 1.01 * scaled)),
        {
            "measured": "8  +variance.review",
            "raw": "0 variance.raw.unexplained",
            "scaled": "0 variance.scaled.unexplained",
        },
        id="variance-one per cent off",
    ),
    pytest.param(
        "measure_variance",
        variance_of(lambda raw, scaled: (1.001 * raw, 1.001 * scaled)),
        {"measured": "8  +variance.review", "raw": "6  +variance.review", "scaled": "6  +variance.review"},
        id="variance-one per mille off",
    ),
    pytest.param(
        "entropy_sweep",
        sweep(scores=scores_by_hand),
        {"draws": "12  +entropy.review"},
        id="entropy-unrecorded",
    ),
    pytest.param(
        "entropy_sweep",
        sweep(lambda p: entropy(p) / np.log(2), scores_by_hand),
        {"draws": "0 entropy.unexplained"},
        id="entropy-unrecorded, in bits",
    ),
    pytest.param(
        "entropy_sweep",
        always_seed_42(sweep(scores=scores_by_hand)),
        {"draws": "0 entropy.unexplained"},
        id="entropy-unrecorded and always the same",
    ),
    pytest.param(
        "entropy_sweep",
        sweep(lambda p: entropy(p) / np.log(len(p))),
        {"draws": "6 misconception.entropy_normalised.text"},
        id="entropy-divided by the largest",
    ),
    pytest.param(
        "entropy_sweep",
        sweep(lambda p: entropy(p, 1e-3)),
        {"draws": "6 misconception.entropy_big_epsilon.text"},
        id="entropy-a large epsilon",
    ),
    pytest.param(
        "entropy_sweep",
        sweep(lambda p: entropy(p) / np.log(2)),
        {"draws": "0 misconception.entropy_base2.text"},
        id="entropy-bits",
    ),
    pytest.param(
        "entropy_sweep",
        sweep(lambda p: np.nan),
        {"draws": "0 misconception.entropy_of_scores.text"},
        id="entropy-nan",
    ),
    pytest.param(
        "entropy_sweep",
        entropies_of(lambda d_ks, found: dict(zip(d_ks, found, strict=True))),
        {"draws": "12  +entropy.note.mapping"},
        id="entropy-mapping",
    ),
    pytest.param(
        "entropy_sweep",
        always_seed_42(sweep()),
        {"draws": "12  +note.seed_ignored"},
        id="entropy-seed ignored",
    ),
    pytest.param(
        "entropy_sweep",
        lambda d_ks=(4, 16, 64, 256), n_keys=8, seed=42: sweep()(d_ks, 8, seed),
        {"arguments": "0 misconception.arguments_ignored.text"},
        id="entropy-keys ignored",
    ),
    pytest.param(
        "entropy_sweep",
        lambda d_ks=(4, 16, 64, 256), n_keys=8, seed=42: sweep()((4, 16, 64, 256), n_keys, seed),
        {"arguments": "0 misconception.widths_ignored.text"},
        id="entropy-widths ignored",
    ),
    pytest.param(
        "entropy_sweep",
        refuse_others,
        {"arguments": "0 entropy.arguments.no_answer"},
        id="entropy-other widths raise",
    ),
    pytest.param(
        "entropy_sweep",
        one_width_off,
        {"draws": "9 entropy.wrong"},
        id="entropy-one width off",
    ),
    pytest.param(
        "entropy_sweep",
        entropies_of(lambda d_ks, found: None),
        {"draws": "0 entropy.form", "arguments": "0 entropy.form"},
        id="entropy-None",
    ),
    pytest.param(
        "entropy_sweep",
        entropies_of(lambda d_ks, found: found[:3]),
        {"draws": "0 entropy.count"},
        id="entropy-three numbers",
    ),
    pytest.param(
        "entropy_sweep",
        refuse,
        {"draws": "0 engine.call.raised", "arguments": "0 entropy.arguments.no_answer"},
        id="entropy-raises",
    ),
    pytest.param(
        "compare_rankings",
        ranked(orders, scores_by_hand),
        {"draws": "5  +ranking.review"},
        id="ranking-unrecorded",
    ),
    pytest.param(
        "compare_rankings",
        always_seed_42(ranked(orders, scores_by_hand)),
        {"draws": "0 ranking.draws.unexplained", "equal": "0"},
        id="ranking-unrecorded and always the same",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: (np.argsort(s), np.argsort(-t)), scores_by_hand),
        {"draws": "0 ranking.draws.unexplained", "equal": "0 ranking.equal.backwards"},
        id="ranking-unrecorded and backwards",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: (np.argsort(s), np.argsort(-t))),
        {"equal": "0 misconception.ranking_backwards.text"},
        id="ranking-backwards",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: bool(np.array_equal(*orders(s, t)))),
        {
            "draws": "0 misconception.conclusion_only.text",
            "equal": "4 misconception.conclusion_only.text",
            "form": "0 misconception.conclusion_only.text",
        },
        id="ranking-the conclusion",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: np.argsort(s) == np.argsort(t)),
        {
            "draws": "0 misconception.conclusion_only.text",
            "equal": "4 misconception.conclusion_only.text",
            "form": "0 misconception.conclusion_only.text",
        },
        id="ranking-the conclusion, position by position",
    ),
    pytest.param(
        "compare_rankings",
        lambda d_k=256, n_keys=8, seed=42: True,
        {"draws": "0 ranking.form.wrong", "equal": "0 ranking.form.wrong", "form": "0 ranking.form.wrong"},
        id="ranking-the conclusion without draws",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: False),
        {"draws": "0 ranking.form.wrong", "equal": "0 ranking.form.wrong", "form": "0 ranking.form.wrong"},
        id="ranking-the wrong conclusion",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: (softmax(s), softmax(t))),
        {
            "draws": "0 misconception.weights_returned.text",
            "equal": "0 misconception.weights_returned.text",
            "form": "0 misconception.weights_returned.text",
        },
        id="ranking-weights",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: np.argsort(s)),
        {"draws": "0 ranking.form.wrong", "equal": "0 ranking.form.wrong", "form": "0 ranking.form.wrong"},
        id="ranking-one order",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: (s.argsort().argsort(), t.argsort().argsort())),
        {"form": "2  +ranking.note.ranks"},
        id="ranking-ranks",
    ),
    pytest.param(
        "compare_rankings",
        always_seed_42(ranked(orders)),
        {"draws": "5  +note.seed_ignored"},
        id="ranking-seed ignored",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: (np.argsort(s), np.argsort(np.sin(1e6 * t)))),
        {"equal": "0 ranking.equal.differ"},
        id="ranking-another second order",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: (np.arange(len(s)), np.arange(len(s)))),
        {"draws": "0 misconception.index_list.text", "equal": "0"},
        id="ranking-index list",
    ),
    pytest.param(
        "compare_rankings",
        shuffled,
        {"draws": "0 ranking.draws.unexplained", "equal": "0"},
        id="ranking-shuffled",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: (np.argsort(softmax(s).round(4)), np.argsort(softmax(t).round(4)))),
        {"equal": "0 misconception.ranking_rounded.text"},
        id="ranking-rounded",
    ),
    pytest.param(
        "compare_rankings",
        refuse,
        {"draws": "0 engine.call.raised", "equal": "0", "form": "0"},
        id="ranking-raises",
    ),
    pytest.param(
        "measure_variance",
        wrong_where_wide,
        {"measured": "8  +variance.review", "raw": "0 variance.raw.wrong", "scaled": "0 variance.scaled.wrong"},
        id="variance-unrecorded, wrong where wide",
    ),
    pytest.param(
        "compare_rankings",
        drawn_for_show,
        {"draws": "0 ranking.draws.unexplained", "equal": "0"},
        id="ranking-drawn for show",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: (np.argsort(s), None)),
        dict.fromkeys(("draws", "equal", "form"), "0 ranking.form.wrong"),
        id="ranking-no second order",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: ("none", np.argsort(t))),
        dict.fromkeys(("draws", "equal", "form"), "0 ranking.form.wrong"),
        id="ranking-no first order",
    ),
    pytest.param(
        "compare_rankings",
        ranked(lambda s, t: len(s) == 8),
        dict.fromkeys(("draws", "equal", "form"), "0 ranking.form.wrong"),
        id="ranking-the conclusion for some",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: np.array([out, weights]) if out.shape == weights.shape else (out, weights)),
        {},
        id="attention-a pair stacked into one array",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: "out"),
        {
            "shapes": "0 attention.no_pair",
            "rows": "0",
            "weights": "0",
            "out": "0 engine.compare.none",
        },
        id="attention-one text",
    ),
    pytest.param(
        "entropy_sweep",
        entropies_of(lambda d_ks, found: list(zip(d_ks, found, strict=True))),
        {},
        id="entropy-pairs",
    ),
    pytest.param(
        "entropy_sweep",
        entropies_of(lambda d_ks, found: [np.array([h]) for h in found]),
        {},
        id="entropy-arrays of one number",
    ),
    pytest.param("entropy_sweep", averaged, {"draws": "12  +entropy.note.averaged"}, id="entropy-averaged"),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: (out, weights[..., :-1])),
        {"shapes": "0 engine.compare.shape", "rows": "0", "weights": "0"},
        id="attention-a key too few",
    ),
    pytest.param(
        "measure_variance",
        variance_of(lambda raw, scaled: (round(float(raw), 2), round(float(scaled) * 1.2, 2))),
        {"raw": "6  +note.rounded", "scaled": "0 variance.scaled.unexplained"},
        id="variance-rounded and off",
    ),
]


NO_ANSWER = re.compile(r"raised|no_answer|no_pair|nothing_returned|compare\.type")
"""Lines that print an answer fail where there is none."""


@pytest.mark.parametrize("name, function, expected", CASES)
def test_what_is_paid_and_said(name: str, function: Function, expected: Said) -> None:
    """Points, text and notes of every criterion are these; what is said can be read, and lines to try can be run."""
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
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(one.finding.snippet.replace(f"from rehearsal import {name}\n", ""), {name: function})
            assert printed.getvalue()
        for text, params in [(one.finding.text, one.finding.params), *((n.text, n.params) for n in one.finding.notes)]:
            assert "{" not in texts.get(text, params)


def test_the_row_that_is_furthest_off_is_named() -> None:
    """Of several rows that don't sum to 1, the one with the largest difference, and its sum."""

    def uneven(w: Any) -> Any:
        return w * np.where(np.arange(w.shape[1]) == 0, 0.2, 1.5)[:, None]

    rows = criteria("scaled_dot_product_attention", with_weights(uneven))["rows"]

    assert rows.finding.params == (("at", "weights[0, 0]"), ("sum", "0.2"))


def test_weights_are_shown_as_weights() -> None:
    """What a softmax gives is shown as a heat map, right or wrong; what isn't weights is not."""
    shown = criteria("softmax", lambda x, axis=-1: softmax(x * 1.5, axis))["values"].finding.evidence
    weights = criteria("scaled_dot_product_attention", attend)["weights"].finding.evidence
    out = criteria("scaled_dot_product_attention", attention_of(lambda out, w: (3 * out, w)))["out"].finding.evidence

    assert [[one.weights for one in part if isinstance(one, Comparison)] for part in (shown, weights, out)] == [
        [True], [True], [False],
    ]  # fmt: skip


def test_a_wrong_shape_is_told_with_the_right_one() -> None:
    """Both shapes, of which of the two values, and the input that gave them."""
    few = attention_of(lambda out, weights: (out, weights[..., :-1]))

    assert dict(criteria("scaled_dot_product_attention", few)["shapes"].finding.params) == {
        "name": "weights", "expected": "(2, 3, 3)", "got": "(2, 3, 2)", "input": "(2, 3, 12)",
    }  # fmt: skip
