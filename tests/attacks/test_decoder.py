"""The decoder of replies before bytes that were changed at random: a reply or Malformed, at a bounded cost."""

from __future__ import annotations

import contextlib
import json
import math
import random
import time
import tracemalloc
from typing import Any

import pytest

from grader.core.values import to_python
from grader.model import Array, Opaque, Seq
from grader.run.inside.frames import MAX_HEADER
from grader.run.wire import Malformed, Reply, decode_reply
from tests.attacks.honest_replies import honest_replies

ROUNDS = 4_000
ODD: list[Any] = [
    None, True, False, -1, 0, 1, 2**31, 2**63, 10**30, -(10**18), 1e308, 0.5, "", "x" * 1_000, "a", "|O", "<U4",
    "<M8[s]",
    "V8", ">f8", "<f8", [], {}, [[]], {"a": 0}, {"a": -1}, {"i": "1" * 299}, {"f": "nan"}, {"f": "1e999"},
    {"q": ["list"]},
    [4] * 33, [0, 2**62], [2**40, 2**40], "\ud800", "\x00",
]  # fmt: skip
MAX_PEAK = 40 << 20
"""Bytes that decoding a header of 1 MiB may take at its peak."""


def changed(chance: random.Random, item: Any) -> Any:
    """Return ``item`` with some of its parts replaced, doubled or lost."""
    if chance.random() < 0.01:
        return chance.choice(ODD)
    if isinstance(item, dict):
        keys = ("a", "i", "f", "q", "s", "kind", "arrays", "draws")
        return {
            (key if chance.random() > 0.005 else chance.choice(keys)): changed(chance, it) for key, it in item.items()
        }
    if isinstance(item, list):
        parts = [changed(chance, it) for it in item if chance.random() > 0.005]
        return parts + parts if chance.random() < 0.01 else parts
    return item


def damaged(chance: random.Random, content: bytes) -> bytes:
    """Return ``content`` with a few bytes changed, cut off or inserted."""
    raw = bytearray(content)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(raw) + 1)
        raw[at : at + chance.randrange(3)] = bytes(chance.randrange(256) for _ in range(chance.randrange(3)))
    return bytes(raw)


def sound(reply: Reply) -> None:
    """Check that all that was let through is of exact types, and arrays hold what they declare."""
    for value in (reply.value, *(reply.after or ()), *(item for _, item in reply.names)):
        sound_value(value)
    assert type(reply.id) is type(reply.kind) is type(reply.stdout) is str
    json.dumps([reply.id, reply.kind, reply.stdout, *reply.callables]).encode("utf-8")
    assert "\x00" not in reply.stdout


def sound_value(value: Any) -> None:
    """Check a value, all the way down, and read it as the judge does."""
    assert type(value) in (type(None), bool, int, float, complex, str) or isinstance(value, (Array, Opaque, Seq))
    if isinstance(value, Array):
        assert value.clipped or len(value.data) == math.prod(value.shape) * int(value.dtype[2:])
        if not value.clipped:
            to_python(value)
    if isinstance(value, Seq):
        for item in value.items:
            sound_value(item)


@pytest.mark.parametrize("seed", range(4))
def test_changed_replies_are_replies_or_malformed(seed: int) -> None:
    """Real replies with parts replaced and bytes changed raise nothing but Malformed, and what passes is sound."""
    chance = random.Random(seed)
    replies = honest_replies()
    taken = 0
    for _ in range(ROUNDS // 4):
        head, payload = chance.choice(replies)
        header = json.dumps(changed(chance, head)).encode()
        if chance.random() < 0.3:
            header = damaged(chance, header)
        if chance.random() < 0.2:
            payload = damaged(chance, payload)
        try:
            sound(decode_reply(header, payload))
            taken += 1
        except Malformed:
            continue
    assert 0 < taken < ROUNDS // 4, "a mutation that always or never passes tests nothing"


HUGE = {
    "empty lists": b'{"value":{"q":["list",[' + b"[]," * 300_000 + b"[]]]}}",
    "empty values": b'{"value":{"q":["list",[' + b"null," * 200_000 + b"null]]}}",
    "objects": b'{"value":[' + b'{"i":"0"},' * 100_000 + b"0]}",
    "keys": b"{" + b",".join(b'"%d":1' % n for n in range(90_000)) + b"}",
    "nested": b"[" * 500_000 + b"]" * 500_000,
    "nested values": b'{"value":' + b'{"q":["",[' * 90_000 + b"]]}" * 40_000,
    "digits": b'{"id":' + b"9" * 1_000_000 + b"}",
    "fraction": b'{"id":0.' + b"9" * 1_000_000 + b"}",
    "hexadecimal": b'{"value":{"i":"' + b"f" * 1_000_000 + b'"}}',
    "text": b'{"id":"' + b"a" * 1_000_000 + b'"}',
    "escapes": b'{"id":"' + b"\\ud800" * 170_000 + b'"}',
    "arrays": b'{"arrays":[' + b'["<f8",[0],"",false],' * 40_000 + b"0]}",
    "spaces": b" " * 1_048_000 + b"{}",
}


@pytest.mark.parametrize("title", HUGE)
def test_the_largest_headers_cost_little(title: str) -> None:
    """Whatever fits into a header, reading it takes bounded memory and CPU, and raises nothing but Malformed."""
    header = HUGE[title][:MAX_HEADER]
    tracemalloc.start()
    try:
        began = time.process_time()
        with contextlib.suppress(Malformed):
            sound(decode_reply(header, b""))
        cpu = time.process_time() - began
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MAX_PEAK
    assert cpu < 10, "seconds: not a matter of a slow machine, but of a square in the length"
