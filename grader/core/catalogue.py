"""Texts that people read: a key and its parameters become a sentence, once.

A placeholder is ``{name}`` and nothing more: no attribute, index or format is ever looked up, so a
parameter that came from a submission can't reach anything. Parameters are inserted as they are and
never read again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.model import Param, Params

__all__ = ["Catalogue", "placeholders", "show"]

_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


def show(value: Param) -> str:
    """Write a parameter as people read it: floats with six significant digits."""
    return f"{value:.6g}" if type(value) is float else str(value)


def placeholders(text: str) -> frozenset[str]:
    """Names of the placeholders in ``text``."""
    return frozenset(_PLACEHOLDER.findall(text))


class Catalogue:
    """Looks texts up and fills them in."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def render(self, key: str, params: Params = ()) -> str:
        """Return the text of ``key`` with its placeholders filled. Raises KeyError for an unknown key."""
        known = {name: show(value) for name, value in params}
        return _PLACEHOLDER.sub(lambda m: known.get(m[1], m[0]), self._texts[key])

    def get(self, key: str, params: Params = ()) -> str:
        """As ``render``, but the empty string for an unknown key."""
        return self.render(key, params) if key in self._texts else ""
