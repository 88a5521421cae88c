"""Which pictures a mistake gets, and that each is true, small, the same every time, and has its words."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.model import Chart, Comparison, CriterionResult, Evidence, Orders
from grader.render.words import Words, bare
from tests.reference.said import (
    Function,
    attend,
    attention,
    attention_of,
    criteria,
    orders,
    scores_of,
    softmax,
)

PACKAGE = type(attention().checks["entropy"]).__module__.rpartition(".")[0]
entropy, variance, oracle = (sys.modules[f"{PACKAGE}.{name}"] for name in ("entropy", "variance", "oracle"))


def laws(widths: list[float]) -> tuple[float, float]:
    """From where to where the laws are drawn for these widths."""
    found: tuple[float, float] = variance.reach(widths)
    return found


def scaled_by(scale: Callable[[int], float]) -> Function:
    """Attention whose scores are multiplied by ``scale(d_k)``."""

    def function(Q: Any, K: Any, V: Any) -> Any:
        weights = softmax(Q @ K.transpose(0, 2, 1) * scale(Q.shape[-1]))
        return weights @ V, weights

    return function


def variances(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42, *, root: bool = False) -> Any:
    """The lesson's measurement; with ``root`` its standard deviations."""
    rng = np.random.default_rng(seed)
    scores = np.sum(rng.standard_normal((n_samples, d_k)) * rng.standard_normal((n_samples, d_k)), axis=1)
    found = scores.var(), (scores / np.sqrt(d_k)).var()
    return tuple(np.sqrt(found)) if root else found


def entropies(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42, *, base: float = math.e) -> Any:
    """The lesson's sweep, with the logarithm of some base."""
    rng = np.random.default_rng(seed)
    found = []
    for d_k in d_ks:
        p = softmax(rng.standard_normal((n_keys, d_k)) @ rng.standard_normal(d_k))
        found.append(float(-np.sum(p * np.log(p + 1e-12)) / math.log(base)))
    return found


def bits(d_ks: Any = (4, 16, 64, 256), n_keys: int = 8, seed: int = 42) -> Any:
    """Entropies in bits."""
    return entropies(d_ks, n_keys, seed, base=2.0)


def deviations(d_k: int = 1024, n_samples: int = 10_000, seed: int = 42) -> Any:
    """Standard deviations in place of variances."""
    return variances(d_k, n_samples, seed, root=True)


