"""``grade batch`` from outside: real processes, real files."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import LINUX, THREE, grade, holds, names, one_sentence, start, without_powers

WORDS = {"b": "right", "a": "wrong", "c": "look"}


@pytest.fixture
def hand_ins(tmp_path: Path) -> Path:
    """Return a folder with three files."""
    folder = tmp_path / "hand-ins"
    folder.mkdir()
    for name, word in WORDS.items():
        say(folder / f"{name}.py", word)
    return folder


def folders(out: Path) -> list[str]:
    """Return the folders that learners are given."""
    return [path.name for path in sorted(out.iterdir()) if path.is_dir() and path.name != ".grade"]


def say(path: Path, word: str) -> None:
    """Write a file whose function says a word."""
    path.write_text(f"def say():\n    return {word!r}\n", encoding="utf-8")


def document(folder: Path, course: Path, *words: object, code: int = 0, new: bool = False) -> dict[str, Any]:
    """Grade a folder and return what is printed as JSON."""
    done = grade("batch", folder, "--course", course, "--isolation", "process", "--format", "json", *words, new=new)
    assert (done.returncode, done.stderr) == (code, ""), done
    read: dict[str, Any] = json.loads(done.stdout, parse_constant=pytest.fail)
    return read


def by_name(printed: dict[str, Any]) -> dict[str, Any]:
    """Return each submission's entry by the stem of its name."""
    return {entry["name"].split(".")[0]: entry for entry in printed["submissions"]}


def test_each_file_has_its_results(hand_ins: Path, course: Path) -> None:
    """Three files a submission lie beside the folder, in the folder that is named; nothing else is written."""
    before = names(hand_ins)
    printed = document(hand_ins, course)

    out = hand_ins.with_name("hand-ins-reports")
    assert [entry["name"] for entry in printed["submissions"]] == ["a.py", "b.py", "c.py"]
    assert [entry["score"] for entry in printed["submissions"]] == [0, 10, 10]
    assert names(hand_ins) == before
    assert folders(out) == sorted(entry["folder"] for entry in printed["submissions"])
    for entry in printed["submissions"]:
        assert names(out / entry["folder"]) == sorted(THREE)
        result = json.loads((out / entry["folder"] / "result.json").read_text("utf-8"))
        assert (result["score"], result["seed"]) == (entry["score"], entry["seed"])
        assert (out / entry["folder"] / "report.html").stat().st_mode & 0o777 == 0o644


def test_the_same_run_again(hand_ins: Path, course: Path, tmp_path: Path) -> None:
    """The seed of a run gives the same bytes whatever the jobs are; the same file has the same seed everywhere."""
    (hand_ins / "d.py").write_bytes((hand_ins / "a.py").read_bytes())
    first = document(hand_ins, course, "--out", tmp_path / "1", "--jobs", 1)
    again = document(hand_ins, course, "--out", tmp_path / "3", "--jobs", 3, "--seed", first["seed"], new=True)

    assert first == again
    seeds = {name: entry["seed"] for name, entry in by_name(first).items()}
    assert seeds["a"] == seeds["d"]
    assert len(set(seeds.values())) == 3
    for entry in first["submissions"]:
        for name in THREE:
            assert (tmp_path / "1" / entry["folder"] / name).read_bytes() == (
                tmp_path / "3" / entry["folder"] / name
            ).read_bytes()
    alone = grade(hand_ins / "a.py", "--course", course, "--seed", seeds["a"], "--out", tmp_path / "alone")
    assert alone.returncode == 0
    mine = by_name(first)["a"]["folder"]
    assert (tmp_path / "alone" / "report.html").read_bytes() == (tmp_path / "1" / mine / "report.html").read_bytes()


def test_trouble_stays_with_its_owner(hand_ins: Path, course: Path) -> None:
    """No text, no code, links, a check that fails and a judge that is killed cost nobody else anything."""
    (hand_ins / "junk.py").write_bytes(b"\xff\x00\xfe")
    (hand_ins / "cut.ipynb").write_text('{"cells": [')
    (hand_ins / "link.py").symlink_to(hand_ins / "b.py")
    for word in ("fail", "die", "die once", "print"):
        say(hand_ins / f"{word}.py", word)
    entries = by_name(document(hand_ins, course, "--jobs", 2, code=4))

    assert {name for name, entry in entries.items() if entry["score"] == 10} == {"b", "c", "die once", "print"}
    assert {name for name, entry in entries.items() if entry["score"] == 0} == {"a", "junk", "cut"}
    assert {name for name, entry in entries.items() if entry["score"] is None} == {"link", "fail", "die"}
    assert "symbolic link" in entries["link"]["reason"]
    assert "check" in entries["fail"]["reason"]
    assert "twice" in entries["die"]["reason"]
    assert "SIGKILL" in entries["die"]["reason"]
    out = hand_ins.with_name("hand-ins-reports")
    assert set(folders(out)) == {entry["folder"] for name, entry in entries.items() if name not in ("link", "die")}


