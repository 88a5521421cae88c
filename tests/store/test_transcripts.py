"""Transcripts there and back."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import math
import struct
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.errors import TranscriptError
from grader.model import (
    Array,
    Call,
    Draws,
    Event,
    Failure,
    Opaque,
    Outcome,
    OutcomeKind,
    Seq,
    Session,
    Source,
    Step,
    Transcript,
    Value,
)
from grader.store import dump_transcript, load_transcript, read_transcript, write_transcript
from grader.store.transcripts import SCHEMA, _packed, _unpacked


def transcript(**fields: Any) -> Transcript:
    """Return a short transcript with these fields."""
    usual: dict[str, Any] = {
        "schema": SCHEMA,
        "assignment": "attention",
        "version": "1.0",
        "digest": "d" * 64,
        "name": "work.py",
        "kind": "script",
        "sha256": "0" * 64,
        "seed": 1,
        "source": ("x = 1\n",),
        "cell_numbers": (0,),
    }
    return Transcript(**{**usual, **fields})


def bits(item: Any) -> Any:
    """Return ``item`` as something that is equal only if every bit and every type is."""
    if isinstance(item, float):
        return ("float", struct.pack("<d", item))
    if isinstance(item, complex):
        return ("complex", bits(item.real), bits(item.imag))
    if isinstance(item, tuple):
        return ("tuple", *map(bits, item))
    if dataclasses.is_dataclass(item):
        return (type(item).__name__, *((f.name, bits(getattr(item, f.name))) for f in dataclasses.fields(item)))
    return (type(item).__name__, item)


def same(one: Transcript, other: Transcript) -> bool:
    """Whether two transcripts are the same to the bit; of NaN any sign and payload is the same."""
    return bool(bits(_plain_nan(one)) == bits(_plain_nan(other)))


def _plain_nan(item: Any) -> Any:
    if isinstance(item, float):
        return math.nan if math.isnan(item) else item
    if isinstance(item, complex):
        return complex(_plain_nan(item.real), _plain_nan(item.imag))
    if isinstance(item, tuple):
        return tuple(map(_plain_nan, item))
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        changed = {field.name: _plain_nan(getattr(item, field.name)) for field in dataclasses.fields(item)}
        return dataclasses.replace(item, **changed)
    return item


# ---------------------------------------------------------------------- values

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
SMALL = st.integers(0, 2**40)
LENGTHS = st.lists(st.integers(0, 10**20), max_size=3).map(tuple)
ARRAYS = st.builds(
    Array, dtype=st.sampled_from(["<f8", "|b1", "<c16"]), shape=LENGTHS, data=st.binary(max_size=20), kind=TEXT,
    clipped=st.booleans(),
)  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | TEXT
    | ARRAYS
    | st.builds(Opaque, kind=TEXT)
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES, lambda some: st.builds(Seq, kind=TEXT, items=st.lists(some, max_size=3).map(tuple)), max_leaves=6
)
PARAMS = st.lists(st.tuples(TEXT, TEXT | st.integers() | st.floats()), max_size=3).map(tuple)


def tuples(strategy: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[Any]:
    """Return tuples of a few."""
    return st.lists(strategy, max_size=most).map(tuple)


DRAWS = st.builds(
    Draws,
    sources=tuples(st.builds(Source, kind=TEXT, bit_generator=TEXT, state=VALUES, sha256=TEXT)),
    steps=tuples(
        st.builds(
            Step, source=SMALL, method=TEXT, args=tuples(st.floats()), shape=LENGTHS, dtype=TEXT, count=st.integers(0)
        )
    ),
    values=st.none() | ARRAYS,
    complete=st.booleans(),
    others=tuples(TEXT),
)
FAILURES = st.builds(Failure, kind=TEXT, message=TEXT, cell=st.none() | st.integers(), line=st.none() | st.integers())
CALLS = st.builds(
    Call,
    id=TEXT,
    session=TEXT,
    kind=st.sampled_from(["load", "cell", "function"]),
    name=TEXT,
    args=tuples(VALUES),
    kwargs=tuples(st.tuples(TEXT, VALUES)),
    seed=st.integers(0),
    watch=st.booleans(),
    readonly=st.booleans(),
    draws=st.sampled_from(["none", "values", "replay"]),
    hidden=st.booleans(),
    stage=SMALL,
)
OUTCOMES = st.builds(
    Outcome,
    call=TEXT,
    kind=st.sampled_from(get_args(OutcomeKind)),
    value=VALUES,
    args_after=st.none() | tuples(VALUES),
    draws=st.none() | DRAWS,
    names=tuples(st.tuples(TEXT, VALUES)),
    callables=tuples(TEXT),
    stdout=TEXT,
    stdout_cut=st.booleans(),
    remarks=tuples(TEXT),
    failure=st.none() | FAILURES,
    events=tuples(st.builds(Event, kind=TEXT, detail=TEXT)),
    cpu_us=SMALL,
    wall_us=SMALL,
)
TRANSCRIPTS = st.builds(
    transcript,
    kind=st.sampled_from(["script", "notebook"]),
    name=TEXT,
    seed=st.integers(0),
    source=tuples(TEXT),
    cell_numbers=tuples(SMALL),
    intake=tuples(st.tuples(TEXT, PARAMS)),
    intake_trouble=st.booleans(),
    environment=tuples(st.tuples(TEXT, TEXT)),
    sessions=tuples(st.builds(Session, id=TEXT, stand_ins=tuples(TEXT))),
    calls=tuples(CALLS),
    outcomes=tuples(OUTCOMES),
    trouble=TEXT,
)


@given(TRANSCRIPTS)
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_a_transcript_comes_back_exactly(written: Transcript) -> None:
    """Whatever a transcript holds, it comes back with every bit, and the same one gives the same bytes."""
    raw = dump_transcript(written)
    back = load_transcript(raw)

    assert same(back, written)
    assert dump_transcript(back) == raw


@given(VALUES)
def test_a_value_comes_back_exactly(value: Value) -> None:
    """An argument, an answer and a variable come back with every bit."""
    call = Call(id="t/a", session="main", kind="function", name="f", args=(value,), kwargs=(("k", value),))
    outcome = Outcome(call="t/a", kind="returned", value=value, args_after=(value,), names=(("n", value),))
    written = transcript(calls=(call,), outcomes=(outcome,))

    assert same(load_transcript(dump_transcript(written)), written)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(math.nan, id="nan"),
        pytest.param(math.inf, id="infinite"),
        pytest.param(-0.0, id="minus zero"),
        pytest.param(5e-324, id="smallest number"),
        pytest.param(0.1, id="tenth"),
        pytest.param(complex(-0.0, math.nan), id="complex"),
        pytest.param(2**53, id="beyond a double"),
        pytest.param(-(2**200), id="large and negative"),
        pytest.param(1, id="one"),
        pytest.param(True, id="True"),
        pytest.param(0, id="zero"),
        pytest.param(False, id="False"),
        pytest.param(1.0, id="one as a float"),
        pytest.param("", id="empty text"),
        pytest.param('{"float": "0x1p0"}', id="text like a float"),
        pytest.param(Seq(kind="tuple", items=()), id="empty tuple"),
        pytest.param(
            Seq(kind="list", items=(Seq(kind="dict", items=(Seq(kind="tuple", items=(1, None)),)),)), id="nested"
        ),
        pytest.param(Array(dtype="<f8", shape=(), data=b"\0\xff" * 4), id="array without axes"),
        pytest.param(Array(dtype="<f8", shape=(0, 10**20), data=b"", clipped=True), id="clipped array"),
        pytest.param(Opaque(kind="ellipsis"), id="opaque"),
        pytest.param(None, id="None"),
    ],
)
def test_values_that_are_easily_lost(value: Value) -> None:
    """NaN, signed zeros, large numbers, True and 1: each stays what it was."""
    written = transcript(outcomes=(Outcome(call="t/a", kind="returned", value=value),))

    assert same(load_transcript(dump_transcript(written)), written)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"args_after": None}, id="not watched"),
        pytest.param({"args_after": ()}, id="watched, no arguments"),
        pytest.param({"draws": Draws()}, id="nothing drawn"),
        pytest.param({"draws": None}, id="draws not wanted"),
        pytest.param({"failure": Failure()}, id="unknown failure"),
        pytest.param({"failure": Failure(line=0, cell=0)}, id="line 0"),
        pytest.param({"stdout_cut": True}, id="cut"),
    ],
)
def test_nothing_and_none_are_told_apart(fields: dict[str, Any]) -> None:
    """An empty record isn't a missing one."""
    written = transcript(outcomes=(Outcome(call="t/a", kind="returned", **fields),))

    assert load_transcript(dump_transcript(written)) == written