def one_descending(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """Reads one of the orders from its end."""
    first, second = orders(*(scores_of(seed, d_k, n_keys),) * 2)
    return first, second[::-1]


def index_list(d_k: int = 256, n_keys: int = 8, seed: int = 42) -> Any:
    """Draws, and returns 0, 1, 2, ..."""
    scores_of(seed, d_k, n_keys)
    return np.arange(n_keys), np.arange(n_keys)


def evidence(found: dict[str, CriterionResult], name: str) -> tuple[Evidence, ...]:
    """What a criterion shows."""
    return found[name].finding.evidence


def chart(found: dict[str, CriterionResult], name: str) -> Chart:
    """The only chart of a criterion."""
    (only,) = (item for item in evidence(found, name) if isinstance(item, Chart))
    return only


WRONG = [
    pytest.param("softmax", lambda x, axis=-1: softmax(x * 1.5, axis), id="softmax-peaked"),
    pytest.param("softmax", lambda x, axis=-1: softmax(x, 0), id="softmax-first axis"),
    pytest.param("scaled_dot_product_attention", scaled_by(lambda d: 1.0), id="attention-no scale"),
    pytest.param("scaled_dot_product_attention", scaled_by(lambda d: 1 / d), id="attention-twice the scale"),
    pytest.param("measure_variance", deviations, id="variance-deviations"),
    pytest.param("entropy_sweep", bits, id="entropy-bits"),
    pytest.param("compare_rankings", one_descending, id="ranking-one descending"),
    pytest.param("compare_rankings", index_list, id="ranking-index list"),
]


@pytest.mark.parametrize("name, function", WRONG)
def test_every_picture_has_its_texts(name: str, function: Function) -> None:
    """Title, axes, labels and the sentence are there, filled in, and the sentence is one to three sentences long."""
    words = Words(attention().texts)
    items = [item for one in criteria(name, function).values() for item in one.finding.evidence]
    pictures = [item for item in items if isinstance(item, (Chart, Orders))]

    assert items
    for item in pictures:
        parts = ("title", "x", "y", "says") if isinstance(item, Chart) else ("title", "first", "second", "says")
        texts = {part: bare(words.rich(f"{item.id}.{part}", item.params)) for part in parts}
        labels = [bare(words.rich(key)) for key in item.labels] if isinstance(item, Chart) else []
        assert all(texts.values())
        assert all(labels)
        assert "{" not in "".join([*texts.values(), *labels])
        assert len(re.findall(r"[.:;?](?:\s|$)", texts["says"])) <= 5
        assert len(texts["says"].split()) <= 60


@pytest.mark.parametrize("name, function", WRONG)
def test_pictures_are_small_and_the_same_every_time(name: str, function: Function) -> None:
    """Judged again, the numbers are the same; there are few of them, with at most four digits and a point."""
    first, again = (
        [item for one in criteria(name, function, 7).values() for item in one.finding.evidence] for _ in range(2)
    )

    assert first == again
    for item in first:
        if isinstance(item, Chart):
            numbers = [value for line in item.lines for value in line.y]
            numbers += [value for band in item.all_bands for value in (*band.low, *band.high)]
            assert len(numbers) <= 40
            assert all(float(f"{value:.5g}") == value for value in numbers)


@pytest.mark.parametrize(
    "name, function, shown",
    [
        pytest.param("softmax", softmax, [], id="softmax"),
        pytest.param("scaled_dot_product_attention", attend, ["Comparison"], id="attention"),
        pytest.param("measure_variance", variances, ["variance.chart"], id="variance"),
        pytest.param("entropy_sweep", entropies, ["entropy.chart"], id="entropy"),
        pytest.param(
            "compare_rankings",
            lambda d_k=256, n_keys=8, seed=42: orders(*(scores_of(seed, d_k, n_keys),) * 2),
            [],
            id="ranking",
        ),
    ],
)
def test_what_is_right_shows_its_own_result_at_most(name: str, function: Function, shown: list[str]) -> None:
    """The weights, the measurements and the sweep, which the exercises are for; no difference, no cost, no bars."""
    found = criteria(name, function)
    items = [item for one in found.values() for item in one.finding.evidence]

    assert all(one.cents == one.max_cents for one in found.values())
    assert [getattr(item, "id", type(item).__name__) for item in items] == shown
    assert all(item.bars == "" and item.differing == 0 for item in items if isinstance(item, Comparison))


def test_a_softmax_is_drawn_along_its_axis() -> None:
    """Rows along the last axis, columns along the one before it; what is larger than a block has no whole ones."""
    (rows,) = evidence(criteria("softmax", lambda x, axis=-1: softmax(x * 1.5, axis)), "values")
    fixed = criteria("softmax", lambda x, axis=-1: softmax(x, -1))
    (columns,) = evidence(fixed, "axis")
    assert isinstance(rows, Comparison)
    assert isinstance(columns, Comparison)

    assert (rows.bars, rows.yours.shape) == ("rows", (2, 3))
    assert (columns.bars, columns.yours.shape) == ("columns", (3, 5))


def test_a_missing_scale_is_shown_with_its_cost() -> None:
    """The largest weight climbs and its gradient goes, while scaled both stay; the numbers are the experiment's."""
    shown = chart(criteria("scaled_dot_product_attention", scaled_by(lambda d: 1.0)), "weights")
    largest, largest_scaled, gradient, gradient_scaled = (line.y for line in shown.lines)

    assert shown.id == "attention.cost"
    assert shown.lines[0].x == (4, 16, 64, 256)
    assert sorted(largest) == list(largest)
    assert sorted(gradient, reverse=True) == list(gradient)
    assert max(largest_scaled) - min(largest_scaled) < 0.04
    assert max(gradient_scaled) - min(gradient_scaled) < 0.02
    rng = np.random.default_rng(99)
    p = np.array([softmax(rng.standard_normal((8, 256)) @ rng.standard_normal(256)).max() for _ in range(1000)])
    assert largest[-1] == pytest.approx(p.mean(), abs=0.03)
    assert gradient[-1] == pytest.approx((p * (1 - p)).mean(), abs=0.02)


@pytest.mark.parametrize(
    "scale, shown",
    [
        pytest.param(lambda d: 1 / 8, "attention.cost", id="that of one width for all"),
        pytest.param(lambda d: d**-0.25, "attention.cost", id="half of it"),
        pytest.param(lambda d: d**-1.0, "attention.cost_flat", id="twice"),
        pytest.param(lambda d: d**-0.5 * 1.02, "", id="nearly right"),
        pytest.param(lambda d: 1 / (1 + math.log(d)), "", id="no power of d_k"),
        pytest.param(lambda d: -(d**-0.5), "", id="of the other sign"),
    ],
)
def test_the_cost_follows_the_scale_that_was_measured(scale: Callable[[int], float], shown: str) -> None:
    """A law of the scale is drawn, whatever its power; where none was measured or little changes, nothing is."""
    items = evidence(criteria("scaled_dot_product_attention", scaled_by(scale)), "weights")

    assert [item.id for item in items if isinstance(item, Chart)] == [shown] * bool(shown)


def test_wrong_weights_that_are_no_softmax_have_no_cost() -> None:
    """Nothing is told of a scale that can't be measured."""
    items = evidence(criteria("scaled_dot_product_attention", attention_of(lambda out, w: (out, w**2))), "weights")

    assert not [item for item in items if isinstance(item, Chart)]


def test_the_variances_stand_among_their_bands() -> None:
    """Yours over all widths that were asked, theory as laws, and bands that hold an honest measurement."""
    honest, wrong = (chart(criteria("measure_variance", f), "raw") for f in (variances, deviations))
    raw, scaled, theory, one = honest.lines
    (raw_band, scaled_band) = honest.all_bands

    assert raw.x == (3, 5, 7, 60, 1024)
    assert [line.role for line in honest.lines] == ["yours", "yours", "reference", "reference"]
    assert (theory.y, one.y) == ((3, 1024), (1, 1))
    for line, band, law in ((raw, raw_band, raw.x), (scaled, scaled_band, (1,) * 5)):
        inside = [low <= value <= high for value, low, high in zip(line.y, band.low, band.high, strict=True)]
        assert sum(inside) >= 3
        assert all(low < middle < high for middle, low, high in zip(law, band.low, band.high, strict=True))
    assert wrong.lines[0].y[-1] < raw_band.low[-1]


def test_wrong_entropies_stand_beside_those_of_the_draws() -> None:
    """Bits lie inside the band, so that only the entropies of the draws show what is wrong."""
    honest, wrong = (chart(criteria("entropy_sweep", f), "draws") for f in (entropies, bits))
    yours, drawn = wrong.lines

    assert [line.label for line in honest.lines] == ["entropy.chart.yours"]
    assert wrong.id == "entropy.compared"
    assert drawn.x == yours.x
    assert np.allclose(np.array(yours.y) * math.log(2), drawn.y, atol=1e-3)
    assert honest.band == wrong.band


def test_orders_that_part_stand_side_by_side() -> None:
    """Both orders where they differ; beside the order of the draws where they aren't theirs."""
    (parted,) = evidence(criteria("compare_rankings", one_descending), "equal")
    (drawn,) = evidence(criteria("compare_rankings", index_list), "draws")
    assert isinstance(parted, Orders)
    assert isinstance(drawn, Orders)

    assert parted.first == parted.second[::-1]
    assert parted.params == (("equal", 0), ("n", 8), ("place", 1))
    assert drawn.first == tuple(range(8))
    assert sorted(drawn.second) == list(range(8))
    assert dict(drawn.params)["equal"] == sum(a == b for a, b in zip(drawn.first, drawn.second, strict=True))


@pytest.mark.parametrize("widths, n", [((4, 16, 64, 256), 8), ((3, 10), 8), ((6, 7, 12), 5)])
def test_ninety_of_a_hundred_honest_draws_lie_in_the_band(widths: tuple[int, ...], n: int) -> None:
    """Below the band lie as many of a query's own draws as above it, whatever the widths and the number of keys."""
    drawn = entropy.band(widths, n)
    rng = np.random.default_rng(12)

    assert drawn.x == widths
    for d, low, high in zip(widths, drawn.low, drawn.high, strict=True):
        scores = np.einsum("rnd,rd->rn", rng.standard_normal((3000, n, d)), rng.standard_normal((3000, d)))
        honest = oracle.entropy(scores)
        assert np.mean(honest < low - 1e-9) == pytest.approx(0.05, abs=0.02) or low == 0
        assert np.mean(honest > high) == pytest.approx(0.05, abs=0.02)


def test_a_single_width_has_its_point_on_both_laws() -> None:
    """Where one width alone was asked for, the laws are drawn over the lesson's widths too: a line needs two ends."""
    (measured,) = [item for item in evidence(criteria("measure_variance", variances), "raw") if isinstance(item, Chart)]

    assert measured.lines[2].x == (measured.lines[0].x[0], measured.lines[0].x[-1])
    assert laws([1024, 1024]) == (4, 1024)
    assert laws([3]) == (3, 256)
    assert laws([16, 64]) == (16, 64)
