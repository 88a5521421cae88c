"""One life of a worker: it loads the submission and answers calls, one at a time, below limits."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from grader.errors import IsolationError
from grader.model import Call, Failure, Limits, Outcome, OutcomeKind, Submission
from grader.model._data import data, replace
from grader.run import library
from grader.run.backend import Backend, Launch, Worker
from grader.run.places import without_places
from grader.run.removal import remove_tree
from grader.run.wire import Malformed, Reply, decode_reply, encode_request

__all__ = ["Life", "Waited"]

WALL_FACTOR = 3
START_SECONDS = 60
POLL_SECONDS = 0.02


@data
class Waited:
    """What waiting for a reply gave: the reply's bytes, or why there is none."""

    end: Literal["reply", "closed", "too_long", "asleep", "deadline"]
    header: bytes = b""
    payload: bytes = b""
    progress: int | None = None


class Life:
    """A worker from start to end.

    Raises:
        IsolationError: If the worker doesn't start; no student code has run by then.
    """

    def __init__(
        self,
        backend: Backend,
        folder: Path,
        submission: Submission,
        limits: Limits,
        inert_modules: tuple[str, ...],
        *,
        packages: tuple[str, ...],
        stand_ins: Mapping[str, str],
        worker: Worker | None = None,
        tell: Callable[[Call], None] | None = None,
    ) -> None:
        self._folder, self._submission, self._limits = folder, submission, limits
        self._tell = tell
        self._worker = worker or backend.start(Launch(folder=folder))
        self.alive = True
        self.calls = 0
        self.received = 0
        allowed = tuple(dict.fromkeys([*packages, *inert_modules]))
        head = {
            "folder": str(folder),
            "name": Path(submission.name).name,
            "notebook": submission.kind == "notebook",
            "companions": bool(submission.companions),
            "stdout": limits.stdout_kib * 1024,
            "memory": limits.memory_mib << 20,
            "cpu": int(limits.submission_seconds * 2),
            "inert": list(inert_modules),
            "packages": list(allowed),
            "more": list(library.paths_of(tuple(name for name in allowed if name not in library.COMMON))),
            "stand_ins": dict(stand_ins),
        }
        self._worker.send(encode_request(head))
        deadline = time.monotonic() + START_SECONDS
        try:
            got = self._worker.receive(START_SECONDS)
            hello = decode_reply(*got) if got else None
        except (EOFError, Malformed):
            hello = None
        if hello is None:
            took = "in time" if time.monotonic() > deadline else "at all"
            note = self._worker.close().note.strip()
            self.close()
            raise IsolationError(
                f"The process for student code didn't start {took}{f' ({note})' if note else ''}.",
                hint="Check that NumPy works for this Python: python -c 'import numpy'.",
            )
        self.environment = (*hello.environment, ("isolation", backend.name))

    def load(
        self, call: Call, deadline: float, *, before: int | None = None, stepwise: bool = False
    ) -> tuple[Outcome, int | None]:
        """Run a cell; return its outcome and, when stepwise, the line of the statement that was begun last."""
        number = int(call.name)
        cell = next(cell for cell in self._submission.cells if cell.number == number)
        head: dict[str, Any] = {
            "op": "cell",
            "id": call.id,
            "number": number,
            "encoding": cell.encoding,
            "seed": call.seed,
            "draws": call.draws,
            "before": before,
            "stepwise": stepwise,
        }
        frame = encode_request(head, cell.source)
        return self._ask(call, frame, self._limits.load_seconds, deadline, interrupt=True, stepwise=stepwise)

    def call(self, call: Call, deadline: float) -> Outcome:
        """Call a function."""
        self.calls += 1
        head: dict[str, Any] = {
            "op": "call",
            "id": call.id,
            "name": call.name,
            "seed": call.seed,
            "watch": call.watch,
            "readonly": call.readonly,
            "draws": call.draws,
        }
        frame = encode_request(head, values={"args": list(call.args), "kwargs": list(call.kwargs)})
        return self._ask(call, frame, self._limits.call_seconds, deadline, interrupt=False)[0]

    def close(self) -> None:
        """End the process and remove its folder."""
        if self.alive:
            self._worker.close()
            self.alive = False
        remove_tree(self._folder)

    def _ask(
        self,
        call: Call,
        frame: bytes,
        seconds: float,
        deadline: float,
        *,
        interrupt: bool,
        stepwise: bool = False,
    ) -> tuple[Outcome, int | None]:
        began = time.monotonic()
        try:
            early = self._worker.receive(0)
        except EOFError:
            early = (b"", b"")
        if early is not None:
            # An answer to a question that wasn't asked yet: whoever wrote it isn't our worker any more.
            return self._died(call, began), None
        self._worker.send(frame)
        waited = self._wait(seconds, deadline, stepwise=stepwise, call=call)
        if waited.end == "reply":
            outcome = self._outcome(call, waited, began)
            return (outcome or self._died(call, began)), waited.progress
        if waited.end == "closed":
            return self._died(call, began), waited.progress
        detail = Failure(kind=waited.end, message=f"{seconds:g}")
        if interrupt and waited.end != "deadline" and self._worker.interrupt():
            last = self._wait(1.0, deadline, stepwise=stepwise, call=call)
            outcome = self._outcome(call, last, began) if last.end == "reply" else None
            if outcome is not None:
                failure = outcome.failure or detail
                where = Failure(kind=waited.end, message=detail.message, cell=failure.cell, line=failure.line)
                return _ended(call, "timed_out", where, began, keep=outcome), waited.progress
        self._worker.close()
        self.alive = False
        return _ended(call, "timed_out", detail, began), waited.progress

    def _wait(self, seconds: float, deadline: float, *, stepwise: bool, call: Call) -> Waited:
        began = quiet_since = time.monotonic()
        cpu_before: float | None = None
        cpu_last = 0.0
        progress: int | None = None
        while True:
            try:
                reply = self._worker.receive(POLL_SECONDS)
            except EOFError:
                return Waited(end="closed", progress=progress)
            if reply is not None:
                at = _progress(reply[0]) if stepwise else None
                if at is None:
                    self.received += len(reply[0]) + len(reply[1])
                    return Waited(end="reply", header=reply[0], payload=reply[1], progress=progress)
                progress = at
            if self._tell is not None:
                self._tell(call)
            now, usage = time.monotonic(), self._worker.usage()
            if usage is not None:
                if cpu_before is None:
                    # Most calls answer at once and nobody asks: what it can have used by now is its own.
                    cpu_before = max(0.0, usage.cpu_seconds - (now - began))
                if usage.cpu_seconds > cpu_last or not usage.asleep:
                    cpu_last, quiet_since = usage.cpu_seconds, now
                if usage.cpu_seconds - cpu_before > seconds:
                    return Waited(end="too_long", progress=progress)
                if now - quiet_since > self._limits.asleep_seconds:
                    return Waited(end="asleep", progress=progress)
            if now - began > seconds * WALL_FACTOR:
                return Waited(end="too_long", progress=progress)
            if now > deadline:
                return Waited(end="deadline", progress=progress)

    def _outcome(self, call: Call, waited: Waited, began: float) -> Outcome | None:
        """Read a reply; None if it isn't an answer to ``call`` that a worker may give."""
        try:
            reply = decode_reply(waited.header, waited.payload)
        except Malformed:
            return None
        if reply.id != call.id or reply.kind not in ("returned", "raised", "out_of_memory"):
            return None
        kind: OutcomeKind = (
            "returned" if reply.kind == "returned" else "raised" if reply.kind == "raised" else "out_of_memory"
        )
        return _from_reply(call, kind, self._placeless(reply), began)

    def _placeless(self, reply: Reply) -> Reply:
        """Take out of a reply's texts where this worker lives, which is another place in each run."""
        failure = reply.failure
        return replace(
            reply,
            stdout=without_places(reply.stdout, self._folder),
            failure=failure and replace(failure, message=without_places(failure.message, self._folder)),
            events=tuple(replace(e, detail=without_places(e.detail, self._folder)) for e in reply.events),
        )

    def _died(self, call: Call, began: float) -> Outcome:
        end = self._worker.close()
        self.alive = False
        kind = "garbled" if end.kind == "killed" else end.kind
        return _ended(call, "crashed", Failure(kind=kind, message=end.detail), began)


