"""The parts of an assignment that are plain data; ``grader.core.assignment`` joins them with the checks."""

from __future__ import annotations

from grader.model._data import data

__all__ = ["Criterion", "Limits", "Task"]


@data
class Criterion:
    """What the learner reads and earns points for. Its title is the text ``<task>.<id>.title``.

    Attributes:
        id: Stable, unique in its task.
        points: Whole number.
        core: The task fails when this fails.
        requires: Id of a criterion of the same task that has to pass first, or ``""``.
        hidden: Judged in a session of its own; the learner sees the verdict only.
    """

    id: str
    points: int
    core: bool = False
    requires: str = ""
    hidden: bool = False


@data
class Task:
    """One function that the learner writes. Its title is the text ``<id>.title``.

    ``uses`` names tasks whose functions it may call: when one of those is wrong, this one is judged again with a
    stand-in, so that a mistake is paid for once.
    """

    id: str
    function: str
    signature: str
    criteria: tuple[Criterion, ...]
    uses: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        """Points of all criteria together."""
        return sum(criterion.points for criterion in self.criteria)


@data
class Limits:
    """Seconds are of CPU unless said otherwise; wall limits are three times the CPU ones."""

    load_seconds: float = 30.0
    call_seconds: float = 5.0
    asleep_seconds: float = 3.0
    submission_seconds: float = 90.0
    memory_mib: int = 4096
    stdout_kib: int = 64