def test_bytes_have_no_clock_in_them() -> None:
    """The same transcript gives the same bytes, now and later: no time, no file name."""
    assert dump_transcript(transcript()) == dump_transcript(transcript())


def test_what_is_the_same_is_kept_once() -> None:
    """An argument that comes back unchanged takes no room of its own."""
    array = Array(dtype="<f8", shape=(1000,), data=bytes(range(250)) * 32)
    outcome = Outcome(call="t/a", kind="returned", value=array, args_after=(array, array))

    assert len(dump_transcript(transcript(outcomes=(outcome,)))) < 8000 + 1000


def test_a_written_transcript_can_be_read(tmp_path: Path) -> None:
    """A file holds the transcript whole."""
    write_transcript(tmp_path / "a.transcript", transcript())

    assert read_transcript(tmp_path / "a.transcript") == transcript()


def test_a_transcript_is_small() -> None:
    """Defaults take no room, and what repeats is compressed."""
    calls = tuple(Call(id=f"t/{n}", session="main", kind="function", name="f", args=(1.5,)) for n in range(1000))

    assert len(dump_transcript(transcript(calls=calls))) < 20_000


# ---------------------------------------------------------------------- garbage


def _packed_text(text: bytes) -> bytes:
    """Return bytes that hold this in place of the JSON."""
    return _packed(text, b"")


