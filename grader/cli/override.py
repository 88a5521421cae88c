"""``grade override RUN STUDENT CRITERION POINTS``: an instructor's own points for one criterion, with the reason."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from grader.batch.regrade import entry_called, judge_again
from grader.batch.roll import roll_of
from grader.cli.options import Parser, user_name
from grader.cli.regrade_run import kept_anyway, settle
from grader.errors import UsageError
from grader.store.journal import Journal
from grader.store.overrides import MAX_TEXT, NAME, OverrideLine, add_override

__all__ = ["parser", "run"]


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade override``."""
    made = Parser(
        prog="grade override",
        description=f"Give one criterion of one student other points. It is kept in {NAME}, stays when the run is "
        "judged again, and the report shows it with the reason.",
    )
    made.add_argument("run", metavar="RUN", type=Path, help="the folder that grade batch wrote its results to")
    made.add_argument("student", metavar="STUDENT", help="key, name or id, as the summary shows it")
    made.add_argument("criterion", metavar="CRITERION", help="such as attention/weights")
    made.add_argument("points", metavar="POINTS", type=_cents, help="its points from now on")
    made.add_argument("--reason", metavar="TEXT", type=_text, required=True, help="why; the student reads it")
    made.add_argument("--by", metavar="NAME", type=_text, default=None, help="who decided (default: your user name)")
    return made


def run(words: Sequence[str]) -> int:
    """Note the decision and judge the attempt again with it; return the exit code."""
    options = parser().parse_args(words)
    with Journal(options.run, new=False) as journal:
        roll = roll_of(journal)
        entry = entry_called(roll.entries, options.student)
        row = roll.rows.get(entry.number)
        if row is None or row.status != "graded":
            raise UsageError(
                f"'{options.student}' isn't graded.", hint="Only what is graded can be given other points."
            )
        most = {name: max_cents for name, _, _, max_cents in row.criteria}
        if options.criterion not in most:
            raise UsageError(f"There is no criterion '{options.criterion}'.", hint=f"There is: {', '.join(most)}.")
        if options.points > most[options.criterion]:
            has, wanted = most[options.criterion] / 100, options.points / 100
            raise UsageError(
                f"{options.criterion} has {has:g} points, and {wanted:g} are more.",
                hint="Give at most what it has.",
            )
        line = OverrideLine(
            student=entry.attempt.key,
            criterion=options.criterion,
            cents=options.points,
            reason=options.reason,
            file=row.sha256[:12],
            by=options.by or user_name(),
        )
        add_override(journal.out, line)
        with kept_anyway(options.run):
            again = judge_again(journal, roll, [entry], course=roll.facts.course, jobs=1)
            return settle(journal, roll, again)


def _cents(text: str) -> int:
    try:
        cents = Decimal(text.replace(",", ".")) * 100
        if not cents.is_finite() or cents < 0 or cents != int(cents):
            raise argparse.ArgumentTypeError(f"'{text[:30]}' is no number of points, with at most two decimals")
    except (InvalidOperation, OverflowError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"'{text[:30]}' is no number of points, with at most two decimals") from error
    return int(cents)


def _text(text: str) -> str:
    if not text.strip() or len(text) > MAX_TEXT or not text.isprintable():
        raise argparse.ArgumentTypeError(f"a line of 1 to {MAX_TEXT} letters is needed")
    return text.strip()
