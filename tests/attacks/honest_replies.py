"""Replies as the worker's own code makes them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from grader.run.inside import wire
from grader.run.inside.frames import HEAD

__all__ = ["honest_replies"]


def honest_replies() -> list[tuple[dict[str, Any], bytes]]:
    """Return headers, as objects, and payloads, with something in every field."""
    made = []
    for item in (np.eye(4), (np.ones((2, 3)), [1, 2.5, None, True]), {"k": 3j, "t": "text"}, np.float32(7), 1 << 200):
        encoder = wire.Encoder()
        digest = "0" * 64
        state = encoder.encode(("MT19937", np.arange(4, dtype=np.uint32)))
        head: dict[str, Any] = {
            "id": "softmax/1",
            "kind": "returned",
            "value": encoder.encode(item),
            "after": [encoder.encode(np.arange(3)), encoder.encode(1.0)],
            "names": [["raw_var", encoder.encode(1.5)], ["H", encoder.encode([1.0, 2.0])]],
            "callables": ["softmax", "other"],
            "remarks": ["%matplotlib inline"],
            "stdout": "printed\n",
            "cut": False,
            "failure": {"kind": "ValueError", "message": "no", "cell": 0, "line": 3},
            "draws": {
                "sources": [["RandomState", "MT19937", state, digest]],
                "steps": [[0, "normal", [0.0, 1.0], [4, 2], "<f8", 3]],
                "values": None,
                "complete": True,
                "others": ["permutation"],
            },
            "cpu": 12,
        }
        head["arrays"] = encoder.arrays
        frame = wire.frame(head, encoder.buffers)
        _, header, payload = HEAD.unpack(frame[: HEAD.size])
        text = frame[HEAD.size : HEAD.size + header]
        assert len(frame) == HEAD.size + header + payload
        made.append((json.loads(text), frame[HEAD.size + header :]))
    return made
