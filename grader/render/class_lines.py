"""The five lines that the class page begins with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from grader.core.classroom import Group, Item, Spread, hardest
from grader.core.standing import Standing
from grader.model import Params
from grader.model._data import data
from grader.render import clean
from grader.render.class_rows import Names, percent
from grader.render.figures import points
from grader.render.words import Span, Words, inline

__all__ = ["MINUTES", "LineView", "for_the_lms", "handed_in", "needs", "scores", "share_of", "teach"]

MINUTES = {"not_graded": 3, "review": 1, "integrity": 2, "group": 2}
"""What looking at one thing is taken to cost an instructor. A guess, and the page says so."""

MOST_TAUGHT = 3


Spans = tuple[Span, ...]


@data
class LineView:
    """One of the five lines: its first words, and the rest of it."""

    lead: str
    rest: Spans


def _sentences(texts: Iterable[str]) -> Spans:
    text = " ".join(clean.html(text) for text in texts)
    return (Span(text=text),) if text else ()


def _told(words: Words, counts: Iterable[tuple[str, int]]) -> Spans:
    """Join what was counted; what there is none of isn't said."""
    return _sentences(words.plain(f"class.{key}", (("count", count),)) for key, count in counts if count)


def handed_in(standings: Sequence[Standing], participants: int | None, words: Words) -> LineView:
    """Say how many handed in, how many of them were graded, and what else was counted."""
    graded = sum(one.status == "graded" for one in standings)
    params: Params = (("count", len(standings)), ("graded", graded), ("all", participants or 0))
    return LineView(
        lead=words.plain("class.handed_in" if participants is None else "class.handed_in_of", params),
        rest=_told(
            words,
            (
                ("count_not_graded", len(standings) - graded),
                ("count_nothing", (participants or 0) - len(standings) if participants else 0),
                ("count_late", sum(one.late is True for one in standings)),
                ("count_same", sum(bool(one.duplicate_of) for one in standings)),
            ),
        ),
    )


def scores(spread: Spread, top: int, words: Words) -> LineView:
    """Say how the scores lie."""
    if not spread.count:
        return LineView(lead=words.plain("class.no_scores"), rest=())
    named = ("low", "first", "median", "third", "high")
    params: Params = (
        *((name, points(getattr(spread, name))) for name in named),
        ("max", points(top)),
        ("full", spread.full),
    )
    return LineView(lead=words.plain("class.median", params), rest=inline(words.own("class.quartiles", params)))


def teach(wrong: Sequence[tuple[str, int]], items: Sequence[Item], count: int, names: Names, words: Words) -> LineView:
    """Name the most frequent misconceptions and the hardest criterion."""
    spans: list[Span] = []
    item = hardest(items)
    for name, number in wrong[:MOST_TAUGHT]:
        shown = words.plain("class.how_many", (("count", number), ("percent", percent(number, count))))
        spans += [Span(text="; ") if spans else Span(text=""), *names.misconception(name), Span(text=f", {shown}")]
    spans += [Span(text=". ")] if spans else [*inline(words.own("class.teach_nothing")), Span(text=" ")]
    if item is not None and item.success is not None:
        share = words.plain("class.hardest_share", (("percent", share_of(item)),))
        spans += [*inline(words.own("class.hardest")), Span(text=" "), *names.place(item.id), Span(text=f" ({share}).")]
    return LineView(lead=words.plain("class.teach"), rest=tuple(span for span in spans if span.text))


def share_of(item: Item) -> str:
    """Write a criterion's success in whole percent, or a dash."""
    return "–" if item.success is None else f"{100 * item.success:.0f}"


def needs(
    standings: Sequence[Standing], groups: Sequence[Group], sentences: Mapping[str, str], words: Words
) -> LineView:
    """Say what waits for an instructor. A group that has its sentence is done."""
    kinds = [kind for one in standings if one.status == "graded" for kind, _ in one.look]
    waiting = [group for group in groups if group.id not in sentences]
    counts = {
        "not_graded": sum(one.status == "not_graded" for one in standings),
        "review": kinds.count("review"),
        "integrity": kinds.count("integrity"),
        "group": len(waiting),
    }
    minutes = sum(MINUTES[kind] * count for kind, count in counts.items())
    if not minutes:
        return LineView(lead=words.plain("class.needs_nothing"), rest=())
    rest = list(_told(words, [(f"needs_{kind}", count) for kind, count in counts.items() if kind != "group"]))
    if waiting:
        params: Params = (("count", sum(len(group.members) for group in waiting)), ("groups", len(waiting)))
        rest += [Span(text=" "), *inline(words.own("class.needs_group", params))]
    return LineView(lead=words.plain("class.needs", (("minutes", minutes),)), rest=tuple(rest))


def for_the_lms(ready: Iterable[str], words: Words) -> LineView:
    """Say what stands between the grades and the LMS, in the exporter's sentences."""
    return LineView(lead=words.plain("class.ready"), rest=_sentences(ready) or inline(words.own("class.ready_nothing")))
