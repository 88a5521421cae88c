"""The autograder.zip in a tree laid out as Gradescope's documentation says: set up once, run for each submission."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader.errors import CourseError
from grader.gradescope import build_autograder
from grader.gradescope.submission import find_submission
from tests.render.schemas import GRADED, GRADESCOPE, strict

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SMALL = ROOT / "tests" / "checkcourse" / "course"
Done = subprocess.CompletedProcess[str]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Gradescope's images are Linux")


def script(root: Path, path: Path, **more: str) -> Done:
    """Run one of the two scripts as Gradescope does, with ``root`` in the place of /autograder."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        ["bash", str(path)],
        cwd=root,
        env={**kept, "AUTOGRADER_ROOT": str(root), **more},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def set_up(root: Path, content: bytes) -> Path:
    """Unpack the archive and run ``setup.sh`` without its network part: this Python has the packages."""
    source = root / "source"
    for folder in (source, root / "results"):
        folder.mkdir(parents=True)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(source)
    done = script(root, source / "setup.sh", AUTOGRADER_PYTHON=sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.copy(source / "run_autograder", root / "run_autograder")
    return root


@pytest.fixture(scope="session")
def autograder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return /autograder with the course that we ship."""
    return set_up(tmp_path_factory.mktemp("gradescope") / "auto grader", build_autograder())


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return /autograder with a small course."""
    return set_up(tmp_path_factory.mktemp("small") / "autograder", build_autograder(SMALL))


@pytest.fixture
def root(small: Path, tmp_path: Path) -> Path:
    """Return a copy of it, which may be broken."""
    return Path(shutil.copytree(small, tmp_path / "autograder"))


def run(root: Path, files: Mapping[str, str | bytes]) -> tuple[Done, Any]:
    """Hand files in, and return what was printed and what results.json holds."""
    folder = root / "submission"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    metadata = {
        "id": 123456,
        "created_at": "2026-11-30T12:00:00.000000-08:00",
        "assignment": {"id": 1, "title": "Attention", "total_points": "100.0", "due_date": "2026-12-01T00:00:00"},
        "submission_method": "upload",
        "users": [{"id": 1, "email": "student@example.org", "name": "A Student"}],
        "previous_submissions": [],
    }
    (root / "submission_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    done = script(root, root / "run_autograder")
    assert "Traceback" not in done.stdout + done.stderr
    return done, strict((root / "results" / "results.json").read_text(encoding="utf-8"))


def graded(document: Any) -> Any:
    """Hold the strict schema of a result with a score."""
    jsonschema.Draft202012Validator(GRADED).validate(document)
    return document


def example(name: str) -> bytes:
    """Return an example of ours."""
    return (EXAMPLES / name).read_bytes()


# ---------------------------------------------------------------- the archive


def test_the_archive_is_as_gradescope_wants_it() -> None:
    """Both scripts lie at the root and can be run; dates and order are fixed; nothing of a machine is in it."""
    content = build_autograder()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        modes = {name: archive.getinfo(name).external_attr >> 16 for name in names}
        settings = json.loads(archive.read("settings.json"))
        dates = {info.date_time for info in archive.infolist()}

    assert {name for name in names if "/" not in name} == {
        "requirements.txt", "run_autograder", "settings.json", "setup.sh",
    }  # fmt: skip
    assert all(modes[name] & stat.S_IXUSR for name in ("setup.sh", "run_autograder"))
    assert names == sorted(names)
    assert len(dates) == 1
    assert settings["assignment"] == "attention"
    assert {"package/grader/reference/attention/solution.py", "package/grader/reports/fragment.html.j2"} <= set(names)
    assert not [name for name in names if name.endswith(".pyc") or "/." in name or "causal" in name]


def test_same_files_same_bytes() -> None:
    """The archive can be compared by its digest."""
    assert hashlib.sha256(build_autograder()).digest() == hashlib.sha256(build_autograder()).digest()


def test_another_course_takes_the_place_of_ours() -> None:
    """With a course of one's own, ours isn't in the archive."""
    with zipfile.ZipFile(io.BytesIO(build_autograder(SMALL))) as archive:
        names = archive.namelist()

    assert "course/reference/spread/solution.py" in names
    assert not [name for name in names if name.startswith(("package/grader/reference", "package/grader/exercises"))]


def test_a_course_that_can_t_be_used_makes_no_archive(tmp_path: Path) -> None:
    """It is said when the archive is made, not when a learner hands in."""
    shutil.copytree(SMALL, tmp_path / "course")
    (tmp_path / "course" / "reference" / "spread" / "checks.py").write_text("1 +", encoding="utf-8")

    with pytest.raises(CourseError, match=r"checks\.py"):
        build_autograder(tmp_path / "course")


def test_the_scripts_are_valid_and_name_no_host() -> None:
    """Bash reads both; packages come from wherever pip and apt are told to look."""
    for name in ("setup.sh", "run_autograder"):
        path = ROOT / "grader" / "gradescope" / name
        assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0
        assert "://" not in path.read_text(encoding="utf-8")
        assert path.stat().st_mode & stat.S_IXUSR


# ---------------------------------------------------------------- a run


@pytest.mark.parametrize(
    "name, source, score",
    [
        ("submission.py", "right.py", 100),
        ("submission.ipynb", "with_mistake.ipynb", 85),
        ("my work.py", "right.py", 100),
    ],
    ids=["right", "notebook", "other_name"],
)
def test_a_submission_is_graded(autograder: Path, name: str, source: str, score: int) -> None:
    """A test for each criterion, a page above them, and one line for the instructor."""
    done, document = run(autograder, {name: example(source)})
    graded(document)

    assert done.returncode == 0, done.stdout + done.stderr
    assert document["score"] == score
    assert sum(test["score"] for test in document["tests"]) == score
    assert len(document["tests"]) == 17
    assert document["output_format"] == "html"
    assert f"{score} of 100 points" in document["output"]
    assert document["extra_data"]["isolation"] in ("namespaces", "landlock")
    assert document["execution_time"] > 0
    assert f"{score} of 100; isolation" in done.stdout


def test_the_file_is_found_by_its_name(autograder: Path) -> None:
    """Among the files of a repository, the one with the handout's name counts, and what it imports is there."""
    text = example("right.py").decode() + "\nimport helper\nassert helper.WORD == 'hello'\n"
    files: dict[str, str | bytes] = {
        "repo/submission.py": text,
        "repo/helper.py": "WORD = 'hello'\n",
        "repo/tests/test_it.py": "raise SystemExit\n",
        "__MACOSX/submission.py": b"\x00\x05",
        ".git/hooks/submission.py": "x",
    }
    _, document = run(autograder, files)

    assert graded(document)["score"] == 100


@pytest.mark.parametrize(
    "files, says",
    [
        ({}, "There is no .py or .ipynb file"),
        ({"notes.txt": "hello"}, "Hand in submission.ipynb or submission.py."),
        ({"a.py": "", "b \x1b[31m<b>.py": ""}, "Several files could be your submission: a.py, b"),
        ({"submission.py": "", "submission.ipynb": ""}, "Hand in only one of them."),
    ],
    ids=["nothing", "text", "several", "both"],
)
def test_no_file_is_guessed(autograder: Path, files: dict[str, str], says: str) -> None:
    """What isn't clear is said to the learner, who can hand in once more: 0 points, and no guess."""
    done, document = run(autograder, files)
    graded(document)

    assert document["score"] == 0
    assert says in document["output"]
    assert document["output_format"] == "text"
    assert "\x1b" not in document["output"] + done.stdout


def test_links_are_not_followed(autograder: Path, tmp_path: Path) -> None:
    """A link in a submission names no file of the machine."""
    (tmp_path / "submission.py").write_bytes(example("right.py"))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "submission.py").symlink_to(tmp_path / "submission.py")

    assert find_submission(tmp_path / "in", ["submission.py"]).path is None


# ---------------------------------------------------------------- malice


ATTACK = """
import glob, json, os
BEST = json.dumps({{"score": 1000, "output": "mine"}})
for place in ("{root}/results", ".", "../results", "/autograder/results"):
    try:
        os.makedirs(place, exist_ok=True)
        open(place + "/results.json", "w").write(BEST)
    except OSError:
        pass
try:
    os.symlink("/dev/null", "{root}/results/results.json")
except OSError:
    pass
found = []
for place in ("{root}/source/package/grader/reference/attention/solution.py", "{root}/source/settings.json"):
    try:
        found.append(open(place).read())
    except OSError:
        pass
def softmax(x, axis=-1):
    raise ValueError("stolen: " + str(found)[:100] if found else "nothing to steal")
"""


def test_a_file_can_t_write_its_own_result(autograder: Path) -> None:
    """Nothing that a submission writes counts, and nothing of the reference can be read."""
    _, document = run(autograder, {"submission.py": ATTACK.format(root=autograder)})
    graded(document)

    assert document["score"] == 0
    assert document["output"] != "mine"
    assert "nothing to steal" in json.dumps(document)
    assert "stolen: [" not in json.dumps(document)
    assert sorted(path.name for path in (autograder / "results").iterdir()) == ["results.json"]


def test_a_result_of_another_run_doesn_t_stay(autograder: Path) -> None:
    """What lies in the results folder before a run is replaced, a link by a file."""
    place = autograder / "results" / "results.json"
    place.unlink(missing_ok=True)
    place.symlink_to("/dev/null")
    _, document = run(autograder, {"submission.py": example("right.py")})

    assert document["score"] == 100
    assert not place.is_symlink()


# ---------------------------------------------------------------- our faults


def failed(done: Done, document: Any) -> None:
    """Hold that a fault is told as ours, without a score: a 0 would be the learner's."""
    jsonschema.Draft202012Validator(GRADESCOPE).validate(document)
    assert "score" not in document
    assert all("score" not in test for test in document["tests"])
    assert document["extra_data"]["status"] == "not_graded"
    assert re.search("not your (fault|code)", document["output"])
    assert done.stdout


def test_a_check_that_fails_costs_no_points(tmp_path: Path) -> None:
    """A course of one's own is graded with; a check of it that stops working is our fault."""
    course = tmp_path / "course"
    shutil.copytree(SMALL, course)
    right = (course / "reference" / "spread" / "solution.py").read_bytes()
    whole = set_up(tmp_path / "whole", build_autograder(course))
    _, document = run(whole, {"submission.py": right})
    assert graded(document)["score"] == 10

    checks = course / "reference" / "spread" / "checks.py"
    text = checks.read_text(encoding="utf-8")
    checks.write_text(re.sub(r"(def judge\(.*\n)", r"\1        raise RuntimeError('broken')\n", text), encoding="utf-8")
    broken = set_up(tmp_path / "broken", build_autograder(course))
    failed(*run(broken, {"submission.py": right}))


@pytest.mark.parametrize("trouble", ["settings", "interpreter", "package"])
def test_whatever_fails_there_is_a_result(root: Path, trouble: str) -> None:
    """Half of the archive gone, no Python, a module that can't be imported: the page says that it is our fault."""
    if trouble == "settings":
        (root / "source" / "settings.json").write_text("{", encoding="utf-8")
    elif trouble == "interpreter":
        (root / "source" / "interpreter").write_text("/nowhere/python\n", encoding="utf-8")
    else:
        (root / "source" / "package" / "grader" / "errors.py").write_text("raise SystemExit(7)\n", encoding="utf-8")
    (root / "results" / "results.json").write_text('{"score": 100}', encoding="utf-8")

    failed(*run(root, {"submission.py": ""}))


def test_where_nothing_holds_it_refuses(root: Path) -> None:
    """``auto`` never runs a file with all rights; the instructor is told what is missing."""
    place = root / "source" / "package" / "grader" / "run" / "isolation.py"
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace('sys.platform != "linux"', "True"), encoding="utf-8")
    done, document = run(root, {"submission.py": ""})

    failed(done, document)
    assert "Nothing on this machine keeps student code apart" in done.stdout
    assert "keeps student code apart" not in json.dumps(document)


def test_process_is_used_where_it_is_asked_for(tmp_path: Path) -> None:
    """An instructor may choose to grade without: it is their decision, and the result names it."""
    root = set_up(tmp_path / "autograder", build_autograder(SMALL, isolation="process"))
    _, document = run(root, {"submission.py": (SMALL / "reference" / "spread" / "solution.py").read_bytes()})

    assert graded(document)["extra_data"]["isolation"] == "process"
    assert document["score"] == 10
