"""The outline of a frame; shared by both sides, and light enough to be imported before NumPy."""

from __future__ import annotations

import struct

MAGIC = b"GRD1"
HEAD = struct.Struct("<4sIQ")
MAX_HEADER = 1 << 20
MAX_PAYLOAD = 8 << 20
