"""``grade name-group RUN GROUP SENTENCE``: explain once a failure that several learners share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from grader.batch.regrade import judge_again
from grader.batch.roll import roll_of
from grader.cli.options import Parser, user_name
from grader.cli.regrade_run import kept_anyway, settle
from grader.errors import UsageError
from grader.store.journal import Journal

__all__ = ["parser", "run"]

MAX_SENTENCE = 500


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade name-group``."""
    made = Parser(
        prog="grade name-group",
        description="Explain a failure that nothing explained, once for all students who share it: the sentence "
        "stands in their reports, and in those of later ones. The class page shows the groups.",
    )
    made.add_argument("run", metavar="RUN", type=Path, help="the folder that grade batch wrote its results to")
    made.add_argument("group", metavar="GROUP", help="the group's id, as the class page shows it")
    made.add_argument("sentence", metavar="SENTENCE", help="what its students are told; an empty one takes it back")
    return made


def run(words: Sequence[str]) -> int:
    """Keep the sentence and judge the group's attempts again; return the exit code."""
    options = parser().parse_args(words)
    sentence = " ".join(options.sentence.split())
    if len(sentence) > MAX_SENTENCE or not sentence.isprintable():
        raise UsageError("The sentence is too long, or holds control characters.", hint="Use at most 500 letters.")
    with Journal(options.run, new=False) as journal:
        roll = roll_of(journal)
        failed = {number for number, row in roll.rows.items() if options.group in dict(row.unexplained).values()}
        entries = [entry for entry in roll.entries if entry.number in failed]
        if not entries:
            raise UsageError(f"There is no group '{options.group}' in this run.", hint="index.html shows the groups.")
        journal.name_failure(options.group, sentence, user_name())
        with kept_anyway(options.run):
            again = judge_again(journal, roll, entries, course=roll.facts.course, jobs=1)
            return settle(journal, roll, again)
