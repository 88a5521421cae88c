"""What a course's checks see: the cases they asked for and what came back, as NumPy objects."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from grader.core.values import is_untouched, to_python, to_value
from grader.model import Array, Call, Draws, DrawsWanted, Failure, Outcome, Param, Params, Task, Transcript
from grader.model._data import distinct, field

__all__ = ["STAND_IN", "Case", "Drawn", "Inputs", "Observed", "Seen"]

STAND_IN = "with "
"""Sessions whose name begins so have the stand-in of the task that follows."""

T = TypeVar("T")
FloatArray = npt.NDArray[np.float64]


@distinct
class Case:
    """One call that a check wants.

    Attributes:
        id: Unique in its task.
        args: Positional arguments: numbers, strings, arrays, lists and tuples of them.
        kwargs: Keyword arguments; a call gives them in the order of the signature.
        seed: For the global generator in the worker; see ``Inputs.number``.
        watch: Also report the arguments as they are after the call.
        readonly: Hand the arrays over as read-only ones.
        draws: What the check wants to know of the random numbers drawn; ``"replay"`` if all of them, however many.
        hidden: The case belongs to a hidden criterion.
        stage: Round of adaptive sampling.
    """

    id: str
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    seed: int = 0
    watch: bool = False
    readonly: bool = False
    draws: DrawsWanted = "values"
    hidden: bool = False
    stage: int = 1


class Once:
    """Keeps what was worked out about it: checks look at the same thing several times."""

    def __init__(self) -> None:
        self._kept: dict[str, object] = {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what ``make`` gives, called once for each ``name``."""
        if name not in self._kept:
            self._kept[name] = make()
        return cast("T", self._kept[name])


class Inputs(Once):
    """Random inputs of one task, a function of the submission's seed alone."""

    def __init__(self, seed: int, task: str, *, secret: str = "") -> None:
        super().__init__()
        self._seed, self._task, self._secret = seed, task, secret
        self._prefix = f"/{seed}/{task}/"

    @property
    def hidden(self) -> Inputs:
        """Inputs for hidden criteria: another stream, which the printed seed doesn't tell."""
        made = Inputs(self._seed, self._task)
        made._prefix = f"hidden {self._secret}{self._prefix}"
        return made

    def number(self, name: str) -> int:
        """Return the seed of the case ``name``: small, so that it can be printed and typed again."""
        digest = hashlib.sha256((self._prefix + name).encode()).digest()
        return int.from_bytes(digest[:8], "big") % 1_000_000

    def rng(self, name: str) -> np.random.Generator:
        """Return the generator of the case ``name``: ``np.random.default_rng(number(name))``."""
        return np.random.default_rng(self.number(name))


@distinct
class Drawn:
    """Equal draws in a row: ``values`` has shape ``(count, *shape)``."""

    source: int
    method: str
    args: tuple[float, ...]
    shape: tuple[int, ...]
    values: FloatArray

    @property
    def standard_normal(self) -> bool:
        """Whether these are draws from N(0, 1), by whatever method."""
        if self.method in ("randn", "standard_normal"):
            return True
        return self.method == "normal" and self.args == (0.0, 1.0)


class Seen(Once):
    """One case and its outcome."""

    def __init__(self, call: Call, outcome: Outcome) -> None:
        super().__init__()
        self.call = call
        self.outcome = outcome

    @property
    def id(self) -> str:
        """The call's id in the transcript."""
        return self.call.id

    @property
    def returned(self) -> bool:
        """Whether the function gave an answer at all."""
        return self.outcome.kind == "returned"

    @property
    def untouched(self) -> bool:
        """Whether the function is still as handed out."""
        failure = self.outcome.failure
        if self.outcome.kind == "raised" and failure is not None:
            return failure.kind == "NotImplementedError"
        return self.returned and is_untouched(self.outcome.value)

    @cached_property
    def value(self) -> object:
        """What was returned (see ``grader.core.values.to_python``)."""
        return to_python(self.outcome.value)

    @cached_property
    def args(self) -> tuple[object, ...]:
        """What was passed."""
        return tuple(to_python(arg) for arg in self.call.args)

    @cached_property
    def kwargs(self) -> dict[str, object]:
        """What was passed by keyword."""
        return {name: to_python(value) for name, value in self.call.kwargs}

    @cached_property
    def args_after(self) -> tuple[object, ...] | None:
        """The positional arguments after the call, if it was watched."""
        after = self.outcome.args_after
        return None if after is None else tuple(to_python(arg) for arg in after)

    @cached_property
    def drawn(self) -> tuple[Drawn, ...] | None:
        """All random numbers of the call, in order; None if they aren't known."""
        return None if self.outcome.draws is None else unfold(self.outcome.draws)

    def problem(self) -> tuple[str, Params] | None:
        """Say why there is no answer: a text of the engine and its parameters; None if there is one."""
        kind, failure = self.outcome.kind, self.outcome.failure or Failure()
        if kind == "returned":
            return None
        params: list[tuple[str, Param]] = [
            ("function", self.call.name), ("kind", failure.kind), ("message", failure.message)
        ]  # fmt: skip
        if kind == "raised":
            if failure.kind == "RecursionError":
                return "engine.call.endless", tuple(params)
            text = "raised" if failure.message else "raised_silent"
            if failure.line is not None:
                params += [("line", failure.line), ("cell", failure.cell or 0)]
                text += "_in_cell" if failure.cell else "_at_line"
        elif kind == "timed_out":
            text = failure.kind if failure.kind in ("asleep", "deadline") else "timed_out"
            params.append(("seconds", failure.message))
        elif kind == "crashed":
            text = {"exit": "exited", "garbled": "garbled", "scratch": "scratch"}.get(failure.kind, "crashed")
        elif kind == "not_run":
            text = "gave_up" if failure.kind == "gave_up" else "not_run"
        else:
            text = kind
        return f"engine.call.{text}", tuple(params)


