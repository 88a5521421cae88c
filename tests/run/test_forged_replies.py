"""The decoder against forgers: whatever comes in is a reply or Malformed, at once."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.observed import unfold
from grader.core.values import byte_count, to_python
from grader.model import Array, Seq, Value
from grader.run.inside import wire as inside
from grader.run.wire import MAX_DEPTH, Malformed, Reply, decode_reply
from tests.run.forge import drawn, header, nested

MALFORMED: dict[str, tuple[bytes, bytes]] = {
    "empty": (b"", b""),
    "no JSON": (b"{", b""),
    "no UTF-8": (b'{"id": "\xff\xfe\xff"}', b""),
    "a list": (b"[]", b""),
    "a number": (b"1", b""),
    "deep": (b"[" * 200_000, b""),
    "deep and closed": (b'{"value":' + b"[" * 50_000 + b"]" * 50_000 + b"}", b""),
    "digits without end": (b'{"id": "a", "kind": "returned", "value": ' + b"9" * 10_000 + b"}", b""),
    "no id": (b'{"kind": "returned"}', b""),
    "no kind": (b'{"id": "f/1"}', b""),
    "id a number": (header(id=1), b""),
    "kind a list": (header(kind=["returned"]), b""),
    "bare number": (header(value=1), b""),
    "bare text": (header(value="x"), b""),
    "unknown node": (header(value={"z": 1}), b""),
    "two keys": (header(value={"i": "0x1", "f": "0x1p0"}), b""),
    "int a number": (header(value={"i": 5}), b""),
    "int no hex": (header(value={"i": "five"}), b""),
    "int without end": (header(value={"i": "0x" + "f" * 400}), b""),
    "float no hex": (header(value={"f": "pi"}), b""),
    "float a bool": (header(value={"f": True}), b""),
    "float too large": (header(value={"f": "0x1p99999"}), b""),
    "float without end": (header(value={"f": "0" * 50}), b""),
    "complex of one": (header(value={"c": ["0x1p0"]}), b""),
    "complex of three": (header(value={"c": ["0x1p0"] * 3}), b""),
    "text a number": (header(value={"s": 1}), b""),
    "opaque a list": (header(value={"o": []}), b""),
    "no such array": (header(value={"a": 0}), b""),
    "array index a bool": (header(value={"a": False}, arrays=[["<f8", [], "ndarray", False]]), bytes(8)),
    "array index negative": (header(value={"a": -1}, arrays=[["<f8", [], "ndarray", False]]), bytes(8)),
    "items no list": (header(value={"q": ["list", {}]}), b""),
    "kind of items a number": (header(value={"q": [1, []]}), b""),
    "too deep": (header(value=nested(MAX_DEPTH + 1)), b""),
    "too many items": (header(value={"q": ["list", [None] * 5000]}), b""),
    "too many nodes": (header(value={"q": ["list", [{"q": ["list", [None] * 4000]}] * 20]}), b""),
    "arrays no list": (header(arrays={}), b""),
    "arrays without end": (header(arrays=[["<f8", [0], "ndarray", False]] * 5000), b""),
    "array of three": (header(arrays=[["<f8", [], "ndarray"]]), bytes(8)),
    "object dtype": (header(arrays=[["|O", [], "ndarray", False]]), bytes(8)),
    "record dtype": (header(arrays=[["V8", [], "ndarray", False]]), bytes(8)),
    "big-endian dtype": (header(arrays=[[">f8", [], "ndarray", False]]), bytes(8)),
    "longdouble dtype": (header(arrays=[["<f16", [], "ndarray", False]]), bytes(16)),
    "dtype a list": (header(arrays=[[["<f8"], [], "ndarray", False]]), bytes(8)),
    "length a bool": (header(arrays=[["<f8", [True], "ndarray", False]]), bytes(8)),
    "length a float": (header(arrays=[["<f8", [1.0], "ndarray", False]]), bytes(8)),
    "length negative": (header(arrays=[["<f8", [-1], "ndarray", False]]), b""),
    "length 2^62": (header(arrays=[["<f8", [1 << 62], "ndarray", False]]), b""),
    "shape [10^6, 10^6]": (header(arrays=[["<f8", [10**6, 10**6], "ndarray", False]]), bytes(8)),
    "shape [0, 2^40, 2^40]": (header(arrays=[["<f8", [0, 1 << 40, 1 << 40], "ndarray", False]]), b""),
    "clipped [2^40, 2^40]": (header(arrays=[["<f8", [1 << 40, 1 << 40], "ndarray", True]]), b""),
    "70 axes": (header(arrays=[["<f8", [1] * 70, "ndarray", False]]), bytes(8)),
    "clipped a number": (header(arrays=[["<f8", [1], "ndarray", 0]]), bytes(8)),
    "payload too short": (header(arrays=[["<f8", [2], "ndarray", False]]), bytes(8)),
    "payload too long": (header(arrays=[["<f8", [2], "ndarray", False]]), bytes(17)),
    "payload of nothing": (header(), bytes(8)),
    "after no list": (header(after={}), b""),
    "after without end": (header(after=[None] * 17), b""),
    "names no pairs": (header(names=[["x"]]), b""),
    "names without end": (header(names=[["x", None]] * 257), b""),
    "callables without end": (header(callables=["f"] * 1001), b""),
    "callables of numbers": (header(callables=[1]), b""),
    "stdout null": (header(stdout=None), b""),
    "cut a number": (header(cut=1), b""),
    "remarks without end": (header(remarks=["x"] * 21), b""),
    "failure a text": (header(failure="no"), b""),
    "failure of nothing": (header(failure={}), b""),
    "line a bool": (header(failure={"kind": "E", "message": "", "line": True}), b""),
    "line 10^30": (header(failure={"kind": "E", "message": "", "line": 10**30}), b""),
    "cell negative": (header(failure={"kind": "E", "message": "", "cell": -1}), b""),
    "draws a list": (header(draws=[]), b""),
    "draws of nothing": (header(draws={}), b""),
    "complete a number": (header(draws=drawn(0, "randn", [], [1], "<f8", 1, complete=1)), b""),
    "sources without end": (header(draws=drawn(0, "randn", [], [1], "<f8", 1, sources=[["", "", None, ""]] * 65)), b""),
    "source of three": (header(draws=drawn(0, "randn", [], [1], "<f8", 1, sources=[["", "", None]])), b""),
    "digest no hex": (header(draws=drawn(0, "randn", [], [1], "<f8", 1, sources=[["", "", None, "z" * 64]])), b""),
    "no such source": (header(draws=drawn(1, "randn", [], [1], "<f8", 1)), b""),
    "source a bool": (header(draws=drawn(False, "randn", [], [1], "<f8", 1)), b""),
    "step of five": (header(draws=drawn(0, "randn", [], [1], "<f8")), b""),
    "steps without end": (header(draws={**drawn(), "steps": [[0, "randn", [], [1], "<f8", 1]] * 4097}), b""),
    "count 0": (header(draws=drawn(0, "randn", [], [1], "<f8", 0)), b""),
    "count 2^40": (header(draws=drawn(0, "randn", [], [1], "<f8", 1 << 40)), b""),
    "argument a bool": (header(draws=drawn(0, "normal", [True, 1.0], [1], "<f8", 1)), b""),
    "argument a text": (header(draws=drawn(0, "normal", ["0", 1.0], [1], "<f8", 1)), b""),
    "argument NaN": (header(draws=drawn(0, "normal", [math.nan, 1.0], [1], "<f8", 1)), b""),
    "argument infinite": (header(draws=drawn(0, "normal", [0.0, math.inf], [1], "<f8", 1)), b""),
    "argument 10^400": (header(draws=drawn(0, "normal", [0.0, 10**400], [1], "<f8", 1)), b""),
    "draw of [10^12, 10^12]": (header(draws=drawn(0, "randn", [], [10**12, 10**12], "<f8", 1)), b""),
    "draw of [0, 2^40, 2^40]": (header(draws=drawn(0, "randn", [], [0, 1 << 40, 1 << 40], "<f8", 1)), b""),
    "draw of 70 axes": (header(draws=drawn(0, "randn", [], [1] * 70, "<f8", 1)), b""),
    "numbers of a draw no vector": (
        header(arrays=[["<f8", [1, 1], "ndarray", False]], draws=drawn(0, "randn", [], [1], "<f8", 1, values=0)),
        bytes(8),
    ),
    "numbers of a draw clipped": (
        header(arrays=[["<f8", [1], "ndarray", True]], draws=drawn(0, "randn", [], [1], "<f8", 1, values=0)),
        b"",
    ),
    "numbers of a draw whole": (
        header(arrays=[["<i8", [1], "ndarray", False]], draws=drawn(0, "randn", [], [1], "<f8", 1, values=0)),
        bytes(8),
    ),
}


@pytest.mark.parametrize("head, payload", MALFORMED.values(), ids=MALFORMED)
def test_forged_replies_are_malformed(head: bytes, payload: bytes) -> None:
    """What isn't a reply raises Malformed, at once, whatever it declares."""
    with pytest.raises(Malformed):
        decode_reply(head, payload)


