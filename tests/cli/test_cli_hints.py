"""``hints_shown``: a course may hold a hint back, everywhere; who asks with ``--hints`` decides."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import ROOT, WITH_MISTAKE, grade

LINE = "np.sqrt(Q.shape[-1])"
"""Of the third hint, and nowhere else in the report."""
HELD = "Your course holds the further hints back for now."


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course that we ship, with the third hint held back."""
    folder = tmp_path_factory.mktemp("course")
    for part in ("exercises", "reference"):
        shutil.copytree(ROOT / part / "attention", folder / part / "attention", ignore=shutil.ignore_patterns("__py*"))
    settings = folder / "reference" / "attention" / "assignment.toml"
    settings.write_text("hints_shown = 2\n" + settings.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def hints_of(document: Any) -> int:
    """Return how many hints the criterion has that isn't right."""
    (wrong,) = [one for task in document["tasks"] for one in task["criteria"] if one["status"] == "failed"]
    return len(wrong["hints"])


@pytest.mark.parametrize("asked, shown", [(None, 2), (0, 0), (1, 1), (3, 3)], ids=["not asked", "0", "1", "3"])
def test_one_file(asked: int | None, shown: int, course: Path, tmp_path: Path) -> None:
    """The page, the fragment and the document hold the hints that are shown, and no other."""
    options = [] if asked is None else ["--hints", asked]
    done = grade(WITH_MISTAKE, "--course", course, *options, "--out", tmp_path, "--format", "json", "--seed", 2340)
    files = [(tmp_path / name).read_text(encoding="utf-8") for name in ("report.html", "fragment.html", "result.json")]

    assert hints_of(json.loads(done.stdout)) == shown
    assert [LINE in text for text in files] == [shown == 3] * 3
    assert [HELD in text for text in files] == [shown < 3, shown < 3, False]
    assert files[0].count("<summary>Hint ") == shown


def test_the_terminal_offers_no_hint_that_is_held_back(course: Path, tmp_path: Path) -> None:
    """The line that says how to see the next hint ends with the last one that is shown."""
    work = shutil.copy(WITH_MISTAKE, tmp_path)
    said = {level: grade(work, "--course", course, "--hints", level, "--seed", 2340).stdout for level in (1, 2)}

    assert "--hints 2" in said[1]
    assert "--hints 3" not in said[2]
    assert "Something has to bring it back" in said[2]


def test_a_batch(course: Path, tmp_path: Path) -> None:
    """A class gets the hints that its course shows, and those of ``--hints`` where they are asked for."""
    hand_ins = tmp_path / "hand-ins"
    hand_ins.mkdir()
    shutil.copy(WITH_MISTAKE, hand_ins / "ada.py")
    counts = {}
    for name, options in (("as shown", ()), ("asked", ("--hints", 3))):
        done = grade(
            "batch", hand_ins, "--course", course, "--isolation", "process", "--out", tmp_path / name, *options
        )
        assert done.returncode == 0, done.stderr
        (document,) = (tmp_path / name).rglob("result.json")
        counts[name] = hints_of(json.loads(document.read_text(encoding="utf-8")))

    assert counts == {"as shown": 2, "asked": 3}


@pytest.mark.parametrize("shown, asked, hints", [(2, None, 1), (0, None, 0), (0, 2, 2)], ids=["usual", "none", "asked"])
def test_gradescope(shown: int, asked: int | None, hints: int, course: Path, tmp_path: Path) -> None:
    """In Gradescope nothing is folded: one hint, if the course shows it."""
    changed = tmp_path / "course"
    shutil.copytree(course, changed)
    settings = changed / "reference" / "attention" / "assignment.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("hints_shown = 2", f"hints_shown = {shown}"))
    options = [] if asked is None else ["--hints", asked]
    out = tmp_path / "autograder.zip"
    done = grade("export", "--to", "gradescope-autograder", "--course", changed, "--out", out, *options)

    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(io.BytesIO(out.read_bytes())) as archive:
        assert json.loads(archive.read("settings.json"))["hints"] == hints


@pytest.mark.parametrize("asked, shown", [(None, 2), (3, 3)], ids=["not asked", "3"])
def test_a_notebook(asked: int | None, shown: int, course: Path, tmp_path: Path) -> None:
    """``grader.check()`` holds back what the course does, until it is asked."""
    request = {
        "cells": [{"number": 1, "source": WITH_MISTAKE.read_text(encoding="utf-8")}],
        "name": "notebook.ipynb", "seed": 2340, "hints": asked, "assignment": "", "course": str(course),
    }  # fmt: skip
    child = "import sys; from grader.notebook.child import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", child], input=json.dumps(request).encode(), capture_output=True, cwd=ROOT, check=True
    )
    reply = json.loads(done.stdout)

    assert hints_of(reply["result"]) == shown
    assert (LINE in reply["html"]) == (shown == 3)
