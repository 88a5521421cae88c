"""Real submissions whose mistake nobody foresaw: each is one group, whatever its seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.core.alike import unexplained
from grader.intake import read_submission
from tests.pipeline.bench import graded

HEAD = "import numpy as np\n\ndef softmax(x, axis=-1):\n    e = np.exp(x - x.max(axis=axis, keepdims=True))\n"
PROGRAMS = {
    "peaked": HEAD + "    e = e ** 3\n    return e / e.sum(axis=axis, keepdims=True)\n",
    "squared_sum": HEAD + "    return e / e.sum(axis=axis, keepdims=True) ** 2\n",
    "cosine": HEAD + "    return np.cos(3 * x)\n",
    "raises": HEAD + "    raise ValueError(f'no softmax of shape {x.shape}')\n",
}
SEEDS = (1, 2)


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[tuple[tuple[str, str], ...]]]:
    """What each program's results come to."""
    found: dict[str, set[tuple[tuple[str, str], ...]]] = {}
    for name, source in PROGRAMS.items():
        path: Path = tmp_path_factory.mktemp(name) / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        found[name] = {unexplained(graded(read_submission(path), seed)[1]) for seed in SEEDS}
    return found


def test_a_program_is_one_group(groups: dict[str, set[tuple[tuple[str, str], ...]]]) -> None:
    """Two seeds, one group, of the criterion that leads the task."""
    assert {name: len(found) for name, found in groups.items()} == dict.fromkeys(PROGRAMS, 1)
    assert {entry[0] for found in groups.values() for entries in found for entry in entries} == {"softmax/values"}


def test_different_programs_are_different_groups(groups: dict[str, set[tuple[tuple[str, str], ...]]]) -> None:
    """Four mistakes, four groups."""
    assert len(set.union(*groups.values())) == len(PROGRAMS)
