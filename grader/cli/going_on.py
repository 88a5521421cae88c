"""What an interrupted batch says: how far it is, and the command that goes on with it."""

from __future__ import annotations

import argparse
import shlex
import sys

from grader.cli.batch_output import Output
from grader.cli.said import shown
from grader.store.journal import Journal

__all__ = ["say_how_to_go_on"]


def say_how_to_go_on(
    what: str, output: Output, journal: Journal, options: argparse.Namespace, parser: argparse.ArgumentParser
) -> None:
    """Print what happened to a batch, and the whole command that goes on with it."""
    output.clear()
    again = ["grade", "batch", str(options.path), "--out", str(journal.out), "--resume"]
    again += _once_more(options, parser, begun=journal.begun)
    print(
        f"grade: {what}; {output.done} of {output.total} are done, their reports are in {shown(journal.out)}.\n"
        f"Go on with: {shown(shlex.join(again))}",
        file=sys.stderr,
    )


def _once_more(options: argparse.Namespace, parser: argparse.ArgumentParser, *, begun: bool) -> list[str]:
    """Return what has to be said again, since the run doesn't keep it."""
    default = parser.parse_args([str(options.path)])
    wanted = ["source", "worksheet", "upload_limit", "columns", "jobs", "engine", "scheduler", "isolation", "format"]
    if not begun:
        wanted += ["course", "assignment", "seed", "hints"]
    names = {"source": "from", "upload_limit": "upload-limit"}
    words = [
        word
        for name in wanted
        if getattr(options, name) != getattr(default, name)
        for word in (f"--{names.get(name, name)}", _word(getattr(options, name)))
    ]
    return [*words, *(["--no-share"] if options.no_share else [])]


def _word(value: object) -> str:
    return ",".join(f"{what}={header}" for what, header in value.items()) if isinstance(value, dict) else str(value)
