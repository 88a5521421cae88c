"""What tests that start workers share."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.run.isolation import open_backend
from tests.run.arena import CHOSEN, children


@pytest.fixture(autouse=True, scope="session")
def _chosen_backend(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run all these tests with the backend of ``--isolation``."""
    name = str(request.config.getoption("--isolation"))
    with open_backend(name, purpose="own file") as backend:  # type: ignore[arg-type]  # one of the option's choices
        CHOSEN[0] = backend
        yield


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
