"""``grade start [DIR]``: write the assignment's starter files, never over a file that is there."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from grader.cli.options import Parser, add_course
from grader.errors import CourseError, UsageError

__all__ = ["parser", "run"]


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade start``."""
    made = Parser(prog="grade start", description="Write the assignment's starter files. No file is ever overwritten.")
    made.add_argument("dir", metavar="DIR", type=Path, nargs="?", default=Path(), help="folder (default: this one)")
    add_course(made)
    return made


def run(words: Sequence[str]) -> int:
    """Write the starter files; return the exit code."""
    from grader.course import choose_assignment, find_course
    from grader.store.files import make_folder, write_file

    options = parser().parse_args(words)
    course = find_course(options.course)
    wanted = choose_assignment(course, options.assignment)
    handout = course.handout(wanted)
    files = sorted(path for path in handout.glob("*") if path.is_file()) if handout.is_dir() else []
    if not files:
        raise CourseError(str(handout), "", "there are no starter files in it.")
    if options.dir.exists() and not options.dir.is_dir():
        raise UsageError(f"{options.dir}: this is a file.", hint="Name a folder.")
    there = [path.name for path in files if (options.dir / path.name).exists()]
    if there:
        raise UsageError(
            f"{options.dir}: {', '.join(there)} is there already, and nothing is ever overwritten.",
            hint="Name another folder: grade start DIR.",
        )
    make_folder(options.dir)
    for path in files:
        write_file(options.dir / path.name, path.read_bytes())
        print(f"wrote {options.dir / path.name}")
    script = next((path.name for path in files if path.suffix == ".py"), files[0].name)
    print(f"\nNext: fill in {options.dir / script} or the notebook, then: grade {options.dir / script}")
    return 0
