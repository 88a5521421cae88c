"""What cells show, judged without a notebook: verdict, share, text and review of each criterion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from grader.core.cells import CellSeen
from grader.core.values import to_value
from grader.model import Array, Draws, Finding, Outcome, OutcomeKind, Status, Step
from reference.attention.freeform import read_entropy, read_ranking, read_variance

RNG = np.random.default_rng(11)
WIDE = 64  # in place of 1024: quicker, and the same to the judge


def cell(
    source: str = "",
    *,
    names: dict[str, Any] | None = None,
    stdout: str = "",
    drawn: Sequence[Any] = (),
    kept: bool = True,
    kind: OutcomeKind = "returned",
) -> CellSeen:
    """Return a cell that left, printed and drew this; with ``kept`` false only the shapes of the draws are known."""
    steps = tuple(Step(source=0, method="standard_normal", args=(), shape=a.shape, dtype="f8") for a in drawn)
    values = to_value(np.concatenate([a.ravel() for a in drawn])) if drawn and kept else None
    draws = Draws(steps=steps, values=values if isinstance(values, Array) else None)
    left = tuple((name, to_value(value)) for name, value in (names or {}).items())
    return CellSeen(3, source, Outcome(call="load/3", kind=kind, names=left, stdout=stdout, draws=draws))


def verdicts(findings: Iterable[Finding]) -> dict[str, str]:
    """Say each criterion in one word and what goes with it."""
    return {
        one.criterion.partition("/")[2]: " ".join(
            [
                one.status.value,
                *(["{}/{}".format(*one.share)] if one.share[0] else []),
                *([one.text] if one.text else []),
                *(f"+{note.text}" for note in one.notes),
            ]
        )
        for one in findings
    }


# ---------------------------------------------------------------------- exercise 1

Q, K = RNG.standard_normal((2, 700, WIDE))
S = (Q * K).sum(1)
RAW, SCALED = float(S.var()), float((S / 8).var())
FEW = float(S[:400].var())
LESSON = {"raw_var": RAW, "scaled_var": SCALED}
OTHER = {"a": RAW, "b": SCALED}
ALL = {"measured": "passed", "raw": "passed", "scaled": "passed"}
REVIEW = {**ALL, "measured": "passed +variance.cells.review"}
ONLY_RAW = {**ALL, "scaled": "failed variance.cells.scaled"}
NOT_SHOWN = {"measured": "failed variance.cells.not_shown", "raw": "failed", "scaled": "failed"}
VAR = f"s.var() # {WIDE}"


@pytest.mark.parametrize(
    "cells, expected",
    [
        pytest.param([cell(names=LESSON, drawn=[Q, K])], ALL, id="the lesson's names"),
        pytest.param([cell(names=OTHER, drawn=[Q, K])], ALL, id="other names"),
        pytest.param([cell(stdout=f"{RAW:.2f} {SCALED:.3f}", drawn=[Q, K])], ALL, id="printed"),
        pytest.param([cell(drawn=[Q, K]), cell(names=OTHER)], ALL, id="in the next cell"),
        pytest.param([cell(names=OTHER, drawn=[np.array(0.5), Q[0], Q, K])], ALL, id="after other draws"),
        pytest.param(
            [cell(names=OTHER, drawn=[np.array(0.5), Q[0], Q, K], kept=False)], REVIEW, id="unknown, after others"
        ),
        pytest.param(
            [cell(drawn=[Q, K]), cell(), cell(VAR, names=OTHER)], NOT_SHOWN, id="too far from the draws"
        ),
        pytest.param([cell(names={"a": RAW}, drawn=[Q, K])], ONLY_RAW, id="raw only"),
        pytest.param([cell(names={"a": RAW, "b": RAW / WIDE**2}, drawn=[Q, K])], ONLY_RAW, id="divided twice"),
        pytest.param(
            [cell(names=OTHER, drawn=[Q, K]), cell(names={"a": RAW}, drawn=[Q, K])], ALL, id="the better of two cells"
        ),
        pytest.param(
            [cell(names={"a": RAW}, drawn=[Q, K]), cell(names=OTHER, drawn=[Q, K])], ALL, id="the later of two cells"
        ),
        pytest.param([cell(names=LESSON, drawn=[Q, K], kept=False)], ALL, id="numbers of the draws unknown"),
        pytest.param([cell(names=OTHER, drawn=[Q, K], kept=False)], REVIEW, id="unknown, other names"),
        pytest.param(
            [cell(names={"raw_var": RAW, "b": SCALED}, drawn=[Q, K], kept=False)], REVIEW, id="unknown, one name"
        ),
        pytest.param(
            [cell(stdout=f"{RAW:.2f} {SCALED:.3f}", drawn=[Q, K], kept=False)], REVIEW, id="unknown, printed"
        ),
        pytest.param(
            [cell(names={"a": RAW, "b": SCALED * 1.1}, drawn=[Q, K], kept=False)], ONLY_RAW, id="unknown, no pair"
        ),
        pytest.param([cell(VAR, names={"a": FEW}, drawn=[Q[:400], K[:400]])], NOT_SHOWN, id="too few samples"),
        pytest.param(
            [cell(VAR, names=LESSON, drawn=[Q[:400], K[:400]], kept=False)], NOT_SHOWN, id="unknown and too few"
        ),
        pytest.param([cell(VAR, names=LESSON)], NOT_SHOWN, id="nothing drawn"),
        pytest.param(
            [cell(VAR, names={"raw_var": float(WIDE), "scaled_var": 1.0}, drawn=[Q, K])], NOT_SHOWN, id="theory"
        ),
        pytest.param(
            [cell(VAR, names={"a": RAW**0.5, "b": SCALED**0.5}, drawn=[Q, K])], NOT_SHOWN, id="standard deviations"
        ),
        pytest.param([cell("x = 1", names={"x": 1})], {}, id="something else"),
        pytest.param([cell(f"def f():\n    {VAR}", stdout="64")], {}, id="only a function"),
        pytest.param([], {}, id="no cell"),
    ],
)  # fmt: skip
def test_variances_in_cells(cells: list[CellSeen], expected: dict[str, str]) -> None:
    """Known draws decide; else lesson's names count, other numbers ask for a review, and theory is no measurement."""
    assert verdicts(read_variance(cells, WIDE)) == expected


