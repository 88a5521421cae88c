"""Recorded draws that were too many to send are drawn again, each in a disposable process, and checked by their digest.

A record is a claim. NumPy doesn't check a generator's state, and a forged one may read out of bounds or never end, so
each field is checked here first; whatever doesn't fit, or doesn't give the digest, counts as not recorded.
"""

from __future__ import annotations

import atexit
import hashlib
import math
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from grader.core.values import to_python
from grader.errors import IsolationError
from grader.model import Array, Call, Draws, Outcome, Seq, Source, Step, Value
from grader.model._data import replace
from grader.run.backend import Launch
from grader.run.process import ProcessWorker
from grader.run.wire import encode_request

__all__ = ["MAX_NUMBERS", "close", "replay_draws", "resolve", "sound_state"]

MAX_NUMBERS = 4_000_000
REPLAY_SECONDS = 20.0
MEMORY = 1 << 30
CPU_SECONDS = 10
MAX_PAYLOAD = MAX_NUMBERS * 8

_METHODS = {
    "RandomState": frozenset(["randn", "standard_normal", "normal", "rand", "random", "random_sample", "uniform"]),
    "Generator": frozenset(["standard_normal", "normal", "random", "uniform"]),
}
_WORD32, _WORD64, _WORD128 = 1 << 32, 1 << 64, 1 << 128


