"""Failures that no misconception explains, grouped by what is wrong in the same way.

Every submission has inputs of its own, so two copies of one mistake never give the same numbers. What they do share is
compared: which criterion fails beside which others, the message, an exception's text without its numbers, a wrong shape
written with letters, and how the wrong numbers relate to the right ones. An instructor names such a group once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from grader.core.values import to_python
from grader.model import Array, Chart, Comparison, CriterionResult, Finding, Params, Result, Status, Table

__all__ = ["fingerprint", "group_id", "unexplained"]

Doubles = npt.NDArray[np.float64]

NEAR = 1e-6
"""How near two numbers have to be, relative to the larger, to count as the same for a pattern."""

LOOSE = 1e-5
"""The same for logarithms and squares of such numbers, which lose a digit."""

MOST_BELOW = 64
"""Denominator of a squared power: lengths of arrays and their ratios lie below."""

SURE = 1e-2
"""How well a factor between two columns has to be known, as a part of itself."""

MIN_ROWS = 3
"""Of a table, for its columns to have anything in common but by chance."""

FEW_DIGITS = 4
"""What has no more decimals than this, everywhere, was rounded."""

_NUMBER = re.compile(r"0x[0-9a-f]+|(?<![A-Za-z_])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
_SHAPE = re.compile(r"\(\d*(?:, ?\d+)*,?\)")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters and digits that nobody mistakes for one another."""

ID_LENGTH = 6


def unexplained(result: Result) -> tuple[tuple[str, str], ...]:
    """Return ``(criterion id, group)`` of each task that fails without a misconception that explains it.

    One entry stands for a task: what else fails in it is most often the same mistake, and is part of the fingerprint.

    Args:
        result: The instructor's: a learner's lacks what is hidden.
    """
    found = []
    for task in result.tasks:
        wrong = [c for c in task.criteria if c.status in (Status.FAILED, Status.PARTIAL)]
        if not wrong or any(c.finding.misconceptions for c in wrong):
            continue
        lead = min(wrong, key=lambda c: (not c.core, not c.finding.text))
        found.append((lead.finding.criterion, group_id(fingerprint(lead.finding, task.criteria))))
    return tuple(found)


def group_id(parts: Iterable[str]) -> str:
    """Return a short name for a fingerprint: six letters and digits, the same on every machine."""
    number = int.from_bytes(hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).digest()[:8])
    letters = []
    for _ in range(ID_LENGTH):
        number, at = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[at])
    return "".join(letters)


def fingerprint(finding: Finding, siblings: Iterable[CriterionResult] = ()) -> tuple[str, ...]:
    """Return what of a failure doesn't depend on its inputs.

    Args:
        finding: What was found of the criterion that leads its task.
        siblings: All criteria of the task.
    """
    parts = [finding.criterion, *(f"{c.id} {c.status}" for c in siblings), _message(finding.text)]
    parts += _said(finding.params)
    with np.errstate(all="ignore"):  # numbers of a wrong program may be of any size
        parts += [part for item in finding.evidence if isinstance(item, Comparison) for part in _compared(item)]
        curves = [part for item in finding.evidence if isinstance(item, Chart) for part in _drawn(item)]
        # A table beside curves holds the same numbers with fewer digits.
        tables = [part for item in finding.evidence if isinstance(item, Table) for part in _listed(item)]
    parts += curves or tables
    return tuple(parts)


def _message(key: str) -> str:
    """A mistake raises the same exception whether it was met in a script, in a cell, or at a line that isn't known."""
    return re.sub(r"^(engine\.call\.raised)(_silent)?_.*", r"\1\2", key)


def _said(params: Params) -> list[str]:
    """Texts of a message without their numbers. A line, a count or a measured number says nothing of the mistake."""
    known = dict(params)
    right = str(known.get("input") or known.get("expected") or "")
    return [f"{name}={_pattern(value, right)}" for name, value in params if isinstance(value, str) and name != "input"]


