"""Runs the calls of one submission: sessions begin, end and begin again, and no call costs another."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType

from grader.model import Call, Failure, Limits, Outcome
from grader.model._data import replace
from grader.run.scratch import Scratch
from grader.run.session import Life

__all__ = ["MAX_TRANSCRIPT_BYTES", "Runner", "Scratch"]

MAX_TRANSCRIPT_BYTES = 16 << 20
MAX_STRIKES = 2
"""What hung or ended the process this often isn't called again."""


class Runner:
    """Asks student code, as a context manager.

    Raises:
        IsolationError: If a worker can't be started before any student code has run.
    """

    def __init__(
        self,
        scratch: Scratch,
        limits: Limits,
        inert_modules: tuple[str, ...],
        stand_ins: Mapping[str, Mapping[str, str]] | None = None,
        packages: tuple[str, ...] = ("numpy",),
        tell: Callable[[Call], None] | None = None,
    ) -> None:
        """Take the scratch folder over.

        Args:
            scratch: The folder and perhaps a first worker; both are used up.
            limits: Of the assignment.
            inert_modules: Modules that get an inert stand-in where they aren't installed.
            stand_ins: For each session that has any: source of functions, by the name that they take.
            packages: What may be imported besides the standard library, where a backend can tell.
            tell: Is told, again and again, which call is being waited for. It must be quick, and not raise.
        """
        self._scratch, self._limits, self._inert = scratch, limits, inert_modules
        self._stand_ins = stand_ins or {}
        self._packages = packages
        self._tell = tell
        self._deadline = time.monotonic() + limits.submission_seconds
        self._lives: dict[str, Life] = {}
        self._loads: tuple[Call, ...] = ()
        self._stop_before: dict[str, int] = {}
        self._hung: set[str] = set()
        self._strikes: Counter[str] = Counter()
        self._gone = 0  # bytes from workers that have ended
        self.environment: tuple[tuple[str, str], ...] = ()

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every worker and remove the scratch folder."""
        for life in self._lives.values():
            life.close()
        self._scratch.close()

    def run(self, calls: Iterable[Call]) -> tuple[Outcome, ...]:
        """Run ``calls`` in order and return their outcomes."""
        return tuple(self._capped(self._call(call) if call.kind == "function" else self._load(call)) for call in calls)

    # ------------------------------------------------------------ loading

    def _load(self, call: Call) -> Outcome:
        """Run a cell for the first time; if it ends the process, save what it defined before that."""
        self._loads = (*self._loads, call)
        life = self._life("main", upto=call)
        outcome = life.load(call, self._deadline)[0]
        if life.alive or time.monotonic() > self._deadline:
            if outcome.kind == "timed_out":
                self._hung.add(call.id)
            return outcome
        # It ended the process. Once more, statement by statement, to learn which one it was.
        again, line = self._life("main", upto=call).load(call, self._deadline, stepwise=True)
        if again.kind == "returned" or line is None:
            return replace(outcome, callables=again.callables)
        self._stop_before[call.id] = line
        saved = self._life("main", upto=call).load(call, self._deadline, before=line)[0]
        failure = replace(outcome.failure or Failure(), cell=int(call.name), line=line)
        return replace(outcome, callables=saved.callables, failure=failure)

    def _life(self, session: str, upto: Call | None = None) -> Life:
        """Return the live worker of ``session``; a new one loads all cells, or those before ``upto``."""
        life = self._lives.get(session)
        if life is not None and life.alive:
            return life
        if life is not None:
            life.close()
            self._gone += life.received
        first, self._scratch.first = self._scratch.first, None
        folder = self._scratch.first_folder if first is not None else self._scratch.new_folder()
        life = Life(
            self._scratch.backend,
            folder,
            self._scratch.submission,
            self._limits,
            self._inert,
            packages=self._packages,
            stand_ins=self._stand_ins.get(session, {}),
            worker=first,
            tell=self._tell,
        )
        self.environment = self.environment or life.environment
        self._lives[session] = life
        for call in self._loads:
            if (upto is not None and call.id == upto.id) or not life.alive:
                break
            # What hung hangs once more at most: by then it is known which statement that is.
            again, line = life.load(
                call, self._deadline, before=self._stop_before.get(call.id), stepwise=call.id in self._hung
            )
            if again.kind == "timed_out" and line is not None:
                self._stop_before[call.id] = line
        return life

    # ------------------------------------------------------------ calling

    def _call(self, call: Call) -> Outcome:
        if self._strikes[call.name] >= MAX_STRIKES:
            return Outcome(call=call.id, kind="not_run", failure=Failure(kind="gave_up"))
        if time.monotonic() > self._deadline:
            return Outcome(call=call.id, kind="not_run", failure=Failure(kind="deadline"))
        life = self._life(call.session)
        if not life.alive:
            return Outcome(call=call.id, kind="not_run", failure=Failure(kind="gave_up"))
        outcome = life.call(call, self._deadline)
        if outcome.kind == "crashed" and life.calls > 1:
            outcome, life = self._without_what_came_before(call, outcome, life)
        if not life.alive:
            self._strikes[call.name] += 1
        return outcome

    def _without_what_came_before(self, call: Call, crashed: Outcome, life: Life) -> tuple[Outcome, Life]:
        """Ask once more in a new process: perhaps it was what an earlier call left behind.

        Luck must not help who crashes at random: two new processes have to give the same answer.
        """
        answers: list[Outcome] = []
        for _ in range(2):
            life.close()
            life = self._life(call.session)
            if not life.alive:
                return crashed, life
            answers.append(life.call(call, self._deadline))
            if answers[-1].kind == "crashed":
                return answers[-1], life
        first, second = answers
        same = (first.kind, first.value, first.failure) == (second.kind, second.value, second.failure)
        return (second if same else crashed), life

    def _capped(self, outcome: Outcome) -> Outcome:
        if self._gone + sum(life.received for life in self._lives.values()) <= MAX_TRANSCRIPT_BYTES:
            return outcome
        return Outcome(call=outcome.call, kind="too_large", failure=Failure(kind="transcript"))
