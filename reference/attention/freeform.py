"""Answers without a function: what a notebook's cells left in variables, printed and drew, as the lesson words it.

Variables of the lesson's names count fully, printed numbers with half a unit of their last digit. What the draws
explain is right; what can't be tied to draws passes with a review, or doesn't pass.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from grader.api import (
    CellSeen,
    Drawn,
    Finding,
    Note,
    Pairs,
    Status,
    product_variance_interval,
)

from . import accident, explain
from .misconceptions import BOOK
from .rates import COINCIDENCE, INTERVAL
from .reading import forms_of

__all__ = ["read_entropy", "read_ranking", "read_variance"]

MIN_SAMPLES = 500
MAX_SAMPLES = 1_000_000
"""No memory holds more; a record that claims more would only make the interval slow to compute."""

VALUE_TOLERANCE = 1e-6
WIDTHS = (4, 16, 64, 256)
KEYS = 8


class Shown(NamedTuple):
    """A number that a cell shows: its tolerance, and whether it stands in a variable of the lesson's name."""

    value: float
    tolerance: float
    named: bool = False


def _windows(cells: Sequence[CellSeen]) -> Iterator[tuple[CellSeen, ...]]:
    """Yield each cell alone, the last first, then each with the one before it: draws and answer may be apart."""
    for cell in reversed(cells):
        yield (cell,)
    yield from reversed(list(itertools.pairwise(cells)))


def _drawn(window: Sequence[CellSeen]) -> tuple[Drawn, ...]:
    return tuple(item for cell in window for item in cell.drawn or ())


MAX_SHOWN, MAX_OTHERS = 2_000, 256
MAX_NAMING = 64
"""Among more numbers than these, some mistake's four values may stand by accident."""


def _shown(window: Sequence[CellSeen], lesson_names: Sequence[str]) -> list[Shown]:
    """Return the numbers of variables, of the shown last line and of the printed text; the lesson's names come first.

    Of other variables only so many count that no four of them fit by accident.
    """
    found: list[Shown] = []
    others: list[Shown] = []
    for cell in window:
        for name, value in cell.names.items():
            named = name in lesson_names
            numbers = [Shown(number, VALUE_TOLERANCE * max(1.0, abs(number)), named) for number in _flat(value)]
            if named or name == "_":
                found += numbers
            else:
                others += numbers
        found += [Shown(n.value, n.half_unit + 1e-9) for n in cell.numbers]
    return [*found[:MAX_SHOWN], *others[:MAX_OTHERS]]


def _flat(value: object) -> list[float]:
    """Return the numbers of a scalar, sequence, mapping or small array."""
    if isinstance(value, (bool, np.bool_)):
        return []
    if isinstance(value, (int, float, np.integer, np.floating)):
        try:
            return [float(value)]
        except OverflowError:
            # Python's whole numbers have no largest one; doubles have.
            return []
    if isinstance(value, np.ndarray):
        return [float(x) for x in value.ravel()] if value.dtype.kind in "iuf" and value.size <= 64 else []
    if isinstance(value, Pairs):
        value = [item for _, item in value]
    if isinstance(value, (list, tuple)) and len(value) <= 64:
        return [number for item in value for number in _flat(item)]
    return []


def _has(shown: Sequence[Shown], value: float) -> bool:
    return any(abs(item.value - value) <= item.tolerance for item in shown)


def _review(text: str) -> tuple[Note, ...]:
    return (Note(text=text, audience="instructor", kind="review"),)


# ---------------------------------------------------------------------- exercise 1


def read_variance(cells: Sequence[CellSeen], d: int = 1024) -> Iterator[Finding]:
    """Judge exercise 1: both variances at d_k = 1024."""
    best: tuple[int, bool, bool, str] | None = None
    for window in _windows(cells):
        shown = _shown(window, ("raw_var", "scaled_var"))
        shapes = [step.shape for cell in window for step in cell.steps for _ in range(min(step.count, 4))]
        n = min(MAX_SAMPLES, max((shape[0] for shape in shapes if len(shape) == 2 and shape[1] == d), default=0))
        for raw, scaled in _replayed(window, d):
            if _has(shown, raw):
                found = (2, True, _has(shown, scaled), "replayed")
                best = found if best is None or found[2] else best
        if best is not None and best[0] == 2 and best[2]:
            break
        low, high = product_variance_interval(INTERVAL, max(n, MIN_SAMPLES), d)
        near_raw = [s for s in shown if low * d <= s.value <= high * d and abs(s.value - d) > 1e-6]
        near_one = [s for s in shown if low <= s.value <= high and abs(s.value - 1) > 1e-9]
        # Two numbers of one measurement: their ratio is d_k, to the digits that are shown.
        pairs = [
            (r, s) for r in near_raw for s in near_one if abs(r.value / d - s.value) <= r.tolerance / d + s.tolerance
        ]
        if pairs and best is None and n >= MIN_SAMPLES:
            named = any(r.named and s.named for r, s in pairs)
            best = (1, True, True, "" if named else "variance.cells.review")
        elif near_raw and best is None and n >= MIN_SAMPLES:
            best = (0, True, False, "")
    if best is None:
        yield from _attempt(cells, "variance", ("measured", "raw", "scaled"), d)
        return
    _, raw_right, scaled_right, text = best
    notes = _review(text) if text == "variance.cells.review" else ()
    yield Finding(criterion="variance/measured", status=Status.PASSED, notes=notes)
    yield Finding(criterion="variance/raw", status=Status.PASSED if raw_right else Status.FAILED)
    yield (
        Finding(criterion="variance/scaled", status=Status.PASSED)
        if scaled_right
        else Finding(criterion="variance/scaled", status=Status.FAILED, text="variance.cells.scaled")
    )


