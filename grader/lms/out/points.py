"""Points as the text that a platform reads: exact fractions, one rounding, a dot, no thousands separators."""

from __future__ import annotations

import re
from fractions import Fraction

__all__ = ["decimal", "number", "points", "scaled"]

_NUMBER = re.compile(r"[0-9]{1,9}(?:[.,][0-9]{1,9})?")


def number(text: str) -> Fraction | None:
    """Return the number that a platform wrote, with a dot or a comma before its decimals; None if it is none."""
    found = text.strip().replace("\u00a0", "")
    return Fraction(found.replace(",", ".")) if _NUMBER.fullmatch(found) else None


def scaled(cents: int, max_cents: int, to: Fraction) -> Fraction:
    """Return hundredths of points on the scale of a platform, where ``to`` is full marks; ``max_cents`` isn't 0."""
    return Fraction(cents, max_cents) * to


def decimal(value: Fraction, places: int) -> str:
    """Round half up to at most ``places`` decimals, and leave out zeros at the end; ``value`` isn't negative."""
    unit = 10**places
    whole, rest = divmod((2 * value.numerator * unit + value.denominator) // (2 * value.denominator), unit)
    return f"{whole}.{rest:0{places}d}".rstrip("0").rstrip(".") if places else str(whole)


def points(cents: int) -> str:
    """Return hundredths as people write them: ``87.5``."""
    return ("-" if cents < 0 else "") + decimal(Fraction(abs(cents), 100), 2)
