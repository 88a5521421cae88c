"""The other autograders: how each is installed, prepared and run on a folder of hand-ins, with one process at a time.

Each lives in a virtual environment of its own and runs the same checks (``peers/checks.py``) as its own documentation
says. None of them isolates student code by itself; what they write is a result file for each hand-in, of nbgrader also
a page.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Spent, run
from benchmarks.peers.checks import CHECKS

__all__ = ["ALL_POINTS", "PEERS", "Peer", "grade_with", "install", "points", "version"]

HERE = Path(__file__).resolve().parent / "peers"
NUMPY = "numpy>=2"
POINTS = {check.__name__: worth for worth, check in CHECKS}
ALL_POINTS = sum(POINTS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """An autograder: its name, and the packages of its environment; the first is its own."""

    name: str
    packages: tuple[str, ...]


PEERS = (
    Peer(name="gradescope-utils", packages=("gradescope-utils==0.5.0", NUMPY)),
    Peer(name="pytest", packages=("pytest==9.*", NUMPY)),
    Peer(name="check50", packages=("check50==3.*", NUMPY)),
    Peer(name="nbgrader", packages=("nbgrader==0.9.*", "ipykernel", NUMPY)),
    Peer(name="otter-grader", packages=("otter-grader[grading]==7.*", "ipykernel", NUMPY)),
)


def install(home: Path) -> None:
    """Make the environments that aren't there yet."""
    for peer in PEERS:
        place = home / peer.name
        if (place / "ready").exists():
            continue
        print(f"installing {peer.name} ...", flush=True)
        shutil.rmtree(place, ignore_errors=True)
        log = home / f"{peer.name}.log"
        home.mkdir(parents=True, exist_ok=True)
        steps: list[list[str | Path]] = [
            [sys.executable, "-m", "venv", place],
            [place / "bin" / "pip", "install", "--quiet", *peer.packages],
        ]
        if all(run(step, log=log).code == 0 for step in steps):
            (place / "ready").touch()
        else:
            print(f"{peer.name} can't be installed; see {log}", flush=True)


def version(home: Path, peer: Peer) -> str:
    """Return the version that is installed, or ``""`` if it isn't."""
    package = peer.packages[0].partition("==")[0].partition("[")[0].replace("-", "_")
    found = sorted((home / peer.name).glob(f"lib/python*/site-packages/{package}-*.dist-info"))
    return found[0].name.removesuffix(".dist-info").rpartition("-")[2] if found else ""


def grade_with(peer: Peer, home: Path, hand_ins: list[Path], work: Path) -> Spent:
    """Grade ``hand_ins`` and return what that took, without what is prepared once for a course.

    Raises:
        RuntimeError: If the peer leaves one of them without a result.
    """
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    spent = _RUN[peer.name](home / peer.name / "bin", [path.resolve() for path in hand_ins], work)
    results = list(work.glob("results/**/*.*"))
    if len(results) < len(hand_ins):
        raise RuntimeError(f"{peer.name}: {len(results)} results for {len(hand_ins)} hand-ins; see {work}")
    return spent


def points(peer: Peer, work: Path, name: str) -> float:
    """Return the points that a hand-in got in the run that left ``work``, read from the peer's own results."""
    results = work / "results"
    match peer.name:
        case "gradescope-utils":
            tests = json.loads((results / f"{name}.json").read_text())["tests"]
            return float(sum(test["score"] for test in tests))
        case "pytest":
            cases = ET.parse(results / f"{name}.xml").getroot().findall(".//testcase")
            passed = [case.get("name", "") for case in cases if case.find("failure") is None]
            return sum(POINTS[case.partition("[")[2].rstrip("]")] for case in passed)
        case "check50":
            found = json.loads((results / name / "result.json").read_text())["results"]
            return sum(POINTS[check["name"]] for check in found if check["passed"] and check["name"] in POINTS)
        case "otter-grader":
            tests = json.loads((results / name / "results.json").read_text())["tests"]
            return float(sum(test.get("score", 0) for test in tests))
    with contextlib.closing(sqlite3.connect(work / "gradebook.db")) as book:
        query = (
            "select sum(grade.auto_score) from grade join submitted_notebook on grade.notebook_id = "
            "submitted_notebook.id join submitted_assignment on submitted_notebook.assignment_id = "
            "submitted_assignment.id where submitted_assignment.student_id = ?"
        )
        return float(book.execute(query, (name,)).fetchone()[0] or 0)


def _each(bin_: Path, commands: list[tuple[list[str | Path], Path, dict[str, str]]], work: Path) -> Spent:
    """Run one command for each hand-in and add up."""
    path = {"PATH": f"{bin_}:/usr/bin:/bin"}
    spent = [run(command, cwd=cwd, env={**path, **env}, log=work / "log") for command, cwd, env in commands]
    return Spent(
        wall=sum(s.wall for s in spent), cpu=sum(s.cpu for s in spent), peak=0, code=max(s.code for s in spent)
    )


def _gradescope(bin_: Path, hand_ins: list[Path], work: Path) -> Spent:
    (work / "results").mkdir()
    script = HERE / "with_gradescope.py"
    return _each(
        bin_,
        [([bin_ / "python", script, path, work / "results" / f"{path.stem}.json"], HERE, {}) for path in hand_ins],
        work,
    )


def _pytest(bin_: Path, hand_ins: list[Path], work: Path) -> Spent:
    (work / "results").mkdir()
    test = HERE / "test_with_pytest.py"
    words: list[str | Path] = [
        bin_ / "python",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        HERE,
        "-c",
        "/dev/null",
    ]
    commands: list[tuple[list[str | Path], Path, dict[str, str]]] = []
    for path in hand_ins:
        result = f"--junitxml={work / 'results' / path.stem}.xml"
        commands.append(([*words, test, result], HERE, {"SUBMISSION": str(path)}))
    return _each(bin_, commands, work)


