"""Numbers as people read them, plain arrays decoded without NumPy, and the colours of a heat map."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from grader.model import Array

__all__ = ["Block", "block_of", "column", "diverging", "heat", "points", "short", "signed", "writer"]

Block = tuple[tuple[float, ...], ...]
"""Rows of numbers; a vector is one row."""

_CODES = {
    "|b1": "?", "|i1": "b", "|u1": "B", "<i2": "h", "<u2": "H", "<i4": "i", "<u4": "I",
    "<i8": "q", "<u8": "Q", "<f2": "e", "<f4": "f", "<f8": "d",
}  # fmt: skip

_VIRIDIS = (
    (68, 1, 84), (72, 40, 120), (62, 73, 137), (49, 104, 142), (38, 130, 142),
    (31, 158, 137), (53, 183, 121), (109, 205, 89), (180, 222, 44), (253, 231, 37),
)  # fmt: skip

_PURPLE_TO_ORANGE = (
    (45, 0, 75), (84, 39, 136), (128, 115, 172), (178, 171, 210), (216, 218, 235), (247, 247, 247),
    (254, 224, 182), (253, 184, 99), (224, 130, 20), (179, 88, 6), (127, 59, 8),
)  # fmt: skip
"""ColorBrewer's PuOr, which readers who don't tell red from green can read too."""

SHADES = 200
"""Steps of a map: more can't be told apart, and colours that were mixed once are kept."""


def points(cents: int) -> str:
    """Write hundredths of a point: ``17``, ``17.5``."""
    whole, rest = divmod(abs(cents), 100)
    text = f"{whole}.{rest:02d}".rstrip("0").rstrip(".") if rest else str(whole)
    return f"-{text}" if cents < 0 else text


def short(value: float) -> str:
    """Write a number with four significant digits."""
    return f"{value:.4g}"


def block_of(array: Array) -> Block:
    """Return the numbers of a vector or table; nothing for another shape or dtype, or bytes that don't fit."""
    code = _CODES.get(array.dtype)
    count = math.prod(array.shape)
    if code is None or array.clipped or len(array.shape) not in (1, 2):
        return ()
    if len(array.data) != count * struct.calcsize("<" + code):
        return ()
    flat = [float(number) for number in struct.unpack(f"<{count}{code}", array.data)]
    columns = array.shape[-1]
    rows = array.shape[0] if len(array.shape) == 2 else 1
    return tuple(tuple(flat[row * columns : (row + 1) * columns]) for row in range(rows))


def writer(values: Iterable[float], apart: tuple[float, float], *, decimals: int = 3) -> Callable[[float], str]:
    """Choose one way to write all ``values``, with as many digits as keep the two numbers in ``apart`` apart."""
    finite = [abs(value) for value in values if math.isfinite(value)]
    top = max(finite, default=0.0)
    if all(value == int(value) for value in finite) and top < 1e6:
        return lambda value: str(int(value)) if math.isfinite(value) else str(value)
    exponent = math.floor(math.log10(top))
    fixed = -3 <= exponent < 5
    digits = max(1, decimals - max(0, exponent)) if fixed else 4
    kind, limit = ("f", 12) if fixed else ("g", 17)

    one, other = apart
    if math.isfinite(one) and math.isfinite(other) and one != other:
        while digits < limit and f"{one:.{digits}{kind}}" == f"{other:.{digits}{kind}}":
            digits += 1
    return lambda value: _unsigned_zero(f"{value:.{digits}{kind}}")


def column(values: Sequence[float]) -> list[str]:
    """Write the numbers of one column of a table, with equal decimals where their sizes are alike."""
    texts = [short(value) for value in values]
    sizes = [abs(value) for value in values if value]
    if any(not text.lstrip("-").replace(".", "").isdigit() for text in texts) or not sizes:
        return texts
    if max(sizes) > 20 * min(sizes):
        return texts
    decimals = max(len(text.partition(".")[2]) for text in texts)
    return [f"{value:.{decimals}f}" for value in values]


def _unsigned_zero(text: str) -> str:
    return text.removeprefix("-") if text.startswith("-") and not text.strip("-0.") else text


def heat(value: float) -> tuple[str, str]:
    """Return background and ink for a weight in 0..1; the ink's contrast is at least 4.5 everywhere."""
    return _colours(_VIRIDIS, value)


def diverging(value: float, most: float) -> tuple[str, str]:
    """Return background and ink for a difference in -most..most: purple below 0, nearly white at 0, orange above."""
    return _colours(_PURPLE_TO_ORANGE, 0.5 + 0.5 * value / most if most else 0.5)


def signed(value: float, write: Callable[[float], str]) -> str:
    """Write a difference with its sign; what is written as 0 has none."""
    text = write(abs(value))
    return text if not text.strip("0.") else ("−" if value < 0 else "+") + text


def _colours(anchors: tuple[tuple[int, int, int], ...], share: float) -> tuple[str, str]:
    """Mix the colour that stands at ``share``, in 0..1, of the way along ``anchors``, and choose black or white ink."""
    return _mixed(anchors, round(min(max(share, 0.0), 1.0) * SHADES))


@lru_cache(maxsize=1024)
def _mixed(anchors: tuple[tuple[int, int, int], ...], shade: int) -> tuple[str, str]:
    at = shade / SHADES * (len(anchors) - 1)
    step = min(int(at), len(anchors) - 2)
    mixed = [round(a + (b - a) * (at - step)) for a, b in zip(anchors[step], anchors[step + 1], strict=True)]
    ink = "#ffffff" if 1.05 / (_luminance(mixed) + 0.05) >= (_luminance(mixed) + 0.05) / 0.05 else "#000000"
    return "#" + "".join(f"{part:02x}" for part in mixed), ink


def _luminance(colour: Sequence[int]) -> float:
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in (part / 255 for part in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
