"""The outline of a frame; shared by both sides, and light enough to be imported before NumPy."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping

MAGIC = b"GRD1"
HEAD = struct.Struct("<4sIQ")
MAX_HEADER = 1 << 20
MAX_PAYLOAD = 8 << 20


def encode_policy(policy: Mapping[str, object]) -> bytes:
    """Return the frame that tells a worker how to lock itself down; the first that it reads."""
    head = json.dumps(policy).encode()
    return HEAD.pack(MAGIC, len(head), 0) + head
