"""Runs plain Python functions through plan and judge, in this process: for trusted code only.

A course's own solution, its misconceptions and variants of them are judged in bulk this way: the same values, encoder
and decoder as for a submission, without a process for each. Never hand it code of a learner.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from grader.core.assignment import Assignment
from grader.core.memory import Memory
from grader.core.plan import plan
from grader.core.values import to_python
from grader.model import Array, Call, Failure, Outcome, Transcript, Value
from grader.model._data import replace
from grader.run.inside import tape, wire
from grader.run.inside.worker import draws_reply
from grader.run.wire import decode_reply

__all__ = ["install_tape", "rehearse"]

MAX_ROUNDS = 12
_state = {"installed": False}


def install_tape() -> None:
    """Let NumPy's random functions of this process be recorded during rehearsed calls; once."""
    if not _state["installed"]:
        tape.install()
        _state["installed"] = True


def rehearse(
    assignment: Assignment,
    functions: Mapping[str, Callable[..., Any]],
    seed: int,
    *,
    name: str = "rehearsal.py",
    memory: Memory | None = None,
) -> Transcript:
    """Return the transcript of a submission that consists of ``functions``; ``memory`` helps to judge it."""
    memory = Memory() if memory is None else memory
    install_tape()
    transcript = Transcript(
        schema="grade.transcript/1",
        assignment=assignment.id,
        version=assignment.version,
        digest=assignment.digest,
        name=name,
        kind="script",
        sha256="0" * 64,
        seed=seed,
        source=("",),
        cell_numbers=(0,),
    )
    for _ in range(MAX_ROUNDS):
        calls = plan(assignment, transcript, memory)
        if not calls:
            break
        outcomes = tuple(_outcome(call, functions) for call in calls)
        transcript = replace(transcript, calls=(*transcript.calls, *calls), outcomes=(*transcript.outcomes, *outcomes))
    return transcript


def _outcome(call: Call, functions: Mapping[str, Callable[..., Any]]) -> Outcome:
    if call.kind != "function":
        return Outcome(call=call.id, kind="returned", callables=tuple(sorted(functions)))
    encoder = wire.Encoder()
    args = [_writable(value, readonly=call.readonly) for value in call.args]
    kwargs = {name: _writable(value, readonly=call.readonly) for name, value in call.kwargs}
    reply: dict[str, Any] = {"id": call.id, "kind": "returned"}
    tape.seed_everything(call.seed)
    # Draws stay whole here, however many: nothing has to be replayed.
    tape.TAPE.start(call.seed, wanted=call.draws, limit=None if call.draws == "replay" else tape.MAX_VALUE_BYTES)
    try:
        with np.errstate(all="ignore"):
            answer = functions[call.name](*args, **kwargs)
        reply["value"] = encoder.encode(answer)
        tape.TAPE.stop()
    except Exception as error:  # noqa: BLE001 - a wrong variant may raise anything
        tape.TAPE.stop()
        failure = Failure(kind=type(error).__name__, message=wire.text(str(error), 500))
        return Outcome(call=call.id, kind="raised", failure=failure)
    if call.watch:
        reply["after"] = [encoder.encode(item) for item in args]
    record = draws_reply(encoder, values=False) if call.draws != "none" else None
    reply["draws"], reply["arrays"] = record, encoder.arrays
    decoded = decode_reply(json.dumps(reply).encode(), b"".join(encoder.buffers))
    draws = decoded.draws
    if draws is not None and draws.steps and tape.TAPE.values is not None:
        raw = bytes(tape.TAPE.values)
        draws = replace(draws, values=Array(dtype="<f8", shape=(len(raw) // 8,), data=raw))
    return Outcome(
        call=call.id, kind="returned", value=decoded.value, args_after=decoded.after, draws=draws, failure=None
    )


def _writable(value: Value, *, readonly: bool) -> Any:
    item = to_python(value)
    if isinstance(item, np.ndarray):
        item = item.copy()
        item.flags.writeable = not readonly
    return item
