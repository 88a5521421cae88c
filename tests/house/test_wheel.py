"""What a wheel holds, built the way that pip builds it: from the sdist."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

import grader
from grader.gradescope import build_autograder

FOLDERS = ("exercises", "reference", "reports")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build sdist and wheel; return the folder that they lie in."""
    root = Path(__file__).resolve().parents[2]
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> frozenset[str]:
    """Return the names of the wheel's files."""
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return frozenset(archive.namelist())


def checkout(root: Path, folder: str) -> set[str]:
    """Return the files of a folder that belong into a wheel."""
    return {
        path.relative_to(root).as_posix()
        for path in (root / folder).rglob("*")
        if path.is_file()
        and not any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(root).parts)
        and path.suffix != ".pyc"
        and not path.name.endswith("-report.html")
    }


def test_one_name_in_site_packages(wheel: frozenset[str]) -> None:
    """An installation adds ``grader`` and its metadata, nothing else."""
    tops = {PurePosixPath(name).parts[0] for name in wheel}

    assert tops == {"grader", f"numgrade-{grader.__version__}.dist-info"}


def test_the_engine_is_whole(wheel: frozenset[str], root: Path) -> None:
    """Every file of the package is in the wheel, with the marker for type checkers."""
    assert checkout(root, "grader") <= wheel
    assert "grader/py.typed" in wheel


@pytest.mark.parametrize("folder", FOLDERS, ids=FOLDERS)
def test_the_course_is_whole(wheel: frozenset[str], root: Path, folder: str) -> None:
    """Every file of the course lies below ``grader``, and at least one is there."""
    expected = {f"grader/{name}" for name in checkout(root, folder)}

    assert expected
    assert expected <= wheel


def test_the_schema_is_there(wheel: frozenset[str]) -> None:
    """The JSON Schema of result.json travels with the package."""
    assert "grader/render/result.schema.json" in wheel


def test_nothing_else(wheel: frozenset[str]) -> None:
    """No tests, bytecode or reports of somebody's run are in the wheel."""
    wrong = {
        name
        for name in wheel
        if any(part in ("tests", "examples", "__pycache__") or part.startswith(".") for part in name.split("/"))
        or name.endswith((".pyc", "-report.html"))
    }

    assert wrong == set()


def test_the_command_is_there(built: Path) -> None:
    """The wheel brings the command ``grade``."""
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        text = archive.read(f"numgrade-{grader.__version__}.dist-info/entry_points.txt").decode()

    assert "grade = grader.cli:main" in text.splitlines()


def test_the_wheel_grades(built: Path, tmp_path: Path, root: Path) -> None:
    """What lies in the wheel is enough to grade, away from any checkout."""
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "site")
    target = tmp_path / "right.py"
    target.write_bytes((root / "examples" / "right.py").read_bytes())
    command = [sys.executable, "-m", "grader", str(target), "--seed", "1"]
    done = subprocess.run(
        command, cwd=tmp_path / "site", capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "100 of 100 points" in done.stdout
    assert (tmp_path / "right-report.html").stat().st_size > 1_000


def test_the_wheel_makes_the_same_autograder(built: Path, tmp_path: Path) -> None:
    """An installation makes the archive that a checkout makes, to the byte."""
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "site")
    command = [sys.executable, "-m", "grader", "export", "--to", "gradescope-autograder", "--out", "../made.zip"]
    done = subprocess.run(
        command, cwd=tmp_path / "site", capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )

    assert (done.returncode, done.stderr) == (0, "")
    with zipfile.ZipFile(tmp_path / "made.zip") as made, zipfile.ZipFile(io.BytesIO(build_autograder())) as ours:
        assert made.namelist() == ours.namelist()
        assert [name for name in ours.namelist() if made.read(name) != ours.read(name)] == []
    assert (tmp_path / "made.zip").read_bytes() == build_autograder()


def test_the_wheel_brings_the_plugin(built: Path, tmp_path: Path, root: Path) -> None:
    """Pytest finds ``--submission`` by the wheel's entry point."""
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "site")
    (tmp_path / "alone").mkdir()
    command = [sys.executable, "-P", "-m", "pytest", "-q", "--submission", str(root / "examples" / "right.py")]
    done = subprocess.run(
        command,
        cwd=tmp_path / "alone",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "100 of 100 points" in done.stdout


def test_the_sdist_has_all_for_the_tests(built: Path) -> None:
    """A packager can run the tests from the sdist."""
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    wanted = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "tests/conftest.py", "docs/cli.md"}
    assert wanted | {"tests/house/test_wheel.py", "examples/right.py"} <= names
