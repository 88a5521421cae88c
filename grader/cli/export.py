"""``grade export --to WHAT``: make what another grading platform takes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.cli.options import Parser, add_course
from grader.errors import UsageError

__all__ = ["TARGETS", "parser", "run"]


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade export``."""
    made = Parser(prog="grade export", description="Make a file for another grading platform.")
    made.add_argument("--to", choices=tuple(TARGETS), required=True, help="what to make")
    made.add_argument("--out", metavar="FILE", type=Path, help="where it goes (default: autograder.zip)")
    add_course(made)
    made.add_argument(
        "--isolation",
        choices=("auto", "process", "landlock", "namespaces"),
        default="auto",
        help="how student code is kept apart there; auto refuses to grade where nothing holds",
    )
    made.add_argument(
        "--hints", metavar="N", type=int, choices=range(4), default=1, help="hints in the feedback, up to this level"
    )
    return made


def run(words: Sequence[str]) -> int:
    """Make the file; return the exit code."""
    options = parser().parse_args(words)
    if options.course is not None and not options.course.is_dir():
        raise UsageError(f"{options.course}: there is no such folder.", hint="Give --course the folder of a course.")
    return TARGETS[options.to](options)


def _gradescope_autograder(options: argparse.Namespace) -> int:
    from grader.gradescope import build_autograder
    from grader.store.files import write_file

    out = options.out or Path("autograder.zip")
    content = build_autograder(options.course, options.assignment, isolation=options.isolation, hints=options.hints)
    write_file(out, content)
    print(f"wrote {out} ({len(content) / 1e6:.1f} MB); upload it as the autograder of a programming assignment")
    return 0


TARGETS: dict[str, Callable[[argparse.Namespace], int]] = {"gradescope-autograder": _gradescope_autograder}
"""What can be made, and by what."""
