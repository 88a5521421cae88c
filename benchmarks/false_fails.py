"""How often does a right program lose a point? Judges right programs in bulk, with random styles and seeds.

Run from the checkout: ``python -m benchmarks.false_fails --gradings 200000 --seconds 36000 --jobs 2``. It stops at
whichever comes first, and ``--start`` goes on where an earlier run stopped. Every grading runs all functions of a
program through plan and judge in this process, with the encoder, the decoder and the recording of draws that a
submission meets; what it leaves out is the worker's process.

A grading fails when the score is below full marks, a misconception is named, or the grader says that the fault is its
own. A failing one is printed with its styles and seed; ``--repeat STYLES:SEED`` judges it again and says why.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import styles, styles_drawn, styles_ranking
from grader.core.assignment import Assignment
from grader.core.judge import judge
from grader.core.memory import Memory
from grader.core.score import conclude
from grader.course import find_course, load_assignment
from grader.model import Result
from grader.run.rehearse import rehearse

TASKS = tuple(styles.TASKS)
CONFIDENCE = 0.95
ON_PURPOSE = frozenset(["float32", "small_epsilon"])
"""Styles of softmax that are less precise than the input: what they use of the tolerance tells nothing of rounding."""

LONGEST = 24
"""Failing gradings that are printed."""

_REGISTERED = (styles_drawn, styles_ranking)


@dataclass
class Tally:
    """What some gradings showed."""

    gradings: int = 0
    seconds: float = 0.0
    failures: list[tuple[str, int, str]] = field(default_factory=list)
    programs: set[str] = field(default_factory=set)
    met: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    used: dict[str, tuple[float, str]] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    reviewed: int = 0

    def add(self, other: Tally) -> None:
        """Take in what other gradings showed."""
        self.gradings += other.gradings
        self.failures += other.failures
        self.programs |= other.programs
        self.met += other.met
        self.failed += other.failed
        self.notes += other.notes
        self.reviewed += other.reviewed
        for name, share in other.used.items():
            self.used[name] = max(share, self.used.get(name, (0.0, "")))


class Shares:
    """Listens to the comparisons of the exact tasks: which part of its tolerance does a right answer use?"""

    def __init__(self, assignment: Assignment) -> None:
        self.largest: dict[str, float] = {}
        for task in ("softmax", "attention"):
            module: Any = sys.modules[type(assignment.checks[task]).__module__]
            module.compare = self._listening(task, module.compare)

    def _listening(self, task: str, compare: Any) -> Any:
        def listening(got: object, expected: Any, name: str, **kwargs: Any) -> Any:
            verdict = compare(got, expected, name, **kwargs)
            if verdict.passed:
                single = np.asarray(got).dtype == np.float32 or kwargs.get("input_unit", 0.0) > 1e-10
                key = f"{name if task == 'attention' else task} in {'single' if single else 'double'} precision"
                self.largest[key] = max(self.largest.get(key, 0.0), verdict.used)
            return verdict

        return listening


def written(choice: dict[str, str]) -> str:
    """Return a program's styles as one word."""
    return "+".join(choice[task] for task in TASKS)


def chosen(number: int) -> tuple[dict[str, str], int]:
    """Return the styles and the seed of the grading with this number, the same in every run."""
    chance = random.Random(number)
    return {task: chance.choice(sorted(styles.STYLES[task])) for task in TASKS}, chance.randrange(1 << 53)


def graded(assignment: Assignment, choice: dict[str, str], seed: int) -> Result:
    """Grade the program of these styles."""
    memory = Memory()
    transcript = rehearse(assignment, styles.program(choice), seed, memory=memory)
    return conclude(assignment, transcript, judge(assignment, transcript, memory))


def complaint(result: Result) -> str:
    """Say what a right program was blamed for; nothing if it wasn't."""
    if result.status != "graded":
        return "not graded: " + "; ".join(note.text for note in result.notes)
    criteria = [(task, criterion) for task in result.tasks for criterion in task.criteria]
    lost = [
        f"{task.id}/{criterion.id} {criterion.cents / 100:g} of {criterion.max_cents / 100:g}: {criterion.finding.text}"
        for task, criterion in criteria
        if criterion.cents < criterion.max_cents
    ]
    named = [f"misconception {name}" for _, criterion in criteria for name in criterion.finding.misconceptions]
    return "; ".join(lost + named)