def _pattern(text: str, right: str) -> str:
    return _NUMBER.sub("#", _SHAPE.sub(lambda found: _lettered(found[0], right), text))


def _lettered(shape: str, right: str) -> str:
    """Write a shape with a letter for each length, as they come in the right one: ``(2, 2, 3)`` is ``(a, a, b)``."""
    lengths = dict.fromkeys([*re.findall(r"\d+", right), *re.findall(r"\d+", shape)])
    letters = {length: _LETTERS[at % len(_LETTERS)] for at, length in enumerate(lengths)}
    return "(" + ",".join(letters[length] for length in re.findall(r"\d+", shape)) + ")"


def _compared(item: Comparison) -> list[str]:
    """How wrong numbers relate to the right ones."""
    yours, expected = _block(item.yours), _block(item.expected)
    if yours is None or expected is None or yours.shape != expected.shape or not yours.size:
        return [_NUMBER.sub("#", item.name)]
    parts = [f"rank {len(item.first)}", "all differ" if item.differing == item.total else "some differ"]
    if not np.isfinite(yours).all():
        return [*parts, "not finite"]
    weights = bool(np.all((expected >= 0) & (expected <= 1)))
    checks = {
        "zeros": bool(np.any((yours == 0) & (expected != 0))),
        "constant": yours.size > 1 and _same(yours, np.full_like(yours, yours.flat[0])),
        "sorted": yours.size > 1 and _same(np.sort(yours, axis=None), np.sort(expected, axis=None)),
        "transposed": yours.ndim == 2 and yours.shape[0] == yours.shape[1] > 1 and _same(yours.T, expected),
        "rounded": _same(yours, np.round(yours, FEW_DIGITS)) and not _same(expected, np.round(expected, FEW_DIGITS)),
        "negative": weights and bool(np.any(yours < 0)),
    }
    parts += [name for name, holds in checks.items() if holds]
    if checks["rounded"]:
        return parts  # what rounded numbers add up to is chance
    return parts + _summed(np.atleast_2d(yours), np.atleast_2d(expected)) + _related(yours, expected)


def _summed(yours: Doubles, expected: Doubles) -> list[str]:
    """What the wrong rows come to where the right ones add up to 1, and are shown whole therefore."""
    if not _same(expected.sum(axis=1), np.ones(len(expected))):
        return []
    sums = {"rows": yours.sum(axis=1), "columns": yours.sum(axis=0), "all": yours.sum(), "tops": yours.max(axis=1)}
    return [f"{name} 1" for name, value in sums.items() if _same(np.atleast_1d(value), np.ones(np.size(value)))]


def _related(yours: Doubles, expected: Doubles) -> list[str]:
    """Whether the wrong numbers are a multiple of the right ones, or row by row a multiple of a power of them."""
    if yours.size < 3 or _same(yours, np.full_like(yours, yours.flat[0])):
        return []
    if np.all(expected != 0):
        factor = yours / expected
        if _same(factor, np.full_like(factor, factor.flat[0])):
            return [f"times {_figure(float(factor.flat[0]))}"]
    rows_of_yours, rows = np.atleast_2d(yours), np.atleast_2d(expected)
    if rows.shape[1] < 3 or np.any(rows_of_yours <= 0) or np.any(rows <= 0):
        return []
    logs, wanted = np.log(rows_of_yours), np.log(rows)
    logs, wanted = logs - logs.mean(axis=1, keepdims=True), wanted - wanted.mean(axis=1, keepdims=True)
    total = float((wanted * wanted).sum())
    power = float((logs * wanted).sum()) / total if total else 0.0
    if (
        not power
        or not np.isfinite(power)
        or float(np.abs(logs - power * wanted).max()) > LOOSE * max(1.0, float(np.abs(logs).max()))
    ):
        return []
    # A wrong scale of the lengths of the arrays, or of their roots, is the same for all inputs; one measured isn't.
    square = Fraction(power * power).limit_denominator(MOST_BELOW)
    return [f"power squared {square}" if abs(power * power / float(square or 1) - 1) < LOOSE else "a power"]