def _replayed(window: Sequence[CellSeen], d: int) -> Iterator[tuple[float, float]]:
    """Yield the variances that the draws give, in every documented form."""
    wide = [item for item in _drawn(window) if item.shape and item.shape[-1] == d]
    for start in range(len(wide) + 1):
        part = wide[start : start + 2] if start < len(wide) else wide
        if sum(item.values.size for item in part) > explain.MAX_CELLS or not part:
            continue
        for _, Q, K in explain.score_sets(part, d):
            if len(Q) >= MIN_SAMPLES:
                for _, variance in explain.variances(Q, K, len(Q)):
                    yield variance, variance / d


# ---------------------------------------------------------------------- exercise 2


def read_entropy(cells: Sequence[CellSeen]) -> Iterator[Finding]:
    """Judge exercise 2: the entropy at each of the four widths."""
    best: list[float | None] = [None] * len(WIDTHS)
    named, looked = "", 0
    for window in _windows(cells):
        drawn = _drawn(window)
        if not explain.trustworthy(drawn):
            continue
        looked += 1
        shown = _shown(window, ("entropies",))
        numbers = [(item.value, item.tolerance) for item in shown]
        found = [accident.of_entropy(numbers, *explain.entropies(drawn, d, KEYS), d, KEYS) for d in WIDTHS]
        if (found.count(None), _together(found)) < (best.count(None), _together(best)):
            best = found
        if None not in best and looked * _together(best) <= COINCIDENCE:
            break
        named = named or _named_entropy(drawn, shown)
    chance = looked * _together(best)
    # With so many numbers, or so many draws, some agree whatever they are: that shows nothing.
    found_any, found_all = best.count(None) < len(WIDTHS), None not in best
    doubtful = found_any and chance > accident.DOUBTFUL
    good = [one is not None and not doubtful for one in best]
    notes = _review("entropy.cells.review") if doubtful or (found_all and chance > COINCIDENCE) else ()
    if not any(good) and not named:
        yield from _attempt(cells, "entropy", ("draws", "arguments"), WIDTHS[-1], notes)
        return
    texts = f"misconception.{named}.text" if named else "entropy.cells.some"
    yield (
        Finding(criterion="entropy/draws", status=Status.PASSED, notes=notes)
        if all(good)
        else Finding(
            criterion="entropy/draws",
            status=Status.FAILED,
            share=(3 * good.count(True), 12),
            text=texts,
            params=(
                ("count", good.count(False)),
                ("widths", ", ".join(str(d) for d, right in zip(WIDTHS, good, strict=True) if not right)),
            ),
            misconceptions=(named,) if named else (),
            notes=notes,
        )
    )
    yield Finding(criterion="entropy/arguments", status=Status.PASSED)


def _together(chances: Sequence[float | None]) -> float:
    """Return the chance that all of them happened by accident."""
    return math.prod(chance for chance in chances if chance is not None)


def _named_entropy(drawn: Sequence[Drawn], shown: Sequence[Shown]) -> str:
    """Name the misconception of which all four values are shown, if so few are that this is no coincidence."""
    if len(shown) > MAX_NAMING:
        return ""
    scores = {}
    for d in WIDTHS:
        pairs = explain.query_key_pairs(drawn, d, KEYS)[:KEYS]
        if not pairs:
            return ""
        scores[d] = np.array([k @ q for q, k in pairs])
    numbers = [Shown(s.value, s.tolerance) for s in shown]
    found = []
    for entry in BOOK:
        if entry.target != "entropy/draws":
            continue
        with np.errstate(all="ignore"):
            try:
                answers = [list(entry.predict(scores[d], scores[WIDTHS[-1]], d, KEYS)) for d in WIDTHS]
            except Exception:  # noqa: BLE001 - a wrong reference may fail on what was drawn
                answers = [[]]
        if _each_shown(numbers, answers):
            found.append(entry.id)
    return found[0] if len(found) == 1 else ""


