"""``grade export --to WHAT``: files of a run for an LMS, or an autograder for another grading platform."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.cli.options import Parser, add_course
from grader.errors import UsageError

__all__ = ["TARGETS", "add_sheet", "parser", "run", "say", "sheet"]

MAX_SHEET = 100_000_000
TOKEN = "CANVAS_TOKEN"


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade export``."""
    made = Parser(
        prog="grade export",
        description="Make the files that an LMS takes of a run, or an autograder for another platform.",
    )
    made.add_argument(
        "run", metavar="RUN", type=Path, nargs="?", default=None,
        help="the folder that grade batch wrote its results to; not of gradescope-autograder",
    )  # fmt: skip
    made.add_argument("--to", choices=tuple(TARGETS), required=True, help="what to make")
    add_sheet(made)
    made.add_argument(
        "--latest", metavar="FILE", type=Path, help="moodle: the worksheet downloaded again: who was graded meanwhile"
    )
    made.add_argument("--column", metavar="TITLE", default="", help="the assignment's column, such as 'HW1 (1234)'")
    made.add_argument("--no-comments", action="store_true", help="grades only")
    made.add_argument("--canvas-url", metavar="URL", default="", help="canvas-api: the site's address")
    made.add_argument("--canvas-course", metavar="ID", type=int, default=0, help="canvas-api: the course's number")
    made.add_argument(
        "--canvas-assignment", metavar="ID", type=int, default=0, help="canvas-api: the assignment's number"
    )
    made.add_argument("--files", action="store_true", help="canvas-api: attach each report too")
    made.add_argument(
        "--out", metavar="FILE", type=Path, help="gradescope-autograder: where it goes (default: autograder.zip)"
    )
    add_course(made)
    made.add_argument(
        "--isolation",
        choices=("auto", "process", "landlock", "namespaces"),
        default="auto",
        help="gradescope-autograder: how student code is kept apart there; auto refuses to grade where nothing holds",
    )
    made.add_argument(
        "--hints", metavar="N", type=int, choices=range(4), default=None,
        help="gradescope-autograder: hints in the feedback, up to this level (default: 1, if the assignment shows it)",
    )  # fmt: skip
    return made


def add_sheet(parser: argparse.ArgumentParser) -> None:
    """Add what is told of the LMS that the submissions came from."""
    parser.add_argument(
        "--worksheet", metavar="FILE", type=Path, help="the sheet that you downloaded from the LMS, to be filled"
    )
    parser.add_argument(
        "--upload-limit", metavar="BYTES", type=_bytes, default=50_000_000,
        help="the largest file that the site takes (default: 50000000)",
    )  # fmt: skip
    parser.add_argument(
        "--columns", metavar="WHAT=HEADER,...", type=_columns, default={},
        help="of Moodle's sheet: which column is which, where it can't be told",
    )  # fmt: skip


def run(words: Sequence[str]) -> int:
    """Make the files; return the exit code."""
    options = parser().parse_args(words)
    if options.course is not None and not options.course.is_dir():
        raise UsageError(f"{options.course}: there is no such folder.", hint="Give --course the folder of a course.")
    return TARGETS[options.to](options)


def say(written: Sequence[str], notes: Sequence[str], unplaced: Sequence[str], out: Path) -> None:
    """Print what was made, what to know of it, and who isn't in it."""
    from grader.cli.said import told

    lines = [
        *notes,
        *(f"  {sentence}" for sentence in unplaced),
        f"wrote {', '.join(str(out / name) for name in written)}",
    ]
    if "moodle/dry-run.txt" in written:
        lines.append(f"next: read {out / 'moodle/dry-run.txt'}, then follow {out / 'moodle/checklist.txt'}")
    for line in told(lines):
        print(line)


