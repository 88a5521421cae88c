"""``grade regrade PATH``: judge a kept run again, without running any student code: a transcript, or a whole class."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from grader.cli.options import (
    Parser,
    add_audience,
    add_course,
    add_isolation,
    add_output,
    for_audience,
    job_number,
    report_beside,
)
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
        description="Judge a run that was kept with the course as it is now, without running any student code: "
        "a file that --transcript wrote, or the output folder of grade batch.",
    )
    made.add_argument(
        "path", metavar="PATH", type=Path, help="a transcript, or the folder that grade batch wrote its results to"
    )
    made.add_argument(
        "--rerun", metavar="STUDENT", action="append", default=[],
        help="of a folder: run this attempt once more, with the inputs that it had",
    )  # fmt: skip
    made.add_argument(
        "--afresh", action="store_true",
        help="of a folder: judge every task, also where neither its checks nor its rubric changed",
    )  # fmt: skip
    made.add_argument(
        "--jobs", metavar="N", type=job_number, default=None, help="of a folder: how many are judged at a time"
    )
    add_output(made)
    add_audience(made)
    add_course(made)
    add_isolation(made, "of --rerun; auto is the best that this machine offers")
    return made


def run(words: Sequence[str]) -> int:
    """Judge a transcript or a class; return the exit code."""
    options = parser().parse_args(words)
    for_audience(options)
    if options.path.is_dir():
        from grader.cli.regrade_run import regrade_run

        return regrade_run(options)
    if options.rerun or options.jobs or options.afresh:
        raise UsageError(
            "--rerun, --jobs and --afresh are of a whole run.", hint="Name the folder that grade batch wrote to."
        )
    if not options.path.is_file():
        raise UsageError(f"{options.path}: there is no such file.", hint="grade PATH --transcript FILE makes one.")
    transcript = read_transcript(options.path)
    course = find_course(options.course)
    assignment = load_assignment(course, options.assignment or transcript.assignment)
    if transcript.assignment != assignment.id:
        raise TranscriptError(f"{options.path}: it is of the assignment '{transcript.assignment}'.")
    prepare(options.out)
    result = judge_transcript(assignment, transcript)
    shown = Shown(
        out=options.out,
        # The transcript isn't what is graded again: the submission is, wherever it lies now.
        path=Path(transcript.name),
        options=course_options(options.course, options.assignment),
        beside=report_beside(options.path, transcript.name, options.audience),
        format=options.format,
        hints=options.hints,
        audience=options.audience,
        open=options.open,
        fail_under=options.fail_under,
    )
    return show(result, assignment, course, shown)
