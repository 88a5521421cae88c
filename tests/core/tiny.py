"""A course of two tasks, made by hand, and a runner that calls plain functions."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.core.assignment import Assignment
from grader.core.catalogue import Catalogue
from grader.core.observed import Case, Inputs, Observed
from grader.core.plan import plan
from grader.core.values import to_python, to_value
from grader.model import (
    Call,
    Criterion,
    Failure,
    Finding,
    Limits,
    Note,
    Outcome,
    Status,
    Task,
    Transcript,
)

__all__ = [
    "DOUBLE",
    "ENGINE_TEXTS",
    "RIGHT",
    "TASKS",
    "TRIPLE",
    "Double",
    "Triple",
    "answers",
    "course",
    "loaded",
    "rehearse",
    "transcript_of",
]

ROOT = Path(__file__).parents[2]


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in table.items():
        flat.update(_flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value})
    return flat


ENGINE_TEXTS = Catalogue(_flat(tomllib.loads((ROOT / "reports" / "texts.en.toml").read_text(encoding="utf-8"))))

DOUBLE = Task(
    id="double",
    function="double",
    signature="double(x)",
    criteria=(
        Criterion(id="value", points=6, core=True),
        Criterion(id="zero", points=2, requires="value"),
        Criterion(id="secret", points=2, hidden=True),
    ),
)
TRIPLE = Task(
    id="triple",
    function="triple",
    signature="triple(x)",
    criteria=(Criterion(id="value", points=5, core=True),),
    uses=("double",),
)
TASKS = (DOUBLE, TRIPLE)


class Double:
    """Asks for ``double`` of numbers: first two, then one more if both are right, and a hidden one."""

    def plan(self, inputs: Inputs, seen: Observed) -> Iterable[Case]:
        """Two rounds, and a hidden case."""
        yield Case(id="usual", args=(inputs.number("usual"),), seed=1)
        yield Case(id="zero", args=(0,), seed=2)
        yield Case(id="hidden", args=(inputs.number("hidden"),), hidden=True)
        if len(seen) and seen["usual"].value == 2 * inputs.number("usual"):
            yield Case(id="more", args=(3,), stage=2)

    def judge(self, inputs: Inputs, seen: Observed) -> Iterable[Finding]:
        """Compare each case with twice its argument."""
        for criterion, case in (("value", "usual"), ("zero", "zero"), ("secret", "hidden")):
            yield found(f"double/{criterion}", case in seen and right(seen, case, 2), f"double.{criterion}.wrong")


class Triple:
    """Asks for ``triple`` once."""

    def plan(self, inputs: Inputs, seen: Observed) -> Iterable[Case]:
        """One case."""
        yield Case(id="usual", args=(5,))

    def judge(self, inputs: Inputs, seen: Observed) -> Iterable[Finding]:
        """Compare with three times the argument."""
        yield found("triple/value", "usual" in seen and right(seen, "usual", 3), "triple.wrong")


def right(seen: Observed, case: str, factor: int) -> bool:
    one = seen[case]
    (x,) = one.args
    assert isinstance(x, int)
    return one.returned and one.value == factor * x


def found(criterion: str, passed: bool, text: str) -> Finding:
    if passed:
        return Finding(criterion=criterion, status=Status.PASSED)
    return Finding(criterion=criterion, status=Status.FAILED, text=text, snippet="print(1)", notes=(Note(text="n"),))


def course(**changes: Any) -> Assignment:
    """Return the course; ``changes`` are fields of Assignment."""
    made = Assignment(
        id="tiny",
        version="1",
        language="en",
        digest="d" * 64,
        tasks=TASKS,
        limits=Limits(),
        packages=("numpy",),
        inert_modules=(),
        texts={},
        checks={"double": Double(), "triple": Triple()},
        stand_ins={"double": "def double(x): return 2 * x\n"},
    )
    return replace(made, **changes)


def transcript_of(**fields: Any) -> Transcript:
    """Return a transcript of a script of one line, with these fields."""
    usual: dict[str, Any] = {
        "schema": "grade.transcript/1",
        "assignment": "tiny",
        "version": "1",
        "digest": "d" * 64,
        "name": "work.py",
        "kind": "script",
        "sha256": "0" * 64,
        "seed": 7,
        "source": ("x = 1",),
        "cell_numbers": (0,),
    }
    return Transcript(**{**usual, **fields})


def loaded(*names: str, **fields: Any) -> Transcript:
    """Return the transcript of a script that has loaded and left these callables."""
    call = Call(id="load/0", session="main", kind="load", name="0")
    outcome = Outcome(call="load/0", kind="returned", callables=names)
    return transcript_of(calls=(call,), outcomes=(outcome,), **fields)


def answers(call: Call, functions: Mapping[str, Callable[..., Any]]) -> Outcome:
    """Call a plain function as a worker would; with a stand-in session, one that is handed in as ``with <task>``."""
    if call.kind != "function":
        return Outcome(call=call.id, kind="returned", callables=tuple(sorted(n for n in functions if " " not in n)))
    function = functions.get(f"{call.name} {call.session}", functions[call.name])
    try:
        answer = function(*map(to_python, call.args), **{name: to_python(value) for name, value in call.kwargs})
    except Exception as error:  # noqa: BLE001 - a function of a test may raise anything
        failure = Failure(kind=type(error).__name__, message=str(error), cell=0, line=1)
        return Outcome(call=call.id, kind="raised", failure=failure)
    return Outcome(call=call.id, kind="returned", value=to_value(answer))


def rehearse(
    assignment: Assignment, functions: Mapping[str, Callable[..., Any]], **fields: Any
) -> tuple[Transcript, list[tuple[Call, ...]]]:
    """Ask plain functions until the plan is empty; return the transcript and the calls, round by round."""
    transcript, rounds = transcript_of(**fields), []
    while calls := plan(assignment, transcript):
        rounds.append(calls)
        outcomes = tuple(answers(call, functions) for call in calls)
        transcript = replace(transcript, calls=(*transcript.calls, *calls), outcomes=(*transcript.outcomes, *outcomes))
        assert len(rounds) < 10
    return transcript, rounds


RIGHT: dict[str, Callable[..., Any]] = {"double": lambda x: 2 * x, "triple": lambda x: 3 * x}
