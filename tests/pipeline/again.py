"""Runs the lines of "run this case yourself" as a learner would: in a process of their own, beside the file."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grader.core.values import to_python, to_value
from grader.intake import decode, submission_from_bytes
from grader.model import Call, CriterionResult, Finding, Outcome, Result, Status, Transcript

__all__ = ["Again", "disagreement", "failing", "rerun"]

RUNNER = """
import contextlib, copy, io, os, pickle, sys
stem, cases = pickle.load(sys.stdin.buffer)
out = os.fdopen(os.dup(1), "wb")
sys.path.insert(0, os.getcwd())
import numpy
for function, snippet in cases:
    reading, writing = os.pipe()
    if os.fork() == 0:
        told = {"args": None, "kwargs": None, "value": None, "raised": None, "printed": ""}
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            # Whatever the file does when it is read is its own affair.
            with contextlib.suppress(BaseException):
                module = __import__(stem)
                printed.truncate(0); printed.seek(0)
                real = getattr(module, function)
                def recorded(*args, **kwargs):
                    told.update(args=copy.deepcopy(args), kwargs=kwargs, value=None, raised=None)
                    try:
                        told["value"] = real(*args, **kwargs)
                    except BaseException as error:
                        told["raised"] = (type(error).__name__, str(error))
                        raise
                    return told["value"]
                setattr(module, function, recorded)
                try:
                    exec(snippet, {"__name__": "__main__", function: recorded})
                except BaseException as error:
                    told["stopped"] = f"{type(error).__name__}: {error}"
        told["printed"] = printed.getvalue()
        with os.fdopen(writing, "wb") as pipe:
            try:
                pipe.write(pickle.dumps(told))
            except Exception:
                pipe.write(pickle.dumps({**told, "value": repr(told["value"])}))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    os.wait()
    out.write(len(content).to_bytes(8, "big") + content)
    out.flush()
"""


class Again(NamedTuple):
    """What the lines of a finding did: the last call of the learner's function, and what was printed."""

    args: tuple[Any, ...] | None
    kwargs: dict[str, Any] | None
    value: Any
    raised: tuple[str, str] | None
    printed: str
    stopped: str = ""


def failing(result: Result) -> Iterator[tuple[str, CriterionResult]]:
    """Yield function and criterion of all that isn't right and was judged by calling the function."""
    for task in result.tasks:
        for criterion in task.criteria:
            if criterion.status in (Status.FAILED, Status.PARTIAL):
                yield task.function, criterion


def rerun(source: Path, folder: Path, cases: Sequence[tuple[str, str]]) -> list[Again]:
    """Run lines for functions, each in a process that is copied from one with nothing but NumPy in it."""
    place = folder / source.name.removesuffix(".txt")
    content = source.read_bytes()
    if place.suffix == ".ipynb":
        # Pasted into a cell below the learner's own, the lines find the function there.
        cells = map(decode, submission_from_bytes(place.name, content).cells)
        content = "\n".join(cell for cell in cells if "grader" not in cell).encode()
        place = place.with_suffix(".py")
    place.write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=pickle.dumps((place.stem, list(cases))),
        cwd=folder,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        check=True,
    )
    found, at = [], 0
    while at < len(done.stdout):
        size = int.from_bytes(done.stdout[at : at + 8], "big")
        found.append(Again(**pickle.loads(done.stdout[at + 8 : at + 8 + size])))
        at += 8 + size
    return found


def disagreement(finding: Finding, transcript: Transcript, again: Again) -> str:
    """Say how the lines did something else than what was judged; nothing if they are the very case."""
    calls = {call.id: call for call in transcript.calls}
    outcomes = {outcome.call: outcome for outcome in transcript.outcomes}
    if not finding.calls:
        return "the finding names no call"
    call, outcome = calls[finding.calls[0]], outcomes[finding.calls[0]]
    if again.args is None:
        return f"the function wasn't called ({again.stopped})"
    return _other_input(call, again) or _other_answer(outcome, again)


def _other_input(call: Call, again: Again) -> str:
    assert again.args is not None
    assert again.kwargs is not None
    args = tuple(to_value(arg) for arg in again.args)
    if args != call.args:
        return f"other arguments: {again.args!r:.80}"
    kwargs = {name: to_value(value) for name, value in again.kwargs.items()}
    return "" if kwargs == dict(call.kwargs) else f"other arguments: {again.kwargs}"


def _other_answer(outcome: Outcome, again: Again) -> str:
    if outcome.kind == "raised":
        assert outcome.failure is not None
        same = again.raised is not None and again.raised[0] == outcome.failure.kind
        return "" if same else f"raised {again.raised}, and {outcome.failure} when it was judged"
    if again.stopped:
        return f"stopped with {again.stopped}"
    if not again.printed.strip():
        return "nothing was printed"
    same = repr(to_python(to_value(again.value))) == repr(to_python(outcome.value))
    return "" if same else f"answered {again.value!r:.200}, and {to_python(outcome.value)!r:.200} when it was judged"
