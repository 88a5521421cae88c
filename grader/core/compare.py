"""Expected beside yours: is it there, of the right type, dtype, shape, finite, right? The first that fails is said.

Tolerances follow from rounding, never from a flat ``rtol``: see ``Expected``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from grader.core.values import kind_name, to_value
from grader.model import Array, Comparison, Note, Param, Params
from grader.model._data import data

__all__ = ["Expected", "Verdict", "as_array", "compare", "picture", "unit_of"]

RELATIVE_CEILING = 1e-3
"""No tolerance is ever wider than this part of the value's own scale, whatever dtype an answer comes in."""

BLOCK = 4
"""Larger arrays are shown by the block of this size around the worst entry."""

SINGLE = 2.0**-24
DOUBLE = 2.0**-53
_TINY = {DOUBLE: 5e-308, SINGLE: 4e-38}
"""Below these, numbers are subnormal and have no relative precision."""


@data
class Expected:
    """A right answer and how far honest rounding may carry another right program from it.

    An entry is right when ``|got - value| <= min(u * units, 1e-3) * scale + tiny``, where u is half the spacing
    of the answer's floating-point numbers at 1.

    Attributes:
        value: In extended precision where the machine has it.
        units: Rounding errors, in units of u, that a right program may add up, relative to ``scale``.
        scale: The size that errors are relative to (not the value itself where terms may cancel).
        weights: The entries lie in 0..1 and read as a heat map.
        floor: An absolute error that is no mistake, such as that of a guard against the logarithm of 0: right with
            the note on single precision.
    """

    value: npt.NDArray[np.longdouble]
    units: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]
    weights: bool = False
    floor: float = 0.0


@data
class Verdict:
    """Outcome of a comparison: passed with notes, or the first complaint and what shows it."""

    passed: bool
    notes: tuple[Note, ...] = ()
    text: str = ""
    params: Params = ()
    comparison: Comparison | None = None
    values_wrong: bool = False
    used: float = 0.0


def unit_of(dtype: np.dtype[np.generic]) -> float:
    """Return the rounding unit that an answer of ``dtype`` is judged by: double, or single for anything coarser."""
    coarse = (dtype.kind == "f" and dtype.itemsize <= 4) or (dtype.kind == "c" and dtype.itemsize <= 8)
    return SINGLE if coarse else DOUBLE


def as_array(got: object, name: str) -> tuple[npt.NDArray[np.generic] | None, Verdict]:
    """Read ``got`` as an array of numbers: an array, a scalar, or nested lists (a note says so)."""
    notes: tuple[Note, ...] = ()
    if isinstance(got, np.ndarray):
        array = got
    elif isinstance(got, (np.generic, int, float, complex)) and not isinstance(got, bool):
        array = np.asarray(got)
    elif isinstance(got, (list, tuple)):
        try:
            array = np.array(got)
        except ValueError:
            array = np.array(None)
        notes = (Note(text="engine.note.lists", params=(("name", name),)),)
    else:
        array = np.array(None)
    if array.dtype.kind not in "biufc":
        text = "engine.compare.none" if got is None else "engine.compare.type"
        return None, Verdict(passed=False, text=text, params=(("name", name), ("got", kind_name(got))))
    if array.dtype.kind == "c":
        if np.any(array.imag):
            return None, Verdict(passed=False, text="engine.compare.complex", params=(("name", name),))
        array = array.real
    return array, Verdict(passed=True, notes=notes)


