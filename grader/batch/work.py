"""What a worker of a batch does, wherever it runs: in a process of this machine or on another one.

A worker keeps its backend and its course from one submission to the next. `introduce` and `work` take and give bytes,
so that any executor can carry them.
"""

from __future__ import annotations

import atexit
import base64
import errno
import gc
import hashlib
import platform
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.batch.messages import Answer, Failed, File, Ready, Request, Row, Setup, decode, encode
from grader.batch.pages import Pages, is_whole
from grader.batch.seeds import secret_of, seed_of
from grader.batch.verdicts import Verdicts
from grader.core.loading import nothing_ran
from grader.course import find_course, load_assignment
from grader.errors import CourseError, EnvironmentFault, GraderError, IsolationError, OutputError
from grader.model._data import replace
from grader.run.stopwatch import Stopwatch
from grader.store.layout import transcript_path

if TYPE_CHECKING:
    from grader.core.assignment import Assignment
    from grader.core.judge import Judgement
    from grader.model import Result, Submission, Transcript
    from grader.run.backend import Backend

__all__ = ["close", "introduce", "work"]

FULL = frozenset([errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
"""Nothing more can be written, for anybody."""

_lock = threading.Lock()
_worker: tuple[bytes, _Worker] | None = None


def introduce(setup: bytes) -> bytes:
    """Get ready: the backend with its canaries, the course. Return `Ready`, or why not."""
    with _lock:
        try:
            return encode(_worker_for(setup).ready())
        except GraderError as error:
            return encode(Failed(code=error.exit_code, message=error.message, hint=error.hint))


def work(setup: bytes, request: bytes) -> bytes:
    """Grade one submission. Whatever goes wrong with it stays with it; return `Answer`, or `Failed`."""
    asked = decode(request)
    assert isinstance(asked, Request)
    with _lock:  # one after the other, whatever the executor thinks
        try:
            worker = _worker_for(setup)
        except GraderError as error:
            return encode(Failed(code=error.exit_code, message=error.message, hint=error.hint))
        return encode(worker.answer(asked))


def close() -> None:
    """End what a worker keeps."""
    global _worker
    if _worker is not None:
        _worker[1].close()
        _worker = None


atexit.register(close)


def _worker_for(setup: bytes) -> _Worker:
    global _worker
    if _worker is None or _worker[0] != setup or _worker[1].broken:
        close()
        read = decode(setup)
        assert isinstance(read, Setup)
        _worker = (setup, _Worker(read))
    return _worker[1]


class _Worker:
    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        if setup.versions:
            _same_versions(setup.versions)
        self._key, self._hidden = bytes.fromhex(setup.key), bytes.fromhex(setup.hidden)
        self._course = find_course(Path(setup.course) if setup.course is not None else None)
        self._backend: Backend | None = None
        self.broken = False
        # Before a course is loaded or a seed is known: a process that is copied from this backend can't hold either.
        if setup.isolation != "none":
            from grader.run.isolation import open_backend

            # The canaries try to read them: every solution, and a file of somebody else.
            secrets = [*self._course.secrets, *map(Path, setup.secrets)]
            self._backend = open_backend(setup.isolation, purpose="others' files", secrets=secrets)
        try:
            self._assignment = load_assignment(self._course, setup.assignment)
            if setup.digest and setup.digest != self._assignment.digest:
                raise _another_course(self._assignment)
            self._pages = Pages(self._course, self._assignment, setup.hints)
            self._verdicts = Verdicts(Path(setup.out) if setup.out else None, self._course, self._assignment)
            # What a course holds stays to the end: nobody looks for garbage in it with each submission.
            gc.collect()
            gc.freeze()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the backend."""
        if self._backend is not None:
            self._backend.close()

    def ready(self) -> Ready:
        """Say what will be graded, and how."""
        assignment = self._assignment
        return Ready(
            assignment=assignment.id,
            version=assignment.version,
            digest=assignment.digest,
            title=assignment.texts["title"],
            max_cents=assignment.points * 100,
            isolation="" if self._backend is None else self._backend.name,
            seconds=assignment.limits.submission_seconds,
            tasks=tuple((task.id, assignment.texts.get(f"{task.id}.title", task.id)) for task in assignment.tasks),
        )

    def answer(self, request: Request) -> Answer | Failed:
        """Grade one submission."""
        try:
            again = request.transcript or request.kept
            return self._judge_again(request) if again else self._grade(request)
        except IsolationError as error:
            # The backend may have been killed: a new one may do better.
            self.broken = True
            return Failed(code=0, message=error.message, hint=error.hint)
        except OutputError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno in FULL:
                return Failed(code=error.exit_code, message=error.message, hint=error.hint)
            return _not_graded(request, error.message)
        except GraderError as error:
            return _not_graded(request, error.message)
        except MemoryError:
            return _not_graded(request, "the grader ran out of memory")
        except Exception as error:  # noqa: BLE001 - a fault of ours costs this submission its grade, and no other
            return _not_graded(request, f"the grader failed ({type(error).__name__} in {_place(error)})")

    def _grade(self, request: Request) -> Answer:
        from grader.pipeline import grade
        from grader.run.scratch import Scratch
        from grader.store import dump_transcript

        watch = Stopwatch()
        found: list[Judgement] = []
        with watch.stage("read"):
            main, *companions = request.files
            if request.choices:
                main, companions = self._chosen(request.files, request.choices)
            submission = _submission(main, companions)
        seed = seed_of(self._key, self._assignment.id, submission.sha256)
        secret = secret_of(self._hidden, self._assignment.id, submission.sha256)
        assert self._backend is not None
        with watch.stage("start"):
            scratch = Scratch(self._backend, submission)
        try:
            transcript, result = grade(
                self._assignment, submission, seed, scratch, secret=secret, watch=watch, keep=found.append
            )
        finally:
            scratch.close()
        kept = dump_transcript(transcript)
        self._verdicts.keep(request.folder, _sha256(kept), found[0])
        return self._told(request, transcript, result, watch, kept)

    def _judge_again(self, request: Request) -> Answer:
        from grader.pipeline import judge_transcript
        from grader.store import dump_transcript, load_transcript

        watch = Stopwatch()
        found: list[Judgement] = []
        with watch.stage("read"):
            content = self._transcript(request)
            transcript = load_transcript(content)
            if request.files:
                # Another learner handed in the same under another name.
                transcript = replace(transcript, name=request.files[0].name)
                content = dump_transcript(transcript)
            mark = _sha256(content)
            known = {} if self._setup.afresh else self._verdicts.known(request.folder, mark)
        with watch.stage("judge"):
            result = judge_transcript(self._assignment, transcript, known=known, keep=found.append)
        kept = content if self._backend is not None else b""
        if len(known) < len(self._assignment.tasks):
            self._verdicts.keep(request.folder, mark, found[0])
        return self._told(request, transcript, result, watch, kept)

    def _transcript(self, request: Request) -> bytes:
        """Return the transcript that is to be judged: as it was sent, or as it lies here. Raises OutputError."""
        if request.transcript:
            return base64.b64decode(request.transcript)
        path = transcript_path(Path(self._setup.out), request.kept)
        try:
            return path.read_bytes()
        except OSError as error:
            raise OutputError(f"its transcript {path.name} can't be read; grade it with --rerun") from error

    def _chosen(self, files: tuple[File, ...], choices: int) -> tuple[File, list[File]]:
        """Return that of the first files that defines most of the functions, and all others. Raises GraderError."""
        from grader.batch.choose import functions_of

        assert self._backend is not None
        possible = files[:choices]
        counts = [
            functions_of(self._assignment, self._backend, _submission(file, _without(files, file))) for file in possible
        ]
        best = [file for file, count in zip(possible, counts, strict=True) if count == max(counts)]
        if len(best) > 1:
            names = ", ".join(file.name for file in best[:5])
            raise GraderError(
                f"which file is the submission: {names}? They define {'as much' if max(counts) else 'nothing asked'}; "
                f"say it with --pick"
            )
        return best[0], _without(files, best[0])

    def _told(self, request: Request, transcript: Transcript, result: Result, watch: Stopwatch, kept: bytes) -> Answer:
        """Write what is made of a result, or send it; ``kept`` is the transcript if that is new."""
        from grader.batch.decisions import decide
        from grader.core.redact import redact
        from grader.core.standing import standing_of
        from grader.store.files import make_folder, write_file, write_folder

        decided = decide(result, request.overrides, request.sentences)
        with watch.stage("render"):
            public = redact(decided, "learner")
            made, (before, digest) = self._pages.made_of(public), request.made
            whole = bool(before and self._setup.out) and is_whole(Path(self._setup.out) / request.folder, digest)
            files = self._pages.changed(public, before if whole else "", made)
            if files:
                digest = _sha256(files["result.json"].encode())
            if self._setup.instructor:
                files["instructor.html"] = self._pages.of(decided)["report.html"]
        if self._setup.out:
            with watch.stage("write"):
                out = Path(self._setup.out)
                if kept:
                    path = transcript_path(out, request.folder)
                    make_folder(path.parent)
                    write_file(path, kept, lasting=False)
                if files:
                    write_folder(out / request.folder, files)
        standing = standing_of(decided, self._assignment.texts, key="")
        row = Row(
            number=request.number,
            name=result.name,
            folder=request.folder,
            status=result.status,
            reason="a check of the course failed" if result.status == "not_graded" else "",
            sha256=result.sha256,
            seed=result.seed,
            cents=standing.cents,
            max_cents=standing.max_cents,
            digest=digest,
            made=made,
            isolation=dict(result.environment).get("isolation", ""),
            tasks=tuple((part.id, str(part.status), part.cents, part.max_cents) for part in standing.tasks),
            criteria=tuple((part.id, str(part.status), part.cents, part.max_cents) for part in standing.criteria),
            misconceptions=standing.misconceptions,
            look=standing.look,
            unexplained=standing.unexplained,
            adjusted=standing.adjusted,
            unloaded=not result.cents and nothing_ran(transcript),
            profile=watch.seconds,
        )
        if self._setup.out:
            return Answer(row=row)
        return Answer(row=row, files=files, transcript=base64.b64encode(kept).decode())


def _same_versions(wanted: tuple[tuple[str, str], ...]) -> None:
    """Make sure that results have the same bytes wherever they are made. Raises EnvironmentFault."""
    from grader.pipeline import judged_by

    own = judged_by()
    if own != wanted:
        said = ", ".join(f"{name} {version}" for name, version in own)
        needed = ", ".join(f"{name} {version}" for name, version in wanted)
        raise EnvironmentFault(
            f"A worker on {platform.node() or 'another machine'} has {said}.",
            hint=f"Install what this machine has there: {needed}.",
        )


def _submission(main: File, companions: Sequence[File]) -> Submission:
    from grader.intake import submission_of

    return submission_of(main.name, main.sha256, main.raw, {file.name: file.raw for file in companions})


def _without(files: Sequence[File], one: File) -> list[File]:
    return [file for file in files if file is not one]


def _another_course(assignment: Assignment) -> GraderError:
    return CourseError(
        f"reference/{assignment.id}", "", "the course here isn't the one that this run is graded with.",
        hint="Use the same course everywhere; grade regrade judges a whole run by a changed one.",
    )  # fmt: skip


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _not_graded(request: Request, reason: str) -> Answer:
    name = request.files[0].name if request.files else ""
    row = Row(
        number=request.number, name=name, folder=request.folder, status="not_graded", reason=reason.rstrip(".")
    )  # fmt: skip
    return Answer(row=row)


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace is not None else "?"
