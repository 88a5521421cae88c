"""The trusted side of the wire: what goes out comes in as it was, and what comes back is believed in its form only."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.observed import unfold
from grader.core.values import to_python, to_value
from grader.model import Opaque
from grader.run.inside import wire as inside
from grader.run.inside.frames import HEAD, MAGIC
from grader.run.wire import clean, decode_reply, encode_request
from tests.run.forge import drawn, header

# ------------------------------------------------------------------ requests

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text(max_size=20)
dtypes = st.sampled_from(["f8", "f4", "f2", "i8", "i4", "u1", "?", "c16", ">f8"])
arrays = st.builds(
    lambda dtype, shape: np.arange(math.prod(shape)).astype(dtype).reshape(shape),
    dtypes,
    st.lists(st.integers(0, 4), max_size=3),
)
sendable = st.recursive(
    scalars | arrays | st.builds(np.float64, st.floats()),
    lambda parts: st.lists(parts, max_size=4) | st.lists(parts, max_size=4).map(tuple),
    max_leaves=12,
)


def same(one: object, other: object) -> bool:
    """Whether two objects have the same types and bits all the way down."""
    if isinstance(one, (np.ndarray, np.generic)):
        assert isinstance(other, (np.ndarray, np.generic))
        little = np.asarray(one).astype(one.dtype.newbyteorder("<"))
        return (little.dtype, little.shape, little.tobytes()) == (other.dtype, other.shape, other.tobytes())
    if isinstance(one, (list, tuple)):
        assert isinstance(other, (list, tuple))
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and repr(one) == repr(other)


@given(st.lists(sendable, max_size=4))
def test_arguments_arrive_as_they_were_sent(items: list[object]) -> None:
    """Every value that a call can have is rebuilt in the worker with its type, shape and bits."""
    frame = encode_request({"op": "call"}, values={"args": [to_value(item) for item in items]})
    magic, head_size, payload_size = HEAD.unpack(frame[: HEAD.size])
    head = json.loads(frame[HEAD.size : HEAD.size + head_size])
    payload = frame[HEAD.size + head_size :]

    assert (magic, len(payload)) == (MAGIC, payload_size)
    rebuilt = [inside.decode(tree, head["arrays"], payload, readonly=False) for tree in head["args"]]
    assert all(map(same, items, rebuilt))


def as_read(item: object) -> object:
    """What is read of an object: the same, but for the characters that no file format or database takes."""
    if isinstance(item, str):
        return clean(item.encode("utf-8", "replace").decode())
    if isinstance(item, (list, tuple)):
        return type(item)(map(as_read, item))
    return item


@given(sendable)
def test_what_the_worker_says_is_what_is_read(item: object) -> None:
    """The worker's encoder and the parent's decoder agree on every value that they both know."""
    encoder = inside.Encoder()
    tree = encoder.encode(item)
    frame = inside.frame({"id": "f/1", "kind": "returned", "value": tree, "arrays": encoder.arrays}, encoder.buffers)
    size = HEAD.unpack(frame[: HEAD.size])[1]

    reply = decode_reply(frame[HEAD.size : HEAD.size + size], frame[HEAD.size + size :])

    if "a very large int" in repr(reply.value):
        return
    assert same(as_read(item), to_python(reply.value))


@pytest.mark.parametrize("readonly", [False, True], ids=["own", "read-only"])
def test_arrays_can_be_read_only(readonly: bool) -> None:
    """An array is the callee's own and writeable unless the call says otherwise."""
    frame = encode_request({}, values={"args": [to_value(np.ones((2, 3)))]})
    size = HEAD.unpack(frame[: HEAD.size])[1]
    head = json.loads(frame[HEAD.size : HEAD.size + size])

    array = inside.decode(head["args"][0], head["arrays"], frame[HEAD.size + size :], readonly=readonly)

    assert array.flags.writeable is not readonly
    assert array.flags.owndata or array.base is not None


def test_opaque_values_are_never_sent() -> None:
    """What we don't carry can't be an argument."""
    with pytest.raises(TypeError, match="can't be sent"):
        encode_request({}, values={"args": [Opaque(kind="set")]})


# ------------------------------------------------------------------ honest replies


def test_a_full_reply_is_read() -> None:
    """Every field of a reply that is as it should be arrives."""
    raw = np.arange(3.0).tobytes()
    reply = decode_reply(
        header(
            value={"q": ["tuple", [{"f": (0.1).hex()}, {"a": 0}]]},
            arrays=[["<f8", [3], "ndarray", False], ["<f8", [3], "ndarray", False]],
            after=[{"i": "-0x5"}],
            draws=drawn(0, "normal", [0.0, 1.5], [3], "<f8", 1, values=1),
            names=[["raw_var", {"f": "nan"}]],
            callables=["softmax"],
            stdout="hello",
            cut=True,
            remarks=["%timeit"],
            failure={"kind": "ValueError", "message": "no", "cell": 2, "line": 3},
            environment=[["python", "3"]],
        ),
        raw * 2,
    )

    assert to_python(reply.value)[0] == 0.1  # type: ignore[index]  # a pair
    assert reply.after == (-5,)
    assert reply.draws is not None
    assert unfold(reply.draws) is not None
    assert (reply.names[0][0], reply.callables, reply.stdout, reply.cut) == ("raw_var", ("softmax",), "hello", True)
    assert reply.failure is not None
    assert (reply.failure.kind, reply.failure.cell, reply.failure.line) == ("ValueError", 2, 3)
    assert reply.environment == (("python", "3"),)


@pytest.mark.parametrize(
    "text, kept",
    [
        ("plain \u00fc \u2713 \U0001f600", "plain \u00fc \u2713 \U0001f600"),
        ("a\x00b", "a\ufffdb"),
        ("a\ud800b\udfff", "a\ufffdb\ufffd"),
        ("\ufffe\uffff", "\ufffd\ufffd"),
        ("x" * 5000, "x" * 4000),
    ],
    ids=["kept", "nul", "surrogates", "noncharacters", "long"],
)
def test_texts_are_cleaned_and_capped(text: str, kept: str) -> None:
    """What no file format takes is replaced, wherever a text comes from."""
    assert clean(text) == kept
    reply = decode_reply(header(value={"s": text}), b"")
    assert reply.value == kept


def test_every_text_of_a_reply_is_cleaned() -> None:
    """Type names, variable names, functions' names and messages are as hostile as the value."""
    bad = "\ud800\x00"
    reply = decode_reply(
        header(
            value={"q": [bad, [{"o": bad}]]},
            arrays=[["<f8", [], bad, False]],
            names=[[bad, None]],
            callables=[bad],
            stdout=bad,
            remarks=[bad],
            failure={"kind": bad, "message": bad, "cell": None, "line": None},
            draws=drawn(0, bad, [], [], bad, 1, others=[bad]),
        ),
        bytes(8),
    )

    assert "\ud800" not in repr(reply).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert "\\ud800" not in repr(reply)
    assert "\\x00" not in repr(reply).replace("data=b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00'", "")
