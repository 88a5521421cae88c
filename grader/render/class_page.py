"""The class page's view model: five lines first, then who stands where and how each criterion did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from grader.core.classroom import (
    Group,
    Item,
    Spread,
    Standing,
    groups_of,
    hardest,
    items_of,
    misconceptions_of,
    spread_of,
)
from grader.model import Params
from grader.model._data import data
from grader.render import clean
from grader.render.class_rows import ColumnView, Names, RowView, columns_of, dated, link_of, percent, row_of
from grader.render.figures import points
from grader.render.histogram import Histogram, histogram_of
from grader.render.words import Span, Words, inline

if TYPE_CHECKING:  # it would load NumPy
    from grader.core.assignment import Assignment

__all__ = ["MINUTES", "ClassView", "GroupView", "ItemView", "LineView", "MisconceptionView", "build_class"]

MINUTES = {"not_graded": 3, "review": 1, "integrity": 2, "group": 2}
"""What looking at one thing is taken to cost an instructor. A guess, and the page says so."""

MOST_TAUGHT = 3
MOST_MEMBERS = 3

LONG = 200
"""Rows that a browser lays out at once without anybody noticing."""

Spans = tuple[Span, ...]


@data
class LineView:
    """One of the five lines: its first words, and the rest of it."""

    lead: str
    rest: Spans


@data
class MisconceptionView:
    """A misconception and how many show it."""

    title: Spans
    count: int
    share: str


@data
class GroupView:
    """A group of failures that nothing explains: its first members as pairs of name and address, and its sentence."""

    id: str
    title: Spans
    count: int
    members: tuple[tuple[str, str], ...]
    more: int
    sentence: str


@data
class ItemView:
    """A criterion's statistics, as written; the sort keys are numbers or ``""``."""

    title: Spans
    task: Spans
    points: str
    count: int
    success: str
    success_key: str
    discrimination: str
    discrimination_key: str


@data
class ClassView:
    """All that the class page says.

    Attributes:
        lines: The five that come first.
        chart: How the scores lie; None without any.
        assumption: What the minutes are reckoned with.
        command: What names a group, as it is typed.
        columns, rows: The table of students.
        dated: Whether the last column says when it was handed in.
        say: The page's own words, by what follows ``class.`` in the catalogue.
    """

    language: str
    page_title: str
    title: Spans
    lines: tuple[LineView, ...]
    chart: Histogram | None
    misconceptions: tuple[MisconceptionView, ...]
    groups: tuple[GroupView, ...]
    assumption: str
    command: str
    ready: tuple[str, ...]
    columns: tuple[ColumnView, ...]
    dated: bool
    rows: tuple[RowView, ...]
    items: tuple[ItemView, ...]
    say: Mapping[str, str]

    @property
    def wide(self) -> int:
        """Least width of the table of students: the style sheet has those of its columns."""
        return 40 + 7 * self.tasks + 7 * self.dated

    @property
    def long(self) -> bool:
        """Whether rows wait with their layout until they are seen."""
        return len(self.rows) > LONG

    @property
    def tasks(self) -> int:
        """How many columns are tasks."""
        return len(self.columns) - 4 - self.dated


def build_class(
    standings: Sequence[Standing],
    assignment: Assignment,
    *,
    participants: int | None = None,
    ready: tuple[str, ...] = (),
    sentences: Mapping[str, str] | None = None,
    run: str = "RUN",
) -> ClassView:
    """Resolve all that the class page says.

    Args:
        standings: One for each attempt, in the order of the table.
        assignment: Whose catalogue the texts come from; it includes the engine's own texts.
        participants: How many could have handed in, where that is known.
        ready: What stands between these grades and the LMS, or that nothing does: each a sentence.
        sentences: What the instructor said of groups of failures, by the group's id.
        run: How the run is called in the command that names a group.
    """
    words, sentences = Words(assignment.texts), sentences or {}
    names = Names(words)
    spread, items = spread_of(standings), items_of(standings)
    groups = groups_of(standings)
    wrong = misconceptions_of(standings)
    top = max((one.max_cents for one in standings if one.status == "graded"), default=assignment.points * 100)
    title = inline(words.titled("title", assignment.id))
    lines = (
        _handed_in(standings, participants, words),
        _scores(spread, top, words),
        _teach(wrong, hardest(items), spread.count, names, words),
        _needs(standings, groups, sentences, words),
        LineView(lead=words.plain("class.ready"), rest=_sentences(ready) or inline(words.own("class.ready_nothing"))),
    )
    return ClassView(
        language=assignment.language,
        page_title=words.plain("class.title", (("title", _bare(title)), ("count", len(standings)))),
        title=title,
        lines=lines,
        chart=histogram_of(spread, words) if spread.count else None,
        misconceptions=tuple(
            MisconceptionView(title=names.misconception(name), count=count, share=percent(count, spread.count))
            for name, count in wrong
        ),
        groups=tuple(_group(group, sentences, names) for group in groups),
        assumption=words.plain("class.assumption", tuple(MINUTES.items())),
        command=clean.html(f'grade name-group {run} {groups[0].id} "..."') if groups else "",
        ready=tuple(clean.html(sentence) for sentence in ready),
        columns=columns_of(standings, assignment, top, words),
        dated=dated(standings),
        rows=tuple(row_of(standing, assignment, names, sentences) for standing in standings),
        items=tuple(_item(item, assignment, names) for item in items),
        say={
            key.removeprefix("class."): clean.html(text)
            for key, text in assignment.texts.items()
            if key.startswith("class.")
        },
    )