def _check50(bin_: Path, hand_ins: list[Path], work: Path) -> Spent:
    problem = work / "problem"
    problem.mkdir()
    (problem / ".cs50.yml").write_text('check50:\n  files:\n    - !exclude "*"\n    - !require submission.py\n')
    shutil.copy(HERE / "checks.py", problem / "plain.py")
    lines = ["import check50, sys", f"sys.path.insert(0, {str(problem)!r})", "import plain", ""]
    lines += ["@check50.check(timeout=30)", "def exists():", '    """the file is there"""']
    lines += ["    check50.exists('submission.py')", ""]
    for _, check in CHECKS:
        lines += [f"@check50.check(exists, timeout=30)\ndef {check.__name__}():", f'    """{check.__doc__}"""']
        lines += ["    try:", f"        plain.{check.__name__}(plain.load('submission.py'))"]
        lines += ["    except AssertionError as error:", "        raise check50.Failure(str(error))", ""]
    (problem / "__init__.py").write_text("\n".join(lines))
    commands: list[tuple[list[str | Path], Path, dict[str, str]]] = []
    for path in hand_ins:
        folder = work / "results" / path.stem
        folder.mkdir(parents=True)
        shutil.copy(path, folder / "submission.py")
        words = ["--dev", "-o", "json", "--output-file", "result.json", str(problem)]
        commands.append(([bin_ / "check50", *words], folder, {}))
    spent = _each(bin_, commands, work)
    for path in hand_ins:
        (work / "results" / path.stem / "submission.py").unlink()
    return spent


def _otter(bin_: Path, hand_ins: list[Path], work: Path) -> Spent:
    (work / "tests").mkdir()
    (work / "plain").mkdir()
    shutil.copy(HERE / "checks.py", work / "plain" / "__init__.py")
    for number, (points, check) in enumerate(CHECKS):
        name = f"q{number:02d}_{check.__name__}"
        (work / "tests" / f"{name}.py").write_text(
            f"from otter.test_files import test_case\nOK_FORMAT = False\nname = '{name}'\npoints = {points}\n"
            f"@test_case(points={points}, hidden=False)\ndef {check.__name__}(env):\n"
            f"    import plain\n    plain.{check.__name__}(env)\n"
        )
    (work / "config.json").write_text("{}")
    words = ["generate", "-t", "tests", "-o", "made.zip", "-c", "config.json", "--no-requirements", "--no-environment"]
    path_ = {"PATH": f"{bin_}:/usr/bin:/bin"}
    run([bin_ / "otter", *words, "plain"], cwd=work, env=path_, log=work / "log")
    commands: list[tuple[list[str | Path], Path, dict[str, str]]] = []
    for path in hand_ins:
        folder = work / "results" / path.stem
        folder.mkdir(parents=True)
        commands.append(([bin_ / "otter", "run", "-a", work / "made.zip", "-o", folder, "--no-logo", path], folder, {}))
    return _each(bin_, commands, work)


def _nbgrader(bin_: Path, hand_ins: list[Path], work: Path) -> Spent:
    """One run over all learners, as nbgrader does it: autograde, then pages."""
    (work / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "bench"\n')
    source = work / "source" / "attention"
    source.mkdir(parents=True)
    shutil.copy(HERE / "checks.py", source / "plain.py")
    answer = "### BEGIN SOLUTION\npass\n### END SOLUTION"
    (source / "attention.ipynb").write_text(_notebook(answer, hidden=True))
    path_ = {"PATH": f"{bin_}:/usr/bin:/bin", "JUPYTER_CONFIG_DIR": str(work / "config"), "IPYTHONDIR": str(work / "i")}
    run([bin_ / "nbgrader", "generate_assignment", "attention"], cwd=work, env=path_, log=work / "log")
    for path in hand_ins:
        folder = work / "submitted" / path.stem / "attention"
        folder.mkdir(parents=True)
        (folder / "attention.ipynb").write_text(_notebook(path.read_text(encoding="utf-8"), hidden=False))
    spent = [
        run([bin_ / "nbgrader", command, "attention"], cwd=work, env=path_, log=work / "log")
        for command in ("autograde", "generate_feedback")
    ]
    if (work / "feedback").exists():
        (work / "feedback").rename(work / "results")
    return Spent(
        wall=sum(s.wall for s in spent), cpu=sum(s.cpu for s in spent), peak=0, code=max(s.code for s in spent)
    )


def _notebook(answer: str, *, hidden: bool) -> str:
    def cell(source: str, grade_id: str, points: int | None) -> dict[str, object]:
        graded = points is not None
        about = {"grade": graded, "solution": not graded, "locked": graded, "task": False}
        marks = {**about, "grade_id": grade_id, "schema_version": 3, **({"points": points} if graded else {})}
        return {"cell_type": "code", "execution_count": None, "id": grade_id.replace("_", "-"), "outputs": []} | {
            "metadata": {"nbgrader": marks},
            "source": source,
        }

    cells = [cell(answer, "answer", None)]
    for points, check in CHECKS:
        test = f"import plain\nplain.{check.__name__}(globals())"
        body = f"### BEGIN HIDDEN TESTS\n{test}\n### END HIDDEN TESTS" if hidden else ""
        cells.append(cell(f"# {check.__name__}\n{body}", check.__name__, points))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


_RUN = {
    "gradescope-utils": _gradescope,
    "pytest": _pytest,
    "check50": _check50,
    "nbgrader": _nbgrader,
    "otter-grader": _otter,
}
