"""What tests of batches share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.batch.course import write_course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course of one function."""
    return write_course(tmp_path_factory.mktemp("course"))