def packed(tree: object) -> bytes:
    """Return what isn't a transcript in the clothes of one."""
    return _packed(json.dumps(tree).encode(), b"")


def changed(**fields: Any) -> bytes:
    """Return a transcript whose tree has other fields; None takes one out."""
    tree = json.loads(_unpacked(dump_transcript(transcript()))[0])
    tree.update(fields)
    return packed({name: value for name, value in tree.items() if value is not None})


def with_value(tree: object) -> bytes:
    """Return a transcript with a value of this tree."""
    return changed(outcomes=[{"call": "t/a", "kind": "returned", "value": tree}])


def with_data(place: object) -> bytes:
    """Return a transcript with an array whose bytes are to be there."""
    return with_value({"Array": {"dtype": "<f8", "shape": [1], "data": {"bytes": place}}})


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"garbage", id="garbage"),
        pytest.param(b"\x1f\x8b garbage", id="looks compressed"),
        pytest.param(dump_transcript(transcript())[:-5], id="cut off"),
        pytest.param(dump_transcript(transcript())[:20], id="cut off early"),
        pytest.param(dump_transcript(transcript())[:20] + b"\xff" * 50, id="damaged in the middle"),
        pytest.param(dump_transcript(transcript())[:-8] + b"\0" * 8, id="damaged"),
        pytest.param(_packed_text(b""), id="empty"),
        pytest.param(_packed_text(b"\xff\xfe\xfa"), id="no text"),
        pytest.param(_packed_text(b"[" * 100_000), id="deep"),
        pytest.param(_packed_text(b'{"a":' * 100_000), id="deep tables"),
        pytest.param(_packed_text(b"9" * 10_000), id="a long number"),
        pytest.param(packed([]), id="a list"),
        pytest.param(packed(None), id="null"),
        pytest.param(packed({}), id="no schema"),
        pytest.param(packed({"schema": SCHEMA}), id="schema alone"),
        pytest.param(changed(schema="grade.transcript/0"), id="another schema"),
        pytest.param(changed(seed=None), id="a field is missing"),
        pytest.param(changed(stranger=1), id="a field too many"),
        pytest.param(changed(seed="1"), id="a text for a number"),
        pytest.param(changed(seed=True), id="True for a number"),
        pytest.param(changed(name=1), id="a number for a text"),
        pytest.param(changed(kind="binary"), id="no such kind"),
        pytest.param(changed(intake=[["a", [["b", []]]]]), id="a list for a parameter"),
        pytest.param(changed(cell_numbers="0"), id="a text for a list"),
        pytest.param(
            changed(outcomes=[{"call": "t/a", "kind": "returned", "draws": {"values": {"Opaque": {"kind": "a"}}}}]),
            id="no array of draws",
        ),
        pytest.param(changed(calls=1), id="a number for a list"),
        pytest.param(changed(calls=[1]), id="a number for a call"),
        pytest.param(changed(calls=[{}]), id="an empty call"),
        pytest.param(changed(calls=[{"__class__": "os.system"}]), id="a class name"),
        pytest.param(changed(outcomes={}), id="a table for a list"),
        pytest.param(changed(environment=[["a"]]), id="half a pair"),
        pytest.param(changed(environment=[["a", "b", "c"]]), id="three of a pair"),
        pytest.param(with_value({}), id="value without a tag"),
        pytest.param(with_value({"a": 1, "b": 2}), id="value with two tags"),
        pytest.param(with_value({"Call": {}}), id="value of another class"),
        pytest.param(with_value({"Array": {"dtype": "<f8"}}), id="array without a shape"),
        pytest.param(with_value({"Array": 1}), id="number for an array"),
        pytest.param(with_value({"float": "one"}), id="no float"),
        pytest.param(with_value({"float": 1.0}), id="float as a number"),
        pytest.param(with_value({"float": "0x1p99999"}), id="float beyond all"),
        pytest.param(with_value({"int": "ten"}), id="no number"),
        pytest.param(with_value({"complex": ["0x0p0"]}), id="half a complex number"),
        pytest.param(with_value({"complex": []}), id="no complex number"),
        pytest.param(with_value({"bytes": "?"}), id="no bytes"),
        pytest.param(with_data([0, 1]), id="an array outside"),
        pytest.param(with_data([-1, 0]), id="an array before all"),
        pytest.param(with_data([0, -1]), id="an array of less than nothing"),
        pytest.param(with_data([0.0, 0]), id="an array at a float"),
        pytest.param(with_data([0]), id="an array without an end"),
        pytest.param(with_data({}), id="an array nowhere"),
        pytest.param(with_value({"Seq": {"kind": "list", "items": 3}}), id="number for items"),
        pytest.param(with_value([1]), id="bare list"),
    ],
)
def test_garbage_is_refused_in_a_sentence(raw: bytes) -> None:
    """Whatever the bytes are, they give a transcript or a TranscriptError, never another exception."""
    with pytest.raises(TranscriptError, match="isn't a transcript") as caught:
        load_transcript(raw)
    assert caught.value.exit_code == 3
    assert caught.value.hint


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(raw: bytes) -> None:
    """No bytes make anything else happen."""
    with pytest.raises(TranscriptError):
        load_transcript(raw)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda some: (
        st.lists(some, max_size=3)
        | st.dictionaries(st.sampled_from(["float", "int", "complex", "bytes", "Array", "Seq", "Opaque", "kind"]), some)
    ),
    max_leaves=6,
)