def work(start: int, step: int, gradings: int, seconds: float) -> Tally:
    """Judge gradings start, start + step, ... until there are enough or the time is over."""
    assignment = load_assignment(find_course())
    shares = Shares(assignment)
    tally, began = Tally(), time.monotonic()
    for number in range(start, start + step * gradings, step):
        if time.monotonic() - began > seconds:
            break
        choice, seed = chosen(number)
        shares.largest.clear()
        result = graded(assignment, choice, seed)
        tally.gradings += 1
        tally.programs.add(written(choice))
        entries = [f"{task}/{style}" for task, style in choice.items()]
        tally.met.update(entries)
        wrong = complaint(result)
        if wrong:
            tally.failures.append((written(choice), seed, wrong))
            tally.failed.update(e for e in entries if f"{e.split('/')[0]}/" in wrong)
        for name, share in () if choice["softmax"] in ON_PURPOSE else shares.largest.items():
            tally.used[name] = max((share, written(choice)), tally.used.get(name, (0.0, "")))
        notes = {note for task in result.tasks for criterion in task.criteria for note in criterion.finding.notes}
        tally.notes.update({note.text for note in notes})
        tally.reviewed += any(note.kind == "review" for note in notes)
    return tally


def upper(failures: int, trials: int) -> float:
    """Return the Clopper-Pearson bound: a rate above it would give so few failures in less than 5 of 100 runs."""
    if failures >= trials:
        return 1.0
    low, high = failures / trials, 1.0
    logs = np.concatenate([[0.0], np.cumsum(np.log((trials - np.arange(failures)) / np.arange(1, failures + 1)))])
    for _ in range(100):
        rate = (low + high) / 2
        k = np.arange(failures + 1)
        chance = float(np.exp(logs + k * np.log(rate) + (trials - k) * np.log1p(-rate)).sum()) if rate < 1 else 0.0
        low, high = (rate, high) if chance > 1 - CONFIDENCE else (low, rate)
    return high


def machine() -> str:
    """Say on what was measured, without any path."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = info.read_text(encoding="utf-8").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}"


def report(tally: Tally, jobs: int) -> None:
    """Print what was measured."""
    count, bad = tally.gradings, len(tally.failures)
    met, failed = len(tally.met), len(tally.failed)
    each = tally.seconds * jobs / count * 1000
    among = upper(failed, met) if failed else min(1.0, 3 / met)
    how = "Clopper-Pearson" if failed else "rule of three"
    print(f"machine      {machine()}")
    print(f"gradings     {count} in {tally.seconds:.0f} s with {jobs} jobs: {each:.0f} ms each")
    print(f"styles       {styles.count()} functions, {met} of them met; {len(tally.programs)} different programs")
    print(f"failures     {bad}: {bad / count * 1e6:.1f} per million")
    print(f"over seeds   at most {upper(bad, count) * 1e6:.1f} per million (Clopper-Pearson, one-sided 95 %)")
    print(f"over styles  {failed} of {met} fail: at most {among:.1%} of others like them ({how}, one-sided 95 %)")
    print(f"review       {tally.reviewed} gradings ({tally.reviewed / count:.1%}) asked an instructor to look")
    print("notes        " + ", ".join(f"{name} {times}" for name, times in sorted(tally.notes.items())))
    for name, (share, program) in sorted(tally.used.items()):
        print(f"tolerance    {share:6.3f} used by {name:<34} {program}")
    for entry, times in tally.failed.most_common():
        print(f"FAILS        {entry}: {times} of {tally.met[entry]}")
    for program, seed, wrong in tally.failures[:LONGEST]:
        print(f"FAILED       --repeat {program}:{seed}\n             {wrong}")


def repeat(which: str) -> int:
    """Judge one grading again and say what it was blamed for."""
    words, _, seed = which.rpartition(":")
    choice = dict(zip(TASKS, words.split("+"), strict=True))
    result = graded(load_assignment(find_course()), choice, int(seed))
    for task in result.tasks:
        for criterion in task.criteria:
            finding = criterion.finding
            print(
                f"{task.id}/{criterion.id:<10} {criterion.status.value:<8} {finding.text} {dict(finding.params) or ''}"
            )
    wrong = complaint(result)
    print(wrong or "full marks")
    return 1 if wrong else 0


def main() -> int:
    """Run the measurement; exit with 1 if a right program failed."""
    parser = argparse.ArgumentParser(prog="false_fails", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gradings", type=int, default=200_000, help="stop after so many (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=600, help="or after so long (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--start", type=int, default=0, help="number of the first grading (default: %(default)s)")
    parser.add_argument("--repeat", metavar="STYLES:SEED", help="judge one grading again, and say why")
    options = parser.parse_args()
    if options.repeat:
        return repeat(options.repeat)
    jobs = max(1, options.jobs)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # the jobs inherit it: one thread for each of them
    each = -(-options.gradings // jobs)
    began = time.monotonic()
    tally = Tally()
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        parts = [(options.start + job, jobs, each, options.seconds) for job in range(jobs)]
        for part in pool.starmap(work, parts):
            tally.add(part)
    tally.seconds = time.monotonic() - began
    report(tally, jobs)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
