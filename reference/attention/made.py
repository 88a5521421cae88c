"""Inputs that a learner can make again, and the findings that both exact tasks share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grader.api import DOUBLE, SINGLE, Finding, Inputs, Note, Seen, Status, Verdict, replace

__all__ = [
    "Made",
    "call_snippet",
    "changed",
    "distinct",
    "expectation",
    "literal",
    "named",
    "normal",
    "qkv",
    "single",
    "trouble",
    "unit",
    "wrong",
]

Array = npt.NDArray[np.generic]


class Made(NamedTuple):
    """Arguments, and the Python line that makes the very same ones."""

    code: str
    arrays: tuple[Array, ...]


def normal(inputs: Inputs, name: str, shape: tuple[int, ...], scale: float = 1, offset: float = 0) -> Made:
    """Make ``x`` of normal numbers."""
    seed = inputs.number(name)
    array = np.random.default_rng(seed).standard_normal(shape)
    code = f"x = np.random.default_rng({seed}).standard_normal({shape})"
    if scale != 1:
        array, code = array * scale, f"{code} * {scale}"
    if offset:
        array, code = array + offset, f"{code} + {offset}"
    return Made(code, (array,))


def literal(rows: object, dtype: str = "float") -> Made:
    """Make ``x`` as it is written."""
    return Made(f"x = np.array({rows}, dtype={dtype})", (np.array(rows, dtype=dtype),))


def qkv(inputs: Inputs, name: str, shape: tuple[int, int, int], scale: float = 1) -> Made:
    """Make Q, K and V of one shape (B, T, d_k)."""
    seed = inputs.number(name)
    stack = np.random.default_rng(seed).standard_normal((3, *shape))
    code = f"Q, K, V = np.random.default_rng({seed}).standard_normal({(3, *shape)})"
    if scale != 1:
        stack, code = stack * scale, f"{code} * {scale}"
    return Made(code, tuple(stack))


def single(made: Made) -> Made:
    """Make the same in float32."""
    return Made(f"{made.code}.astype(np.float32)", tuple(array.astype(np.float32) for array in made.arrays))


def trouble(criterion: str, seen: Seen, snippet: str, share: tuple[int, int] = (0, 1)) -> Finding | None:
    """Return the finding for a call that gave no answer."""
    problem = seen.problem()
    if problem is None:
        return None
    return Finding(
        criterion=criterion,
        status=Status.FAILED,
        share=share,
        text=problem[0],
        params=problem[1],
        calls=(seen.id,),
        snippet=snippet,
    )


def wrong(criterion: str, seen: Seen, verdict: Verdict, snippet: str = "", text: str = "") -> Finding:
    """Return the finding for a complaint; ``text`` replaces the engine's words where only values are wrong."""
    return Finding(
        criterion=criterion,
        status=Status.FAILED,
        text=text if text and verdict.values_wrong else verdict.text,
        params=verdict.params,
        calls=(seen.id,),
        evidence=() if verdict.comparison is None else (verdict.comparison,),
        snippet=snippet + expectation(verdict),
        notes=verdict.notes,
    )


def expectation(verdict: Verdict) -> str:
    """Return a line that prints the entry which the message names, and says what it should be."""
    if not verdict.values_wrong:
        return ""
    params = dict(verdict.params)
    return f"\nprint({params['at']})  # expected: {params['expected']}"


def named(findings: list[Finding], misconception: str) -> list[Finding]:
    """Let the first finding that isn't right, core criteria first as they stand, say the misconception."""
    if not misconception:
        return findings
    at = next(i for i, finding in enumerate(findings) if finding.status in (Status.FAILED, Status.PARTIAL))
    said = replace(findings[at], text=f"misconception.{misconception}.text", misconceptions=(misconception,))
    return [*findings[:at], said, *findings[at + 1 :]]


def call_snippet(function: str, seen: Seen) -> str:
    """Return the line that makes a call again whose arguments were all given by name."""
    arguments = ", ".join(f"{name}={value}" for name, value in seen.kwargs.items())
    return f"print({function}({arguments}))"


def distinct(notes: Iterable[Note]) -> tuple[Note, ...]:
    """One note of each kind is enough."""
    return tuple({note.text: note for note in notes}.values())


def changed(now: object, before: object) -> bool:
    """Whether an array differs after the call, bit by bit; what isn't an array any more doesn't count."""
    if not isinstance(now, np.ndarray) or not isinstance(before, np.ndarray):
        return False
    return now.dtype != before.dtype or now.shape != before.shape or now.tobytes() != before.tobytes()


def unit(made: Made) -> float:
    """Return the rounding unit of the inputs."""
    return SINGLE if made.arrays[0].dtype == np.float32 else DOUBLE
