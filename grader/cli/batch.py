"""``grade batch PATH``: grade all that a folder or an LMS's archive holds. It speaks to instructors."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from grader.batch.decisions import Decisions, decisions_of
from grader.batch.engines import ENGINES, open_engine
from grader.batch.entries import entries_of
from grader.batch.executor import default_jobs
from grader.batch.messages import Row
from grader.batch.outputs import CLASS_PAGE, write_class_page, write_export
from grader.batch.roll import Roll, roll_of, rows_that_hold
from grader.batch.run import Run
from grader.batch.seeds import MAX_SEED
from grader.batch.start import expected_names, facts_with, setup_of
from grader.cli.batch_output import Output
from grader.cli.export import add_sheet, say, sheet
from grader.cli.going_on import say_how_to_go_on
from grader.cli.options import Parser, add_course, add_isolation, add_profile, job_number, seed_number
from grader.cli.regrade_run import warn_of_overrides
from grader.cli.said import shown
from grader.course import choose_assignment, find_course
from grader.errors import GraderError, OutputError, UsageError
from grader.lms.out.export import Options
from grader.lms.out.exports import export
from grader.lms.sources import KINDS, Source, read_source
from grader.model._data import replace
from grader.model.gradebook import Gradebook
from grader.run.removal import remove_tree
from grader.run.stopwatch import Stopwatch, table
from grader.store.journal import Entry, Facts, Journal

__all__ = ["parser", "run"]

INCOMING = "incoming-"
NO_OPTIONS = Options()

DESCRIPTION = """\
Grade all that a folder, or the archive that an LMS gave, holds. Each one's report.html, fragment.html and result.json
are written to a folder of its own below the output folder. What goes wrong with one of them never stops the others.
"""
EPILOG = """\
exit codes: 0 all graded, whatever the scores; 2 wrong usage; 3 an unusable
course, archive or sheet; 4 something isn't graded, or the output can't be
written; 130 interrupted
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade batch``."""
    made = Parser(
        prog="grade batch",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("path", metavar="PATH", type=Path, help="a folder, or the archive that the LMS gave")
    made.add_argument(
        "--from", dest="source", choices=("auto", *KINDS), default="auto", help="what PATH is (default: seen by itself)"
    )
    made.add_argument(
        "--out", metavar="DIR", type=Path, help="where the results go (default: <PATH>-reports, beside it)"
    )
    add_sheet(made)
    made.add_argument(
        "--resume", action="store_true", help="go on with the run in the output folder; what is done isn't done again"
    )
    made.add_argument(
        "--pick", metavar="KEY=FILE", type=_pick, action="append", default=[],
        help="which file of an attempt is the submission, where a run asked",
    )  # fmt: skip
    made.add_argument(
        "--jobs", metavar="N", type=job_number, default=None,
        help="submissions graded at a time (default: as CPUs and memory allow)",
    )  # fmt: skip
    made.add_argument(
        "--engine", choices=ENGINES, default="local", help="where the work is done: here, or on a Dask cluster"
    )
    made.add_argument("--scheduler", metavar="ADDRESS", default="", help="of the Dask cluster, such as tcp://HOST:8786")
    made.add_argument("--no-share", action="store_true", help="run what several handed in alike for each of them")
    made.add_argument(
        "--seed", metavar="N", type=seed_number, default=None,
        help="seed of the run, as an earlier one printed it; each file's own seed follows from it",
    )  # fmt: skip
    made.add_argument(
        "--hints", metavar="N", type=int, choices=range(4), default=None,
        help="hints in the reports, up to this level (default: as the assignment has it)",
    )  # fmt: skip
    made.add_argument("--format", choices=("text", "json"), default="text", help="what is printed (default: text)")
    add_course(made)
    add_isolation(made, "auto is the best that this machine offers")
    add_profile(made)
    return made


def run(words: Sequence[str]) -> int:
    """Grade what was handed in; return the exit code."""
    began = time.perf_counter()
    options = _options(words)
    chosen = _sheet(options)
    with Journal(options.out, new=not options.resume) as journal:
        facts = _facts(journal, options)
        source = _read(journal, options, facts)
        facts = replace(facts, kind=facts.kind or source.kind, title=facts.title or source.title)
        entries = journal.entries()
        done = rows_that_hold(journal, entries)
        decisions = decisions_of(journal)
        output = Output(entries, done, json_format=options.format == "json")
        watch = Stopwatch()
        try:
            _grade(journal, options, facts, entries, done, decisions, output, watch)
        except KeyboardInterrupt:
            say_how_to_go_on("interrupted", output, journal, options, parser())
            return 130
        except GraderError:
            if output.done:
                say_how_to_go_on("stopped", output, journal, options, parser())
            raise
        _write(journal, options, roll_of(journal, entries), source, chosen, output)
    if options.profile:
        _print_profile(watch, time.perf_counter() - began, len(entries) - len(done))
    return 4 if output.tally.not_graded else 0


def beside(path: Path) -> Path:
    """Return where results go by default: what was handed in stays as it is."""
    whole = path.resolve()
    if not whole.name:
        raise UsageError(f"'{path}' has no folder beside it for the reports.", hint="Name one with --out.")
    stem = whole.name if whole.is_dir() else whole.stem
    return whole.with_name(f"{stem}-reports") if path.name in ("", "..") else path.with_name(f"{stem}-reports")


def _options(words: Sequence[str]) -> argparse.Namespace:
    """Return what was asked for. Raises UsageError, CourseError."""
    options = parser().parse_args(words)
    if options.course is not None and not options.course.is_dir():
        raise UsageError(f"{options.course}: there is no such folder.", hint="Give --course the folder of a course.")
    options.out = options.out or beside(options.path)
    if not options.path.exists():
        raise UsageError(f"There is no file or folder '{shown(options.path)}'.", hint="Check the spelling.")
    if options.path.is_file() and options.path.suffix.lower() in (".py", ".ipynb"):
        raise UsageError(f"'{shown(options.path)}' is a file of one submission.", hint=f"Use: grade {options.path}")
    if not options.resume:
        choose_assignment(find_course(options.course), options.assignment)  # before there is a folder for the results
    return options


def _sheet(options: argparse.Namespace) -> Options | None:
    """Return how the LMS's sheet is to be filled. Nobody waits for grades whose sheet can't be used."""
    if options.worksheet is None:
        return None
    chosen = Options(
        sheet=sheet(options.worksheet),
        sheet_name=str(options.worksheet),
        columns=options.columns,
        upload_limit=options.upload_limit,
    )
    export("moodle", Gradebook(assignment="", title="", max_cents=0, grades=()), chosen)
    return chosen


def _facts(journal: Journal, options: argparse.Namespace) -> Facts:
    """Return what holds for the run: as it is known, or of a new one as far as it was asked for.

    Raises:
        UsageError: If the run that is gone on with is another one.
        CourseError: If the course can't be used.
    """
    before = journal.facts if journal.begun else None
    if before is None:
        return Facts(
            source=str(options.path),
            kind="",
            title="",
            seed=secrets.randbelow(MAX_SEED) if options.seed is None else options.seed,
            hidden=secrets.token_hex(32),
            course=None if options.course is None else str(options.course.resolve()),
            assignment=choose_assignment(find_course(options.course), options.assignment),
            version="",
            digest="",
            max_cents=0,
            isolation="",
            hints=options.hints,
        )
    if options.assignment not in ("", before.assignment) or options.seed not in (None, before.seed):
        raise UsageError(
            f"The run in '{shown(journal.out)}' is of {before.assignment} with seed {before.seed}.",
            hint="Choose another folder with --out.",
        )
    return before if options.course is None else replace(before, course=str(options.course.resolve()))


def _read(journal: Journal, options: argparse.Namespace, facts: Facts) -> Source:
    """Read what was handed in into the journal; what was unpacked for it goes away again."""
    course = find_course(None if facts.course is None else Path(facts.course))
    expected = expected_names(course.handout(choose_assignment(course, facts.assignment)))
    for left in journal.root.glob(f"{INCOMING}*"):  # by a run that was killed: there is no other one now
        remove_tree(left)
    try:
        into = Path(tempfile.mkdtemp(prefix=INCOMING, dir=journal.root))
    except OSError as error:
        raise OutputError(f"{journal.root} can't be written ({error.strerror or error}).") from error
    try:
        source = read_source(options.path, into, kind=options.source, assignment=facts.assignment)
        picks = dict(options.pick)
        journal.plan(entries_of(source.attempts, journal, flat=source.kind == "folder", expected=expected, picks=picks))
        journal.note_picks(picks)
    finally:
        remove_tree(into)
    return source


def _grade(
    journal: Journal,
    options: argparse.Namespace,
    facts: Facts,
    entries: Sequence[Entry],
    done: Mapping[int, Row],
    decisions: Decisions,
    output: Output,
    watch: Stopwatch,
) -> None:
    """Grade the entries that aren't done, and tell of each, in order."""
    jobs = min(options.jobs or default_jobs(), max(1, len(entries) - len(done)))
    with open_engine(options.engine, jobs=jobs, scheduler=options.scheduler) as engine:
        work = Run(
            journal,
            engine.executor,
            setup_of(journal, facts, isolation=options.isolation, here=engine.here),
            workers=engine.workers,
            decisions=decisions,
            share=not options.no_share,
        )
        ready = work.introduce(engine.workers())
        output.isolation = ready.isolation
        if not journal.begun:
            journal.facts = facts_with(facts, ready)
        if len(done) < len(entries):
            journal.changed()  # before it is true: whatever ends this process, no file for an LMS counts as new
        for row in _in_order(output.counted(work.grade(entries, done)), entries, done):
            watch.merge(row.profile)
            output.row(row)


