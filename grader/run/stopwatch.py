"""Where the time goes: wall and CPU seconds of named stages, for ``--profile``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

__all__ = ["STAGES", "Stopwatch", "table"]

STAGES = ("import", "read", "start", "load", "calls", "end", "plan", "replay", "judge", "render", "write")
"""In the order in which they are printed.

``start``, ``load`` and ``calls`` wait for processes of student code: their CPU here is what asking costs the grader.
"""


class Stopwatch:
    """Adds up the seconds of stages; ``seconds[stage]`` is a pair of wall and CPU time of this process."""

    def __init__(self) -> None:
        self.seconds: dict[str, tuple[float, float]] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what runs inside towards ``name``."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - wall, time.process_time() - cpu)

    def add(self, name: str, wall: float, cpu: float) -> None:
        """Count seconds towards ``name``."""
        before = self.seconds.get(name, (0.0, 0.0))
        self.seconds[name] = (before[0] + wall, before[1] + cpu)

    def merge(self, seconds: Mapping[str, Sequence[float]]) -> None:
        """Count another stopwatch's seconds too."""
        for name, (wall, cpu) in seconds.items():
            self.add(name, wall, cpu)


def table(watch: Stopwatch, *, wall: float, own: float, rest: float, submissions: int) -> str:
    """Return the seconds as lines of text.

    Args:
        watch: What was counted.
        wall: Seconds of the whole run by the clock; stages of several processes may add up to more.
        own: CPU seconds that the stages account for.
        rest: All other CPU seconds: of student code and its processes, and of starting Python.
        submissions: In the run; each line also says what one of them took, in milliseconds.
    """
    each = 1000 / max(1, submissions)
    blank = " " * 9
    lines = [f"{'profile':<16}{'wall s':>9}{'CPU s':>9}{'wall ms each':>14}{'CPU ms each':>13}"]
    for name in STAGES:
        if name in watch.seconds:
            seconds, cpu = watch.seconds[name]
            lines.append(f"  {name:<14}{seconds:>9.3f}{cpu:>9.3f}{seconds * each:>14.1f}{cpu * each:>13.1f}")
    lines.append(f"  {'workers, start':<14}{blank}{rest:>9.3f}{'':>14}{rest * each:>13.1f}")
    total = own + rest
    lines.append(f"  {'whole run':<14}{wall:>9.3f}{total:>9.3f}{wall * each:>14.1f}{total * each:>13.1f}")
    return "\n".join(lines)
