"""What kernels of tests find and leave: the checkout, and a folder of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notebook.jupyter import Notebook, notebook

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what IPython and Jupyter write away from whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        patch.setenv("PYTHONPATH", str(ROOT))
        for name in ("JPY_SESSION_NAME", "JUPYTER_PLATFORM_DIRS"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def jupyter(tmp_path: Path) -> Iterator[Notebook]:
    """Return a notebook that nothing was run in yet."""
    with notebook(tmp_path) as made:
        yield made