@given(st.sampled_from(["calls", "outcomes", "intake", "seed", "source", "sessions", "name"]), JSON)
def test_trees_of_another_form_are_refused_or_read(field: str, tree: Any) -> None:
    """Whatever stands in a field, reading it ends in a transcript or in a TranscriptError."""
    try:
        load_transcript(changed(**{field: tree}))
    except TranscriptError:
        return


def test_a_bomb_is_not_unpacked_whole() -> None:
    """A small file that unpacks to far more than a transcript may hold is refused."""
    with pytest.raises(TranscriptError):
        load_transcript(_packed_text(b" " * (70 << 20)))


@pytest.mark.parametrize("raw", [dump_transcript(transcript()), b"garbage", changed(stranger=1)])
@pytest.mark.parametrize("collects", [True, False])
def test_the_collector_is_as_it_was(raw: bytes, collects: bool) -> None:
    """It rests while a transcript is read, and afterwards does what it did, whatever was read."""
    before = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        with contextlib.suppress(TranscriptError):
            load_transcript(raw)
        assert gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("made", ["nothing", "folder"])
def test_what_cannot_be_read_is_named(made: str, tmp_path: Path) -> None:
    """A path that isn't a readable file is named with the reason."""
    path = tmp_path / "a.transcript"
    if made == "folder":
        path.mkdir()
    with pytest.raises(TranscriptError, match=r"a\.transcript: it can't be read"):
        read_transcript(path)