def resolve(calls: Iterable[Call], outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Fill in the numbers of the draws that their calls wanted replayed and that weren't sent."""
    wanted = {call.id for call in calls if call.draws == "replay"}
    return tuple(
        replace(outcome, draws=replay_draws(outcome.draws))
        if outcome.call in wanted and outcome.draws is not None and outcome.draws.values is None
        else outcome
        for outcome in outcomes
    )


def replay_draws(draws: Draws) -> Draws:
    """Return ``draws`` with its numbers, or as not recorded when they can't be had."""
    unknown = replace(draws, values=None, complete=False)
    total = sum(step.count * math.prod(step.shape) for step in draws.steps)
    sound = draws.complete and all(map(sound_state, draws.sources)) and total <= MAX_NUMBERS
    # Steps of no numbers still cost time: count them as one each.
    if not sound or sum(step.count for step in draws.steps) > MAX_NUMBERS:
        return unknown
    if not all(_sound_step(step, draws.sources) for step in draws.steps):
        return unknown
    raw = _run(draws)
    if raw is None or len(raw) != 8 * total or not _digests_agree(draws, raw):
        return unknown
    return replace(draws, values=Array(dtype="<f8", shape=(total,), data=raw))


def sound_state(source: Source) -> bool:
    """Whether a generator's state is one that NumPy can be given without harm."""
    state = _fields(source.state)
    if state is None or state.get("bit_generator") != source.bit_generator or not source.sha256:
        return False
    inner = _fields(state.get("state"))
    if inner is None:
        return False
    common = {"bit_generator", "state"}
    if source.bit_generator == "MT19937":
        key, pos = to_python(inner.get("key")), inner.get("pos")
        sound = (
            inner.keys() == {"key", "pos"}
            and _words(key, np.dtype("<u4"), 624)
            # All zero but the top bit of the first word: a fixed point that only gives zeros.
            and bool(np.any(key[1:]) or key[0] & 0x80000000)  # type: ignore[index]  # by the line above
            and _between(pos, 0, 624)
        )
        if source.kind == "Generator":
            return sound and state.keys() == common
        gauss = state.get("gauss")
        return (
            sound
            and state.keys() == common | {"has_gauss", "gauss"}
            and _between(state.get("has_gauss"), 0, 1)
            and type(gauss) is float
            and abs(gauss) < 100
        )
    if source.kind != "Generator" or not _between(state.get("has_uint32"), 0, 1):
        return False
    if not _between(state.get("uinteger"), 0, _WORD32 - 1):
        return False
    common |= {"has_uint32", "uinteger"}
    match source.bit_generator:
        case "PCG64" | "PCG64DXSM":
            increment = inner.get("inc")
            return (
                state.keys() == common
                and inner.keys() == {"state", "inc"}
                and _between(inner.get("state"), 0, _WORD128 - 1)
                and type(increment) is int
                and 0 < increment < _WORD128
                and increment % 2 == 1
            )
        case "SFC64":
            words = to_python(inner.get("state"))
            return state.keys() == common and inner.keys() == {"state"} and _words(words, np.dtype("<u8"), 4)
        case "Philox":
            return (
                state.keys() == common | {"buffer", "buffer_pos"}
                and inner.keys() == {"counter", "key"}
                and _words(to_python(inner.get("counter")), np.dtype("<u8"), 4)
                and _words(to_python(inner.get("key")), np.dtype("<u8"), 2)
                and _words(to_python(state.get("buffer")), np.dtype("<u8"), 4)
                and _between(state.get("buffer_pos"), 0, 4)
            )
    return False


def _fields(value: Value) -> dict[str, Value] | None:
    """Read a mapping of at most eight different texts, else None."""
    if not isinstance(value, Seq) or value.kind != "dict" or not 0 < len(value.items) <= 8:
        return None
    fields: dict[str, Value] = {}
    for pair in value.items:
        if not isinstance(pair, Seq) or len(pair.items) != 2 or type(pair.items[0]) is not str:
            return None
        fields[pair.items[0]] = pair.items[1]
    return fields if len(fields) == len(value.items) else None


def _words(item: object, dtype: np.dtype[np.generic], count: int) -> bool:
    return isinstance(item, np.ndarray) and item.dtype == dtype and item.shape == (count,)


def _between(item: object, low: int, high: int) -> bool:
    if isinstance(item, Array):
        item = to_python(item)
        item = int(item) if isinstance(item, np.integer) else None
    return type(item) is int and low <= item <= high


def _sound_step(step: Step, sources: tuple[Source, ...]) -> bool:
    legacy = sources[step.source].kind == "RandomState"
    needed = 2 if step.method in ("normal", "uniform") else 0
    scale_sound = step.method != "normal" or (len(step.args) == 2 and step.args[1] >= 0)
    return (
        step.method in _METHODS.get(sources[step.source].kind, ())
        and len(step.args) == needed
        and scale_sound
        and step.dtype in (("<f8",) if legacy or needed else ("<f8", "<f4"))
        and len(step.shape) <= 8
    )


def _run(draws: Draws) -> bytes | None:
    head = {
        "memory": MEMORY,
        "cpu": CPU_SECONDS,
        "sources": [[source.kind, source.bit_generator] for source in draws.sources],
        "steps": [[s.source, s.method, list(s.args), list(s.shape), s.dtype, s.count] for s in draws.steps],
    }
    frame = encode_request(head, values={"states": [_as_tuples(source.state) for source in draws.sources]})
    try:
        if _replayer.worker is None:
            _replayer.start()
        assert _replayer.worker is not None
        _replayer.worker.send(frame)
        reply = _replayer.worker.receive(REPLAY_SECONDS)
    except IsolationError:
        return None
    except EOFError:
        reply = None
    if reply is None or not hasattr(os, "fork"):
        _replayer.close()
    return None if reply is None else reply[1]


class _Replayer:
    """The process that draws again: started when it is needed first, and again after it was lost or late."""

    def __init__(self) -> None:
        self.worker: ProcessWorker | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def start(self) -> None:
        """Start it. Raises IsolationError."""
        self._folder = tempfile.TemporaryDirectory(prefix="grade-replay-", ignore_cleanup_errors=True)
        try:
            self.worker = ProcessWorker(Launch(folder=Path(self._folder.name)), "replayer", max_payload=MAX_PAYLOAD)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End it, if there is one."""
        if self.worker is not None:
            self.worker.close()
        if self._folder is not None:
            self._folder.cleanup()
        self.worker = self._folder = None


_replayer = _Replayer()


def close() -> None:
    """End the process that draws again; it is started anew when it is needed."""
    _replayer.close()


atexit.register(close)


def _as_tuples(value: Value) -> Value:
    """A mapping travels to the replayer as a tuple of pairs."""
    if isinstance(value, Seq):
        kind = "tuple" if value.kind == "dict" else value.kind
        return Seq(kind=kind, items=tuple(_as_tuples(item) for item in value.items))
    return value


def _digests_agree(draws: Draws, raw: bytes) -> bool:
    digests = [hashlib.sha256() for _ in draws.sources]
    at = 0
    for step in draws.steps:
        size = 8 * step.count * math.prod(step.shape)
        digests[step.source].update(raw[at : at + size])
        at += size
    return all(digest.hexdigest() == source.sha256 for digest, source in zip(digests, draws.sources, strict=True))
