"""A process that grades one submission after the other: its own backend, the course loaded once.

It is started anew, never forked, speaks over its standard input and output, and ends when its input does.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from grader.batch.messages import Failed, Message, Ready, Request, Row, Setup, decode, encode
from grader.batch.seeds import secret_of, seed_of
from grader.course import Course, find_course, load_assignment
from grader.errors import GraderError, IsolationError, OutputError
from grader.run.isolation import open_backend
from grader.run.scratch import Scratch
from grader.run.stopwatch import Stopwatch

if TYPE_CHECKING:
    from grader.model import Result
    from grader.run.backend import Backend

__all__ = ["main"]

MAX_LOOK = 200
"""Characters of one thing to look at."""

FULL = frozenset([errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
"""Nothing more can be written, for anybody."""


def main() -> None:
    """Serve requests until there are no more."""
    answers = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the batch's to handle
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        lines = _messages(sys.stdin.buffer)
        for message in _serve(lines):
            answers.write(encode(message))
            answers.flush()


def _own_output() -> BinaryIO:
    """Keep standard output for answers: what a course prints isn't one."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _messages(stream: BinaryIO) -> Iterator[Message]:
    for line in stream:
        yield decode(line)


def _serve(lines: Iterator[Message]) -> Iterator[Message]:
    setup = next(lines, None)
    if not isinstance(setup, Setup):
        return
    try:
        course = find_course(Path(setup.course) if setup.course is not None else None)
        # The canaries try to read them: every solution, and a file of somebody else.
        secrets = [*course.secrets, *map(Path, setup.secrets)]
        # Before a course is loaded or a seed is known: a process that is copied from this backend can't hold either.
        with open_backend(setup.isolation, purpose="others' files", secrets=secrets) as backend:
            job = _Job(setup, course, backend)
            yield job.ready()
            for request in lines:
                if isinstance(request, Request):
                    yield job.answer(request)
    except GraderError as error:
        yield Failed(code=error.exit_code, message=error.message, hint=error.hint)


class _Job:
    def __init__(self, setup: Setup, course: Course, backend: Backend) -> None:
        self._setup, self._course, self._backend = setup, course, backend
        self._key, self._hidden = bytes.fromhex(setup.key), bytes.fromhex(setup.hidden)
        self._assignment = load_assignment(course, setup.assignment)

    def ready(self) -> Ready:
        """Say what will be graded, and how."""
        assignment = self._assignment
        return Ready(
            assignment=assignment.id,
            version=assignment.version,
            digest=assignment.digest,
            title=assignment.texts["title"],
            max_cents=assignment.points * 100,
            isolation=self._backend.name,
            seconds=assignment.limits.submission_seconds,
        )

    def answer(self, request: Request) -> Row | Failed:
        """Grade one file. Whatever goes wrong with it stays with it."""
        try:
            return self._grade(request)
        except IsolationError as error:
            # The backend may have been killed: a new job has a new one.
            return Failed(code=0, message=error.message, hint=error.hint)
        except OutputError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno in FULL:
                raise
            return _not_graded(request, error.message)
        except GraderError as error:
            return _not_graded(request, error.message)
        except MemoryError:
            return _not_graded(request, "the grader ran out of memory")
        except Exception as error:  # noqa: BLE001 - a fault of ours costs this submission its grade, and no other
            return _not_graded(request, f"the grader failed ({type(error).__name__} in {_place(error)})")

    def _grade(self, request: Request) -> Row:
        from grader.intake import read_submission
        from grader.pipeline import grade

        watch = Stopwatch()
        path = Path(request.path)
        with watch.stage("read"):
            # Other learners' files lie beside it: none of them is a companion.
            submission = read_submission(path, beside=False)
        seed = seed_of(self._key, self._assignment.id, submission.sha256)
        secret = secret_of(self._hidden, self._assignment.id, submission.sha256)
        with watch.stage("start"):
            scratch = Scratch(self._backend, submission)
        try:
            _, result = grade(self._assignment, submission, seed, scratch, secret=secret, watch=watch)
        finally:
            scratch.close()
        self._write(result, request.folder, watch)
        return Row(
            number=request.number,
            name=path.name,
            folder=request.folder,
            status=result.status,
            reason="a check of the course failed" if result.status == "not_graded" else "",
            sha256=result.sha256,
            seed=seed,
            cents=result.cents,
            max_cents=result.max_cents,
            look=_to_look_at(result, self._assignment.texts),
            unloaded=submission.trouble is not None,
            profile=watch.seconds,
        )

    def _write(self, result: Result, folder: str, watch: Stopwatch) -> None:
        from grader.core.redact import redact
        from grader.render.document import to_json
        from grader.render.html import fragment, report
        from grader.render.view import build
        from grader.store.files import write_folder

        with watch.stage("render"):
            public = redact(result, "learner")
            view = build(public, self._assignment, hints=self._setup.hints)
            files = {
                "report.html": report(view, self._course.template_dirs),
                "fragment.html": fragment(view, self._course.template_dirs),
                "result.json": to_json(public, self._assignment, hints=self._setup.hints),
            }
        with watch.stage("write"):
            write_folder(Path(self._setup.out) / folder, files)


def _not_graded(request: Request, reason: str) -> Row:
    return Row(
        number=request.number,
        name=Path(request.path).name,
        folder=request.folder,
        status="not_graded",
        reason=reason.rstrip("."),
    )


def _to_look_at(result: Result, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return what a result tells the instructor, each thing once."""
    from grader.core.catalogue import Catalogue

    words = Catalogue(texts)
    notes = [*result.notes]
    for task in result.tasks:
        notes += task.notes
        for criterion in task.criteria:
            notes += criterion.finding.notes
    told = [words.get(note.text, note.params) or note.text for note in notes if note.kind in ("review", "integrity")]
    return tuple(text[:MAX_LOOK] for text in dict.fromkeys(told))


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace is not None else "?"
