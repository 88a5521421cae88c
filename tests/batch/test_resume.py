"""A run that was killed goes on, and ends as if nothing had happened."""

from __future__ import annotations

import json
import random
import shlex
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import LINUX, THREE, grade, holds, names, one_sentence, start
from tests.run.arena import alive, children

WORDS = ["right", "wrong", "look", "else", "fail", "print"]


@pytest.fixture
def hand_ins(tmp_path: Path) -> Path:
    """Return a folder with eighteen files, some of them the same."""
    folder = tmp_path / "hand-ins"
    folder.mkdir()
    for number in range(18):
        word = WORDS[number % len(WORDS)]
        tail = "" if number < 12 else f"# {number}\n"
        (folder / f"{number:02}.py").write_text(f"def say():\n    return {word!r}\n{tail}", encoding="utf-8")
    return folder


def everything(out: Path) -> dict[str, bytes]:
    """Return the bytes of all reports and of all that is written for the instructor."""
    found = [path for path in out.rglob("*") if path.is_file() and ".grade" not in path.relative_to(out).parts]
    return {str(path.relative_to(out)): path.read_bytes() for path in found}


@LINUX
@pytest.mark.parametrize("isolation", ["process", pytest.param("landlock", marks=pytest.mark.slow)])
def test_killed_three_times(isolation: str, hand_ins: Path, course: Path, tmp_path: Path) -> None:
    """SIGKILL at random moments, and --resume after each: the same bytes as undisturbed, and nothing is done twice."""
    words = ("batch", hand_ins, "--course", course, "--isolation", isolation, "--jobs", 2, "--seed", 11)
    undisturbed = grade(*words, "--out", tmp_path / "a")
    assert undisturbed.returncode == 4  # those whose check fails

    out = tmp_path / "b"
    chance = random.Random(isolation)
    reports = out / ".grade" / "transcripts"
    for attempt in range(3):
        process = start(*words, "--out", out, *(["--resume"] if attempt else []), cwd=tmp_path, env={})
        wanted = 2 + 4 * attempt + chance.randrange(3)
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            if reports.is_dir() and len(list(reports.iterdir())) >= wanted:
                break
            time.sleep(0.005)
        time.sleep(chance.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("result.json")}
    last = grade(*words, "--out", out, "--resume")

    assert (last.returncode, last.stderr) == (4, "")
    assert "15 of 18 graded" in last.stdout
    assert everything(out) == everything(tmp_path / "a")
    graded_before = [path for path in before if path.stat().st_mtime_ns == before[path]]
    assert len(graded_before) >= 4


@LINUX
@pytest.mark.parametrize("isolation", ["process", pytest.param("landlock", marks=pytest.mark.slow)])
def test_nothing_outlives_a_killed_run(isolation: str, course: Path, tmp_path: Path) -> None:
    """With the run end its jobs and all student code, at once: what they were at isn't finished, and is done again."""
    (tmp_path / "hand-ins").mkdir()
    lazy = "import os\nopen('busy', 'w').close()\nwhile True:\n    pass\n"
    (tmp_path / "hand-ins" / "lazy.py").write_text(lazy)
    (tmp_path / "hand-ins" / "right.py").write_text("def say():\n    return 'right'\n")
    (tmp_path / "tmp").mkdir()
    words = ("batch", tmp_path / "hand-ins", "--course", course, "--isolation", isolation, "--out", tmp_path / "out")
    process = start(*words, "--jobs", 2, cwd=tmp_path, env={"TMPDIR": str(tmp_path / "tmp")})
    transcripts = tmp_path / "out" / ".grade" / "transcripts"
    wait_for(lambda: holds(tmp_path / "tmp", "busy") and transcripts.is_dir() and any(transcripts.iterdir()))
    below = children(process.pid)
    assert len(below) >= 3  # two jobs, and a process with student code
    process.kill()
    process.communicate(timeout=60)

    wait_for(lambda: not any(map(alive, below)))
    assert [path.name.rpartition("-")[0] for path in transcripts.iterdir()] == ["right"]
    assert names(tmp_path / "tmp") == []
    (tmp_path / "hand-ins" / "lazy.py").write_text("def say():\n    return 'wrong'\n")
    done = grade(*words, "--resume")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 graded" in done.stdout


def wait_for(what: Callable[[], object]) -> None:
    """Wait until something holds, and fail if it never does."""
    until = time.monotonic() + 60
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_run_is_not_begun_twice(hand_ins: Path, course: Path, tmp_path: Path) -> None:
    """A folder with a run in it takes no other one; --resume needs one, and the same seed."""
    words = ("batch", hand_ins, "--course", course, "--isolation", "process")
    one_sentence(grade(*words, "--out", tmp_path / "out", "--resume"), 2, "no run in")
    assert grade(*words, "--out", tmp_path / "out", "--seed", 1).returncode == 4
    one_sentence(grade(*words, "--out", tmp_path / "out"), 2, "holds a run already", "--resume")
    one_sentence(grade(*words, "--out", tmp_path / "out", "--resume", "--seed", 2), 2, "with seed 1", "--out")


