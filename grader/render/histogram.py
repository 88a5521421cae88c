"""The class page's picture of how scores lie: eleven bars, drawn as SVG by the template."""

from __future__ import annotations

from grader.core.classroom import Spread
from grader.model._data import data
from grader.render.words import Words

__all__ = ["Bar", "Histogram", "histogram_of"]

WIDTH, HEIGHT = 528, 190
TOP, BOTTOM = 22, 164
GAP = 6


@data
class Bar:
    """A bar in the picture's units, its label and its count."""

    x: float
    y: float
    width: float
    height: float
    middle: float
    label: str
    count: int


@data
class Histogram:
    """The picture, and what it says to those who don't see it."""

    title: str
    alternative: str
    bars: tuple[Bar, ...]
    width: int = WIDTH
    height: int = HEIGHT
    bottom: int = BOTTOM


def histogram_of(spread: Spread, words: Words) -> Histogram:
    """Draw the bins of ``spread``; the tallest bar fills the picture."""
    step = WIDTH / len(spread.bins)
    tallest = max(max(spread.bins), 1)
    last = len(spread.bins) - 1
    labels = [f"{10 * at}–{10 * at + 9}" if at < last else "100" for at in range(len(spread.bins))]
    bars = []
    for at, count in enumerate(spread.bins):
        height = round((BOTTOM - TOP) * count / tallest, 1)
        bars.append(
            Bar(
                x=round(at * step + GAP / 2, 1),
                y=round(BOTTOM - height, 1),
                width=round(step - GAP, 1),
                height=height,
                middle=round((at + 0.5) * step, 1),
                label=labels[at],
                count=count,
            )
        )
    filled = [
        words.plain("class.chart_bin", (("label", label), ("count", count)))
        for label, count in zip(labels, spread.bins, strict=True)
        if count
    ]
    return Histogram(title=words.plain("class.chart"), alternative="; ".join(filled) + ".", bars=tuple(bars))