@pytest.mark.parametrize(
    "shape, clipped",
    [((0, 5), False), ((3, 0, 2), False), ((), False), ((10_000, 10_000), True), ((1 << 40,), True)],
    ids=["no rows", "no columns", "0-d", "clipped", "clipped and huge"],
)
def test_odd_but_honest_shapes_are_read(shape: tuple[int, ...], clipped: bool) -> None:
    """Empty arrays, 0-d ones and clipped ones of any size that NumPy can make are no forgery."""
    size = 0 if clipped else 8 * math.prod(shape)
    reply = decode_reply(header(value={"a": 0}, arrays=[["<f8", list(shape), "ndarray", clipped]]), bytes(size))

    assert isinstance(reply.value, Array)
    assert (reply.value.shape, reply.value.clipped) == (shape, clipped)


# What a forger could put anywhere: JSON's own types, our nodes, and numbers at every edge.
edges = st.sampled_from(
    [
        *(0, 1, -1, 623, 624, 2**31, 2**32, 2**40, 2**53, 2**62, 2**63, 2**64, 10**30, 10**400, 0.5, -0.0, 1e308),
        *(math.nan, math.inf, True, False, None, "", "0x1", "nan", "<f8", "\ud800", "\x00", "a" * 200),
    ]
)
anything = st.recursive(
    edges | st.integers() | st.floats() | st.text(max_size=5),
    lambda parts: (
        st.lists(parts, max_size=5)
        | st.dictionaries(st.sampled_from(["i", "f", "c", "s", "a", "q", "o", "kind", "state"]), parts, max_size=2)
    ),
    max_leaves=20,
)
FIELDS = [
    *("id", "kind", "value", "after", "draws", "names", "callables", "stdout", "cut", "remarks", "failure"),
    *("environment", "arrays"),
]


