"""What all tests share: golden files, a clean environment and Hypothesis's settings."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

GOLDEN = Path(__file__).parent / "golden"
ENVIRONMENT = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONIOENCODING")
"""What the machine's own settings could change in what the grader prints."""

# Tests start hundreds of processes: where none may keep what it compiled, that takes half of their time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No test asserts a time, and on a build machine the same commit draws the same examples.
hypothesis.settings.register_profile("laptop", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "laptop")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options: golden files, pictures of pages, and which backend is tested."""
    parser.addoption(
        "--isolation",
        choices=("process", "landlock", "namespaces"),
        default="process",
        help="how the tests in tests/run keep student code apart",
    )
    parser.addoption(
        "--screenshots", type=Path, help="keep pictures of the pages that browser tests open in this folder"
    )
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew instead of comparing")


LONGEST = (
    "test_attacks", "test_shipped", "test_killed", "test_reports_for_everyone", "test_misconceptions",
    "test_class_page_opens", "test_whole_walk", "test_lti_whole_way", "test_engines", "test_submissions", "test_rates",
    "test_web_walk", "test_troubled", "test_loading", "test_calls", "test_lti_frames", "test_programs", "test_seeds",
)  # fmt: skip
"""Modules that take longest together, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that none of several processes is left alone with it at the end."""
    rank = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))


class Golden:
    """Compares a text with a file under ``tests/golden``."""

    def __init__(self, folder: Path, *, update: bool) -> None:
        self.folder, self.update = folder, update

    def __call__(self, name: str, text: str) -> None:
        """Fail with a diff unless ``text`` is the content of the file ``name``, to the byte."""
        __tracebackhide__ = True
        path = self.folder / name
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            return
        if not path.is_file():
            pytest.fail(f"{path} isn't there yet: look at what it would hold, then run pytest --update-golden")
        expected = path.read_bytes().decode()
        if text != expected:
            lines = difflib.unified_diff(expected.splitlines(), text.splitlines(), name, "now", lineterm="", n=2)
            shown = "\n".join(list(lines)[:60]) or "they differ in line ends only"
            pytest.fail(f"{name} differs; if the new text is right, run pytest --update-golden\n{shown}", pytrace=False)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Return what compares a text with a golden file: ``golden("page.html", text)``."""
    return Golden(GOLDEN, update=bool(request.config.getoption("--update-golden")))


@pytest.fixture(autouse=True, scope="session")
def _clean_environment() -> Iterator[None]:
    """Take settings of the machine that change what is printed out of the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ENVIRONMENT:
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the checkout."""
    return Path(__file__).resolve().parent.parent
