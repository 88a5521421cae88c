"""What was asked of student code and what came back: all that judging needs."""

from __future__ import annotations

from typing import Literal

from grader.model._data import data
from grader.model.values import Array, Value

__all__ = [
    "Call",
    "Draws",
    "DrawsWanted",
    "Event",
    "Failure",
    "Outcome",
    "OutcomeKind",
    "Session",
    "Source",
    "Step",
    "Transcript",
]

OutcomeKind = Literal["returned", "raised", "timed_out", "out_of_memory", "crashed", "too_large", "missing", "not_run"]


DrawsWanted = Literal["none", "values", "replay"]


@data
class Source:
    """One generator from one known state on.

    Attributes:
        kind: ``"RandomState"`` or ``"Generator"``.
        bit_generator: ``"MT19937"``, ``"PCG64"`` ...
        state: The state before the first draw, as pairs; None when it wasn't kept.
        sha256: Of the bytes of everything that it drew, in order; "" where no replay was wanted.
    """

    kind: str
    bit_generator: str
    state: Value
    sha256: str


@data
class Step:
    """``count`` equal draws in a row from one source: ``method(*args, size=shape)``."""

    source: int
    method: str
    args: tuple[float, ...]
    shape: tuple[int, ...]
    dtype: str
    count: int = 1


@data
class Draws:
    """The random numbers that NumPy handed to student code during one call, in order.

    Attributes:
        values: All numbers as one float64 array when they are few; None when they have to be
            replayed from the states, or can't be had.
        complete: False when something drew in a way that the record can't follow.
        others: Names of other methods that drew something, such as ``"permutation"``; their numbers aren't recorded.
    """

    sources: tuple[Source, ...] = ()
    steps: tuple[Step, ...] = ()
    values: Array | None = None
    complete: bool = True
    others: tuple[str, ...] = ()


@data
class Call:
    """One thing asked of the submission.

    Attributes:
        id: Unique in a transcript, such as ``"softmax/large"``.
        session: Name of the worker's life that it belongs to.
        kind: ``"load"`` (a script), ``"cell"`` or ``"function"``.
        name: The function's name; of a load or cell the cell's number.
        args: Positional arguments.
        kwargs: Keyword arguments, as pairs.
        seed: Seeds the global generator, and ``default_rng()`` without a seed, before the call.
        watch: Report the arguments as they are after the call.
        readonly: Hand arrays over as read-only ones.
        draws: ``"values"``: the numbers while they are few; ``"replay"``: else the states to replay them from.
        hidden: Belongs to a hidden criterion.
        stage: The round of adaptive sampling that asked for it.
    """

    id: str
    session: str
    kind: Literal["load", "cell", "function"]
    name: str
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()
    seed: int = 0
    watch: bool = False
    readonly: bool = False
    draws: DrawsWanted = "values"
    hidden: bool = False
    stage: int = 1


@data
class Failure:
    """An exception, or how a call ended without an answer.

    Attributes:
        kind: The exception's type name, or ``""``.
        message: Its text, cleaned and capped.
        cell: Number of the cell whose line it was (0: the script), None if not in the submission.
        line: 1-based line in that cell; None if unknown.
    """

    kind: str = ""
    message: str = ""
    cell: int | None = None
    line: int | None = None


@data
class Event:
    """Something that the worker noticed: for the instructor, never a verdict."""

    kind: str
    detail: str


@data
class Outcome:
    """What came back of one call. ``cpu_us`` and ``wall_us`` are costs; they never reach a Result."""

    call: str
    kind: OutcomeKind
    value: Value = None
    args_after: tuple[Value, ...] | None = None
    draws: Draws | None = None
    names: tuple[tuple[str, Value], ...] = ()
    callables: tuple[str, ...] = ()
    stdout: str = ""
    stdout_cut: bool = False
    remarks: tuple[str, ...] = ()
    failure: Failure | None = None
    events: tuple[Event, ...] = ()
    cpu_us: int = 0
    wall_us: int = 0


@data
class Session:
    """One life of a worker. ``stand_ins`` names what was put in place of the learner's own functions."""

    id: str
    stand_ins: tuple[str, ...] = ()


@data
class Transcript:
    """Everything that was asked and answered, for one submission and one seed.

    Attributes:
        secret: What the inputs of hidden criteria come from beside the seed; never printed.
        source: Text of each cell, by position, for showing the learner's own lines.
        cell_numbers: The numbers of these cells.
        environment: What ran: Python, NumPy, platform, isolation backend.
        trouble: Our own failure, if any: the result is ``not_graded``.
    """

    schema: str
    assignment: str
    version: str
    digest: str
    name: str
    kind: Literal["script", "notebook"]
    sha256: str
    seed: int
    source: tuple[str, ...]
    cell_numbers: tuple[int, ...]
    secret: str = ""
    intake: tuple[tuple[str, tuple[tuple[str, str | int | float], ...]], ...] = ()
    intake_trouble: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    sessions: tuple[Session, ...] = ()
    calls: tuple[Call, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    trouble: str = ""
