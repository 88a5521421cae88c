"""Verdicts as bytes: what was found of each task, with what that rests on, so that judging again begins with the rest.

Only a saving: without them, or where they don't fit, everything is judged as the first time.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from grader import model
from grader.core.judge import TaskJudgement
from grader.model import Status
from grader.model._data import fields_of, is_data

__all__ = ["dump_judgements", "load_judgements"]

SCHEMA = "grade.judgements/1"

_CLASSES = [kind for kind in vars(model).values() if isinstance(kind, type) and is_data(kind)]
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in (TaskJudgement, *_CLASSES)}


def dump_judgements(mark: str, grounds: Mapping[str, str], found: Mapping[str, TaskJudgement]) -> bytes:
    """Return the bytes of verdicts; the same give the same.

    Args:
        mark: The SHA-256 of the transcript that was judged.
        grounds: What the verdict on each task rests on; one without isn't kept.
        found: The verdicts, by task id.
    """
    tasks = {name: [grounds[name], _tree(part)] for name, part in found.items() if name in grounds}
    return json.dumps([SCHEMA, mark, tasks], separators=(",", ":")).encode()


def load_judgements(content: bytes, mark: str, grounds: Mapping[str, str]) -> dict[str, TaskJudgement]:
    """Read those verdicts of a transcript that still hold, by task id; none if the bytes are of something else."""
    found: dict[str, TaskJudgement] = {}
    try:
        schema, marked, tasks = json.loads(content)
        if (schema, marked) != (SCHEMA, mark):
            return {}
        for name, (rests_on, tree) in tasks.items():
            if rests_on == grounds.get(name):
                part = _built(tree)
                if not isinstance(part, TaskJudgement):
                    return {}
                found[name] = part
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return {}
    return found


def _tree(item: Any) -> Any:
    """Return what JSON has for an item: an object's one key says what it is."""
    kind = type(item)
    if item is None or kind in (bool, int, float, str):
        return item
    if kind is tuple:
        return [_tree(part) for part in item]
    if kind is Status:
        return {"Status": item.value}
    if kind is bytes:
        return {"bytes": base64.b64encode(item).decode()}
    if kind.__name__ not in _KINDS:
        raise TypeError(f"no {kind.__name__} belongs into a verdict")
    parts = {name: (getattr(item, name), default) for name, default in fields_of(kind).items()}
    return {kind.__name__: {name: _tree(value) for name, (value, default) in parts.items() if value is not default}}


def _built(tree: Any) -> Any:
    kind = type(tree)
    if kind is list:
        return tuple([_built(part) for part in tree])
    if kind is not dict:
        return tree
    ((name, body),) = tree.items()
    if name == "Status":
        return Status(body)
    if name == "bytes":
        return base64.b64decode(body, validate=True)
    return _KINDS[name](**{field: _built(part) for field, part in body.items()})
