"""Chooses the command and turns every error into one sentence and its exit code."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence

from grader import __version__
from grader.errors import GraderError

__all__ = ["COMMANDS", "main"]

COMMANDS = {"start": "grader.cli.start", "regrade": "grader.cli.regrade", "check-course": "grader.cli.check_course"}
"""Words that aren't a path; everything else is a file to grade. ``./start`` grades a file of that name."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["--version"]:
        print(f"grade {__version__}")
        return 0
    name = words[0] if words and words[0] in COMMANDS else ""
    try:
        module = importlib.import_module(COMMANDS[name] if name else "grader.cli.grade")
        return int(module.run(words[1:] if name else words))
    except GraderError as error:
        print(f"grade: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("\ngrade: interrupted; no report was written.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; nothing can be said any more.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except MemoryError:
        print("grade: the machine ran out of memory; close other programs and try again.", file=sys.stderr)
        return 4
