"""Strings made safe for where they go: one pure function for each destination.

What a text says stays; what it could do goes. Anything dropped that had a meaning leaves U+FFFD behind, so
that a reader sees that something stood there.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["html", "json_text", "terminal", "width"]

_NEWLINES = re.compile("\r\n|[\r\x85\u2028\u2029]")
_INVISIBLE = re.compile("[\u061c\u200e\u200f\ufeff]")
"""Direction marks and byte-order marks: honest texts hold them, and nothing is lost without them."""

_PLANE_ENDS = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_HARMFUL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters except tab and newline
    "\u202a-\u202e\u2066-\u2069"  # bidirectional overrides and isolates
    "\ufff9-\ufffb\U000e0000-\U000e0fff"  # interlinear annotation, tags and other default-ignorables
    f"\ud800-\udfff\ufdd0-\ufdef{_PLANE_ENDS}]"  # surrogates (a str holds lone ones only), noncharacters
)
_MARKS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4,}")
"""Towers of combining marks cover the lines above and below."""

_ASCII = {
    "✓": "+", "◐": "~", "✗": "x", "‖": "=", "○": "o", "·": "-", "√": "sqrt", "×": "x", "−": "-", "–": "-", "—": "-",
    "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "±": "+/-",
    "→": "->", "←": "<-", "∞": "inf", "σ": "sigma", "π": "pi", "ᵀ": ".T", "\u00a0": " ", "\ufffd": "?",
}  # fmt: skip


def html(text: str) -> str:
    """Clean ``text`` for a page; escaping stays with the template engine."""
    if text.isascii() and text.isprintable():
        return text  # as most texts are, and there are hundreds in a report
    text = _INVISIBLE.sub("", _NEWLINES.sub("\n", text))
    return _MARKS.sub(lambda found: found[0][:3], _HARMFUL.sub("\ufffd", text))


def json_text(text: str) -> str:
    """Clean ``text`` for strict JSON in UTF-8: as for a page, so that whoever shows it later is safe too."""
    return html(text)


def terminal(text: str, *, unicode: bool = True) -> str:
    """Clean ``text`` for one stretch of a terminal line: no escapes, no line breaks; plain ASCII if asked."""
    text = re.sub(r"[\t\n ]+", " ", html(text))
    return text if unicode else _to_ascii(text)


def _to_ascii(text: str) -> str:
    text = re.sub(r"√(\w+)", r"sqrt(\1)", text)
    known = "".join(_ASCII.get(char, char) for char in text)
    flat = "".join(char for char in unicodedata.normalize("NFKD", known) if not unicodedata.combining(char))
    return "".join(char if " " <= char <= "~" else "?" for char in flat)


def width(text: str) -> int:
    """Return the columns that a cleaned ``text`` takes in a terminal."""
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if char < "\u0300":
        return 1
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