def _drawn(item: Chart) -> list[str]:
    """How each curve relates to the right one, as coarsely as random draws need."""
    yours = [line for line in item.lines if line.role == "yours"]
    expected = [line for line in item.lines if line.role == "expected"]
    parts = []
    for line, other in zip(yours, expected, strict=False):
        x, y, right = (np.asarray(values, float) for values in (line.x, line.y, other.y))
        if y.size < 2 or not y.shape == x.shape == right.shape or not _positive(x, y, right) or not np.ptp(np.log(x)):
            continue
        factor = y / right
        if _same(factor, np.full_like(factor, factor[0])):
            parts.append(f"{line.label} times {_figure(float(factor[0]))}")
        elif _law(x, right)[1] <= LOOSE:  # the right one is a law, so the wrong one may be another
            # In halves, since a sum's standard deviation grows with the root of what its variance grows with.
            slope, wanted = round(2 * _law(x, y)[0]), round(2 * _law(x, right)[0])
            level = np.median(np.log2(factor)) if slope == wanted else np.median(np.log2(y)) if not slope else 0.0
            parts.append(f"{line.label} grows {slope} at {round(float(level)) if np.isfinite(level) else 'no size'}")
    return parts


def _law(x: Doubles, y: Doubles) -> tuple[float, float]:
    """Return the power of x that y grows with, and how far it strays from that law, as a logarithm."""
    across, up = np.log(x) - np.log(x).mean(), np.log(y) - np.log(y).mean()
    power = float((across * up).sum() / (across * across).sum())
    return power, float(np.abs(up - power * across).max())


def _listed(item: Table) -> list[str]:
    """Columns of a table that are multiples of each other, as far as their digits tell."""
    columns = [_numbers(column) for column in zip(*item.rows, strict=False)] if len(item.rows) >= MIN_ROWS else []
    parts = []
    for at, one in enumerate(columns):
        for other_at, other in enumerate(columns[:at]):
            step = _step(one, other) if one is not None and other is not None else 0
            if step:
                parts.append(f"{item.caption} {other_at} {at} steps {step}")
    return parts


def _step(one: tuple[Doubles, Doubles], other: tuple[Doubles, Doubles]) -> int:
    """Ten times the binary logarithm of a common factor; 0 without one. Columns come with what their digits hide."""
    (top, top_off), (bottom, bottom_off) = one, other
    if not (top.min() >= 0 and bottom.min() >= 0 and top.sum() and bottom.sum()):
        return 0
    factor = top.sum() / bottom.sum()
    sure = (top_off.sum() + factor * bottom_off.sum()) <= SURE * top.sum()
    fits = bool(np.all(np.abs(top - factor * bottom) <= 2 * (top_off + factor * bottom_off)))
    return round(10 * float(np.log2(factor))) if sure and fits else 0


def _numbers(column: Iterable[object]) -> tuple[Doubles, Doubles] | None:
    texts = [str(value) for value in column]
    if not all(re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text) for text in texts):
        return None
    # A whole number hides nothing: it is a width or a count.
    decimals = [len(text.partition(".")[2]) for text in texts]
    return np.array([float(text) for text in texts]), np.array(
        [0.5 * 10.0**-digits if digits else 0.0 for digits in decimals]
    )


def _positive(*arrays: Doubles) -> bool:
    return all(bool(np.isfinite(array).all() and np.all(array > 0)) for array in arrays)


def _block(array: Array) -> Doubles | None:
    found = to_python(array)
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "biuf" or found.ndim not in (1, 2):
        return None
    return np.asarray(found, dtype=np.float64)


def _same(one: Doubles, other: Doubles) -> bool:
    return bool(np.all(np.abs(one - other) <= NEAR * np.maximum(np.abs(one), np.abs(other))))


def _figure(value: float) -> str:
    """Three digits, cut where no honest factor lies: 0.0625 must not fall to either side by its rounding error."""
    return f"{value * (1 + 3 * NEAR):.3g}"
