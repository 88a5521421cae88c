"""The tutorial for authors: the course that it prints is whole, and grades."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`([a-z_]+/[\w./]+)`\n\n```[a-z]+\n(.*?)^```$", re.M | re.S)

RIGHT = """\
import numpy as np
def center(X):
    return np.array([[x - sum(column) / len(X) for x, column in zip(row, zip(*X))] for row in X])
def covariance(X):
    return np.cov(X, rowvar=False)
"""
ROWS = """\
def center(X):
    return X - X.mean(axis=1, keepdims=True)
def covariance(X):
    A = center(X)
    return A.T @ A / (len(X) - 1)
"""
IN_PLACE = """\
def center(X):
    X -= X.mean(axis=0)
    return X
def covariance(X):
    A = center(X)
    return A.T @ A / len(X)
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write every file that the page prints."""
    folder = tmp_path_factory.mktemp("course")
    for name, text in FILE.findall(PAGE):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line of the checkout."""
    command = [sys.executable, "-m", "grader", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def graded(course: Path, folder: Path, source: str) -> Any:
    """Grade a file with the page's course and return the document."""
    path = folder / "work.py"
    path.write_text(source, encoding="utf-8")
    done = run(str(path), "--course", str(course), "--seed", "5", "--format", "json", "--out", str(folder / "out"))
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def criteria(document: Any) -> dict[str, float]:
    """Return the points of each criterion."""
    return {
        f"{task['id']}/{criterion['id']}": criterion["score"]
        for task in document["tasks"]
        for criterion in task["criteria"]
    }


FULL = {"center/values": 6, "center/kept": 2, "center/single": 2, "covariance/values": 10}


def test_the_page_prints_a_whole_course(course: Path) -> None:
    """Every file that an assignment needs is on the page."""
    files = {path.relative_to(course).as_posix() for path in course.rglob("*") if path.is_file()}
    names = ("__init__.py", "assignment.toml", "checks.py", "feedback.en.toml", "misconceptions.py", "solution.py")

    assert {f"reference/center/{name}" for name in names} < files
    assert {"exercises/center/submission.py", "reference/center/stand_ins/center.py"} < files


def test_a_right_file_gets_all_points(course: Path, tmp_path: Path) -> None:
    """Another style than the solution's is right as well."""
    assert criteria(graded(course, tmp_path, RIGHT)) == FULL


def test_a_mistake_is_named_and_paid_for_once(course: Path, tmp_path: Path) -> None:
    """Who takes means of rows loses that task, with its name, and not the one that calls the function."""
    document = graded(course, tmp_path, ROWS)

    assert criteria(document) == {**FULL, "center/values": 0, "center/kept": 0, "center/single": 0}
    assert [task["misconceptions"][0]["id"] if task["misconceptions"] else "" for task in document["tasks"]] == [
        "center_rows",
        "",
    ]


def test_other_criteria_work_too(course: Path, tmp_path: Path) -> None:
    """A changed input costs its own points, and the second task has its own mistakes."""
    document = graded(course, tmp_path, IN_PLACE)

    assert criteria(document) == {**FULL, "center/kept": 0, "covariance/values": 0}
    assert document["tasks"][1]["misconceptions"][0]["id"] == "covariance_n"


def test_the_handout_gets_nothing(course: Path, tmp_path: Path) -> None:
    """What is handed out counts as not started."""
    document = graded(course, tmp_path, (course / "exercises/center/submission.py").read_text(encoding="utf-8"))

    assert [task["status"] for task in document["tasks"]] == ["missing", "missing"]


def test_its_look_is_its_own(course: Path, tmp_path: Path) -> None:
    """The page's style sheet and template are used, and ours fill in the rest."""
    graded(course, tmp_path, ROWS)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)

    assert "--link: #6a1b9a" in style
    assert style.index("--link: #6a1b9a") > style.index("--link: #005a9c")
    assert page.count("Numerics for everyone, winter term</p>") == 1
    assert "<p>Questions about work.py? Come to the tutorial on Thursday.</p>" in page
    assert "Next step:" in page


def test_the_course_proves_itself(course: Path) -> None:
    """``grade check-course`` has nothing to complain of."""
    done = run("check-course", str(course))

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "All proofs hold." in done.stdout


def test_the_page_s_tables_name_every_key() -> None:
    """Each key of a criterion and of a task in ``assignment.toml`` stands on the page."""
    from grader.course import spec

    words = set(re.findall(r"[a-z_]+", PAGE))

    assert (spec._TOP | spec._TASK | spec._CRITERION) - words == set()