def _from_reply(call: Call, kind: OutcomeKind, reply: Reply, began: float) -> Outcome:
    return Outcome(
        call=call.id,
        kind=kind,
        value=reply.value,
        args_after=reply.after,
        draws=reply.draws,
        names=reply.names,
        callables=reply.callables,
        stdout=reply.stdout,
        stdout_cut=reply.cut,
        remarks=reply.remarks,
        failure=reply.failure,
        events=reply.events,
        wall_us=_microseconds(began),
    )


def _ended(call: Call, kind: OutcomeKind, failure: Failure, began: float, keep: Outcome | None = None) -> Outcome:
    return Outcome(
        call=call.id,
        kind=kind,
        failure=failure,
        callables=keep.callables if keep else (),
        stdout=keep.stdout if keep else "",
        wall_us=_microseconds(began),
    )


def _microseconds(began: float) -> int:
    return int((time.monotonic() - began) * 1e6)


def _progress(header: bytes) -> int | None:
    """Return the line that a progress message tells, or None if the message is something else."""
    if len(header) > 300 or b'"progress"' not in header:
        return None
    try:
        head = json.loads(header)
    except ValueError:
        return None
    if type(head) is not dict or head.get("kind") != "progress":
        return None
    at = head.get("at")
    return at if type(at) is int and 0 < at < 1 << 31 else None
