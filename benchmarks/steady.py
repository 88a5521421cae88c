"""Does a busy machine change a verdict? Grades files on the quiet machine, then again while it is far too busy.

Run from the checkout: ``python -m benchmarks.steady DIR --gradings 1000 --load 4``. Every file is graded with as many
seeds as it takes; ``--load 4`` keeps four busy processes for each processor beside the grading. A flip is a result
whose bytes differ. Results name nothing that a clock shows, so the same bytes are expected.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from grader.core.assignment import Assignment
from grader.course import find_course, load_assignment
from grader.intake import read_submission
from grader.pipeline import grade
from grader.render.document import to_json
from grader.run.backend import Backend
from grader.run.isolation import open_backend
from grader.run.scratch import Scratch

_HELD: list[tuple[Assignment, Backend]] = []
"""What a process of the pool holds, once it is there."""


def begin() -> None:
    """Open the backend and load the course, once for each process."""
    course = find_course()
    backend = open_backend("auto", purpose="others' files", secrets=course.secrets)
    _HELD.append((load_assignment(course), backend))


def judged(job: tuple[Path, int]) -> tuple[str, str]:
    """Grade one file with one seed; return its score and the whole result as text."""
    path, seed = job
    assignment, backend = _HELD[0]
    submission = read_submission(path)
    _, result = grade(assignment, submission, seed, Scratch(backend, submission))
    return f"{result.cents / 100:g}", to_json(result, assignment)


def spin() -> None:
    """Be busy until somebody ends it."""
    while True:
        pass


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep so many processes busy."""
    context = multiprocessing.get_context("spawn")
    spinning = [context.Process(target=spin, daemon=True) for _ in range(processes)]
    for process in spinning:
        process.start()
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.join()


def main() -> int:
    """Run the measurement; exit with 1 if a verdict flipped."""
    parser = argparse.ArgumentParser(prog="steady", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dir", type=Path, nargs="+", help="folders with submissions")
    parser.add_argument("--gradings", type=int, default=1_000, help="how many under load (default: %(default)s)")
    parser.add_argument("--load", type=int, default=4, help="busy processes for each processor (default: %(default)s)")
    options = parser.parse_args()
    files = sorted(path for folder in options.dir for path in folder.iterdir() if path.suffix in (".py", ".ipynb"))
    jobs = [(files[number % len(files)], 7_000 + number // len(files)) for number in range(options.gradings)]
    cores = os.cpu_count() or 1
    with multiprocessing.get_context("spawn").Pool(cores, begin) as pool:
        began = time.monotonic()
        quiet = pool.map(judged, jobs, chunksize=8)
        between = time.monotonic()
        with busy(options.load * cores):
            loaded = pool.map(judged, jobs, chunksize=8)
        ended = time.monotonic()
    flips = [
        (path.name, seed, one[0], other[0])
        for (path, seed), one, other in zip(jobs, quiet, loaded, strict=True)
        if one != other
    ]
    print(
        f"{len(jobs)} gradings of {len(files)} files: {between - began:.0f} s quiet, {ended - between:.0f} s under load"
    )
    print(f"load: {options.load * cores} busy processes on {cores} processors, {cores} gradings at a time")
    print(f"flips: {len(flips)}")
    for name, seed, before, after in flips[:20]:
        print(f"FLIP {name} --seed {seed}: {before}, under load {after}")
    return 1 if flips else 0


if __name__ == "__main__":
    sys.exit(main())
