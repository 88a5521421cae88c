"""What the grader says of a submission. Texts are keys of a catalogue with parameters; faces render them."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Union

from grader.model._data import data
from grader.model.values import Array

__all__ = [
    "Adjustment",
    "Band",
    "Chart",
    "Comparison",
    "CriterionResult",
    "Evidence",
    "Finding",
    "Line",
    "Note",
    "Orders",
    "Param",
    "Params",
    "Result",
    "Status",
    "Table",
    "TaskResult",
]

Param = Union[str, int, float]
Params = tuple[tuple[str, Param], ...]


class Status(StrEnum):
    """How a task or criterion stands. ``not_graded`` is our fault: no points are lost by it."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    BLOCKED = "blocked"
    MISSING = "missing"
    NOT_GRADED = "not_graded"


@data
class Note:
    """A remark that costs no points. ``review`` asks the instructor to look, ``integrity`` is theirs alone."""

    text: str
    params: Params = ()
    audience: Literal["learner", "instructor"] = "learner"
    kind: Literal["note", "review", "integrity"] = "note"


@data
class Comparison:
    """Expected beside yours: the part of an array around its worst entry.

    Attributes:
        name: The expression that gives this block, such as ``"weights[0]"``.
        yours, expected: Blocks of one shape, 1-D or 2-D, at most 6 by 6.
        corner: Index, in the block's own axes, of its first entry within ``name``.
        first, worst: Full index of the first wrong entry, and of the largest difference.
        differing, total: Entries of the whole array that are out of tolerance, and all of them.
        weights: The entries lie in 0..1 and read as a heat map.
        bars: Which way the block's distributions run, if it holds whole ones: they read as bars too.
    """

    name: str
    yours: Array
    expected: Array
    corner: tuple[int, ...]
    first: tuple[int, ...]
    worst: tuple[int, ...]
    yours_at_worst: float
    expected_at_worst: float
    differing: int
    total: int
    weights: bool = False
    bars: Literal["", "rows", "columns"] = ""


@data
class Table:
    """A small table of facts; ``header`` and ``caption`` are keys of the catalogue, cells are shown as they are."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Param, ...], ...]
    params: Params = ()


@data
class Line:
    """A series of a chart; ``label`` is a key of the catalogue.

    ``role`` decides how it is drawn: ``yours`` and ``expected`` have a marker at each number, a ``reference`` is a law
    that numbers are held against: a line without markers, whose numbers its label says.
    """

    label: str
    role: Literal["yours", "expected", "reference"]
    x: tuple[float, ...]
    y: tuple[float, ...]


@data
class Band:
    """A region between two curves over ``x``."""

    label: str
    x: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@data
class Chart:
    """A picture of numbers over numbers; its texts are ``<id>.title``, ``.x``, ``.y`` and ``.says``.

    ``band`` is the region that most right programs fall into, ``bands`` are further ones where a chart has several.
    """

    id: str
    lines: tuple[Line, ...]
    band: Band | None = None
    bands: tuple[Band, ...] = ()
    log_x: bool = False
    log_y: bool = False
    params: Params = ()

    @property
    def all_bands(self) -> tuple[Band, ...]:
        """All regions, the first one first."""
        return (self.band, *self.bands) if self.band else self.bands

    @property
    def labels(self) -> tuple[str, ...]:
        """Keys of the labels of all lines, then of all regions."""
        return (*(line.label for line in self.lines), *(band.label for band in self.all_bands))


@data
class Orders:
    """Two orders of the same things side by side; texts ``<id>.title``, ``.first``, ``.second`` and ``.says``.

    Attributes:
        first, second: What stands at each place, from the first place on, as numbers from 0.
    """

    id: str
    first: tuple[int, ...]
    second: tuple[int, ...]
    params: Params = ()


Evidence = Union[Comparison, Table, Chart, Orders]


@data
class Finding:
    """What a check says of one criterion.

    Attributes:
        criterion: ``"<task>/<criterion>"``.
        share: Part of the criterion's points that is earned, as a fraction of whole numbers.
        text: Key of the message in the course's catalogue, or ``""``.
        calls: Ids of the calls that it rests on.
        misconceptions: Ids of the misconceptions that explain all the values.
        snippet: Python lines that make the same case from its seed.
    """

    criterion: str
    status: Status
    share: tuple[int, int] = (0, 1)
    text: str = ""
    params: Params = ()
    calls: tuple[str, ...] = ()
    misconceptions: tuple[str, ...] = ()
    knock_on: str = ""
    evidence: tuple[Evidence, ...] = ()
    snippet: str = ""
    notes: tuple[Note, ...] = ()


@data
class CriterionResult:
    """A criterion with its points, in hundredths."""

    id: str
    status: Status
    cents: int
    max_cents: int
    core: bool
    hidden: bool
    finding: Finding


@data
class TaskResult:
    """A task with its points, in hundredths; ``text`` is the one message that leads it."""

    id: str
    function: str
    status: Status
    cents: int
    max_cents: int
    criteria: tuple[CriterionResult, ...]
    text: str = ""
    params: Params = ()
    notes: tuple[Note, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@data
class Adjustment:
    """A change of points after judging, and who answers for it."""

    kind: Literal["override", "late"]
    target: str
    before: int
    after: int
    reason: str
    by: str


@data
class Result:
    """All that is known of one graded submission; the same bytes for the same transcript, course and versions."""

    schema: str
    assignment: str
    version: str
    digest: str
    name: str
    sha256: str
    seed: int
    status: Literal["graded", "not_graded"]
    cents: int
    max_cents: int
    tasks: tuple[TaskResult, ...]
    notes: tuple[Note, ...] = ()
    adjustments: tuple[Adjustment, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    judged: tuple[tuple[str, str], ...] = ()
