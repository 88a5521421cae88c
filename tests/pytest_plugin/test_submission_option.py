"""``pytest --submission FILE``: real runs of pytest in a folder of their own, and what their JUnit files say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from junitparser import Error, Failure
from junitparser.xunit2 import JUnitXml

ROOT = Path(__file__).resolve().parents[2]
WITH_MISTAKE = ROOT / "examples" / "with_mistake.py"
CRITERIA = 17
SEED = "2340"

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that tells pytest of the plugin as an installation does: by our entry point."""
    site = tmp_path_factory.mktemp("site")
    info = site / "numgrade-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: numgrade\nVersion: 0\n", encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r"^\[project\.entry-points\.pytest11\]\n(numgrade) = \"(\S+)\"$", project, re.M)
    assert found is not None
    (info / "entry_points.txt").write_text(f"[pytest11]\n{found[1]} = {found[2]}\n", encoding="utf-8")
    return site


@pytest.fixture
def run(tmp_path: Path, site: Path) -> Run:
    """Return what runs pytest in ``tmp_path``, and holds that it never shows a traceback of ours."""

    def run(*words: object, **environment: str) -> Done:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", *map(str, words)],
            cwd=tmp_path,
            env={**kept, "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)]), "COLUMNS": "120", **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=100,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert "Traceback" not in done.stdout + done.stderr
        assert "grader/" not in done.stdout
        return done

    return run


@pytest.fixture
def mistake(tmp_path: Path) -> Path:
    """Return the example with a mistake in the folder that pytest runs in."""
    return Path(shutil.copy(WITH_MISTAKE, tmp_path / "work.py"))


def cases(path: Path) -> dict[str, Any]:
    """Read a JUnit file back."""
    return {f"{case.classname}.{case.name}": case for suite in JUnitXml.fromfile(str(path)) for case in suite}


def properties(case: Any) -> dict[str, str]:
    """Return the properties of a case."""
    return {entry.name: entry.value for entry in case.properties()}


def test_one_item_a_criterion(run: Run, mistake: Path, tmp_path: Path) -> None:
    """The file's one mistake is one failure, with our words and the points in JUnit's properties."""
    done = run("--submission", mistake.name, "--junit-xml=out.xml", "--grade-seed", SEED)
    found = cases(tmp_path / "out.xml")

    assert done.returncode == 1, done.stdout
    assert len(found) == CRITERIA
    assert "85 of 100 points" in done.stdout
    assert f"--grade-seed {SEED}" in done.stdout
    (wrong,) = [case for case in found.values() if case.result]
    assert (wrong.classname, wrong.name) == ("work", "attention.weights")
    (failure,) = wrong.result
    assert isinstance(failure, Failure)
    assert "too peaked" in failure.message
    assert "Next step:" in failure.text
    assert "0 / 15 points" in failure.text
    assert properties(wrong) | {"isolation": ""} == {
        "criterion": "attention/weights", "status": "failed", "points": "0", "max_points": "15",
        "seed": SEED, "isolation": "",
    }  # fmt: skip
    assert sum(float(properties(case)["points"]) for case in found.values()) == 85


def test_gitlab_takes_the_file(run: Run, mistake: Path, tmp_path: Path) -> None:
    """Below 30 MB, an ``.xml``, no two cases of one name (GitLab ignores the second), few objects."""
    run("--submission", mistake.name, "--junit-xml=out.xml", "--grade-seed", SEED)
    path = tmp_path / "out.xml"
    names = [(case.classname, case.name) for suite in JUnitXml.fromfile(str(path)) for case in suite]

    assert path.stat().st_size < 30_000_000
    assert len(set(names)) == len(names) == CRITERIA
    assert path.read_text(encoding="utf-8").count("<") < 250_000


def test_nothing_else_is_collected(run: Run, mistake: Path, tmp_path: Path) -> None:
    """Tests that lie there are left alone, and neither they nor the submission's folder run code in pytest."""
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n", encoding="utf-8")
    (tmp_path / "conftest.py").write_text("open('loaded', 'w').close()\n", encoding="utf-8")
    text = mistake.read_text(encoding="utf-8")
    mistake.write_text(text + "\nimport os\nopen('ran', 'w').close()\n", encoding="utf-8")

    done = run("--submission", mistake.name, "--co", "-q")

    assert done.returncode == 0
    ids = [line for line in done.stdout.splitlines() if "/" in line]
    assert len(ids) == CRITERIA
    assert ids[0] == "softmax/values"
    assert "test_other" not in done.stdout
    run("--submission", mistake.name, "-k", "softmax")
    assert not (tmp_path / "loaded").exists()
    assert not (tmp_path / "ran").exists()


def test_paths_are_collected_too(run: Run, mistake: Path, tmp_path: Path) -> None:
    """A path that is given has its say beside the submission."""
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n", encoding="utf-8")

    done = run("--submission", mistake.name, "test_other.py", "-k", "other or kept", "-v")

    assert done.returncode == 0, done.stdout
    assert "test_other.py::test_other PASSED" in done.stdout
    assert "attention/kept PASSED" in done.stdout
    assert "2 passed" in done.stdout


@pytest.mark.parametrize(
    "words, passed, failed",
    [(("-k", "weights"), 0, 1), (("-x",), 6, 1), (("--deselect", "attention/weights"), 16, 0)],
    ids=["k", "x", "deselect"],
)
def test_options_of_pytest(run: Run, mistake: Path, words: tuple[str, ...], passed: int, failed: int) -> None:
    """They work as they do for any test."""
    done = run("--submission", mistake.name, *words)

    assert done.returncode == (1 if failed else 0)
    assert f"{failed} failed" in done.stdout or not failed
    assert f"{passed} passed" in done.stdout or not passed


@pytest.mark.slow
def test_several_workers_grade_once(run: Run, mistake: Path) -> None:
    """With pytest-xdist the controller grades, and every worker tells of the same run."""
    done = run("--submission", mistake.name, "-n", "2", "--junit-xml=out.xml")
    found = cases(mistake.parent / "out.xml")

    assert done.returncode == 1, done.stdout
    assert len(found) == CRITERIA
    assert len({properties(case)["seed"] for case in found.values()}) == 1
    assert "1 failed, 16 passed" in done.stdout


def test_missing_and_blocked_fail(run: Run, tmp_path: Path) -> None:
    """What isn't there or waits is a failure that says so; hidden criteria say no more than their verdict."""
    (tmp_path / "empty.py").write_text("softmax = 3\n", encoding="utf-8")
    run("--submission", "empty.py", "--junit-xml=out.xml")
    found = cases(tmp_path / "out.xml")

    assert {properties(case)["status"] for case in found.values()} <= {"missing", "failed", "blocked"}
    assert all(isinstance(case.result[0], Failure) for case in found.values())
    assert all(case.result[0].text.strip() for case in found.values())


def test_our_fault_is_an_error(run: Run, mistake: Path, tmp_path: Path) -> None:
    """A check of a course that stops working costs nobody a point: an error, and no failure."""
    course = tmp_path / "course"
    shutil.copytree(ROOT / "tests" / "checkcourse" / "course", course)
    checks = course / "reference" / "spread" / "checks.py"
    text = checks.read_text(encoding="utf-8")
    checks.write_text(re.sub(r"(def judge\(.*\n)", r"\1        raise RuntimeError('broken')\n", text), encoding="utf-8")
    shutil.copy(course / "reference/spread/solution.py", tmp_path / "spread.py")

    done = run("--submission", "spread.py", "--course", "course", "--junit-xml=out.xml")
    found = cases(tmp_path / "out.xml")

    assert done.returncode == 1, done.stdout
    assert found
    assert all(isinstance(case.result[0], Error) for case in found.values())
    assert "no points lost" in done.stdout
    assert all(properties(case)["points"] == "" for case in found.values())


def test_text_of_a_file_stays_text(run: Run, tmp_path: Path) -> None:
    """Control characters and markup in an exception's message break neither terminal nor XML."""
    (tmp_path / "loud \x1b].py").write_text(
        "def softmax(x, axis=-1):\n    raise ValueError('\\x1b[31m <b> ]]> \\x00 & \\ud800 \\u202e')\n",
        encoding="utf-8",
    )
    done = run("--submission", "loud \x1b].py", "--junit-xml=out.xml", "-k", "softmax", "--color=no")
    found = cases(tmp_path / "out.xml")

    assert {case.classname for case in found.values()} == {"loud_"}
    assert not re.search("[\x00-\x08\x1b\u202e]", done.stdout)
    assert "<b> ]]>" in next(iter(found.values())).result[0].text


@pytest.mark.parametrize(
    "words, says",
    [
        (("--submission", "nowhere.py"), "There is no file"),
        (("--submission", "notes.txt"), "neither a .py nor an .ipynb"),
        (("--submission", "work.py", "--course", "nowhere"), "no such folder"),
        (("--submission", "work.py", "--assignment", "nothing"), "no assignment 'nothing'"),
        (("--submission", "work.py", "--grade-seed", "-3"), "is no seed"),
        (("--submission", "work.py", "--isolation", "magic"), "invalid choice"),
    ],
)
def test_wrong_usage_is_one_sentence(
    run: Run, mistake: Path, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    """As with any wrong option, pytest ends with its code 4."""
    (tmp_path / "notes.txt").write_text("", encoding="utf-8")
    done = run(*words)

    assert done.returncode == 4
    assert says in done.stderr


def test_inert_without_the_option(run: Run, tmp_path: Path) -> None:
    """Another project with options of our names notices nothing: no option, and no module of ours."""
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n"
        "    for name in ('--submission', '--course', '--assignment', '--isolation', '--grade-seed'):\n"
        "        parser.addoption(name)\n",
        encoding="utf-8",
    )
    (tmp_path / "test_other.py").write_text(
        "import sys\n"
        "def test_other(request):\n"
        "    assert request.config.pluginmanager.has_plugin('numgrade')\n"
        "    ours = {name for name in sys.modules if name.split('.')[0] == 'grader'}\n"
        "    assert ours == set()\n"
        "    assert 'numpy' not in sys.modules\n",
        encoding="utf-8",
    )
    done = run("-p", "no:hypothesispytest")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_the_environment_may_name_it(run: Run, mistake: Path) -> None:
    """PYTEST_ADDOPTS is part of the command line."""
    done = run("-q", "--co", PYTEST_ADDOPTS=f"--submission={mistake.name}")

    assert done.returncode == 0, done.stderr
    assert "attention/weights" in done.stdout


def test_a_package_of_our_name_is_found(run: Run, tmp_path: Path) -> None:
    """A project that has its own package `grader` tests that one, and not ours."""
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader" / "__init__.py").write_text("WHOSE = 'theirs'\n", encoding="utf-8")
    (tmp_path / "conftest.py").write_text("", encoding="utf-8")  # pytest then looks into this folder first
    (tmp_path / "test_other.py").write_text(
        "import grader\ndef test_other():\n    assert grader.WHOSE == 'theirs'\n", encoding="utf-8"
    )

    assert run().returncode == 0
