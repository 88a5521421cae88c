"""Replies as a worker, or whoever speaks in its place, can make them."""

from __future__ import annotations

import json

__all__ = ["drawn", "header", "nested"]


def header(**changes: object) -> bytes:
    """Return the header of a small reply, changed."""
    return json.dumps({"id": "f/1", "kind": "returned", **changes}).encode()


def drawn(*step: object, values: object = None, **changes: object) -> dict[str, object]:
    """Return a record of one step."""
    source = ["RandomState", "MT19937", None, ""]
    return {"sources": [source], "steps": [list(step)], "values": values, "complete": True, **changes}


def nested(depth: int) -> object:
    """Return a tree of lists in lists."""
    tree: object = {"i": "0x1"}
    for _ in range(depth):
        tree = {"q": ["list", [tree]]}
    return tree
