"""Reads the little that is needed of a YAML sheet written by Ruby, event by event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from grader.errors import ArchiveError

if TYPE_CHECKING:
    import yaml

__all__ = ["read_sheet"]

KEPT = frozenset({"submitters", "created_at", "name", "email", "sid"})
"""Keys whose values are kept; results and histories, which are most of a sheet, are passed over."""

_MAX_TEXT = 300
_MAX_ANCHORS = 100_000
_MAX_DEPTH = 8

_Value = object  # a text, or a list or dict of values


def read_sheet(content: bytes, shown: str) -> dict[str, dict[str, object]]:
    """Return the sheet's top level mapping: of each value that is a mapping, the keys of ``KEPT``, without the colon.

    All scalars are texts as they stand there: ``007`` stays a student's number, and no tag means anything. What an
    alias stands for is shared, never copied, and merge keys aren't followed, so that nothing grows.

    Raises:
        ArchiveError: If it is no YAML, or PyYAML isn't installed.
    """
    try:
        import yaml  # only where a Gradescope export is read: it belongs to an extra
    except ImportError as error:
        raise ArchiveError(
            "Reading a Gradescope export needs the package PyYAML.", hint="Install it: pip install 'numgrade[lms]'"
        ) from error
    # libyaml's parser is ten times as fast, but not in every build.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder(iter(yaml.parse(content, Loader=loader))).sheet()
    except (yaml.YAMLError, UnicodeError, RecursionError, StopIteration) as error:
        raise ArchiveError(
            f"{shown} can't be read: it is no YAML that Gradescope writes.", hint="Export the submissions again."
        ) from error


class _Builder:
    """Builds values of parser events. What stands under an anchor is known by it once it is complete."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events
        self._anchors: dict[str, _Value] = {}

    def sheet(self) -> dict[str, dict[str, object]]:
        import yaml

        found: dict[str, dict[str, object]] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingStartEvent):
                break
            if isinstance(event, (yaml.ScalarEvent, yaml.SequenceStartEvent)):
                raise yaml.YAMLError("no mapping")
        else:
            raise yaml.YAMLError("no mapping")
        while (key := self._key()) is not None:
            value = self._value(next(self._events), 0)
            if isinstance(value, dict) and key not in found:
                found[key] = value
        return found

    def _key(self) -> str | None:
        """Return a mapping's next key as text (``""``: it is none), or None at its end."""
        import yaml

        event = next(self._events)
        if isinstance(event, yaml.MappingEndEvent):
            return None
        value = self._value(event, _MAX_DEPTH)
        return value.removeprefix(":") if isinstance(value, str) else ""

    def _value(self, event: yaml.Event, depth: int) -> _Value:
        import yaml

        if isinstance(event, yaml.AliasEvent):
            return self._anchors.get(event.anchor or "")
        value: _Value = None
        if isinstance(event, yaml.ScalarEvent):
            # A plain null, or ~, is Ruby's nil.
            value = "" if event.implicit[0] and event.value in ("~", "null") else event.value[:_MAX_TEXT]
        elif depth >= _MAX_DEPTH:
            self._pass_over()
        elif isinstance(event, yaml.SequenceStartEvent):
            items: list[_Value] = []
            while not isinstance(inner := next(self._events), yaml.SequenceEndEvent):
                items.append(self._value(inner, depth + 1))
            value = items
        elif isinstance(event, yaml.MappingStartEvent):
            fields: dict[str, _Value] = {}
            while (key := self._key()) is not None:
                inner_value = self._value(next(self._events), depth + 1 if key in KEPT else _MAX_DEPTH)
                if key in KEPT:
                    fields.setdefault(key, inner_value)
            value = fields
        anchor = getattr(event, "anchor", None)
        if anchor and len(self._anchors) < _MAX_ANCHORS:
            self._anchors[anchor] = value
        return value

    def _pass_over(self) -> None:
        """Leave out the collection that has just begun; texts in it may be meant by aliases further on."""
        import yaml

        depth = 1
        while depth:
            event = next(self._events)
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            elif isinstance(event, yaml.ScalarEvent) and event.anchor and len(self._anchors) < _MAX_ANCHORS:
                self._anchors[event.anchor] = event.value[:_MAX_TEXT]
