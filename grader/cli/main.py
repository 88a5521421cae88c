"""Chooses the command and turns every error into one sentence and its exit code."""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence

from grader import __version__
from grader.errors import GraderError

__all__ = ["COMMANDS", "main"]

COMMANDS = {
    "batch": "grader.cli.batch",
    "start": "grader.cli.start",
    "regrade": "grader.cli.regrade",
    "override": "grader.cli.override",
    "name-group": "grader.cli.name_group",
    "appeal": "grader.cli.appeal",
    "export": "grader.cli.export",
    "check-course": "grader.cli.check_course",
    "doctor": "grader.cli.doctor",
    "serve": "grader.cli.serve",
    "worker": "grader.cli.worker",
    "web": "grader.cli.web",
    "lti": "grader.cli.lti",
}
"""Words that aren't a path; everything else is a file to grade. ``./start`` grades a file of that name."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    # Before NumPy is loaded: with one thread it starts faster, and results are the same bits on every machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _end_as_by_keyboard()
    _mend_streams()
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return 0  # whoever read our output has gone; nothing can be said any more
    except OSError as error:
        print(f"grade: the output can't be written ({error.strerror or error}).", file=sys.stderr)
        return 4
    finally:
        _settle_output()


def _run(words: list[str]) -> int:
    if words[:1] == ["--version"]:
        print(f"grade {__version__}")
        return 0
    name = words[0] if words and words[0] in COMMANDS else ""
    collects = gc.isenabled()
    if not name:
        # One file is graded in less than a second and leaves no cycles to speak of. Looking for them, mostly while
        # modules are loaded, takes 30 ms.
        gc.disable()
    try:
        module = importlib.import_module(COMMANDS[name] if name else "grader.cli.grade")
        return int(module.run(words[1:] if name else words))
    except GraderError as error:
        from grader.render import clean

        # It may speak of names that somebody else chose.
        print(f"grade: {clean.terminal(str(error))}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"\ngrade: interrupted{'' if name else '; no report was written'}.", file=sys.stderr)
        return 130
    except MemoryError:
        print("grade: the machine ran out of memory; close other programs and try again.", file=sys.stderr)
        return 4
    finally:
        if not name:
            # At its end Python looks for cycles once more, whether or not it may: 10 ms for what is about to go.
            gc.freeze()
        if collects:
            gc.enable()


def _mend_streams() -> None:
    """Give closed streams a place to go, so that no file of ours takes their number, and let any text be printed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - it stays open to the end
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _settle_output() -> None:
    """Forget what can't be printed any more, so that Python doesn't complain about it at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _end_as_by_keyboard() -> None:
    """Let a closed terminal or a polite kill end us as Ctrl-C does: with the worker ended and its folder removed."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            # Only the main thread may; elsewhere whoever called us decides.
            with contextlib.suppress(ValueError):
                signal.signal(getattr(signal, name), signal.default_int_handler)