# ---------------------------------------------------------------------- exercise 2

PAIRS = [(RNG.standard_normal(d), RNG.standard_normal((8, d))) for d in (4, 16, 64, 256)]
SWEEP = [a for pair in PAIRS for a in pair]


def shares(scores: Any) -> Any:
    """Return the softmax of the scores."""
    e = np.exp(scores - scores.max())
    return e / e.sum()


def entropy(p: Any) -> float:
    """Return the lesson's entropy."""
    return float(-(p * np.log(p + 1e-12)).sum())


H = [entropy(shares(keys @ q)) for q, keys in PAIRS]
SCALED_H = [entropy(shares(keys @ q / np.sqrt(len(q)))) for q, keys in PAIRS]


@pytest.mark.parametrize(
    "cells, expected, widths",
    [
        pytest.param([cell(names={"entropies": H}, drawn=SWEEP)], "passed", "", id="named"),
        pytest.param([cell(names={"h": np.array(H)}, drawn=SWEEP)], "passed", "", id="an array"),
        pytest.param([cell(stdout=" ".join(f"{h:.4f}" for h in H), drawn=SWEEP)], "passed", "", id="printed"),
        pytest.param([cell(drawn=SWEEP), cell(names={"h": H})], "passed", "", id="in the next cell"),
        pytest.param(
            [cell(names={"h": [*H[:2], 1.9, H[3]]}, drawn=SWEEP)], "failed 9/12 entropy.cells.some", "64", id="one off"
        ),
        pytest.param(
            [cell(names={"h": [2.0, *H[1:3], 2.0]}, drawn=SWEEP)], "failed 6/12 entropy.cells.some", "4, 256",
            id="two off",
        ),
        pytest.param(
            [cell(names={"h": [h / np.log(2) for h in H]}, drawn=SWEEP)],
            "failed misconception.entropy_base2.text", "4, 16, 64, 256", id="bits",
        ),
        pytest.param(
            [cell(names={"h": SCALED_H}, drawn=SWEEP)],
            "failed misconception.entropy_scaled.text", "4, 16, 64, 256", id="of scaled scores",
        ),
        pytest.param(
            [cell(names={"h": [H[3]] * 4}, drawn=SWEEP)],
            "failed 3/12 misconception.entropy_one_width.text", "4, 16, 64", id="one width four times",
        ),
        pytest.param(
            [cell("entropies = h", names={"h": H}, drawn=[np.ones(3)])], "failed entropy.cells.not_shown", "",
            id="typed",
        ),
    ],
)  # fmt: skip
def test_entropies_in_cells(cells: list[CellSeen], expected: str, widths: str) -> None:
    """Each width that the draws give is worth a quarter; a mistake that all four show is named."""
    draws, arguments = read_entropy(cells)

    assert verdicts([draws]) == {"draws": expected}
    assert dict(draws.params).get("widths", "") == widths
    assert (arguments.status is Status.PASSED) == ("not_shown" not in expected)


GRID = np.linspace(0.001, 2.0, 64)
MANY = [RNG.standard_normal(a.shape) for _ in range(20) for a in SWEEP]
ZERO = [RNG.standard_normal((1, 1024)) for _ in range(30)]


