"""What tests that start workers share."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run.arena import children


@pytest.fixture
def nothing_stays(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hold for a test: no process and no temporary folder is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # A fixture of the module may have a worker of its own.
    before = children()
    yield
    left = children() - before
    deadline = time.monotonic() + 5
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = children() - before
    assert left == set()
    assert [path for path in tmp_path.iterdir() if path.name.startswith("grade-")] == []
