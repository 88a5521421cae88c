"""Draws what was measured: bars for the graders, points for the classes. Plain SVG that stands alone."""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = ["draw"]

WIDTH = 760
LEFT, RIGHT = 150, 110
ROW = 28
INK, MUTED, OURS, OTHERS, GRID = "#1f2328", "#57606a", "#005a9c", "#8c959f", "#d8dee4"


def draw(graders: Mapping[str, float], classes: Mapping[int, float]) -> str:
    """Return the picture, or ``""`` if there is nothing to draw.

    Args:
        graders: CPU seconds for a hand-in, by the grader's name.
        classes: Seconds by the clock for a hand-in, by the size of the class.
    """
    parts: list[str] = []
    top = 20
    says = []
    if graders:
        top = _bars(parts, graders, top)
        says.append(", ".join(f"{name} {_ms(cpu)}" for name, cpu in graders.items()) + " of CPU for each hand-in")
    if classes:
        top = _points(parts, classes, top + 16)
        says.append(", ".join(f"{size} hand-ins: {_ms(wall)} each" for size, wall in classes.items()))
    if not parts:
        return ""
    height = top + 10
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" aria-labelledby="t d" font-family="system-ui, sans-serif" font-size="13">'
    )
    about = f'<title id="t">Speed of numgrade</title><desc id="d">{"; ".join(says)}.</desc>'
    ground = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, about, ground, *parts, "</svg>"]) + "\n"


def _bars(parts: list[str], graders: Mapping[str, float], top: int) -> int:
    """Draw one bar for each grader on a logarithmic scale; return where they end."""
    parts.append(_text(20, top + 4, "CPU for each hand-in (each line: ten times the one before)", INK, weight="600"))
    low = math.floor(math.log10(min(graders.values())))
    high = math.ceil(math.log10(max(graders.values())))
    high = max(high, low + 1)
    scale = (WIDTH - LEFT - RIGHT) / (high - low)
    top += 20
    end = top + ROW * len(graders)
    for power in range(low, high + 1):
        x = LEFT + scale * (power - low)
        parts.append(f'<path d="M{x:.1f} {top}V{end}" stroke="{GRID}"/>')
        parts.append(_text(x, end + 16, _ms(10.0**power), MUTED, anchor="middle"))
    for number, (name, cpu) in enumerate(sorted(graders.items(), key=lambda item: item[1])):
        y = top + ROW * number
        width = scale * (math.log10(cpu) - low)
        ours = name == "numgrade"
        colour = OURS if ours else OTHERS
        parts.append(f'<rect x="{LEFT}" y="{y + 5}" width="{width:.1f}" height="{ROW - 10}" rx="2" fill="{colour}"/>')
        parts.append(_text(LEFT - 8, y + 18, name, INK, anchor="end", weight="600" if ours else "400"))
        parts.append(_text(LEFT + width + 6, y + 18, _ms(cpu), INK))
    return end + 24


def _points(parts: list[str], classes: Mapping[int, float], top: int) -> int:
    """Draw the time for a hand-in over the size of its class; return where the panel ends."""
    parts.append(_text(20, top + 4, "Wall time for each hand-in, by the size of the class", INK, weight="600"))
    top += 20
    bottom = top + 110
    sizes = sorted(classes)
    first, last = math.log10(sizes[0]), math.log10(max(sizes[-1], sizes[0] * 10))
    most = 1.15 * max(classes.values())
    spots = [
        (
            LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(size) - first) / (last - first),
            bottom - 110 * classes[size] / most,
        )
        for size in sizes
    ]
    parts.append(f'<path d="M{LEFT} {bottom}H{WIDTH - RIGHT}" stroke="{MUTED}"/>')
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
    parts.append(f'<path d="M{line}" fill="none" stroke="{OURS}" stroke-width="2"/>')
    for size, (x, y) in zip(sizes, spots, strict=True):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{OURS}"/>')
        parts.append(_text(x, y - 9, _ms(classes[size]), INK, anchor="middle"))
        parts.append(_text(x, bottom + 17, str(size), MUTED, anchor="middle"))
    return bottom + 24


def _text(x: float, y: float, text: str, colour: str, *, anchor: str = "start", weight: str = "400") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}">{text}</text>'


def _ms(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