class Observed:
    """The outcomes of one task, by the ids of its cases."""

    def __init__(self, task: Task, transcript: Transcript, *, via: str = "", before: Observed | None = None) -> None:
        """See the calls of ``task``; ``via`` those where a stand-in replaced the function of that task.

        What was seen ``before`` of the same outcomes is taken over.
        """
        prefix = case_prefix(task, via)
        calls = {call.id: call for call in transcript.calls}
        self._seen: dict[str, Seen] = {}
        for outcome in transcript.outcomes:
            if outcome.call.startswith(prefix) and outcome.call in calls:
                name = outcome.call.removeprefix(prefix)
                old = before[name] if before is not None and name in before else None
                same = old is not None and old.outcome is outcome
                self._seen[name] = old if old is not None and same else Seen(calls[outcome.call], outcome)

    def __getitem__(self, case: str) -> Seen:
        return self._seen[case]

    def __contains__(self, case: str) -> bool:
        return case in self._seen

    def __iter__(self) -> Iterator[Seen]:
        return iter(self._seen.values())

    def __len__(self) -> int:
        return len(self._seen)

    def all_of(self, *prefixes: str) -> list[Seen]:
        """Return what was seen of the cases whose id is, or begins with, one of ``prefixes``."""
        return [seen for name, seen in self._seen.items() if name.startswith(prefixes)]

    @property
    def untouched(self) -> bool:
        """Whether something was called and all of it is still as handed out."""
        return bool(self._seen) and all(seen.untouched for seen in self._seen.values())


def unfold(draws: Draws) -> tuple[Drawn, ...] | None:
    """Give the recorded numbers back in the shapes of their draws; None if they weren't kept or don't fit."""
    if not draws.complete or not isinstance(draws.values, Array):
        return None
    numbers = to_python(draws.values)
    if not isinstance(numbers, np.ndarray) or numbers.dtype != np.float64 or numbers.ndim != 1:
        return None
    result, at = [], 0
    for step in draws.steps:
        shape = (step.count, *step.shape)
        size = 1
        for length in shape:
            size *= length
        if min(shape) < 0 or at + size > numbers.size:
            return None
        try:
            values = numbers[at : at + size].reshape(shape)
        except ValueError:
            # No array has so many axes, or such long ones beside an empty one: nobody drew that.
            return None
        result.append(Drawn(source=step.source, method=step.method, args=step.args, shape=step.shape, values=values))
        at += size
    return tuple(result) if at == numbers.size else None


def case_prefix(task: Task, via: str = "") -> str:
    """Return what the ids of a task's calls begin with."""
    return f"{task.id}@{via}/" if via else f"{task.id}/"


def _in_order(names: Iterable[str], signature: str) -> list[str]:
    """Sort keywords by their place in the signature, so that they could be given by place as well."""
    places = {name: at for at, name in reversed(list(enumerate(re.findall(r"\w+", signature))))}
    return sorted(names, key=lambda name: (places.get(name, len(places)), name))


def case_call(case: Case, task: Task, function: str, *, via: str = "") -> Call:
    """Turn a check's case into a call of ``function``; with ``via``, in a session with that task's stand-in."""
    return Call(
        id=case_prefix(task, via) + case.id,
        session=f"{STAND_IN}{via}" if via else "hidden" if case.hidden else "main",
        kind="function",
        name=function,
        args=tuple(to_value(arg) for arg in case.args),
        kwargs=tuple((name, to_value(case.kwargs[name])) for name in _in_order(case.kwargs, task.signature)),
        seed=case.seed,
        watch=case.watch,
        readonly=case.readonly,
        draws=case.draws,
        hidden=case.hidden,
        stage=case.stage,
    )