@LINUX
def test_a_file_that_may_not_be_read(hand_ins: Path, course: Path) -> None:
    """It is not graded, with a reason; the others are."""
    (hand_ins / "a.py").chmod(0)
    done = grade("batch", hand_ins, "--course", course, "--isolation", "process", before=without_powers)

    assert done.returncode == 4
    assert "  a.py: not graded: it can't be read (Permission denied)" in done.stdout
    assert "2 of 3 graded" in done.stdout


def test_lines_and_summary(hand_ins: Path, course: Path) -> None:
    """Into a pipe goes a line for each, in order, then the scores, who needs attention, and one line for all."""
    (hand_ins / "\x1b[31m.py").write_text("")
    (hand_ins / "notes.txt").write_text("")
    with (hand_ins / "b.py").open("a") as file:
        file.write("try: open('/etc/hostname')\nexcept OSError: pass\n")
    done = grade("batch", hand_ins, "--course", course, "--isolation", "process", "--jobs", 2, "--profile")

    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert [line.split()[0] for line in lines[1:4]] == ["a.py", "b.py", "c.py"]
    assert "scores of 10: median 0" in done.stdout
    (to_look_at,) = [line for line in lines if line.startswith("  c.py: ")]
    assert "word" in to_look_at
    assert "  b.py: The code went to files outside its own folder (1: /etc/hostname)." in lines
    assert lines[-1].startswith("4 of 4 graded; reports in ")
    assert lines[lines.index("left alone (1):") + 1].startswith("  'notes.txt'")
    assert "isolation process" in lines[-1]
    assert done.stderr.startswith("profile ")
    assert {line.split()[0] for line in done.stderr.splitlines()} >= {"read", "start", "judge", "render", "whole"}


def test_results_are_replaced_and_no_link_is_followed(hand_ins: Path, course: Path, tmp_path: Path) -> None:
    """What isn't whole any more is done again: a file that became a link is replaced, a folder isn't written to."""
    out = tmp_path / "out"
    entries = by_name(document(hand_ins, course, "--out", out))
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "report.html").write_text("precious")
    (out / entries["a"]["folder"] / "report.html").unlink()
    (out / entries["a"]["folder"] / "report.html").symlink_to(precious / "report.html")
    for file in (out / entries["b"]["folder"]).iterdir():
        file.unlink()
    (out / entries["b"]["folder"]).rmdir()
    (out / entries["b"]["folder"]).symlink_to(precious)
    assert [entry["name"] for entry in document(hand_ins, course, "--out", out, "--resume", code=4)["submissions"]] == [
        "a.py", "b.py", "c.py"
    ]  # fmt: skip
    again = by_name(document(hand_ins, course, "--out", out, "--resume", code=4))

    assert (precious / "report.html").read_text() == "precious"
    assert names(precious) == ["report.html"]
    assert not (out / entries["a"]["folder"] / "report.html").is_symlink()
    assert [again[name]["status"] for name in "abc"] == ["graded", "not_graded", "graded"]


USAGE = {
    "no folder": (["batch"], 2, "PATH"),
    "no such folder": (["batch", "nowhere"], 2, "no file or folder"),
    "a file": (["batch", "hand-ins/a.py"], 2, "is a file"),
    "nothing to grade": (["batch", "empty"], 2, "no .py or .ipynb"),
    "no jobs": (["batch", "hand-ins", "--jobs", "0"], 2, "number of jobs"),
    "no such course": (["batch", "hand-ins", "--course", "nowhere"], 2, "nowhere"),
    "no course": (["batch", "hand-ins", "--course", "hand-ins", "--isolation", "process"], 3, "isn't a course"),
    "no place for reports": (["batch", "hand-ins", "--out", "hand-ins/a.py"], 4, "can't be made"),
}


@pytest.mark.parametrize("title", USAGE)
def test_what_can_t_be_done_is_one_sentence(title: str, hand_ins: Path) -> None:
    """Wrong usage, an unusable course and an output that can't be written have their exit codes."""
    words, code, said = USAGE[title]
    (hand_ins.parent / "empty").mkdir()

    one_sentence(grade(*words, cwd=hand_ins.parent), code, said)


@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminated"])
def test_an_interrupted_batch_leaves_nothing_running(number: int, hand_ins: Path, course: Path, tmp_path: Path) -> None:
    """It says how many are done, exits with 130, and no process or temporary folder stays."""
    (hand_ins / "a.py").write_text("open('busy', 'w').close()\nwhile True:\n    pass\n")
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    words = ("batch", hand_ins, "--course", course, "--isolation", "process", "--jobs", 1)
    process = start(*words, cwd=tmp_path, env={"TMPDIR": str(scratch)})
    until = time.monotonic() + 60
    while not holds(scratch, "busy") and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "Traceback" not in out + err
    assert "interrupted; 0 of 3 are done" in err
    assert names(scratch) == []
    assert processes_in(tmp_path) == []


def processes_in(folder: Path) -> list[str]:
    """Return the processes that work in a folder or below."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            where = str(link.readlink())
        except OSError:
            continue
        if where.startswith(str(folder)):
            found.append(str(link))
    return found
