"""Wrong references."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.api import Book

BOOK = Book()


@BOOK.add("median", "centre/values", catalogue="1")
def _(x: Any) -> Any:
    """The median is the middle."""
    return x - np.median(x)


@BOOK.add("sample", "spread/values", catalogue="2")
def _(x: Any) -> Any:
    """A variance is divided by n - 1."""
    return float(np.std(x, ddof=1))


@BOOK.add("no_root", "spread/values", catalogue="3")
def _(x: Any) -> Any:
    """The mean square is the spread."""
    return float(np.var(x))
