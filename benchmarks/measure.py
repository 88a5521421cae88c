"""Runs a command and says what it took, with all the processes that it waited for."""

from __future__ import annotations

import ctypes
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Spent", "run"]

SAMPLE_SECONDS = 0.25
ORPHAN_SECONDS = 10.0
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a command took.

    Attributes:
        wall: Seconds by the clock.
        cpu: CPU seconds, user and system, of the process and all its descendants, also of those that nobody else
            waited for.
        peak: Most memory that all of them had at one time, in bytes, shared pages counted once; 0 if not asked for.
        code: The exit status.
    """

    wall: float
    cpu: float
    peak: int
    code: int


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
    memory: bool = False,
) -> Spent:
    """Run ``command`` to its end. Its output goes to ``log``, or nowhere; ``env`` is added to the environment."""
    _adopt_orphans()
    with open(log or os.devnull, "ab") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        ended = threading.Event()
        peaks = [0]
        watcher = threading.Thread(target=_watch, args=(process.pid, ended, peaks), daemon=True)
        if memory:
            watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        cpu = usage.ru_utime + usage.ru_stime + _of_orphans()
    return Spent(wall=wall, cpu=cpu, peak=peaks[0], code=process.returncode)


def _adopt_orphans() -> None:
    """Let descendants that lose their parent become our children, so that their time isn't lost."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "orphans can't be adopted")


def _of_orphans() -> float:
    """Wait for adopted processes and return their CPU seconds, with those of all that they had waited for."""
    cpu, until = 0.0, time.monotonic() + ORPHAN_SECONDS
    while time.monotonic() < until:
        try:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return cpu
        if pid:
            cpu += usage.ru_utime + usage.ru_stime
        else:
            time.sleep(0.01)
    raise RuntimeError(f"a process of the command still runs {ORPHAN_SECONDS:g} s after it")


def _watch(pid: int, ended: threading.Event, peaks: list[int]) -> None:
    while not ended.wait(SAMPLE_SECONDS):
        peaks[0] = max(peaks[0], sum(map(_resident, _family(pid))))


def _family(pid: int) -> list[int]:
    """Return a process and its descendants."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
    family, grown = {pid}, True
    while grown:
        more = {child for child, parent in parents.items() if parent in family} - family
        family |= more
        grown = bool(more)
    return sorted(family)


def _resident(pid: int) -> int:
    """Return the bytes of a process in memory, its share of what is shared."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    except (OSError, ValueError, IndexError):
        return 0
