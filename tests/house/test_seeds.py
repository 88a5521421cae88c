"""The score of a file is the same for every seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import grade

POINTS = {"right.py": 100, "right.ipynb": 100, "with_mistake.py": 85, "with_mistake.ipynb": 85}
SEEDS = range(12)


def score(root: Path, folder: Path, name: str, seed: int) -> float:
    """Grade an example with a seed and return its points."""
    done = grade(f"examples/{name}", "--seed", seed, "--out", folder, "--format", "json", cwd=root)
    assert (done.returncode, done.stderr) == (0, "")
    points = json.loads(done.stdout)["score"]
    assert isinstance(points, (int, float))
    return points


@pytest.mark.slow
@pytest.mark.parametrize("name", POINTS, ids=POINTS)
def test_no_seed_changes_a_score(root: Path, tmp_path: Path, name: str) -> None:
    """Whoever draws other inputs gets the same points: luck is no part of a grade."""
    found = {seed: score(root, tmp_path, name, seed) for seed in SEEDS}

    assert found == dict.fromkeys(SEEDS, POINTS[name])