def compare(
    got: object,
    expected: Expected,
    name: str,
    *,
    input_unit: float = DOUBLE,
    shape_hint: Callable[[tuple[int, ...]], str] | None = None,
) -> Verdict:
    """Judge ``got`` against ``expected``.

    Args:
        got: What student code returned.
        expected: The right answer and its tolerance.
        name: What the learner calls it, such as ``"weights"``.
        input_unit: Rounding unit of the inputs; an answer need not be more precise than they are.
        shape_hint: Given a wrong shape, names a text of the course that says more about it, or ``""``.
    """
    array, verdict = as_array(got, name)
    if array is None:
        return verdict
    value = expected.value
    if array.shape != value.shape:
        params: tuple[tuple[str, Param], ...] = (
            ("name", name),
            ("expected", str(value.shape)),
            ("got", str(array.shape)),
        )
        special = shape_hint(array.shape) if shape_hint else ""
        return Verdict(passed=False, text=special or "engine.compare.shape", params=params)
    numbers = array.astype(np.longdouble)
    bad = ~np.isfinite(numbers)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        params = (
            ("name", _at(name, index)),
            ("got", str(float(numbers[index]))),
            ("count", int(bad.sum())),
            ("total", int(bad.size)),
        )
        return Verdict(passed=False, text="engine.compare.not_finite", params=params)

    error = np.abs(numbers - value)
    strict = max(unit_of(array.dtype), input_unit)
    allowed = _tolerance(expected, strict)
    if bool(np.all(error <= allowed)):
        used = float(np.max(error / allowed)) if error.size else 0.0
        coarse = strict > input_unit and not bool(np.all(error <= _tolerance(expected, input_unit)))
        notes = (Note(text="engine.note.single_precision", params=(("name", name),)),) if coarse else ()
        return Verdict(passed=True, notes=(*verdict.notes, *notes), used=used)
    if bool(np.all(error <= _tolerance(expected, SINGLE) + expected.floor)):
        note = Note(text="engine.note.single_precision", params=(("name", name),))
        return Verdict(passed=True, notes=(*verdict.notes, note))
    wrong = ~(error <= allowed)
    comparison = _comparison(name, numbers, expected, error, wrong)
    params = (
        ("name", name),
        ("at", _at(name, comparison.worst)),
        ("got", _number(comparison.yours_at_worst)),
        ("expected", _number(comparison.expected_at_worst)),
        ("count", comparison.differing),
        ("total", comparison.total),
    )
    text = "engine.compare.values" if comparison.total > 1 else "engine.compare.value"
    return Verdict(
        passed=False, text=text, params=params, comparison=comparison, values_wrong=True, notes=verdict.notes
    )


def picture(got: object, expected: Expected, name: str) -> Comparison | None:
    """Show a right answer beside the expected one; None if it isn't an array of that shape."""
    array, _ = as_array(got, name)
    if array is None or array.shape != expected.value.shape or not array.size:
        return None
    numbers = array.astype(np.longdouble)
    nothing = np.zeros(array.shape, dtype=bool)
    return _comparison(name, numbers, expected, np.abs(numbers - expected.value), nothing)


def _tolerance(expected: Expected, unit: float) -> npt.NDArray[np.float64]:
    return np.asarray(np.minimum(unit * expected.units, RELATIVE_CEILING) * expected.scale + _TINY[unit])


def _comparison(
    name: str,
    numbers: npt.NDArray[np.longdouble],
    expected: Expected,
    error: npt.NDArray[np.longdouble],
    wrong: npt.NDArray[np.bool_],
) -> Comparison:
    first = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.any() else (0,) * wrong.ndim
    worst = tuple(int(i) for i in np.unravel_index(int(np.argmax(np.where(wrong, error, -1))), error.shape))
    lead, inner = worst[:-2], worst[-2:]
    yours, right = numbers[lead], expected.value[lead]
    limit = 6 if max(yours.shape, default=0) <= 6 else BLOCK
    corner = tuple(max(0, min(at - limit // 2, length - limit)) for at, length in zip(inner, yours.shape, strict=True))
    cut = tuple(slice(start, start + limit) for start in corner)
    return Comparison(
        name=_at(name, lead),
        yours=_block(yours[cut]),
        expected=_block(right[cut]),
        corner=corner,
        first=first,
        worst=worst,
        yours_at_worst=float(numbers[worst]),
        expected_at_worst=float(expected.value[worst]),
        differing=int(wrong.sum()),
        total=int(wrong.size),
        weights=expected.weights and bool(np.all((yours[cut] >= 0) & (yours[cut] <= 1))),
    )


def _block(part: npt.NDArray[np.longdouble]) -> Array:
    value = to_value(np.asarray(part, dtype=np.float64))
    assert isinstance(value, Array)
    return value


def _at(name: str, index: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def _number(value: float) -> str:
    """Three decimals where they tell something, else three significant digits."""
    return f"{value:.3f}" if value == 0 or 0.001 <= abs(value) < 1e5 else f"{value:.3g}"
