"""Draws that are drawn again: only from states that are sound, and nothing that was forged hurts the grader."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.observed import unfold
from grader.model import Array, Call, Draws, Opaque, Outcome, Seq, Source, Step, Value
from grader.run import replay
from grader.run.inside.wire import Encoder
from grader.run.replay import MAX_NUMBERS, replay_draws, resolve, sound_state
from grader.run.wire import decode_reply

KINDS = ["RandomState", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"]


def state_of(kind: str, seed: int = 3) -> dict[str, Any]:
    """Return a generator's state as NumPy gives it."""
    if kind == "RandomState":
        return dict(np.random.RandomState(seed).get_state(legacy=False))
    return dict(getattr(np.random, kind)(seed).state)


def as_value(item: Any) -> Value:
    """Return a state as it comes over the wire."""
    if isinstance(item, dict):
        return Seq(kind="dict", items=tuple(Seq(kind="tuple", items=(k, as_value(v))) for k, v in item.items()))
    if isinstance(item, np.ndarray):
        little = np.ascontiguousarray(item.astype(item.dtype.newbyteorder("<")))
        return Array(dtype=little.dtype.str, shape=little.shape, data=little.tobytes())
    value: Value = item
    return value


def draw(kind: str, method: str, args: tuple[float, ...], shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Return what the generator of ``state_of`` gives."""
    rng: Any = np.random.RandomState(3) if kind == "RandomState" else np.random.Generator(getattr(np.random, kind)(3))
    drawn: npt.NDArray[np.float64] = np.asarray(getattr(rng, method)(*args, size=shape), dtype=float)
    return drawn


def record(
    kind: str = "RandomState",
    *,
    method: str = "standard_normal",
    args: tuple[float, ...] = (),
    shape: tuple[int, ...] = (20,),
    dtype: str = "<f8",
    count: int = 1,
    state: Value | dict[str, Any] = None,
    digest: str | None = None,
    as_kind: str = "",
    bit_generator: str = "",
) -> Draws:
    """Return an honest record of one draw, or one that was changed."""
    if digest is None:
        digest = hashlib.sha256(draw(kind, "standard_normal", (), (20,)).tobytes()).hexdigest()
    source = Source(
        kind=as_kind or ("RandomState" if kind == "RandomState" else "Generator"),
        bit_generator=bit_generator or ("MT19937" if kind == "RandomState" else kind),
        state=as_value(state_of(kind) if state is None else state),
        sha256=digest,
    )
    step = Step(source=0, method=method, args=args, shape=shape, dtype=dtype, count=count)
    return Draws(sources=(source,), steps=(step,), values=None)


def changed(kind: str, **changes: Any) -> dict[str, Any]:
    """Return a state with some of its fields changed; ``inner_x`` is the field x of its own state."""
    state = state_of(kind)
    state["state"] = dict(state["state"])
    for name, item in changes.items():
        if name.startswith("inner_"):
            state["state"][name.removeprefix("inner_")] = item
        else:
            state[name] = item
    return state


def without(kind: str, name: str) -> dict[str, Any]:
    """Return a state that lacks a field."""
    state = state_of(kind)
    del state[name]
    return state


@pytest.mark.parametrize("kind", KINDS)
def test_honest_records_are_replayed(kind: str) -> None:
    """From the state of each bit generator come the same bits."""
    replayed = replay_draws(record(kind))

    assert replayed.complete
    assert isinstance(replayed.values, Array)
    assert replayed.values.data == draw(kind, "standard_normal", (), (20,)).tobytes()
    assert unfold(replayed) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_real_states_are_sound(kind: str) -> None:
    """A state as the worker sends it, over the wire, is sound: whatever is said of it is checked, not guessed."""
    encoder, source = Encoder(), record(kind).sources[0]

    def tree(item: Any) -> object:
        if isinstance(item, dict):
            return {"q": ["dict", [{"q": ["tuple", [tree(k), tree(v)]]} for k, v in item.items()]]}
        return encoder.encode(item)

    text = json.dumps(
        {
            "id": "x",
            "kind": "returned",
            "draws": {
                "sources": [[source.kind, source.bit_generator, tree(state_of(kind)), "0" * 64]],
                "steps": [[0, "standard_normal", [], [20], "<f8", 1]],
                "values": None,
                "complete": True,
            },
            "arrays": encoder.arrays,
        }
    )  # fmt: skip
    draws = decode_reply(text.encode(), b"".join(encoder.buffers)).draws

    assert draws is not None
    assert sound_state(draws.sources[0])


def test_a_cached_gaussian_is_replayed() -> None:
    """A RandomState that holds half of a pair gives it first."""
    rng = np.random.RandomState(3)
    rng.standard_normal()
    state: dict[str, Any] = dict(rng.get_state(legacy=False))
    expected = rng.standard_normal(5)

    replayed = replay_draws(record(state=state, shape=(5,), digest=hashlib.sha256(expected.tobytes()).hexdigest()))

    assert isinstance(replayed.values, Array)
    assert replayed.values.data == expected.tobytes()


ZEROS = np.zeros(624, dtype=np.uint32)
WORDS = np.arange(4, dtype=np.uint64)

FORGED_STATES: dict[str, tuple[str, Any]] = {
    "nothing": ("RandomState", Opaque(kind="none")),
    "a text": ("RandomState", "state"),
    "a list": ("RandomState", Seq(kind="list", items=())),
    "of another generator": ("PCG64", state_of("RandomState")),
    "MT19937 pos 625": ("RandomState", changed("RandomState", inner_pos=625)),
    "MT19937 pos -1": ("RandomState", changed("RandomState", inner_pos=-1)),
    "MT19937 pos 2^40": ("MT19937", changed("MT19937", inner_pos=1 << 40)),
    "MT19937 pos a float": ("MT19937", changed("MT19937", inner_pos=5.0)),
    "MT19937 pos a bool": ("MT19937", changed("MT19937", inner_pos=True)),
    "MT19937 key of zeros": ("RandomState", changed("RandomState", inner_key=ZEROS)),
    "MT19937 key of zeros but the low bits": (
        "RandomState",
        changed("RandomState", inner_key=np.r_[np.uint32(0x7FFFFFFF), ZEROS[1:]]),
    ),
    "MT19937 key too short": ("RandomState", changed("RandomState", inner_key=np.arange(623, dtype=np.uint32))),
    "MT19937 key too long": ("RandomState", changed("RandomState", inner_key=np.arange(625, dtype=np.uint32))),
    "MT19937 key of 64 bits": ("RandomState", changed("RandomState", inner_key=np.arange(624, dtype=np.uint64))),
    "MT19937 key of floats": ("RandomState", changed("RandomState", inner_key=np.arange(624, dtype=np.float32))),
    "MT19937 key of two axes": ("RandomState", changed("RandomState", inner_key=ZEROS.reshape(2, 312) + 1)),
    "MT19937 key a list": ("RandomState", changed("RandomState", inner_key=Seq(kind="list", items=(1,) * 624))),
    "MT19937 key clipped": (
        "RandomState",
        changed("RandomState", inner_key=Array(dtype="<u4", shape=(624,), data=b"", clipped=True)),
    ),
    "MT19937 has_gauss 2": ("RandomState", changed("RandomState", has_gauss=2)),
    "MT19937 gauss NaN": ("RandomState", changed("RandomState", gauss=float("nan"))),
    "MT19937 gauss infinite": ("RandomState", changed("RandomState", gauss=float("inf"))),
    "MT19937 gauss 10^300": ("RandomState", changed("RandomState", gauss=1e300)),
    "MT19937 gauss a text": ("RandomState", changed("RandomState", gauss="0")),
    "MT19937 without gauss": ("RandomState", without("RandomState", "gauss")),
    "MT19937 with more": ("RandomState", changed("RandomState", more=1)),
    "PCG64 all zero": ("PCG64", changed("PCG64", inner_state=0, inner_inc=0)),
    "PCG64 inc even": ("PCG64", changed("PCG64", inner_inc=2)),
    "PCG64 inc negative": ("PCG64", changed("PCG64", inner_inc=-1)),
    "PCG64 inc 2^128 + 1": ("PCG64", changed("PCG64", inner_inc=(1 << 128) + 1)),
    "PCG64 state 10^4000": ("PCG64", changed("PCG64", inner_state=10**4000)),
    "PCG64 inc 10^4000 + 1": ("PCG64", changed("PCG64", inner_inc=10**4000 + 1)),
    "PCG64 state negative": ("PCG64DXSM", changed("PCG64DXSM", inner_state=-1)),
    "PCG64 state a float": ("PCG64", changed("PCG64", inner_state=1.0)),
    "PCG64 has_uint32 2^40": ("PCG64", changed("PCG64", has_uint32=1 << 40)),
    "PCG64 uinteger 2^32": ("PCG64", changed("PCG64", uinteger=1 << 32)),
    "PCG64 without uinteger": ("PCG64", without("PCG64", "uinteger")),
    "Philox buffer_pos -10^8": ("Philox", changed("Philox", buffer_pos=-(10**8))),
    "Philox buffer_pos 5": ("Philox", changed("Philox", buffer_pos=5)),
    "Philox buffer_pos a text": ("Philox", changed("Philox", buffer_pos="1")),
    "Philox counter too short": ("Philox", changed("Philox", inner_counter=WORDS[:3])),
    "Philox key of 32 bits": ("Philox", changed("Philox", inner_key=WORDS[:2].astype(np.uint32))),
    "Philox buffer of floats": ("Philox", changed("Philox", buffer=WORDS.astype(float))),
    "SFC64 state too short": ("SFC64", changed("SFC64", inner_state=WORDS[:3])),
    "SFC64 state signed": ("SFC64", changed("SFC64", inner_state=WORDS.astype(np.int64))),
    "an unknown bit generator": ("PCG64", changed("PCG64", bit_generator="os")),
    "a field twice": (
        "SFC64",
        Seq(kind="dict", items=(*as_value(state_of("SFC64")).items, Seq(kind="tuple", items=("has_uint32", 0)))),  # type: ignore[union-attr]
    ),
}


@pytest.mark.parametrize("kind, state", FORGED_STATES.values(), ids=FORGED_STATES)
def test_forged_states_count_as_not_recorded(kind: str, state: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that isn't sound to the last field is given to no generator, not even in a process of its own."""
    monkeypatch.setattr(replay, "_run", pytest.fail)
    draws = record(kind, state=state)

    assert not sound_state(draws.sources[0])
    replayed = replay_draws(draws)
    assert (replayed.values, replayed.complete) == (None, False)
    assert unfold(replayed) is None


FORGED_DRAWS: dict[str, Draws] = {
    "PCG64 behind a RandomState": record("PCG64", as_kind="RandomState"),
    "Philox behind a RandomState": record("Philox", as_kind="RandomState"),
    "an unknown kind": record("PCG64", as_kind="os"),
    "another bit generator": record("PCG64", bit_generator="SFC64"),
    "no digest": record(digest=""),
    "4,000,001 numbers": record(shape=(MAX_NUMBERS + 1,)),
    "4,000,001 draws of one": record(shape=(), count=MAX_NUMBERS + 1),
    "4,000,001 draws of none": record(shape=(0,), count=MAX_NUMBERS + 1),
    "10^12 numbers": record(shape=(10**6, 10**6)),
    "nine axes": record(shape=(1,) * 9),
    "an unknown method": record(method="__reduce__"),
    "a method of a RandomState": record("PCG64", method="randn"),
    "a method of a Generator only": record(method="integers"),
    "parameters unknown": record(method="normal?"),
    "normal with a negative scale": record(method="normal", args=(0.0, -1.0)),
    "normal without parameters": record(method="normal"),
    "standard_normal with parameters": record(args=(0.0, 1.0)),
    "a RandomState in single precision": record(dtype="<f4"),
    "an unknown precision": record("PCG64", dtype="|O"),
    "incomplete": replace(record(), complete=False),
}


@pytest.mark.parametrize("draws", FORGED_DRAWS.values(), ids=FORGED_DRAWS)
def test_forged_draws_count_as_not_recorded(draws: Draws, monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw that isn't on the list, or too many of them, is never made."""
    monkeypatch.setattr(replay, "_run", pytest.fail)

    replayed = replay_draws(draws)

    assert (replayed.values, replayed.complete) == (None, False)


FAILING_DRAWS: dict[str, Draws] = {
    "another digest": record(digest="0" * 64),
    "the digest of other draws": record(shape=(21,)),
    "a shape that can't be": record(shape=(0, 1 << 40, 1 << 40)),
    "a range that can't be": record(method="uniform", args=(-1e308, 1e308)),
}


@pytest.mark.parametrize("draws", FAILING_DRAWS.values(), ids=FAILING_DRAWS)
def test_draws_that_fail_count_as_not_recorded(draws: Draws) -> None:
    """What the replayer can't draw, or draws otherwise than was said, isn't recorded either."""
    replayed = replay_draws(draws)

    assert (replayed.values, replayed.complete) == (None, False)


# A state is a mapping with any of the fields, each of which may be anything.
oddities: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(0, 1, -1, 624, 625, 1 << 31, 1 << 32, 1 << 64, 1 << 127, 1 << 128, 10**4000, 0.5, float("nan"), None, True),
        *("MT19937", "PCG64", Opaque(kind="set"), ZEROS, ZEROS + 1, WORDS, WORDS[:2], np.float64(1), np.int64(5)),
        np.array(5),
    ]
)
fields = [
    "bit_generator",
    "state",
    "has_gauss",
    "gauss",
    "has_uint32",
    "uinteger",
    "buffer",
    "buffer_pos",
    "key",
    "pos",
]


