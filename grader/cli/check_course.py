"""``grade check-course [DIR]``: the checks prove themselves. It speaks to authors of courses, in plain English."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from grader.cli.options import Parser
from grader.errors import UsageError

__all__ = ["parser", "run"]

MAX_SEEDS = 1_000

DESCRIPTION = """\
Check a course before learners see it: the solution gets all points and the handout none, every misconception
is caught and named, texts are complete, and small mistakes made in the solution are noticed.
It runs the course's own code: check only a course that you trust.
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade check-course``."""
    made = Parser(
        prog="grade check-course", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "dir", metavar="DIR", type=Path, nargs="?", default=None,
        help="the folder with exercises/ and reference/ (default: the course that comes with the grader)",
    )  # fmt: skip
    made.add_argument("--assignment", metavar="ID", default="", help="check this one only (default: all)")
    made.add_argument(
        "--seeds", metavar="N", type=_seeds, default=3, help="random inputs to try each thing with (default: 3)"
    )
    return made


def run(words: Sequence[str]) -> int:
    """Print every proof; return 0 if all hold, 3 if one doesn't or the course can't be used."""
    from grader.checkcourse import check_assignment
    from grader.course import find_course

    options = parser().parse_args(words)
    if options.dir is not None and not options.dir.is_dir():
        raise UsageError(f"{options.dir}: there is no such folder.", hint="Name the folder of a course.")
    course = find_course(options.dir)
    known = course.assignments
    if options.assignment and options.assignment not in known:
        raise UsageError(f"There is no assignment '{options.assignment}'.", hint=f"There is: {', '.join(known)}.")
    failed = 0
    for assignment in [options.assignment] if options.assignment else known:
        print(assignment, flush=True)
        for proof in check_assignment(course, assignment, options.seeds):
            failed += not proof.holds
            print(f"  {proof.name}: {'ok, ' if proof.holds else 'NOT PROVED: '}{proof.says}")
            for problem in proof.problems:
                print(f"    - {_line(str(problem), course.root)}")
            for line in proof.listed:
                print(f"    {_line(line, course.root)}")
            print(end="", flush=True)
    print("All proofs hold." if not failed else f"{failed} proof{'s' if failed > 1 else ''} failed.")
    return 3 if failed else 0


def _seeds(text: str) -> int:
    if not text.isdecimal() or not 1 <= len(text) <= 4 or not 1 <= int(text) <= MAX_SEEDS:
        raise argparse.ArgumentTypeError(f"'{text[:30]}' is no number of seeds: 1 to {MAX_SEEDS}")
    return int(text)


def _line(text: str, root: Path) -> str:
    """Write a problem in one line, whatever an exception's message holds, with paths as they are in the course."""
    return " ".join(text.replace(f"{root}{os.sep}", "").split())[:600]
