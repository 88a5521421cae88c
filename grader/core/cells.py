"""A notebook's cells as evidence: what they left in variables, printed, showed and drew.

Where a function is missing or untouched, the answer may stand in a cell, as the exercise in the lesson has it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Protocol, runtime_checkable

from grader.core.find import LOAD
from grader.core.observed import Drawn, Inputs, unfold
from grader.core.values import to_python
from grader.model import Finding, Outcome, Step, Transcript
from grader.model._data import data

__all__ = ["CellSeen", "Number", "ReadsCells", "cells_of"]

MAX_TOKENS = 64
MAX_TOKEN = 40
MIN_DIGITS = 3

_WRAPPED = re.compile(r"np\.(?:int|float|uint)\d+\(([^()]{1,40})\)")
"""NumPy 2 prints a list of its scalars as ``[np.int64(5), ...]``."""

_TOKEN = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?(?![\w.])", re.ASCII)


@data
class Number:
    """A printed number and half a unit of its last digit."""

    value: float
    half_unit: float
    digits: int


@runtime_checkable
class ReadsCells(Protocol):
    """Checks of a task that can also read an answer out of a notebook's cells."""

    def read_cells(self, inputs: Inputs, cells: tuple[CellSeen, ...]) -> Iterable[Finding]:
        """Say what the cells show: one Finding for each criterion, or none if they hold no answer."""
        ...


class CellSeen:
    """One code cell that ran, and what it left."""

    def __init__(self, number: int, source: str, outcome: Outcome) -> None:
        self.number, self.source, self.outcome = number, source, outcome

    @cached_property
    def names(self) -> dict[str, object]:
        """New values by their names; the value of the last line, if it was shown, is named ``_``."""
        found = {name: to_python(value) for name, value in self.outcome.names}
        if self.outcome.value is not None:
            found["_"] = to_python(self.outcome.value)
        return found

    @property
    def drawn(self) -> tuple[Drawn, ...] | None:
        """All random numbers that the cell drew, if they are known."""
        return None if self.outcome.draws is None else unfold(self.outcome.draws)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Methods and shapes of what it drew, also where the numbers weren't kept."""
        return () if self.outcome.draws is None else self.outcome.draws.steps

    @cached_property
    def printed(self) -> str:
        """What was printed, without the wrappers of NumPy's scalars."""
        return _WRAPPED.sub(r"\1", self.outcome.stdout[: 1 << 16])

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """The printed numbers of at least three significant digits: at most 64, of at most 40 characters."""
        found: list[Number] = []
        for match in _TOKEN.finditer(self.printed):
            token = match[0]
            if len(token) > MAX_TOKEN:
                continue
            number = _number(token)
            if number is not None and number.digits >= MIN_DIGITS:
                found.append(number)
            if len(found) == MAX_TOKENS:
                break
        return tuple(found)


def _number(token: str) -> Number | None:
    """Read a token; None if it is beyond the largest double."""
    mantissa, _, exponent = token.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    power = int(exponent) if exponent else 0
    digits = len(mantissa.lstrip("+-").replace(".", "").lstrip("0"))
    value, half_unit = float(token), float(f"5e{power - decimals - 1}")
    if not math.isfinite(value):
        return None
    return Number(value=value, half_unit=half_unit, digits=max(digits, decimals))


def cells_of(transcript: Transcript) -> tuple[CellSeen, ...]:
    """Return the code cells that ran, in order; none of a script."""
    if transcript.kind != "notebook":
        return ()
    texts = dict(zip(transcript.cell_numbers, transcript.source, strict=True))
    return tuple(
        CellSeen(number, texts[number], outcome)
        for outcome in transcript.outcomes
        if outcome.call.startswith(LOAD)
        for number in [int(outcome.call.removeprefix(LOAD))]
        if number in texts
    )
