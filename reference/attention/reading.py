"""Numbers and orders out of whatever a learner returned."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grader.api import Pairs

__all__ = ["Read", "decimals_of", "forms_of", "from_one", "read_entropies", "read_numbers", "read_order", "read_pair"]

MAX_LENGTH = 64


class Read(NamedTuple):
    """A real number, and whether it came in single precision."""

    value: float
    single: bool = False


def read_numbers(value: object) -> list[Read]:
    """Return the numbers of a flat sequence or array; none if it is anything else."""
    if isinstance(value, np.ndarray):
        value = list(value.ravel()) if value.ndim == 1 or value.size <= MAX_LENGTH else []
    if not isinstance(value, (list, tuple)) or len(value) > MAX_LENGTH:
        return []
    found = [_number(item) for item in value]
    return [read for read in found if read is not None] if all(read is not None for read in found) else []


def _number(item: object) -> Read | None:
    if isinstance(item, (list, tuple)) and len(item) == 1 and not isinstance(item[0], (list, tuple)):
        item = item[0]
    if isinstance(item, np.ndarray) and item.size == 1:
        item = item.ravel()[0]
    if isinstance(item, (bool, np.bool_)):
        return None
    if isinstance(item, (int, float, np.integer, np.floating)):
        try:
            value = float(item)
        except OverflowError:
            # A whole number beyond all doubles.
            value = math.inf if item > 0 else -math.inf
        return Read(value, isinstance(item, np.floating) and item.dtype.itemsize <= 4)
    return None


def read_entropies(value: object, d_ks: Iterable[int]) -> tuple[list[Read], str]:
    """Return one number a width and the form they came in: "sequence", "mapping", "pairs", or "" if unreadable."""
    wanted = list(d_ks)
    if isinstance(value, Pairs):
        keys = [_number(key) for key, _ in value]
        numbers = read_numbers([item for _, item in value])
        if len(numbers) == len(wanted) and [key.value if key else None for key in keys] == wanted:
            return numbers, "mapping"
        return numbers, "mapping" if len(numbers) == len(value) else ""
    beside = _beside_widths(value, wanted)
    if beside:
        return beside, "pairs"
    flat = read_numbers(value)
    return flat, "sequence" if flat else ""


def _beside_widths(value: object, wanted: list[int]) -> list[Read]:
    """Return the numbers that stand beside their widths: as rows, as columns, or as small mappings."""
    if isinstance(value, np.ndarray) and value.ndim == 2:
        value = list(value)
    if not isinstance(value, (list, tuple)) or not 0 < len(value) <= MAX_LENGTH:
        return []
    rows = [read_numbers([part for _, part in item] if isinstance(item, Pairs) else item) for item in value]
    if all(len(row) == 2 for row in rows) and [row[0].value for row in rows] == wanted:
        return [row[1] for row in rows]
    if len(rows) == 2 and len(rows[1]) == len(wanted) and [read.value for read in rows[0]] == wanted:
        return rows[1]
    return []


def decimals_of(values: Iterable[float]) -> int | None:
    """Return with how many decimals, at most six, all ``values`` are written in full; None if one needs more.

    Of all together, since a number that was rounded may end in zeros.
    """
    most = 0
    for value in values:
        places = next((places for places in range(7) if round(value, places) == value), None)
        if places is None:
            return None
        most = max(most, places)
    return most


def read_pair(value: object, second: str) -> tuple[object, bool]:
    """Return the two values of a mapping as a pair, and whether it was one; anything else as it is.

    Args:
        value: What came back.
        second: Begins or ends the key of the value that belongs second, if the keys are named so.
    """
    if not isinstance(value, Pairs) or len(value) != 2:
        return value, False
    (first_key, first), (_, other) = value
    named = isinstance(first_key, str) and second in re.split(r"[^a-z]+", first_key.lower())
    return ((other, first) if named else (first, other)), True


def read_order(value: object, n: int) -> npt.NDArray[np.intp] | None:
    """Return a permutation of 0..n-1 if ``value`` is one, whatever sequence it came as; of 1..n it is brought to it."""
    if isinstance(value, (list, tuple)):
        reads = read_numbers(value)
        array = np.array([read.value for read in reads])
    elif isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        array = value.astype(np.float64).ravel() if value.size <= MAX_LENGTH else np.empty(0)
    else:
        return None
    lowest = 1 if array.size and array.min() == 1 else 0
    if array.shape != (n,) or not np.array_equal(np.sort(array), np.arange(lowest, n + lowest)):
        return None
    return np.asarray(array - lowest, dtype=np.intp)


def from_one(value: object) -> bool:
    """Whether an order or ranks that ``read_order`` can read begin with 1."""
    numbers = read_numbers(value)
    return bool(numbers) and min(read.value for read in numbers) == 1


def forms_of(order: npt.NDArray[np.intp]) -> dict[str, npt.NDArray[np.intp]]:
    """The ways to write one ranking: from the smallest, from the largest, and as ranks of the positions."""
    ranks = np.argsort(order)
    return {"order": order, "reversed": order[::-1], "ranks": ranks, "reversed ranks": len(order) - 1 - ranks}
