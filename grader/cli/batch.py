"""``grade batch DIR``: grade every file of a folder. It speaks to instructors, in plain English."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from grader.batch.folder import list_folder
from grader.batch.messages import Row, Setup
from grader.batch.pool import Pool, default_jobs
from grader.batch.seeds import MAX_SEED, run_key
from grader.batch.tally import Tally
from grader.cli.batch_output import Output, shown
from grader.cli.options import Parser, add_course, add_isolation, add_profile, seed_number
from grader.errors import GraderError, UsageError
from grader.run.stopwatch import Stopwatch, table
from grader.store.files import make_folder

__all__ = ["parser", "run"]

MAX_JOBS = 256

DESCRIPTION = """\
Grade every .py and .ipynb file that lies in a folder. Each one's report.html, fragment.html and result.json are
written to a folder of its own below the output folder. What goes wrong with one of them never stops the others.
"""
EPILOG = """\
exit codes: 0 all graded, whatever the scores; 2 wrong usage; 3 an unusable
course; 4 something isn't graded, or the output can't be written; 130 interrupted
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade batch``."""
    made = Parser(
        prog="grade batch",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("dir", metavar="DIR", type=Path, help="the folder with the files that were handed in")
    made.add_argument(
        "--out", metavar="DIR", type=Path, help="where the results go (default: <DIR>-reports, beside the folder)"
    )
    made.add_argument(
        "--jobs", metavar="N", type=_jobs, default=None,
        help="submissions graded at a time (default: as CPUs and memory allow)",
    )  # fmt: skip
    made.add_argument(
        "--seed", metavar="N", type=seed_number, default=None,
        help="seed of the run, as an earlier one printed it; each file's own seed follows from it",
    )  # fmt: skip
    made.add_argument(
        "--hints", metavar="N", type=int, choices=range(4), default=3, help="hints in the reports, up to this level"
    )
    made.add_argument("--format", choices=("text", "json"), default="text", help="what is printed (default: text)")
    add_course(made)
    add_isolation(made, "auto is the best that this machine offers")
    add_profile(made)
    return made


def run(words: Sequence[str]) -> int:
    """Grade a folder; return the exit code."""
    began = time.perf_counter()
    options = parser().parse_args(words)
    if options.course is not None and not options.course.is_dir():
        raise UsageError(f"{options.course}: there is no such folder.", hint="Give --course the folder of a course.")
    folder = list_folder(options.dir)
    out = options.out or _beside(options.dir)
    make_folder(out)
    seed = secrets.randbelow(MAX_SEED) if options.seed is None else options.seed
    setup = Setup(
        isolation=options.isolation,
        course=None if options.course is None else str(options.course),
        assignment=options.assignment,
        key=run_key(seed).hex(),
        hidden=secrets.token_hex(32),
        out=str(out),
        secrets=tuple(str(entry.path.resolve()) for entry in folder.entries if not entry.trouble)[:1],
        hints=options.hints,
    )
    output = Output(json_format=options.format == "json", total=len(folder.entries))
    tally, watch = Tally(), Stopwatch()
    pool = Pool(setup, min(options.jobs or default_jobs(), len(folder.entries)))
    try:
        with pool:
            for row in _in_order(output.counted(pool.run(folder.entries))):
                tally.add(row)
                watch.merge(row.profile)
                output.row(row)
    except KeyboardInterrupt:
        _stopped(output, len(folder.entries), out, "interrupted")
        return 130
    except GraderError:
        if output.done:
            _stopped(output, len(folder.entries), out, "stopped")
        raise
    output.end(tally, folder, pool.ready, out=out, seed=seed)
    if options.profile:
        _print_profile(watch, time.perf_counter() - began, tally.count)
    return 4 if tally.not_graded else 0


def _in_order(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows by their number, as soon as those before them are known."""
    early: dict[int, Row] = {}
    following = 0
    for row in rows:
        early[row.number] = row
        while following in early:
            yield early.pop(following)
            following += 1


def _stopped(output: Output, total: int, out: Path, what: str) -> None:
    output.clear()
    print(f"grade: {what}; {output.done} of {total} are done, their reports are in {shown(out)}.", file=sys.stderr)


def _beside(folder: Path) -> Path:
    """Return where results go by default: a submission's own folder stays as it is."""
    whole = folder.resolve()
    if not whole.name:
        raise UsageError(f"'{folder}' has no folder beside it for the reports.", hint="Name one with --out.")
    return (
        whole.with_name(f"{whole.name}-reports")
        if folder.name in ("", "..")
        else folder.with_name(f"{folder.name}-reports")
    )


def _print_profile(watch: Stopwatch, wall: float, submissions: int) -> None:
    own = sum(cpu for _, cpu in watch.seconds.values())
    used = os.times()
    # The jobs and all their processes have ended by now, so their times are counted with ours.
    rest = used.user + used.system + used.children_user + used.children_system - own
    print(table(watch, wall=wall, own=own, rest=rest, submissions=submissions), file=sys.stderr)


def _jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= len(text) <= 3 or not 1 <= int(text) <= MAX_JOBS:
        raise argparse.ArgumentTypeError(f"'{text[:30]}' is no number of jobs: 1 to {MAX_JOBS}")
    return int(text)
