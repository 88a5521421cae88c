"""What tests that start workers share."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.run.isolation import open_backend
from tests.run.arena import CHOSEN, children

NAMED = ("test_lockdown", "test_zygotes")
"""Modules that open the backends which they are about themselves."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another ``--isolation`` changes nothing of: modules that start no worker, or name its backend."""
    if config.getoption("--isolation") == "process":
        return
    here = Path(__file__).parent
    left = [item for item in items if item.path.parent == here and not _depends(item)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


def _depends(item: pytest.Item) -> bool:
    module = getattr(item, "module", None)
    return hasattr(module, "arena") and item.path.stem not in NAMED


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
