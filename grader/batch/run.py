"""A run: every entry that hasn't ended yet goes to the executor, and how it ended goes into the journal."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import queue
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future

from grader.batch.decisions import Decisions
from grader.batch.executor import Lost
from grader.batch.messages import Answer, Failed, File, Ready, Request, Row, Setup, decode, dump_row, encode
from grader.batch.work import introduce, work
from grader.errors import EnvironmentFault, GraderError, OutputError
from grader.store.files import make_folder, write_file, write_folder
from grader.store.journal import Entry, Journal

__all__ = ["Run"]

MAX_TRIES = 2
MAX_LOST = 3
"""Workers that end before they are ready, one after the other: then it isn't a submission's doing."""

POLL_SECONDS = 1.0
MAX_ALONE = 60
"""Looks, one after the other, at a cluster without workers: they may be starting again."""


class Run:
    """Grades the entries of a journal.

    Args:
        journal: Of the run.
        executor: Carries the work.
        setup: What stays the same; where it says no ``out``, results come back and are written here.
        workers: Says how many can work at a time now. Each is handed two pieces of work, so that none waits for us.
        decisions: What instructors decided.
        share: Run what is the same once.
    """

    def __init__(
        self,
        journal: Journal,
        executor: Executor,
        setup: Setup,
        *,
        workers: Callable[[], int],
        decisions: Decisions | None = None,
        share: bool = True,
    ) -> None:
        self._journal, self._executor, self._setup, self._share = journal, executor, setup, share
        self._workers, self._decisions = workers, decisions or Decisions(overrides={}, sentences={})
        self._done: queue.SimpleQueue[Future[bytes]] = queue.SimpleQueue()
        self._having: dict[Future[bytes], Entry] = {}
        self._waiting: deque[Entry] = deque()
        self._twins: dict[str, list[Entry]] = defaultdict(list)
        """By content: those that wait for the one that is being graded."""
        self._graded: dict[str, Row] = {}
        """By content: those that were run."""
        self._made: dict[int, tuple[str, str]] = {}
        self._tries: dict[int, int] = {}

    def introduce(self, workers: int) -> Ready:
        """Have workers get ready, and return what the first says.

        Raises:
            GraderError: What stops every worker stops the run: no isolation, an unusable course.
        """
        setup = encode(self._setup)
        lost = ""
        for _ in range(MAX_LOST):
            futures = [self._submit(introduce, setup) for _ in range(workers)]
            try:
                answer = decode(futures[0].result())
            except (Lost, CancelledError) as error:
                lost = str(error)
                continue
            if isinstance(answer, Ready):
                return answer
            assert isinstance(answer, Failed)
            raise _error(answer)
        raise EnvironmentFault(
            f"The processes that grade don't start ({lost}).",
            hint="Check that NumPy works for this Python: python -c 'import numpy'.",
        )

    def grade(self, entries: Sequence[Entry], done: Mapping[int, Row]) -> Iterator[Row]:
        """Grade ``entries`` but those that are ``done``, and yield how each ended, as they end.

        What is the same as one that is done isn't run again.
        """
        for entry in entries if self._share else ():
            row = done.get(entry.number)
            if row is not None and entry.content and row.same_as is None:
                self._graded[entry.content] = row
        for entry in entries:
            if entry.number in done:
                continue
            if entry.trouble:
                yield self._ended(_not_graded(entry, entry.trouble))
            elif self._share and entry.content in self._twins:
                self._twins[entry.content].append(entry)
            else:
                if self._share:
                    self._twins[entry.content] = []
                self._waiting.append(entry)
        yield from self._work()

    def judge(self, entries: Sequence[Entry], done: Mapping[int, Row]) -> Iterator[Row]:
        """Judge the transcripts of ``entries``, whose rows are ``done``, again; yield how each ended, as they end."""
        self._waiting.extend(entries)
        self._made = {number: (row.made, row.digest) for number, row in done.items()}
        for row in self._work(again=True):
            before = done.get(row.number)
            if row.status != "graded" and not row.sha256:
                # Not judged at all: what it had before stays, and so do its report and its grade.
                yield row
                continue
            yield self._ended(dataclasses.replace(row, same_as=before.same_as if before else None))

    def _work(self, *, again: bool = False) -> Iterator[Row]:
        setup, alone = encode(self._setup), 0
        while self._waiting or self._having:
            most = 2 * max(1, self._workers())
            while self._waiting and len(self._having) < most:
                entry = self._waiting.popleft()
                try:
                    request = self._request(entry, again=again)
                except OutputError as error:
                    yield from self._over(entry, _not_graded(entry, error.message), again=again)
                    continue
                future = self._submit(work, setup, encode(request))
                self._having[future] = entry
                future.add_done_callback(self._done.put)
            try:
                future = self._done.get(timeout=POLL_SECONDS)
            except queue.Empty:
                alone = 0 if self._workers() else alone + 1
                if alone > MAX_ALONE:
                    raise EnvironmentFault(
                        "All workers of the cluster have gone.", hint="Start some, and go on with --resume."
                    ) from None
                continue
            alone = 0
            entry = self._having.pop(future)
            yield from self._heard(entry, future, again=again)

    def _heard(self, entry: Entry, future: Future[bytes], *, again: bool) -> Iterator[Row]:
        why = how = ""
        try:
            answer = decode(future.result())
        except Exception as error:  # noqa: BLE001 - an executor says by any exception of its own that a worker was lost
            how = str(error) or type(error).__name__
        else:
            if isinstance(answer, Answer):
                self._deliver(answer)
                row = dataclasses.replace(answer.row, name=answer.row.name or entry.attempt.key)
                yield from self._over(entry, row, again=again)
                return
            assert isinstance(answer, Failed)
            if answer.code:
                raise _error(answer)
            why = answer.message.rstrip(".")
        # A lost worker's submission is tried once more, by another one.
        self._tries[entry.number] = self._tries.get(entry.number, 0) + 1
        if self._tries[entry.number] < MAX_TRIES:
            self._waiting.appendleft(entry)
        else:
            reason = why or f"the process that graded it was lost twice ({how})"
            yield from self._over(entry, _not_graded(entry, reason), again=again)

    def _over(self, entry: Entry, row: Row, *, again: bool) -> Iterator[Row]:
        """Note how an entry ended; those that are the same can go on."""
        if again:
            yield row
            return
        twin = self._graded.get(entry.content)
        if twin is not None and twin.number != entry.number and row.status == "graded":
            row = dataclasses.replace(row, same_as=twin.number)
        elif row.status == "graded" and self._share:
            self._graded[entry.content] = row
        yield self._ended(row)
        self._waiting.extend(self._twins.pop(entry.content, []))

    def _ended(self, row: Row) -> Row:
        self._journal.end(row.number, dump_row(row))
        return row

    def _request(self, entry: Entry, *, again: bool) -> Request:
        """Read what a worker has to know. Raises OutputError if a kept file is gone."""
        overrides = self._decisions.overrides.get(entry.attempt.key, ())
        if again:
            return Request(
                number=entry.number,
                folder=entry.folder,
                kept=entry.folder,
                made=self._made.get(entry.number, ("", "")),
                overrides=overrides,
                sentences=self._decisions.sentences,
            )
        twin = self._graded.get(entry.content)
        transcript = b""
        if twin is not None:
            with contextlib.suppress(OSError):
                transcript = self._journal.transcript(twin.folder).read_bytes()
        files = (*(entry.choices or ((entry.main,) if entry.main else ())), *entry.companions)
        if transcript:
            # Of one that is the same as another the name alone is its own.
            files = files[:1] if entry.main else ()
        return Request(
            number=entry.number,
            folder=entry.folder,
            files=tuple(
                File.of(
                    file.name, file.sha256, None if transcript or not file.whole else self._journal.content(file.sha256)
                )
                for file in files
            ),
            choices=0 if transcript else len(entry.choices),
            transcript=base64.b64encode(transcript).decode(),
            overrides=overrides,
            sentences=self._decisions.sentences,
        )

    def _deliver(self, answer: Answer) -> None:
        """Write what a worker on another machine sent."""
        if answer.transcript:
            path = self._journal.transcript(answer.row.folder)
            make_folder(path.parent)
            write_file(path, base64.b64decode(answer.transcript), lasting=False)
        if answer.files:
            write_folder(self._journal.out / answer.row.folder, answer.files)

    def _submit(self, fn: object, *args: bytes) -> Future[bytes]:
        try:
            future: Future[bytes] = self._executor.submit(fn, *args)  # type: ignore[arg-type]  # a function, as object
        except OSError as error:
            raise EnvironmentFault(f"Nothing can be handed to the workers ({error}).") from error
        return future


def _not_graded(entry: Entry, reason: str) -> Row:
    name = entry.main.name if entry.main else entry.choices[0].name if entry.choices else entry.attempt.key
    return Row(number=entry.number, name=name, folder=entry.folder, status="not_graded", reason=reason.rstrip("."))


def _error(failed: Failed) -> GraderError:
    """Return the error that ended a worker, with its exit code."""
    error = GraderError(failed.message, hint=failed.hint)
    error.exit_code = failed.code
    return error
