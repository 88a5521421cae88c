"""``grade PATH``: grade one file and show what it says."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from grader.cli.options import Parser, add_course, add_isolation, add_output, add_profile, seed_number
from grader.errors import UsageError
from grader.intake import read_submission
from grader.model import Call, Submission
from grader.run.backend import Backend
from grader.run.isolation import open_backend
from grader.run.scratch import Scratch
from grader.run.stopwatch import Stopwatch, table

__all__ = ["parser", "run"]

USAGE = (
    "grade [OPTIONS] PATH",
    "grade batch PATH",
    "grade start [DIR]",
    "grade regrade PATH",
    "grade override RUN STUDENT CRITERION POINTS",
    "grade name-group RUN GROUP SENTENCE",
    "grade appeal LINE",
    "grade export [RUN] --to WHAT",
    "grade check-course [DIR]",
    "grade doctor",
    "grade serve",
    "grade worker",
    "grade web WHAT",
    "grade lti WHAT",
)
EXAMPLES = """\
examples:
  grade submission.py                  grade a file; the report lies beside it
  grade submission.ipynb --open        grade a notebook and open the report
  grade submission.py --seed 2340      the same random inputs again
  grade submission.py --out feedback   report.html, fragment.html, result.json
  grade batch hw1.zip                  grade a class, as the LMS gave it
  grade start my-work                  write the assignment's starter files
  grade submission.py --watch          grade at each save, and say what changed
  grade regrade run.transcript         judge a kept run, without running code
  grade export --to gradescope-autograder   make an autograder.zip
  grade check-course my-course         prove that a course's checks are good
  grade doctor                         how this machine can keep code apart
  grade serve --demo                   a course to click through in a browser

exit codes: 0 graded, whatever the score; 1 below --fail-under; 2 wrong usage;
3 an unusable course; 4 the grader failed; 130 interrupted
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade PATH``."""
    made = Parser(
        prog="grade",
        usage="\n       ".join(USAGE),
        description="Grade a submission (.py or .ipynb) and say what to look at next.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("path", metavar="PATH", type=Path, help="the submission: a .py or .ipynb file")
    add_output(made)
    made.add_argument(
        "--seed", metavar="N", type=seed_number, default=None, help="seed of the random inputs; printed by each run"
    )
    add_course(made)
    add_isolation(made, "for one's own file, auto is a process of its own")
    made.add_argument("--transcript", metavar="FILE", type=Path, help="keep all that was asked and answered in FILE")
    made.add_argument("--previous", metavar="FILE", type=Path, help="an older result.json: say what changed since")
    made.add_argument("--watch", action="store_true", help="grade again at each save, until Ctrl-C")
    add_profile(made)
    made.add_argument("--version", action="store_true", help="print the version and exit")
    return made


def run(words: Sequence[str]) -> int:
    """Grade one file; return the exit code."""
    options = parser().parse_args(words)
    if options.version:
        from grader import __version__

        print(f"grade {__version__}")
        return 0
    if options.watch:
        from grader.cli.watch import run_watch

        return run_watch(options)
    began, watch = time.perf_counter(), Stopwatch()
    with watch.stage("read"):
        submission = read_submission(options.path)
    # The worker starts while the rest of the grader is still being imported.
    with contextlib.ExitStack() as stack:
        with watch.stage("start"):
            backend = stack.enter_context(backend_for(options))
            scratch = Scratch(backend, submission)
        stack.callback(scratch.close)
        code = _grade(options, submission, scratch, watch)
    if options.profile:
        used = os.times()
        wall, own = time.perf_counter() - began, sum(cpu for _, cpu in watch.seconds.values())
        rest = used.user + used.system + used.children_user + used.children_system - own
        print(table(watch, wall=wall, own=own, rest=rest, submissions=1), file=sys.stderr)
    return code


def backend_for(options: argparse.Namespace) -> Backend:
    secrets: tuple[Path, ...] = ()
    if options.isolation in ("landlock", "namespaces"):
        from grader.course import find_course

        secrets = find_course(checked_course(options.course)).secrets
    return open_backend(options.isolation, purpose="own file", secrets=secrets)


def _grade(options: argparse.Namespace, submission: Submission, scratch: Scratch, watch: Stopwatch) -> int:
    with watch.stage("import"):
        import numpy.random  # noqa: F401 - loaded when first used, and by then the worker would wait for us

        from grader.course import find_course, load_assignment
        from grader.pipeline import grade
        from grader.store.files import make_folder

        course = find_course(checked_course(options.course))
        assignment = load_assignment(course, options.assignment)
    before = None
    if options.previous is not None:
        from grader.cli.previous import read_previous

        before = read_previous(options.previous, assignment)
    if options.out is not None:
        make_folder(options.out)  # nobody waits for a report that can't be written
    seed = secrets.randbelow(1_000_000) if options.seed is None else options.seed
    # What shows a result is loaded while student code runs.
    loading = threading.Thread(target=_load_faces, args=(course.template_dirs,), daemon=True)
    secret = secrets.token_hex(16)
    with progress() as tell:
        transcript, result = grade(
            assignment, submission, seed, scratch, secret=secret, watch=watch, meanwhile=loading.start, tell=tell
        )
    with watch.stage("import"):
        if loading.ident is not None:
            loading.join()
        from grader.cli.show import Shown, course_options, show
        from grader.store import write_transcript
    if options.transcript is not None:
        write_transcript(options.transcript, transcript)
    beside = options.path.with_name(f"{options.path.stem}-report.html")
    shown = Shown(
        out=options.out,
        path=options.path,
        options=course_options(options.course, options.assignment),
        beside=beside,
        format=options.format,
        hints=options.hints,
        open=options.open,
        fail_under=options.fail_under,
        before=before,
    )
    return show(result, assignment, course, shown, watch)


@contextlib.contextmanager
def progress() -> Iterator[Callable[[Call], None] | None]:
    """Give what shows which call is being waited for, where a person watches; nothing of it stays."""
    if not sys.stderr.isatty():
        yield None
        return
    from grader.cli.progress import Progress, watched

    shown = Progress(sys.stderr) if watched(sys.stderr) else None
    try:
        yield shown
    finally:
        if shown is not None:
            shown.clear()


def _load_faces(template_dirs: tuple[Path, ...]) -> None:
    """Import what renders, and compile the templates. Whatever fails is met again, and told, when it is used."""
    from grader.cli import show  # noqa: F401 - it is loaded, not used
    from grader.render.html import prepare

    prepare(template_dirs)


def checked_course(path: Path | None) -> Path | None:
    if path is not None and not path.is_dir():
        raise UsageError(f"{path}: there is no such folder.", hint="Give --course the folder of a course.")
    return path