def sheet(path: Path | None) -> bytes | None:
    """Return the content of a sheet. Raises UsageError."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SHEET + 1)
    except OSError as error:
        raise UsageError(f"{path}: it can't be read ({error.strerror or error}).", hint="Check the path.") from error
    if len(content) > MAX_SHEET:
        raise UsageError(f"{path}: it is larger than any sheet of an LMS.", hint="Name the file that you downloaded.")
    return content


def _lms(options: argparse.Namespace) -> int:
    from grader.batch.outputs import write_class_page, write_export
    from grader.batch.roll import roll_of
    from grader.lms.out.export import Options
    from grader.store.journal import Journal

    chosen = Options(
        sheet=sheet(options.worksheet),
        sheet_name=str(options.worksheet) if options.worksheet else "the sheet",
        latest=sheet(options.latest),
        columns=options.columns,
        column=options.column,
        comments=not options.no_comments,
        upload_limit=options.upload_limit,
    )
    with Journal(_run_of(options), new=False) as journal:
        roll = roll_of(journal)
        written, notes, unplaced = write_export(journal, roll, options.to, chosen)
        write_class_page(journal, roll)  # it says what is ready for the LMS
        say(written, notes, unplaced, journal.out)
    return 0


def _canvas_api(options: argparse.Namespace) -> int:
    """Send, and say of each learner what became of it."""
    from grader.batch.outputs import gradebook_of
    from grader.batch.roll import roll_of
    from grader.cli.said import told
    from grader.lms.out.canvas_rest import send
    from grader.store.journal import Journal

    if not (options.canvas_url and options.canvas_course and options.canvas_assignment):
        raise UsageError(
            "Where in Canvas?", hint="Give --canvas-url, --canvas-course and --canvas-assignment: its address has them."
        )
    token = os.environ.get(TOKEN, "")
    if not token:
        raise UsageError(
            f"There is no token in {TOKEN}.",
            hint="Make one in Canvas (Account, Settings, New Access Token) and put it into that environment variable.",
        )
    with Journal(_run_of(options), new=False) as journal:
        book = gradebook_of(roll_of(journal), journal.out)
    sent = send(
        book,
        url=options.canvas_url,
        token=token,
        course=options.canvas_course,
        assignment=options.canvas_assignment,
        comments=not options.no_comments,
        files=options.files,
    )
    wanting = [one for one in sent if one.status in ("failed", "skipped")]
    for line in told(f"{one.learner}: {one.status}: {one.why}" for one in wanting):
        print(line)
    counts = {
        status: sum(one.status == status for one in sent) for status in ("sent", "unchanged", "failed", "skipped")
    }
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    return 4 if counts["failed"] else 0


def _gradescope_autograder(options: argparse.Namespace) -> int:
    from grader.gradescope import build_autograder
    from grader.store.files import write_file

    if options.run is not None:
        raise UsageError("An autograder isn't made of a run.", hint="Leave the folder out.")
    out = options.out or Path("autograder.zip")
    content = build_autograder(options.course, options.assignment, isolation=options.isolation, hints=options.hints)
    write_file(out, content)
    print(f"wrote {out} ({len(content) / 1e6:.1f} MB); upload it as the autograder of a programming assignment")
    return 0


def _run_of(options: argparse.Namespace) -> Path:
    if options.run is None:
        raise UsageError("Of which run?", hint=f"grade export RUN --to {options.to}")
    if options.out is not None:
        raise UsageError("--out is of gradescope-autograder.", hint="Files of a run go into its folder.")
    run: Path = options.run
    return run


def _columns(text: str) -> dict[str, str]:
    known = ("identifier", "grade", "maximum", "modified", "feedback")
    found: dict[str, str] = {}
    for part in text.split(","):
        what, separator, header = part.partition("=")
        if not separator or what.strip() not in known or not header.strip():
            raise argparse.ArgumentTypeError(f"'{part[:60]}' isn't of the form WHAT=HEADER, with {', '.join(known)}")
        found[what.strip()] = header.strip()
    return found


def _bytes(text: str) -> int:
    if not text.isdecimal() or not 1 <= len(text) <= 12:
        raise argparse.ArgumentTypeError(f"'{text[:30]}' is no number of bytes")
    return int(text)


TARGETS: dict[str, Callable[[argparse.Namespace], int]] = {
    "csv": _lms,
    "moodle": _lms,
    "canvas": _lms,
    "canvas-api": _canvas_api,
    "brightspace": _lms,
    "blackboard": _lms,
    "gradescope-autograder": _gradescope_autograder,
}
"""What can be made, and by what."""
