"""Misconceptions: wrong references, and which of them explains what a learner's function gave.

One is named only if it explains all the values and no other of its target does. It is asked only after a check has
failed: what is right is never diagnosed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from grader.core.observed import Seen
from grader.model._data import data

__all__ = ["Book", "Misconception", "Observation", "agrees"]

RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""How near a wrong reference has to come. The nearest two of a course lie orders of magnitude further apart."""

RELATIVE_SINGLE, ABSOLUTE_SINGLE = 2e-4, 2e-6
"""The same where anything is in single precision; the absolute part is relative to the largest predicted value."""

MAX_MESSAGE = 200
"""Characters of an exception's text that are compared."""


@data
class Misconception:
    """A wrong reference.

    Attributes:
        id: Stable; texts are ``misconception.<id>.title``, ``.text``, ``.next``, ``.hint1`` to ``.hint3``.
        target: ``"<task>/<criterion>"`` whose values it explains.
        catalogue: Names in a published list of mistakes; several where numbers can't tell them apart.
        belief: What a learner who makes it may think: the function's docstring.
        predict: Gives what such a learner's function would give; an exception counts as an answer too.
        many: ``predict`` yields several candidates, any of which may be the answer.
        fresh: ``predict()`` returns a new function for each submission, one that remembers its calls.
    """

    id: str
    target: str
    catalogue: str
    belief: str
    predict: Callable[..., Any]
    many: bool = False
    fresh: bool = False

    @property
    def task(self) -> str:
        """The task that it loses points in."""
        return self.target.partition("/")[0]


@data
class Observation:
    """What came back for some arguments: a value, or the name of an exception and its text."""

    args: tuple[object, ...]
    kwargs: tuple[tuple[str, object], ...] = ()
    value: object = None
    raised: str = ""
    message: str = ""

    @classmethod
    def of(cls, seen: Seen, args: Sequence[object], **kwargs: object) -> Observation:
        """Make one of a call's outcome."""
        failure = seen.outcome.failure
        raised = "" if seen.returned else (failure.kind if seen.outcome.kind == "raised" and failure else "?")
        value = seen.value if seen.returned else None
        message = failure.message if failure else ""
        return cls(args=tuple(args), kwargs=tuple(sorted(kwargs.items())), value=value, raised=raised, message=message)


class Book:
    """All misconceptions of an assignment."""

    def __init__(self) -> None:
        self._entries: dict[str, Misconception] = {}

    def add(
        self, name: str, target: str, *, catalogue: str, many: bool = False, fresh: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that enters a wrong reference under ``name``; its docstring is the belief.

        Raises:
            ValueError: If the name is taken or the belief is missing.
        """

        def enter(predict: Callable[..., Any]) -> Callable[..., Any]:
            belief = (predict.__doc__ or "").strip()
            if name in self._entries or not belief:
                raise ValueError(
                    f"misconception {name!r}: " + ("its belief is missing" if not belief else "is there twice")
                )
            self._entries[name] = Misconception(
                id=name, target=target, catalogue=catalogue, belief=belief, predict=predict, many=many, fresh=fresh
            )
            return predict

        return enter

    def __iter__(self) -> Iterator[Misconception]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, name: str) -> Misconception:
        return self._entries[name]

    def explain(self, target: str, observations: Sequence[Observation]) -> str:
        """Return the id of the one misconception of ``target`` that explains all ``observations``, or ``""``.

        ``target`` is a criterion (``"<task>/<criterion>"``) or a whole task.
        """
        entries = [entry for entry in self if target in (entry.target, entry.task)]
        found = [entry.id for entry in entries if explains(entry, observations)]
        return found[0] if len(found) == 1 and observations else ""


def explains(entry: Misconception, observations: Sequence[Observation]) -> bool:
    """Whether ``entry`` gives what was observed, every time.

    Where nothing but exceptions came back, their texts have to agree too: very different slips raise a ValueError.
    """
    predict = entry.predict() if entry.fresh else entry.predict
    texts = all(observation.raised for observation in observations)
    with np.errstate(all="ignore"):
        return all(_matches(predict, entry.many, observation, texts=texts) for observation in observations)


def _matches(predict: Callable[..., Any], many: bool, observation: Observation, *, texts: bool) -> bool:
    try:
        answer = predict(*observation.args, **dict(observation.kwargs))
        candidates = list(answer) if many else [answer]
    except Exception as error:  # noqa: BLE001 - a wrong reference may raise what the mistake raises
        same = not texts or observation.message[:MAX_MESSAGE] == str(error)[:MAX_MESSAGE]
        return same and observation.raised == type(error).__name__
    if observation.raised:
        return False
    single = any(isinstance(arg, np.ndarray) and arg.dtype == np.float32 for arg in observation.args)
    return any(agrees(observation.value, candidate, single=single) for candidate in candidates)


def agrees(got: object, predicted: object, *, single: bool = False) -> bool:
    """Whether two answers are the same but for rounding: same structure, same shapes, nan where nan is.

    ``single`` says that the arguments were in single precision; an answer or a prediction in it counts alike.
    """
    if isinstance(predicted, (tuple, list)):
        parts = list(got) if isinstance(got, (tuple, list)) or (isinstance(got, np.ndarray) and got.ndim) else None
        return (
            parts is not None
            and len(parts) == len(predicted)
            and all(agrees(part, other, single=single) for part, other in zip(parts, predicted, strict=True))
        )
    if predicted is None or isinstance(predicted, (bool, str)):
        return type(got) is type(predicted) and got == predicted
    if type(got) is float and isinstance(predicted, float) and not single:
        # The commonest case, and by the thousand: without arrays.
        return _near(got, predicted, RELATIVE, ABSOLUTE)
    if isinstance(got, (list, tuple)):
        try:
            got = np.array(got)
        except ValueError:
            return False
    if not isinstance(got, (int, float, np.ndarray, np.generic)):
        return False
    mine, other = np.asarray(got), np.asarray(predicted)
    if mine.shape != other.shape or not {mine.dtype.kind, other.dtype.kind} <= set("biuf"):
        return False
    relative, absolute = RELATIVE, ABSOLUTE
    if single or any(array.dtype.kind == "f" and array.dtype.itemsize <= 4 for array in (mine, other)):
        sizes = np.abs(other[np.isfinite(other)])
        relative, absolute = RELATIVE_SINGLE, ABSOLUTE_SINGLE * float(sizes.max(initial=0.0)) + ABSOLUTE
    if mine.size and not _near(float(mine.flat[0]), float(other.flat[0]), relative, absolute):
        return False  # as most candidates are, and it takes a tenth of the time
    # As np.allclose with equal_nan, which costs three times as much.
    mine, other = mine.astype(np.float64), other.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(mine - other) <= absolute + relative * np.abs(other)
    same = (mine == other) | (np.isnan(mine) & np.isnan(other))
    return bool(np.all(np.where(np.isfinite(other), near, same)))


def _near(got: float, predicted: float, relative: float, absolute: float) -> bool:
    if not math.isfinite(predicted):
        # Of an infinite size, every number would be near.
        return got == predicted or (math.isnan(got) and math.isnan(predicted))
    return bool(abs(got - predicted) <= absolute + relative * abs(predicted))
