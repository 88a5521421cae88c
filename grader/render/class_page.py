"""The class page's view model: five lines first, then who stands where and how each criterion did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grader.core.classroom import Group, Item, groups_of, items_of, misconceptions_of, spread_of
from grader.core.standing import Standing
from grader.model._data import data
from grader.render import clean
from grader.render.class_lines import MINUTES, LineView, for_the_lms, handed_in, needs, scores, share_of, teach
from grader.render.class_rows import ColumnView, Names, RowView, columns_of, dated, link_of, percent, row_of
from grader.render.histogram import Histogram, histogram_of
from grader.render.words import Span, Words, inline

if TYPE_CHECKING:  # it would load NumPy
    from grader.core.assignment import Assignment

__all__ = ["MINUTES", "ClassView", "GroupView", "ItemView", "LineView", "MisconceptionView", "build_class"]

MOST_MEMBERS = 3

LONG = 200
"""Rows that a browser lays out at once without anybody noticing."""

Spans = tuple[Span, ...]


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
        """Whether rows are laid out bit by bit: see the style sheet."""
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
        handed_in(standings, participants, words),
        scores(spread, top, words),
        teach(wrong, items, spread.count, names, words),
        needs(standings, groups, sentences, words),
        for_the_lms(ready, words),
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
        success=f"{share_of(item)} %" if item.success is not None else "–",
        success_key="" if item.success is None else f"{item.success:.4f}",
        discrimination="–" if undefined else f"{item.discrimination:.2f}".replace("-", "−"),
        discrimination_key="" if undefined else f"{item.discrimination:.4f}",
    )
