"""What tests of courses share."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _forget_courses() -> Iterator[None]:
    """Take the private packages of a test's own courses out of ``sys.modules`` again."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("_course_"):
            del sys.modules[name]
