"""What tests that start workers share."""

from __future__ import annotations

import contextlib
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


def _new(before: set[int]) -> dict[int, str]:
    """Return new processes with what they are, but for those that a browser of other tests starts when it likes to."""
    found = {}
    for pid in children() - before:
        with contextlib.suppress(OSError):
            found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return {pid: command for pid, command in found.items() if "/chromium" not in command}


@pytest.fixture
def nothing_stays(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hold for a test: no process and no temporary folder is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # A fixture of the module may have a worker of its own.
    before = children()
    yield
    left = _new(before)
    deadline = time.monotonic() + 5
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = _new(before)
    assert left == {}
    assert [path for path in tmp_path.iterdir() if path.name.startswith("grade-")] == []
