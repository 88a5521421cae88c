"""``grade regrade TRANSCRIPT``: judge a kept run again, without running any student code."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from grader.cli.options import Parser, add_course, add_output
from grader.cli.show import Shown, course_options, prepare, show
from grader.course import find_course, load_assignment
from grader.errors import TranscriptError, UsageError
from grader.pipeline import judge_transcript
from grader.store import read_transcript

__all__ = ["parser", "run"]


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade regrade``."""
    made = Parser(
        prog="grade regrade",
        description="Judge a transcript that --transcript kept, without running any student code.",
    )
    made.add_argument("path", metavar="TRANSCRIPT", type=Path, help="a file that grade --transcript wrote")
    add_output(made)
    add_course(made)
    return made


def run(words: Sequence[str]) -> int:
    """Judge a transcript; return the exit code."""
    options = parser().parse_args(words)
    if not options.path.is_file():
        raise UsageError(f"{options.path}: there is no such file.", hint="grade PATH --transcript FILE makes one.")
    transcript = read_transcript(options.path)
    course = find_course(options.course)
    assignment = load_assignment(course, options.assignment or transcript.assignment)
    if transcript.assignment != assignment.id:
        raise TranscriptError(f"{options.path}: it is of the assignment '{transcript.assignment}'.")
    prepare(options.out)
    result = judge_transcript(assignment, transcript)
    beside = options.path.with_name(f"{Path(transcript.name).stem}-report.html")
    shown = Shown(
        out=options.out,
        # The transcript isn't what is graded again: the submission is, wherever it lies now.
        path=Path(transcript.name),
        options=course_options(options.course, options.assignment),
        beside=beside,
        format=options.format,
        hints=options.hints,
        open=options.open,
        fail_under=options.fail_under,
    )
    return show(result, assignment, course, shown)