def _bare(spans: Spans) -> str:
    return "".join(span.text for span in spans)


def _sentences(texts: Iterable[str]) -> Spans:
    text = " ".join(clean.html(text) for text in texts)
    return (Span(text=text),) if text else ()


def _told(words: Words, counts: Iterable[tuple[str, int]]) -> Spans:
    """Join what was counted; what there is none of isn't said."""
    return _sentences(words.plain(f"class.{key}", (("count", count),)) for key, count in counts if count)


def _handed_in(standings: Sequence[Standing], participants: int | None, words: Words) -> LineView:
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


def _scores(spread: Spread, top: int, words: Words) -> LineView:
    if not spread.count:
        return LineView(lead=words.plain("class.no_scores"), rest=())
    named = ("low", "first", "median", "third", "high")
    params: Params = (
        *((name, points(getattr(spread, name))) for name in named),
        ("max", points(top)),
        ("full", spread.full),
    )
    return LineView(lead=words.plain("class.median", params), rest=inline(words.own("class.quartiles", params)))


def _teach(wrong: Sequence[tuple[str, int]], item: Item | None, count: int, names: Names, words: Words) -> LineView:
    spans: list[Span] = []
    for name, number in wrong[:MOST_TAUGHT]:
        shown = words.plain("class.how_many", (("count", number), ("percent", percent(number, count))))
        spans += [Span(text="; ") if spans else Span(text=""), *names.misconception(name), Span(text=f", {shown}")]
    spans += [Span(text=". ")] if spans else [*inline(words.own("class.teach_nothing")), Span(text=" ")]
    if item is not None and item.success is not None:
        share = words.plain("class.hardest_share", (("percent", _share(item)),))
        spans += [*inline(words.own("class.hardest")), Span(text=" "), *names.place(item.id), Span(text=f" ({share}).")]
    return LineView(lead=words.plain("class.teach"), rest=tuple(span for span in spans if span.text))


def _share(item: Item) -> str:
    return "–" if item.success is None else f"{100 * item.success:.0f}"


def _needs(
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


def _group(group: Group, sentences: Mapping[str, str], names: Names) -> GroupView:
    shown = group.members[:MOST_MEMBERS]
    return GroupView(
        id=clean.html(group.id),
        title=names.place(group.criterion),
        count=len(group.members),
        members=tuple((clean.html(one.name), link_of(one.folder)) for one in shown),
        more=len(group.members) - len(shown),
        sentence=clean.html(sentences.get(group.id, "")),
    )


def _item(item: Item, assignment: Assignment, names: Names) -> ItemView:
    task, _, _ = item.id.partition("/")
    found = [c.points for t in assignment.tasks for c in t.criteria if f"{t.id}/{c.id}" == item.id]
    undefined = item.discrimination is None
    return ItemView(
        title=names.criterion(item.id),
        task=names.task(task),
        points=str(found[0]) if found else "–",
        count=item.count,
        success=f"{_share(item)} %" if item.success is not None else "–",
        success_key="" if item.success is None else f"{item.success:.4f}",
        discrimination="–" if undefined else f"{item.discrimination:.2f}".replace("-", "−"),
        discrimination_key="" if undefined else f"{item.discrimination:.4f}",
    )
