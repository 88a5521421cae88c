"""What a wrong function is paid, and what is said of it: criterion by criterion, so that no verdict shifts unseen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.model import Comparison
from tests.reference.said import (
    Function,
    Said,
    attend,
    attention_of,
    check_said,
    criteria,
    divided_in_place,
    hundreds,
    in_place,
    in_place_and_like_the_input,
    inputs_changed,
    like_the_input,
    negative,
    refuse,
    softmax,
    two_thousand,
    whole_numbers_fail,
    with_weights,
)

CASES = [
    pytest.param(
        "softmax",
        lambda x, axis=-1: softmax(x, axis, epsilon=1e-3),
        {
            "values": "5 misconception.epsilon_in_total.text",
            "axis": "2 softmax.axis.same",
            "large": "2 softmax.large.same",
        },
        id="softmax-epsilon",
    ),
    pytest.param(
        "softmax",
        lambda x, axis=-1: softmax(x, axis).round(4),
        {
            "values": "5 misconception.rounded_shares.text",
            "axis": "2 softmax.axis.same",
            "large": "2 softmax.large.same",
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
        {
            "shapes": "0 engine.call.raised",
            "rows": "0",
            "weights": "0",
            "out": "0",
            "kept": "0 attention.kept.no_answer",
        },
        id="attention-raises",
    ),
    pytest.param(
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: (out.astype(np.float32), weights.astype(np.float32))),
        {"weights": "15  +engine.note.single_precision"},
        id="attention-single precision",
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
        "scaled_dot_product_attention",
        attention_of(lambda out, weights: (out, weights[..., :-1])),
        {"shapes": "0 engine.compare.shape", "rows": "0", "weights": "0"},
        id="attention-a key too few",
    ),
]


@pytest.mark.parametrize("name, function, expected", CASES)
def test_what_is_paid_and_said(name: str, function: Function, expected: Said) -> None:
    """Points, text and notes of every criterion are these."""
    check_said(name, function, expected)


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