@LINUX
def test_two_runs_do_not_mix(hand_ins: Path, course: Path, tmp_path: Path) -> None:
    """While one run writes to a folder, another one says so and leaves."""
    (hand_ins / "00.py").write_text("import time\nopen('busy', 'w').close()\nwhile True:\n    pass\n")
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    words = ("batch", hand_ins, "--course", course, "--isolation", "process", "--out", tmp_path / "out")
    first = start(*words, cwd=tmp_path, env={"TMPDIR": str(scratch)})
    until = time.monotonic() + 60
    while not holds(scratch, "busy") and time.monotonic() < until:
        time.sleep(0.02)
    one_sentence(grade(*words, "--resume"), 2, "Another run is writing")
    one_sentence(grade(*words), 2, "Another run is writing")
    first.send_signal(signal.SIGINT)
    _, err = first.communicate(timeout=60)

    assert first.returncode == 130
    assert "--resume" in err


def test_what_is_new_is_graded(hand_ins: Path, course: Path, tmp_path: Path) -> None:
    """--resume with the folder as it is now: changed and new files are graded, what has gone keeps its result."""
    words = ("batch", hand_ins, "--course", course, "--isolation", "process", "--out", tmp_path / "out")
    first = json.loads(grade(*words, "--format", "json").stdout)
    (hand_ins / "01.py").write_text("def say():\n    return 'right'\n# better\n")
    (hand_ins / "new.py").write_text("def say():\n    return 'right'\n# new\n")
    (hand_ins / "02.py").unlink()
    second = json.loads(grade(*words, "--format", "json", "--resume").stdout)

    scores = {entry["name"]: entry["score"] for entry in second["submissions"]}
    assert scores["01.py"] == scores["new.py"] == scores["02.py"] == 10
    assert [entry["name"] for entry in second["submissions"]] == [f"{number:02}.py" for number in range(18)] + [
        "new.py"
    ]
    assert second["seed"] == first["seed"]


def test_the_same_files_are_run_once(hand_ins: Path, course: Path, tmp_path: Path) -> None:
    """What is handed in twice has the same result twice, whether it was run once or (--no-share) twice."""
    words = ("batch", hand_ins, "--course", course, "--isolation", "process", "--seed", 5, "--format", "json")
    shared = json.loads(grade(*words, "--out", tmp_path / "a").stdout)
    alone = json.loads(grade(*words, "--out", tmp_path / "b", "--no-share", new=True).stdout)

    # 00 to 05 and 06 to 11 are the same; one whose check fails isn't graded, so nobody can be the same as it.
    same = {entry["name"]: entry["same_as"] for entry in shared["submissions"] if entry["same_as"] is not None}
    assert same == {"06.py": 0, "07.py": 1, "08.py": 2, "09.py": 3, "11.py": 5}
    assert all(entry["same_as"] is None for entry in alone["submissions"])
    for entry in (*shared["submissions"], *alone["submissions"]):
        del entry["same_as"]
    assert shared["submissions"] == alone["submissions"]
    for entry in shared["submissions"]:
        for name in THREE if entry["status"] == "graded" else ():
            one, other = (tmp_path / run / entry["folder"] / name for run in "ab")
            assert one.read_bytes() == other.read_bytes()


def test_a_run_knows_its_course_and_its_picks(course: Path, tmp_path: Path) -> None:
    """What was said once holds for --resume too: the course, and which file is the submission."""
    for name in ("a", "b"):
        (tmp_path / "hand-ins" / "ada").mkdir(parents=True, exist_ok=True)
        (tmp_path / "hand-ins" / "ada" / f"{name}.py").write_text(f"def say():\n    return 'right'\n# {name}\n")
    words = ("batch", tmp_path / "hand-ins", "--isolation", "process", "--out", tmp_path / "out", "--format", "json")
    asked = grade(*words, "--course", course)
    assert asked.returncode == 4
    assert "which file is the submission: a.py, b.py?" in json.loads(asked.stdout)["submissions"][0]["reason"]

    for picked in (["--pick", "ada=b.py"], []):
        (entry,) = json.loads(grade(*words, "--resume", *picked).stdout)["submissions"]
        assert (entry["status"], entry["name"], entry["score"]) == ("graded", "b.py", 10)
    # Another file is handed in, and the one that was named is gone.
    (tmp_path / "hand-ins" / "ada" / "b.py").unlink()
    (entry,) = json.loads(grade(*words, "--resume").stdout)["submissions"]
    assert entry["name"] == "a.py"


@LINUX
def test_how_to_go_on_is_the_whole_command(hand_ins: Path, course: Path, tmp_path: Path) -> None:
    """What the run doesn't keep by itself stands in the command that an interrupted run prints."""
    (hand_ins / "00.py").write_text("import time\nopen('busy', 'w').close()\nwhile True:\n    pass\n")
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    words = ("--course", course, "--isolation", "process", "--jobs", 2, "--no-share", "--out", tmp_path / "out")
    process = start("batch", hand_ins, *words, cwd=tmp_path, env={"TMPDIR": str(scratch)})
    until = time.monotonic() + 60
    while not holds(scratch, "busy") and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    (line,) = [line for line in err.splitlines() if line.startswith("Go on with: ")]
    said = shlex.split(line.removeprefix("Go on with: "))
    assert said[:2] == ["grade", "batch"]
    assert said[-6:] == ["--resume", "--jobs", "2", "--isolation", "process", "--no-share"]
    (hand_ins / "00.py").write_text("def say():\n    return 'right'\n")
    assert "15 of 18 graded" in grade(*said[1:]).stdout
