"""``grade FILE --watch``: grade at each save, and say what changed, until Ctrl-C.

The files are looked at five times a second. Their own notifications would need a package for each system, miss folders
in the network, and still not say whether an editor has finished: a look costs some microseconds and works everywhere.
"""

from __future__ import annotations

import argparse
import gc
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from grader.cli.grade import backend_for, checked_course, progress
from grader.cli.options import report_beside
from grader.cli.previous import read_previous
from grader.cli.show import Shown, course_options, prepare, show
from grader.core.changes import Marks, marks_of
from grader.course import find_course, load_assignment
from grader.errors import GraderError, IsolationError, UsageError
from grader.intake import read_submission
from grader.model import Submission
from grader.pipeline import grade
from grader.render import clean
from grader.run.backend import Backend
from grader.run.scratch import Scratch
from grader.store import write_transcript

__all__ = ["Saves", "run_watch"]

EVERY = 0.2
"""Seconds between two looks."""
SETTLED = 0.3
"""Seconds without a change after which a file counts as saved: some editors write in several steps."""
DOUBTFUL = 1.5
"""The same for a file that can't be read as it is: empty, cut off, or not there."""

Stamp = tuple[tuple[int, int, int], ...]


def run_watch(options: argparse.Namespace) -> int:
    """Grade until Ctrl-C; return the exit code."""
    for name, given in (
        ("--format json", options.format == "json"),
        ("--fail-under", options.fail_under is not None),
        ("--profile", options.profile),
    ):
        if given:
            raise UsageError(f"--watch goes on until Ctrl-C and prints for people: it can't be used with {name}.")
    gc.enable()  # for a single run it isn't worth while
    watching = _Watching(options)
    try:
        for submission in Saves(options.path):
            watching.grade(submission)
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        watching.close()
    return 0


class Saves:
    """The submission, each time that it was saved with another content. The first one is as it lies there.

    A file that vanishes, or can't be read, is waited for: editors rename, and write in steps. What counts is the code
    and the companions: a notebook that is saved with other outputs hasn't changed.

    Raises:
        UsageError: If there is nothing to read at the beginning.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: Submission | None = None
        self._stamp: Stamp = ()

    def __iter__(self) -> Iterator[Submission]:
        self._stamp = self._look()
        self._last = read_submission(self._path)
        yield self._last
        while True:
            yield self._next()

    def _next(self) -> Submission:
        told = ""
        while True:
            self._wait_for_change()
            submission, trouble = self._settled()
            if submission is None:
                if trouble != told:
                    print(f"grade: {trouble}", file=sys.stderr)
                    told = trouble
            elif self._last is None or _content(submission) != _content(self._last):
                self._last = submission
                return submission

    def _wait_for_change(self) -> None:
        while self._look() == self._stamp:
            time.sleep(EVERY)

    def _settled(self) -> tuple[Submission | None, str]:
        """Wait until nothing changes any more; return what there is then, or what is wrong with it."""
        stamp, since = self._look(), time.monotonic()
        while True:
            time.sleep(EVERY)
            now = self._look()
            if now != stamp:
                stamp, since = now, time.monotonic()
                continue
            quiet = time.monotonic() - since
            if quiet < SETTLED:
                continue
            submission, trouble = self._read()
            doubtful = submission is None or submission.trouble is not None
            if self._look() == stamp and (quiet > DOUBTFUL or not doubtful):
                self._stamp = stamp
                return submission, trouble

    def _read(self) -> tuple[Submission | None, str]:
        try:
            return read_submission(self._path), ""
        except UsageError as error:
            return None, str(error)

    def _look(self) -> Stamp:
        """Return what a change of the file, of its companions or of the list of files beside it would change."""
        beside = () if self._last is None else self._last.companions
        places = (self._path, self._path.parent, *(self._path.with_name(item.name) for item in beside))
        return tuple(map(_stamp, places))


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _content(submission: Submission) -> tuple[object, ...]:
    return submission.cells, submission.companions, submission.trouble, submission.notes


class _Watching:
    """What stays the same from save to save: course, seed and backend, so that each change is the learner's."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._course = find_course(checked_course(options.course))
        self._assignment = load_assignment(self._course, options.assignment)
        self._before: Marks | None = None
        if options.previous is not None:
            self._before = read_previous(options.previous, self._assignment)
        prepare(options.out)
        self._seed = secrets.randbelow(1_000_000) if options.seed is None else options.seed
        self._secret = secrets.token_hex(16)
        self._backend: Backend | None = None
        self._rounds = 0

    def grade(self, submission: Submission) -> None:
        """Grade what was saved. A fault of ours is told, and the next save is another try."""
        try:
            self._grade(submission)
        except GraderError as error:
            print(f"grade: {error}", file=sys.stderr)
            if isinstance(error, IsolationError):
                self.close()

    def _grade(self, submission: Submission) -> None:
        options = self._options
        if self._backend is None:
            self._backend = backend_for(options)
        scratch = Scratch(self._backend, submission)
        try:
            with progress() as tell:
                transcript, result = grade(
                    self._assignment, submission, self._seed, scratch, secret=self._secret, tell=tell
                )
        finally:
            scratch.close()
        if options.transcript is not None:
            write_transcript(options.transcript, transcript)
        if self._rounds:
            print()
        shown = Shown(
            out=options.out,
            path=options.path,
            options=course_options(options.course, options.assignment),
            beside=report_beside(options.path, options.path.name, options.audience),
            format="text",
            hints=options.hints,
            audience=options.audience,
            open=options.open and not self._rounds,
            fail_under=None,
            before=self._before,
            brief=bool(self._rounds),
        )
        show(result, self._assignment, self._course, shown)
        if not self._rounds:
            name = clean.terminal(options.path.name)
            print(f"\nWatching {name} with seed {self._seed}: save it and look here. Ctrl-C ends this.", flush=True)
        self._rounds += 1
        if result.status == "graded":
            self._before = marks_of(result)

    def close(self) -> None:
        """End what keeps the code apart."""
        if self._backend is not None:
            self._backend.close()
            self._backend = None