def only_reply_or_malformed(head: bytes, payload: bytes) -> None:
    """Decode, and use what came out as the judge would."""
    try:
        reply = decode_reply(head, payload)
    except Malformed:
        return
    assert isinstance(reply, Reply)
    for value in (reply.value, *(reply.after or ()), *(value for _, value in reply.names)):
        to_python(value)
        sound(value)
    if reply.draws is not None:
        unfold(reply.draws)


def sound(value: Value) -> None:
    """Check that an array holds what it declares."""
    if isinstance(value, Array):
        assert len(value.data) == (0 if value.clipped else byte_count(value))
    elif isinstance(value, Seq):
        for item in value.items:
            sound(item)


@given(st.dictionaries(st.sampled_from(FIELDS), anything, max_size=5), st.binary(max_size=40))
def test_random_json_is_a_reply_or_malformed(fields: dict[str, Any], payload: bytes) -> None:
    """Whatever stands in the fields of a reply, nothing but Malformed is ever raised."""
    only_reply_or_malformed(header(**fields), payload)


@given(st.binary(max_size=200), st.binary(max_size=20))
def test_random_bytes_are_a_reply_or_malformed(head: bytes, payload: bytes) -> None:
    """The same for a header that may be no JSON at all."""
    only_reply_or_malformed(head, payload)


def a_real_reply() -> tuple[dict[str, Any], bytes]:
    """Return a reply as a worker gives it, with something in every field."""
    encoder = inside.Encoder()
    state: Any = np.random.RandomState(3).get_state(legacy=False)
    pairs: list[list[Any]] = [["bit_generator", "MT19937"], ["has_gauss", 0], ["gauss", 0.0]]
    inner = encoder.encode({"key": state["state"]["key"], "pos": state["state"]["pos"]})
    tree = {
        "q": ["dict", [encoder.encode(tuple(pair)) for pair in pairs] + [{"q": ["tuple", [{"s": "state"}, inner]]}]]
    }
    head = {
        "id": "f/1",
        "kind": "raised",
        "value": encoder.encode((np.ones((2, 3)), [1, 2.5, "x", None, 3j], {"a": ...})),
        "after": [encoder.encode(np.zeros(2, dtype=np.int32))],
        "names": [["x", encoder.encode(np.float32(1))]],
        "callables": ["softmax"],
        "stdout": "out",
        "cut": False,
        "remarks": ["%pwd"],
        "failure": {"kind": "ValueError", "message": "m", "cell": 1, "line": 2},
        "draws": {
            "sources": [["RandomState", "MT19937", tree, "0" * 64]],
            "steps": [[0, "normal", [0.0, 1.0], [2, 3], "<f8", 2]],
            "values": None,
            "complete": True,
            "others": ["permutation"],
        },
        "environment": [["python", "3"]],
        "arrays": encoder.arrays,
    }
    return head, b"".join(encoder.buffers)


def places(tree: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every node."""
    found = [path] if path else []
    if isinstance(tree, dict):
        for key, item in tree.items():
            found += places(item, (*path, key))
    elif isinstance(tree, list):
        for index, item in enumerate(tree):
            found += places(item, (*path, index))
    return found


def test_the_real_reply_is_one() -> None:
    """What the next test mutates is sound."""
    head, payload = a_real_reply()

    reply = decode_reply(json.dumps(head).encode(), payload)

    assert reply.draws is not None
    assert reply.draws.sources[0].state is not None


@given(st.data())
def test_mutated_replies_are_replies_or_malformed(data: st.DataObject) -> None:
    """Any node of a real reply may be anything: nothing but Malformed is ever raised, here or by the first look."""
    head, payload = a_real_reply()
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(head)))
        at: Any = head
        for key in path[:-1]:
            at = at[key]
        if data.draw(st.booleans()):
            at[path[-1]] = data.draw(anything)
        else:
            del at[path[-1]]
    cut = data.draw(st.integers(-3, 3))
    payload = payload[:cut] if cut < 0 else payload + bytes(cut)

    only_reply_or_malformed(json.dumps(head).encode(), payload)
