"""``grade serve``: the whole server in one command."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.cli.options import Parser
from grader.errors import UsageError

__all__ = ["parser", "run"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade serve``."""
    made = Parser(
        prog="grade serve",
        description="Serve the pages where learners hand in and instructors see their class, with processes that "
        "grade. The database is made and brought up to date by itself. docs/server.md names the environment variables.",
    )
    made.add_argument("--host", metavar="NAME", default="127.0.0.1", help="address to listen at (default: 127.0.0.1)")
    made.add_argument("--port", metavar="N", type=int, default=8000, help="port to listen at (default: 8000)")
    made.add_argument(
        "--workers", metavar="N", type=int, default=None,
        help="processes that grade; 0: none, they run elsewhere (default: as many as this machine can)",
    )  # fmt: skip
    made.add_argument("--course", metavar="DIR", type=Path, help="serve another course than the one built in")
    made.add_argument("--demo", action="store_true", help="a course to click through, without an LMS, on this machine")
    return made


def run(words: Sequence[str]) -> int:
    """Serve until Ctrl-C; return the exit code."""
    options = parser().parse_args(words)
    if not 0 <= options.port < 65536 or not 0 <= (1 if options.workers is None else options.workers) <= 256:
        raise UsageError("That is no port, or no number of processes.", hint="See grade serve --help.")
    if options.course is not None:
        os.environ["GRADE_COURSE"] = str(options.course.absolute())
    os.environ.setdefault("GRADE_BASE_URL", f"http://localhost:{options.port}")
    with _demo(options) if options.demo else contextlib.nullcontext():
        return _serve(options)


def _serve(options: argparse.Namespace) -> int:
    from grader.batch.executor import default_jobs
    from grader.course import find_course
    from grader.web.start import migrate, set_up

    find_course(Path(os.environ["GRADE_COURSE"]) if os.environ.get("GRADE_COURSE") else None)
    set_up()
    from django.conf import settings
    from django.db import connection

    migrate()
    _look_at_keys()
    connection.close()
    from grader.web.serving import serve_forever

    workers = default_jobs() if options.workers is None else options.workers
    print(
        f"grade: serving {settings.GRADE.base_url} ({connection.vendor}, {workers} worker{'s' * (workers != 1)}); "
        "Ctrl-C ends it",
        file=sys.stderr,
        flush=True,
    )
    with contextlib.suppress(KeyboardInterrupt):
        serve_forever(options.host, options.port, workers, https=settings.GRADE.https)
    return 0


def _look_at_keys() -> None:
    """Say what is wrong if we can't sign; grading goes on, and scores wait."""
    from grader.web.lti.keys import lost_keys, reseal_keys
    from grader.web.lti.sealing import LOST

    reseal_keys()
    if lost_keys():
        print(f"grade: {LOST}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _demo(options: argparse.Namespace) -> Iterator[None]:
    """Let everything that the demo keeps lie in a folder that goes with it, unless GRADE_DATA names one."""
    if options.host not in LOOPBACK:
        raise UsageError("The demo lets everybody in, so it is served to this machine only.", hint="Leave --host out.")
    if os.environ.get("DATABASE_URL"):
        raise UsageError("The demo has a database of its own.", hint="Unset DATABASE_URL.")
    os.environ["GRADE_DEMO"] = "1"
    if os.environ.get("GRADE_DATA"):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="grade-demo-", ignore_cleanup_errors=True) as folder:
        os.environ["GRADE_DATA"] = folder
        yield
