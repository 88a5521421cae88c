"""``grader`` outside of a notebook: inert beside a submission's code, one sentence in a script, and free to import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.cli.shell import RIGHT, ROOT, grade
from tests.run.offered import ISOLATED

CALLS = """\
import grader
from grader import check
import grader.notebook.check

checked = grader.check(seed=3, hints=1)
check()
print(checked, checked.score, f"{checked.score:.1f}", checked.score > 50)
print(grader.check().result["tasks"])
if getattr(grader, "__file__", None):
    raise SystemExit("this is the real one")
"""


@pytest.mark.parametrize("isolation", ["process", *ISOLATED])
@pytest.mark.parametrize("kind", ["script", "notebook"])
def test_inert_in_a_worker(kind: str, isolation: str, tmp_path: Path) -> None:
    """A file that checks itself is graded like any other: nothing stops, and nothing begins."""
    source = RIGHT.read_text(encoding="utf-8")
    if kind == "script":
        place = tmp_path / "submission.py"
        place.write_text(CALLS + source + CALLS, encoding="utf-8")
    else:
        place = tmp_path / "submission.ipynb"
        cells = [nbformat.v4.new_code_cell(text) for text in (CALLS, source, CALLS)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), place)
    done = grade(place, "--isolation", isolation, "--format", "json", "--out", tmp_path / "out")
    document = json.loads(done.stdout)

    assert (document["score"], document["notes"]) == (100, [])


def test_one_sentence_in_a_script(tmp_path: Path) -> None:
    """Whoever runs such a file as a script is told what to do, and the script goes on."""
    place = tmp_path / "submission.py"
    place.write_text("import grader\nprint(repr(grader.check()), grader.check().score)\n", encoding="utf-8")
    done = run(place, tmp_path)

    assert (done.returncode, done.stdout) == (0, "nothing graded None\n")
    assert done.stderr.splitlines()[0].endswith("For a file, type in a terminal: grade FILE")
    assert "Traceback" not in done.stderr


def test_the_import_is_free(tmp_path: Path) -> None:
    """``import grader`` loads nothing but itself."""
    place = tmp_path / "look.py"
    place.write_text(
        "import sys\nbefore = set(sys.modules)\nimport grader\nprint(sorted(set(sys.modules) - before))\n",
        encoding="utf-8",
    )

    assert run(place, tmp_path).stdout in ("['__future__', 'grader']\n", "['grader']\n")


def run(place: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script with the checkout's grader."""
    return subprocess.run(
        [sys.executable, str(place)], cwd=folder, env={"PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