@given(st.data())
def test_no_state_makes_the_check_fail(data: st.DataObject) -> None:
    """Whatever stands in a state, the check says yes or no."""
    kind = data.draw(st.sampled_from(KINDS))
    state: dict[str, Any] = state_of(kind)
    state["state"] = dict(state["state"])
    for _ in range(data.draw(st.integers(1, 3))):
        place = state if data.draw(st.booleans()) or not isinstance(state["state"], dict) else state["state"]
        place[data.draw(st.sampled_from(fields))] = data.draw(
            oddities | st.dictionaries(st.sampled_from(fields), oddities)
        )
        state.setdefault("state", {})

    def value(item: Any) -> Value:
        if isinstance(item, np.generic):
            return Array(dtype=item.dtype.str, shape=(), data=item.tobytes(), kind="scalar")
        if isinstance(item, dict):
            return Seq(kind="dict", items=tuple(Seq(kind="tuple", items=(k, value(v))) for k, v in item.items()))
        return as_value(item)

    source = replace(record(kind).sources[0], state=value(state))

    assert sound_state(source) in (True, False)


def test_only_what_was_wanted_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call whose draws were sent, or weren't wanted in full, starts no replay; the others keep their place."""
    made: list[Draws] = []

    def run(draws: Draws) -> bytes:
        made.append(draws)
        return draw("RandomState", "standard_normal", (), (20,)).tobytes()

    monkeypatch.setattr(replay, "_run", run)
    sent = replace(record(), values=Array(dtype="<f8", shape=(0,), data=b""))
    draws = {"none": None, "sent": sent, "unwanted": record(), "wanted": record()}
    calls = [
        Call(id=name, session="main", kind="function", name="f", draws="values" if name == "unwanted" else "replay")
        for name in draws
    ]
    outcomes = [Outcome(call=name, kind="returned", draws=item) for name, item in draws.items()]

    resolved = resolve(calls, outcomes)

    assert [outcome.call for outcome in resolved] == list(draws)
    assert len(made) == 1
    assert [outcome.draws is not None and outcome.draws.values is not None for outcome in resolved] == [
        False,
        True,
        False,
        True,
    ]


def test_a_replay_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a state that passed every check and never ends costs a bounded time, and leaves no process."""
    # An all-zero key is refused by the check; without it the polar method would look for a pair for ever.
    monkeypatch.setattr(replay, "sound_state", lambda _: True)
    monkeypatch.setattr(replay, "REPLAY_SECONDS", 0.7)

    replayed = replay_draws(record(state=changed("RandomState", inner_key=ZEROS), method="standard_normal"))

    assert (replayed.values, replayed.complete) == (None, False)


def test_a_replay_that_crashes_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that reads out of bounds ends the disposable process, not ours."""
    monkeypatch.setattr(replay, "sound_state", lambda _: True)

    replayed = replay_draws(record("Philox", state=changed("Philox", buffer_pos=-(10**8))))

    assert (replayed.values, replayed.complete) == (None, False)