def _each_shown(shown: Sequence[Shown], answers: Sequence[Sequence[float]]) -> bool:
    """Whether each width has a number of its own among those shown: one that is right can't stand for all four."""
    left = list(shown)
    for values in answers:
        near = (s for s in left if any(np.isfinite(a) and abs(s.value - a) <= s.tolerance for a in values))
        match = next(near, None)
        if match is None:
            return False
        left.remove(match)
    return True


# ---------------------------------------------------------------------- exercise 3


def read_ranking(cells: Sequence[CellSeen], d: int = 256) -> Iterator[Finding]:
    """Judge exercise 3: two equal orders of the positions, or the conclusion drawn from real ones."""
    conclusion = False
    wrong: tuple[str, str] | None = None
    for window in _windows(cells):
        drawn = _drawn(window)
        if not explain.exact_pairs(drawn, d, KEYS) and not explain.query_key_pairs(drawn, d, KEYS):
            continue
        found, tried = explain.orders(drawn, d, KEYS)
        orders = _orders(window)
        for at, order in enumerate(found[:64], start=1):
            forms = [tuple(map(int, form)) for form in forms_of(order).values()]
            seen = [o for o in orders if o in forms]
            if accident.of_order(len(set(orders)), at * len(forms), KEYS) > accident.DOUBTFUL:
                # Of so many orders one fits whatever was drawn.
                conclusion = conclusion or len(seen) >= 2
                break
            if len(seen) >= 2 and tried <= 64:
                yield Finding(criterion="ranking/draws", status=Status.PASSED)
                yield Finding(criterion="ranking/equal", status=Status.PASSED)
                yield Finding(criterion="ranking/form", status=Status.PASSED)
                return
            others = [o for o in orders if o not in forms]
            if seen and others:
                wrong = (" ".join(map(str, seen[0])), " ".join(map(str, others[0])))
        text = "\n".join(cell.source for cell in window)
        says = any("True" in cell.printed or _true(cell.names.values()) for cell in window)
        asserts = re.search(r"^\s*assert\b", text, re.MULTILINE) is not None and all(
            cell.outcome.kind == "returned" for cell in window
        )
        if re.search(r"argsort|argmax|sorted|rankdata", text) and (says or asserts):
            conclusion = True
    if conclusion:
        notes = _review("ranking.cells.review")
        yield Finding(criterion="ranking/draws", status=Status.PASSED, notes=notes)
        yield Finding(criterion="ranking/equal", status=Status.PASSED, notes=notes)
        yield Finding(criterion="ranking/form", status=Status.PASSED)
    elif wrong is not None:
        params = (("first", wrong[0]), ("second", wrong[1]))
        yield Finding(criterion="ranking/draws", status=Status.PASSED)
        yield Finding(criterion="ranking/equal", status=Status.FAILED, text="ranking.equal.differ", params=params)
        yield Finding(criterion="ranking/form", status=Status.PASSED)
    else:
        yield from _attempt(cells, "ranking", ("draws", "equal", "form"), d)


def _orders(window: Sequence[CellSeen]) -> list[tuple[int, ...]]:
    """Return every permutation of the positions that stands in a variable or was printed."""
    found = []
    for cell in window:
        for value in cell.names.values():
            items = (
                value
                if isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple, np.ndarray))
                else [value]
            )
            for item in items:
                numbers = _flat(item)
                if sorted(numbers) == list(range(KEYS)):
                    found.append(tuple(int(number) for number in numbers))
        text = re.sub(r"[^\d]+", " ", cell.printed)
        digits = [int(part) for part in text.split() if len(part) <= 3][:4_000]
        at = 0
        while at + KEYS <= len(digits):
            part = digits[at : at + KEYS]
            if sorted(part) == list(range(KEYS)):
                found.append(tuple(part))
                at += KEYS
            else:
                at += 1
    return found


def _true(values: Iterable[object]) -> bool:
    return any(item is True or (isinstance(item, np.bool_) and bool(item)) for item in values)


# ---------------------------------------------------------------------- not shown


def _attempt(
    cells: Sequence[CellSeen], task: str, criteria: Sequence[str], d: int, notes: tuple[Note, ...] = ()
) -> Iterator[Finding]:
    """Say that nothing fits, if a cell tried the exercise; say nothing if none did."""
    words = {"variance": r"\bvar\(|\bvar_|_var\b", "entropy": r"entrop", "ranking": r"argsort"}[task]
    tried = [
        cell for cell in cells
        if re.search(words, cell.source) and (str(d) in cell.source or cell.names or cell.printed)
        and not re.search(r"^\s*def ", cell.source, re.MULTILINE)
    ]  # fmt: skip
    if not tried:
        return
    params = (("cell", tried[-1].number),)
    for criterion in criteria:
        first = criterion == criteria[0]
        yield Finding(
            criterion=f"{task}/{criterion}",
            status=Status.FAILED,
            text=f"{task}.cells.not_shown" if first else "",
            params=params if first else (),
            notes=notes if first else (),
        )
