"""Which of a submission's names is meant by a function of the assignment."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

__all__ = ["MAX_NAMES", "MAX_NAME_LENGTH", "near_misses"]

MAX_NAMES = 1_000
MAX_NAME_LENGTH = 100


def near_misses(wanted: str, names: Iterable[str], taken: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names that look like a slip of ``wanted``: other case, underscores, a letter or two.

    Names of other functions of the assignment (``taken``) are never candidates. Long names, and more than
    a thousand, are left out before anything is compared: similarity is quadratic in length.
    """
    exclude = {*taken, wanted}
    candidates = [name for name in list(names)[:MAX_NAMES] if len(name) <= MAX_NAME_LENGTH and name not in exclude]
    target = _plain(wanted)
    same = [name for name in candidates if _plain(name) == target]
    if same:
        return tuple(sorted(same))
    return tuple(
        sorted(name for name in candidates if difflib.SequenceMatcher(None, _plain(name), target).ratio() >= 0.9)
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
