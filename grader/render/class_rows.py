"""The class page's table of students: its columns, and a row for each attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from grader.core.standing import Part, Standing
from grader.model import Status
from grader.model._data import data
from grader.render import clean
from grader.render.figures import points
from grader.render.words import Span, Words, inline

if TYPE_CHECKING:  # it would load NumPy
    from grader.core.assignment import Assignment

__all__ = [
    "CellView",
    "ColumnView",
    "LookView",
    "Names",
    "RowView",
    "columns_of",
    "dated",
    "link_of",
    "percent",
    "row_of",
]

Spans = tuple[Span, ...]


@data
class ColumnView:
    """A column; ``number`` says that it is sorted by numbers, the largest first."""

    title: Spans
    number: bool = False


@data
class CellView:
    """A task's status in a row; ``key`` sorts it, and is ``""`` where no points are known."""

    status: str
    word: str
    score: str
    key: str


@data
class LookView:
    """One thing to look at: what kind it is, a sentence, and the group that it names or ``""``."""

    kind: str
    text: str
    group: str = ""


@data
class RowView:
    """An attempt. ``traits`` are the words that the page's filter knows, with a space between."""

    name: str
    link: str
    score: str
    key: str
    graded: bool
    submitted: str
    late: bool
    cells: tuple[CellView, ...]
    misconceptions: tuple[Spans, ...]
    look: tuple[LookView, ...]
    traits: str


class Names:
    """Titles by their ids, each resolved once: a class asks for the same few thousands of times."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self._known: dict[str, Spans] = {}
        self._statuses: dict[Status, str] = {}
        self._own: dict[str, str] = {}

    def _titled(self, key: str, fallback: str) -> Spans:
        if key not in self._known:
            self._known[key] = inline(self.words.titled(key, fallback))
        return self._known[key]

    def misconception(self, name: str) -> Spans:
        """The title of a misconception."""
        return self._titled(f"misconception.{name}.title", name)

    def task(self, name: str) -> Spans:
        """The title of a task."""
        return self._titled(f"{name}.title", name)

    def criterion(self, name: str) -> Spans:
        """The title of a criterion, from ``"task/criterion"``."""
        return self._titled(f"{name.replace('/', '.')}.title", name)

    def place(self, name: str) -> Spans:
        """The titles of a criterion's task and its own."""
        return (*self.task(name.partition("/")[0]), Span(text=": "), *self.criterion(name))

    def status(self, status: Status) -> str:
        """The word of a status."""
        if status not in self._statuses:
            self._statuses[status] = self.words.plain(f"status.{status}")
        return self._statuses[status]

    def own(self, key: str) -> str:
        """A text of the page without parameters."""
        if key not in self._own:
            self._own[key] = self.words.plain(f"class.{key}")
        return self._own[key]


def percent(count: int, total: int) -> str:
    """Write a share in whole percent; what isn't nothing is never written as 0."""
    if not total:
        return "–"
    share = 100 * count / total
    return "<1" if 0 < share < 1 else f"{share:.0f}"


def link_of(folder: str) -> str:
    """Return the address of a report from the page beside the folders; ``""`` where a name could lead elsewhere."""
    parts = folder.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return ""
    return "./" + "/".join(quote(part, safe="", errors="replace") for part in (*parts, "report.html"))


def columns_of(standings: Sequence[Standing], assignment: Assignment, top: int, words: Words) -> tuple[ColumnView, ...]:
    """Return the columns."""
    score = inline(words.own("class.score", (("max", points(top)),)))
    tasks = (inline(words.titled(f"{task.id}.title", task.function)) for task in assignment.tasks)
    return (
        ColumnView(title=inline(words.own("class.name"))),
        ColumnView(title=score, number=True),
        *(ColumnView(title=title, number=True) for title in tasks),
        ColumnView(title=inline(words.own("class.misconceptions"))),
        ColumnView(title=inline(words.own("class.look")), number=True),
        *([ColumnView(title=inline(words.own("class.submitted")))] if dated(standings) else []),
    )


def dated(standings: Sequence[Standing]) -> bool:
    """Whether a source said of any attempt when it was handed in, or that it was late: then there is a column."""
    return any(one.submitted or one.late for one in standings)


def row_of(standing: Standing, assignment: Assignment, names: Names, sentences: Mapping[str, str]) -> RowView:
    """Resolve one row."""
    graded = standing.status == "graded"
    parts = {part.id: part for part in standing.tasks}
    look = tuple(_look(standing, names))
    return RowView(
        name=clean.html(standing.name),
        link=link_of(standing.folder),
        score=points(standing.cents) if graded else "–",
        key=str(standing.cents) if graded else "",
        graded=graded,
        submitted=clean.html(standing.submitted),
        late=standing.late is True,
        cells=tuple(_cell(parts.get(task.id), names) for task in assignment.tasks),
        misconceptions=tuple(
            names.misconception(name) for name in dict.fromkeys(n for _, n in standing.misconceptions)
        ),
        look=look,
        traits=" ".join(_traits(standing, sentences)),
    )


def _cell(part: Part | None, names: Names) -> CellView:
    if part is None:
        return CellView(status="", word="", score="–", key="")
    known = part.status is not Status.NOT_GRADED
    return CellView(
        status=str(part.status),
        word=names.status(part.status),
        score=f"{points(part.cents)}/{points(part.max_cents)}" if known else "–",
        key=str(part.cents) if known else "",
    )


def _look(standing: Standing, names: Names) -> list[LookView]:
    found = []
    if standing.status == "not_graded":
        found.append(LookView(kind=names.own("look_not_graded"), text=clean.html(standing.reason)))
    found += [LookView(kind=names.own(f"look_{kind}"), text=clean.html(text)) for kind, text in standing.look]
    found += [
        LookView(kind=names.own("look_group"), text="".join(span.text for span in names.place(name)), group=group)
        for name, group in standing.unexplained
    ]
    if standing.adjusted:
        found.append(LookView(kind=names.own("look_adjusted"), text=""))
    if standing.duplicate_of:
        found.append(LookView(kind=names.own("look_same"), text=clean.html(standing.duplicate_of)))
    return found


def _traits(standing: Standing, sentences: Mapping[str, str]) -> list[str]:
    graded = standing.status == "graded"
    kinds = {kind for kind, _ in standing.look} & {"review", "integrity"}
    traits = {
        "graded": graded,
        "not_graded": not graded,
        "full": graded and standing.cents >= standing.max_cents,
        "wrong": graded and standing.cents < standing.max_cents,
        "look": not graded or bool(kinds),
        "group": any(group not in sentences for _, group in standing.unexplained),
        "late": standing.late is True,
    }
    return [name for name, holds in traits.items() if holds]
