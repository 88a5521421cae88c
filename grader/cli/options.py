"""Arguments that several commands share, and help that shows how a command is typed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from grader.errors import UsageError

__all__ = [
    "PLATFORMS",
    "Parser",
    "add_audience",
    "add_course",
    "add_isolation",
    "add_output",
    "add_profile",
    "for_audience",
    "job_number",
    "report_beside",
    "seed_number",
    "user_name",
]

MAX_SEED = 1 << 53
MAX_JOBS = 256
PLATFORMS = ("gradescope", "prairielearn", "autolab", "github")
"""The keys of ``grader.render.platforms.WRITERS``, which need not be loaded to know them."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage block, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError in place of printing usage."""
        raise UsageError(f"{message[:1].upper()}{message[1:]}.", hint=f"See {self.prog} --help.")


def job_number(text: str) -> int:
    """Read how many submissions are worked on at a time."""
    if not text.isdecimal() or not 1 <= len(text) <= 3 or not 1 <= int(text) <= MAX_JOBS:
        raise argparse.ArgumentTypeError(f"'{text[:30]}' is no number of jobs: 1 to {MAX_JOBS}")
    return int(text)


def seed_number(text: str) -> int:
    """Read a seed: a whole number from 0 to 2^53 - 1."""
    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if not 0 <= seed < MAX_SEED or len(text) > 20:
        raise argparse.ArgumentTypeError(f"'{text[:30]}' is no seed: a whole number from 0 to {MAX_SEED - 1} is needed")
    return seed


def add_course(parser: argparse.ArgumentParser) -> None:
    """Add what chooses the course and the assignment."""
    parser.add_argument("--course", metavar="DIR", type=Path, help="grade with another course than the one built in")
    parser.add_argument("--assignment", metavar="ID", default="", help="the assignment, where a course has several")


def add_isolation(parser: argparse.ArgumentParser, auto: str) -> None:
    """Add what keeps student code apart; ``auto`` says what that means here."""
    parser.add_argument(
        "--isolation",
        choices=("auto", "process", "landlock", "namespaces"),
        default="auto",
        help=f"how student code is kept apart; {auto}",
    )


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add what tells where the time went."""
    parser.add_argument("--profile", action="store_true", help="say on standard error where the time went")


def add_audience(parser: argparse.ArgumentParser) -> None:
    """Add for whom the report, the result and the summary are made."""
    parser.add_argument(
        "--audience",
        choices=("learner", "instructor"),
        default="learner",
        help="who reads it (default: learner); an instructor sees hidden criteria, all hints and all notes",
    )


def for_audience(options: argparse.Namespace) -> None:
    """Refuse what would show an instructor's view to learners. Raises UsageError."""
    if options.audience == "instructor" and options.format in PLATFORMS:
        raise UsageError(
            f"What {options.format} reads is shown to learners: it can't be made for an instructor.",
            hint="Leave out --audience, or --format.",
        )


def report_beside(path: Path, name: str, audience: str) -> Path:
    """Return where the report lies beside the file: an instructor's never replaces a learner's."""
    return path.with_name(f"{Path(name).stem}-{'instructor-' if audience == 'instructor' else ''}report.html")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add what is written and shown."""
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="write report.html, fragment.html and result.json there; otherwise <name>-report.html beside the file",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", *PLATFORMS),
        default="text",
        help="what is printed (default: text); the name of a grading platform prints what that platform reads",
    )
    parser.add_argument(
        "--hints", metavar="N", type=int, choices=range(4), default=None,
        help="show hints up to this level: 0 none, 1 where to look, 2 the idea, 3 the line",
    )  # fmt: skip
    parser.add_argument("--open", action="store_true", help="open the report in a browser")
    parser.add_argument(
        "--fail-under", metavar="POINTS", type=float, default=None, help="exit with 1 when the score is below POINTS"
    )


def user_name() -> str:
    """Return who is logged in. Raises UsageError where the system doesn't tell."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError) as error:
        raise UsageError("The system doesn't tell your user name.", hint="Set USER, or use --by.") from error