def _write(
    journal: Journal, options: argparse.Namespace, roll: Roll, source: Source, chosen: Options | None, output: Output
) -> None:
    """Write what is written of the whole run, and say what it comes to."""
    try:
        written, _, _ = write_export(journal, roll, "csv", NO_OPTIONS)
        output.end(source, roll.facts, (CLASS_PAGE, *written), out=journal.out)
        warn_of_overrides(journal, roll)
        if chosen is not None:
            exported = write_export(journal, roll, "moodle", chosen)
            if options.format == "text":
                say(*exported, journal.out)
    finally:
        write_class_page(journal, roll)  # also says what is ready for the LMS, and what isn't


def _in_order(rows: Iterable[Row], entries: Sequence[Entry], done: Container[int]) -> Iterator[Row]:
    """Yield rows in the order of their entries, as soon as those before them are known."""
    early: dict[int, Row] = {}
    following = iter(entry.number for entry in entries if entry.number not in done)
    wanted = next(following, None)
    for row in rows:
        early[row.number] = row
        while wanted in early:
            yield early.pop(wanted)
            wanted = next(following, None)


def _print_profile(watch: Stopwatch, wall: float, submissions: int) -> None:
    own = sum(cpu for _, cpu in watch.seconds.values())
    used = os.times()
    # The jobs and all their processes have ended by now, so their times are counted with ours.
    rest = used.user + used.system + used.children_user + used.children_system - own
    print(table(watch, wall=wall, own=own, rest=rest, submissions=submissions), file=sys.stderr)


def _pick(text: str) -> tuple[str, str]:
    key, separator, file = text.rpartition("=")
    if not separator or not key or not file:
        raise argparse.ArgumentTypeError(f"'{text[:60]}' isn't of the form KEY=FILE")
    return key, file