@pytest.mark.parametrize(
    "cells, expected, review",
    [
        pytest.param(
            [cell("entropies", stdout=" ".join(f"{x:.3f}" for x in GRID), drawn=MANY)],
            "failed entropy.cells.not_shown +entropy.cells.review", True, id="few digits, many draws",
        ),
        pytest.param(
            [cell("entropies", names={f"e_{i}": GRID / 64 + i / 32 - 0.001 / 64 for i in range(64)}, drawn=ZERO)],
            "failed entropy.cells.not_shown +entropy.cells.review", True, id="a grid, 0 among it",
        ),
        pytest.param(
            [cell(names={f"e_{i}": [x, 2 - x] for i, x in enumerate(GRID)} | {"entropies": H}, drawn=SWEEP)],
            "passed", False, id="right ones among many",
        ),
        pytest.param(
            [cell(stdout=" ".join(f"{x:.3f}" for x in [*H, *GRID[20:50]]), drawn=MANY[:16] + SWEEP)],
            "passed +entropy.cells.review", True, id="right ones of few digits among others",
        ),
    ],
)  # fmt: skip
def test_entropies_that_agree_by_accident(cells: list[CellSeen], expected: str, review: bool) -> None:
    """Of many numbers some agree with some of many draws: that is worth nothing, or passes with a review."""
    draws, _ = read_entropy(cells)

    assert verdicts([draws]) == {"draws": expected}
    assert any(note.kind == "review" for note in draws.notes) == review


def test_no_entropy_in_cells() -> None:
    """A notebook that never tried has no verdict."""
    assert list(read_entropy([cell("x = 1", names={"x": 1.5})])) == []


# ---------------------------------------------------------------------- exercise 3

TOP = PAIRS[3]
ORDER = np.argsort(TOP[1] @ TOP[0])
REST = np.roll(ORDER, 3)
EQUAL = {"draws": "passed", "equal": "passed", "form": "passed"}
DIFFER = {**EQUAL, "equal": "failed ranking.equal.differ"}
CLAIMED = {
    "draws": "passed +ranking.cells.review", "equal": "passed +ranking.cells.review", "form": "passed"
}  # fmt: skip
NO_ORDER = {"draws": "failed ranking.cells.not_shown", "equal": "failed", "form": "failed"}
OTHERS = {f"o{i}": RNG.permutation(8) for i in range(20)}
SHOTS = [RNG.permutation(8) for _ in range(200)]
TESTS = "np.array_equal(np.argsort(a), np.argsort(b)) # 256"


@pytest.mark.parametrize(
    "cells, expected",
    [
        pytest.param([cell(names={"a": ORDER, "b": ORDER}, drawn=TOP)], EQUAL, id="two names"),
        pytest.param([cell(names={"a": (ORDER, ORDER)}, drawn=TOP)], EQUAL, id="a pair"),
        pytest.param([cell(stdout=f"{ORDER}\n{ORDER}", drawn=TOP)], EQUAL, id="printed"),
        pytest.param([cell(stdout=f"256 8 {ORDER} then {ORDER}", drawn=TOP)], EQUAL, id="printed among others"),
        pytest.param([cell(names={"a": ORDER[::-1], "b": ORDER[::-1]}, drawn=TOP)], EQUAL, id="from the largest"),
        pytest.param([cell(drawn=TOP), cell(names={"a": ORDER, "b": ORDER})], EQUAL, id="in the next cell"),
        pytest.param([cell(names={"a": ORDER, "b": REST}, drawn=TOP)], DIFFER, id="only one right"),
        pytest.param([cell(TESTS, stdout="True", drawn=TOP)], CLAIMED, id="the conclusion printed"),
        pytest.param([cell(TESTS, names={"same": True}, drawn=TOP)], CLAIMED, id="the conclusion named"),
        pytest.param([cell(TESTS, names={"same": np.True_}, drawn=TOP)], CLAIMED, id="NumPy's True"),
        pytest.param([cell(f"assert {TESTS}", drawn=TOP)], CLAIMED, id="the conclusion asserted"),
        pytest.param([cell(f"assert {TESTS}", drawn=TOP, kind="raised")], NO_ORDER, id="an assertion that failed"),
        pytest.param([cell(TESTS, names={"same": False}, drawn=TOP)], NO_ORDER, id="the wrong conclusion"),
        pytest.param([cell("print(True)", stdout="True", drawn=TOP)], {}, id="a claim about nothing"),
        pytest.param([cell(TESTS, stdout="True")], NO_ORDER, id="a claim without draws"),
        pytest.param([cell(TESTS, names={"a": REST, "b": REST}, drawn=TOP)], NO_ORDER, id="both wrong"),
        pytest.param([cell(TESTS, names={"a": ORDER}, drawn=TOP)], NO_ORDER, id="one order"),
        pytest.param([cell(names={"a": ORDER, "b": ORDER, **OTHERS}, drawn=TOP)], EQUAL, id="two of a few"),
        pytest.param(
            [cell(TESTS, stdout="\n".join(f"{o} {o}" for o in [*SHOTS, ORDER]), drawn=TOP)],
            CLAIMED,
            id="two of very many",
        ),
        pytest.param(
            [cell(TESTS, stdout="\n".join(f"{o}" for o in [*SHOTS, ORDER]), drawn=TOP)], NO_ORDER, id="one of very many"
        ),
    ],
)
def test_orders_in_cells(cells: list[CellSeen], expected: dict[str, str]) -> None:
    """Two right orders are right; a conclusion that was tested asks for a review; one order shows nothing."""
    found = list(read_ranking(cells))

    assert verdicts(found) == expected
    if expected == DIFFER:
        assert dict(found[1].params) == {"first": " ".join(map(str, ORDER)), "second": " ".join(map(str, REST))}
