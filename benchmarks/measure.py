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

__all__ = ["Spent", "cpu_of", "family", "run"]

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
        peaks: The same of the command itself, of its children, and of all below them, each at its own worst moment.
        own_cpu: CPU seconds of the command alone, as seen last; 0 if memory isn't asked for.
    """

    wall: float
    cpu: float
    peak: int
    code: int
    peaks: tuple[int, int, int] = (0, 0, 0)
    own_cpu: float = 0.0


class _Watch:
    """Looks at a process and its descendants from time to time, until ``ended``."""

    def __init__(self, pid: int) -> None:
        self.pid, self.ended = pid, threading.Event()
        self.peak, self.peaks, self.own_cpu = 0, [0, 0, 0], 0.0

    def run(self) -> None:
        """Look until it has ended."""
        while not self.ended.wait(SAMPLE_SECONDS):
            self.own_cpu = max(self.own_cpu, cpu_of(self.pid))
            now = [0, 0, 0]
            for pid, generation in family(self.pid).items():
                now[min(generation, 2)] += _resident(pid)
            self.peak = max(self.peak, sum(now))
            self.peaks = [max(pair) for pair in zip(self.peaks, now, strict=True)]


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
        watch = _Watch(process.pid)
        if memory:
            threading.Thread(target=watch.run, daemon=True).start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        watch.ended.set()
        cpu = usage.ru_utime + usage.ru_stime + _of_orphans()
    return Spent(
        wall=wall,
        cpu=cpu,
        peak=watch.peak,
        code=process.returncode,
        peaks=(watch.peaks[0], watch.peaks[1], watch.peaks[2]),
        own_cpu=watch.own_cpu,
    )


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


def family(pid: int) -> dict[int, int]:
    """Return a process and its descendants, with how many generations each is below it."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    family, youngest, generation = {pid: 0}, [pid], 0
    while youngest:
        generation += 1
        youngest = [child for parent in youngest for child in children.get(parent, ()) if child not in family]
        family |= dict.fromkeys(youngest, generation)
    return family


def cpu_of(pid: int) -> float:
    """Return the CPU seconds that a process has used, without its children's."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def _resident(pid: int) -> int:
    """Return the bytes of a process in memory, its share of what is shared."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    except (OSError, ValueError, IndexError):
        return 0
