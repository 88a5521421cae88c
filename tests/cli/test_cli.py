"""``grade`` from outside: what it prints, writes and exits with, whatever it is given."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader import __version__
from tests.cli.shell import (
    ESCAPES,
    EXAMPLES,
    RIGHT,
    ROOT,
    WITH_MISTAKE,
    command,
    environment,
    full_disk,
    grade,
    one_sentence,
    start,
    without_powers,
)
from tests.run.arena import children

SEED = 2340
THREE = ("fragment.html", "report.html", "result.json")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="these are Linux's ways to fail")


@pytest.fixture
def right(tmp_path: Path) -> Path:
    """Return a copy of the right example, where reports may lie beside it."""
    place = tmp_path / "submission.py"
    place.write_bytes(RIGHT.read_bytes())
    return place


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """Return an empty file: graded like any other, and fastest."""
    place = tmp_path / "empty.py"
    place.write_bytes(b"")
    return place


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A run of the example with a mistake, with its files and its transcript."""

    folder: Path
    document: str

    @property
    def transcript(self) -> Path:
        """The kept transcript."""
        return self.folder / "run.transcript"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Return a run that every test may look at."""
    folder = tmp_path_factory.mktemp("kept")
    done = grade(
        WITH_MISTAKE, "--seed", SEED, "--out", folder, "--format", "json", "--transcript", folder / "run.transcript"
    )
    assert (done.returncode, done.stderr) == (0, "")
    return Kept(folder=folder, document=done.stdout)


def names(folder: Path) -> list[str]:
    """Return what lies in a folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir())


# ------------------------------------------------------------------ grading


def test_the_summary_and_the_report_beside(right: Path) -> None:
    """Without options there is a summary of at most 80 columns and a report beside the file, and nothing else."""
    done = grade("submission.py", cwd=right.parent)

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"Scaled dot-product attention: submission\.py +100 of 100 points", lines[0])
    assert max(map(len, lines)) <= 80
    assert re.search(r"--seed \d+$", lines[-1])
    assert "submission-report.html" in done.stdout
    assert names(right.parent) == ["submission-report.html", "submission.py"]
    page = (right.parent / "submission-report.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")


def test_a_seed_replays(kept: Kept, tmp_path: Path) -> None:
    """The seed of a run gives the same three files again, to the byte."""
    done = grade(WITH_MISTAKE, "--out", tmp_path, "--format", "json", "--seed", SEED)

    assert done.stdout == kept.document
    for name in THREE:
        assert (tmp_path / name).read_bytes() == (kept.folder / name).read_bytes()


def test_out_writes_three_files(right: Path) -> None:
    """With --out, three files lie in a folder that is made for them, and none beside the submission."""
    out = right.parent / "a" / "b"
    done = grade(right, "--out", out, "--format", "json")

    assert done.returncode == 0
    assert names(out) == ["fragment.html", "report.html", "result.json"]
    assert names(right.parent) == ["a", "submission.py"]
    assert (out / "result.json").read_text(encoding="utf-8") == done.stdout
    assert json.loads(done.stdout, parse_constant=pytest.fail)["score"] == 100
    if os.name == "posix":
        assert {(out / name).stat().st_mode & 0o777 for name in names(out)} == {0o666 & ~umask()}


def umask() -> int:
    """Return the umask."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("limit, code", [("85", 0), ("85.01", 1), ("1e3", 1)], ids=["reached", "missed", "far"])
def test_fail_under(limit: str, code: int, kept: Kept, tmp_path: Path) -> None:
    """The exit code says whether the score is below --fail-under; the report is the same."""
    done = grade("regrade", kept.transcript, "--out", tmp_path, "--fail-under", limit)

    assert (done.returncode, done.stderr) == (code, "")
    assert "85 of 100 points" in done.stdout
    assert (tmp_path / "result.json").read_text(encoding="utf-8") == kept.document


def test_hints_are_shown_when_asked_for(kept: Kept, tmp_path: Path) -> None:
    """The summary shows no hint but how to get one, or those up to the level that was asked for."""
    shown = [
        len(
            re.findall(r"(?m)^  hint:  (?!grade )", grade("regrade", kept.transcript, "--out", tmp_path, *words).stdout)
        )
        for words in ([], ["--hints", "2"])
    ]

    assert shown == [0, 2]


def test_help() -> None:
    """Help names every option, has examples and the exit codes, and is plain text of 80 columns."""
    done = grade("--help", env={"COLUMNS": "80"})

    assert (done.returncode, done.stderr) == (0, "")
    for said in ("--out", "--seed", "--format", "--fail-under", "--hints", "--course", "grade start", "exit codes"):
        assert said in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert not ESCAPES.search(done.stdout)


@pytest.mark.parametrize("words", [["--version"], ["submission.py", "--version"]], ids=["alone", "after a path"])
def test_version(words: list[str]) -> None:
    """The version is one line."""
    done = grade(*words)

    assert (done.returncode, done.stdout, done.stderr) == (0, f"grade {__version__}\n", "")


@LINUX
def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    """A file's name may be any bytes: it is graded, shown as far as it can be, and its report lies beside it."""
    name = os.fsdecode(b"t\xc3\xaate \xff\n.py")
    (tmp_path / name).write_bytes(RIGHT.read_bytes())
    done = grade(tmp_path / name, env={"PYTHONIOENCODING": "utf-8"})

    assert (done.returncode, done.stderr) == (0, "")
    assert "100 of 100 points" in done.stdout
    assert os.fsdecode(b"t\xc3\xaate \xff\n-report.html") in names(tmp_path)


# ------------------------------------------------------------------ files that hold no points

CONTENT: dict[str, tuple[str, bytes]] = {
    "binary": ("submission.py", bytes(range(256)) * 50),
    "empty": ("submission.py", b""),
    "a syntax error": ("submission.py", b"def softmax(:\n"),
    "an error": ("submission.py", b"1 / 0\n"),
    "an exit": ("submission.py", b"import os\nos._exit(3)\n"),
    "half a notebook": ("submission.ipynb", b'{"cells": [{"cell_type": "co'),
}


@pytest.mark.parametrize("name, content", CONTENT.values(), ids=CONTENT)
def test_what_cannot_be_loaded_is_graded(name: str, content: bytes, tmp_path: Path) -> None:
    """A file that can't be read or run has 0 points, exit code 0 and a report that says why."""
    (tmp_path / name).write_bytes(content)
    done = grade(tmp_path / name)

    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"\b0 of 100 points", done.stdout)
    assert "note:" in done.stdout
    assert len(names(tmp_path)) == 2


def test_a_file_of_200_mb(tmp_path: Path) -> None:
    """A file that is far too large is never taken into memory: 0 points, and the report says so."""
    place = tmp_path / "submission.py"
    with place.open("wb") as file:
        file.truncate(200 << 20)
    done = grade(place, before=_little_memory if sys.platform == "linux" else None)

    assert (done.returncode, done.stderr) == (0, "")
    assert "0 of 100 points" in done.stdout
    assert "5 MB" in done.stdout


def _little_memory() -> None:
    import resource

    # Enough for NumPy's address space, not for that and the file.
    resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20))


# ------------------------------------------------------------------ wrong usage

USAGE: dict[str, tuple[list[str], str]] = {
    "nothing": ([], "PATH"),
    "an unknown option": (["submission.py", "--frobnicate"], "--frobnicate"),
    "two files": (["submission.py", "submission.py"], "submission.py"),
    "no seed": (["submission.py", "--seed"], "--seed"),
    "a seed that is none": (["submission.py", "--seed", "x"], "'x' is no seed"),
    "a negative seed": (["submission.py", "--seed=-1"], "'-1' is no seed"),
    "a seed of 2^53": (["submission.py", "--seed", str(1 << 53)], "is no seed"),
    "a seed of a million digits": (["submission.py", "--seed", "9" * 100_000], "is no seed"),
    "an unknown format": (["submission.py", "--format", "xml"], "xml"),
    "hints of level 4": (["submission.py", "--hints", "4"], "4"),
    "a limit that is none": (["submission.py", "--fail-under", "half"], "half"),
    "an unknown isolation": (["submission.py", "--isolation", "docker"], "docker"),
    "no such file": (["no such.py"], "There is no file 'no such.py'"),
    "no such folder": (["no/such.py"], "There is no file 'no/such.py'"),
    "below a file": (["submission.py/x.py"], "There is no file"),
    "a folder": (["folder"], "is a folder"),
    "a folder with a suffix": (["folder.py"], "is a folder"),
    "another suffix": (["notes.txt"], ".py and .ipynb"),
    "no suffix": (["notes"], ".py and .ipynb"),
    "an empty path": ([""], "folder"),
    "a path of escapes": (["\x1b[31m\x07.py"], "There is no file"),
    "a very long path": (["x" * 5000 + ".py"], "can't be read"),
    "no such course": (["submission.py", "--course", "nowhere"], "nowhere"),
    "an unknown assignment": (["submission.py", "--assignment", "nothing"], "nothing"),
    "regrading nothing": (["regrade"], "TRANSCRIPT"),
    "regrading what isn't there": (["regrade", "nothing.transcript"], "there is no such file"),
    "starting in a file": (["start", "submission.py"], "this is a file"),
    "starting twice": (["start", "one", "two"], "two"),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one of each."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "submission.py").write_bytes(RIGHT.read_bytes())
    (folder / "notes.txt").write_text("notes")
    (folder / "notes").write_text("notes")
    (folder / ".py").write_text("x = 1")
    for name in ("folder", "folder.py"):
        (folder / name).mkdir()
    return folder


@pytest.mark.parametrize("words, said", USAGE.values(), ids=USAGE)
def test_wrong_usage_is_one_sentence(words: list[str], said: str, desk: Path) -> None:
    """Whatever can't be done is said in one line with exit code 2 (3 for an assignment that a course lacks)."""
    before = names(desk)
    done = grade(*words, cwd=desk)

    one_sentence(done, 3 if "--assignment" in words else 2, said)
    assert names(desk) == before


@LINUX
def test_an_unreadable_file(right: Path) -> None:
    """A file that one may not read is wrong usage, with a way out."""
    right.chmod(0)
    done = grade(right, before=without_powers)

    one_sentence(done, 2, "permission")


@LINUX
def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    """A named pipe that nobody writes to isn't waited for."""
    os.mkfifo(tmp_path / "submission.py")
    one_sentence(grade(tmp_path / "submission.py"), 2, "not an ordinary file")


# ------------------------------------------------------------------ places that can't be written


@LINUX
def test_a_folder_that_cannot_be_written(empty: Path) -> None:
    """Where the report can't be written, grading says so with exit code 4 and leaves nothing."""
    empty.parent.chmod(0o555)
    try:
        done = grade(empty, before=without_powers)
    finally:
        empty.parent.chmod(0o755)

    assert done.returncode == 4
    assert done.stderr.startswith("grade: ")
    assert done.stderr.count("\n") == 1
    assert "0 of 100 points" in done.stdout
    assert names(empty.parent) == ["empty.py"]


@LINUX
def test_an_output_folder_that_cannot_be_written(empty: Path) -> None:
    """An --out that can't be made is said before anything runs."""
    (empty.parent / "locked").mkdir(mode=0o555)
    one_sentence(grade(empty, "--out", empty.parent / "locked" / "out", before=without_powers), 4, "can't be made")


@pytest.mark.parametrize("out", ["empty.py", "empty.py/below"], ids=["a file", "below a file"])
def test_an_output_folder_that_is_a_file(out: str, empty: Path) -> None:
    """An --out that is a file, or lies below one, can't be made either."""
    one_sentence(grade(empty, "--out", empty.parent / out), 4, "can't be made")
    assert names(empty.parent) == ["empty.py"]


def test_a_transcript_that_cannot_be_written(empty: Path) -> None:
    """The same for --transcript."""
    done = grade(empty, "--transcript", empty.parent / "no" / "such" / "run.transcript")

    one_sentence(done, 4, "run.transcript")


@LINUX
def test_a_full_disk(empty: Path, tmp_path: Path) -> None:
    """On a full disk the report isn't half written: exit code 4, one sentence, and no file of ours is left."""
    with full_disk(tmp_path / "disk", "64k") as disk:
        (disk / "filling").write_bytes(bytes(60 << 10))
        done = grade(empty, "--out", disk)

        assert done.returncode == 4
        assert "No space left on device" in done.stderr
        assert done.stderr.count("\n") == 1
        assert names(disk) == ["filling"]
        assert "0 of 100 points" in done.stdout


@LINUX
def test_an_old_report_outlives_a_full_disk(empty: Path, tmp_path: Path) -> None:
    """A report that can't be replaced stays as it was."""
    with full_disk(tmp_path / "disk", "64k") as disk:
        (disk / "report.html").write_bytes(b"old")
        (disk / "filling").write_bytes(bytes(56 << 10))
        done = grade(empty, "--out", disk)

        assert done.returncode == 4
        assert (disk / "report.html").read_bytes() == b"old"
        assert names(disk) == ["filling", "report.html"]


@LINUX
def test_a_full_temporary_folder(empty: Path, tmp_path: Path) -> None:
    """Where no scratch folder can be made, that is said with a way out."""
    (empty.parent / "data.csv").write_bytes(b"1" * 60_000)
    empty.write_bytes(b"# data.csv")
    with full_disk(tmp_path / "disk", "16k") as disk:
        done = grade(empty, env={"TMPDIR": str(disk)})

        one_sentence(done, 4, "No space left on device", "TMPDIR")
        assert names(disk) == []


# ------------------------------------------------------------------ streams


@LINUX
def test_standard_output_on_a_full_disk(empty: Path, tmp_path: Path) -> None:
    """A summary that can't be printed is said, and the report is there all the same."""
    with Path("/dev/full").open("w") as full:
        done = grade(empty, "--out", tmp_path, stdout=full.fileno())

    one_sentence(done, 4, "No space left on device")
    assert "report.html" in names(tmp_path)


@LINUX
@pytest.mark.parametrize("streams", [(1,), (0, 1, 2)], ids=["stdout", "all"])
def test_closed_streams(streams: tuple[int, ...], empty: Path, tmp_path: Path) -> None:
    """Whoever closes a stream gets a report as ever."""
    done = grade(empty, "--out", tmp_path / "out", before=lambda: [os.close(fd) for fd in streams] and None)

    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path / "out") == ["fragment.html", "report.html", "result.json"]


def test_a_reader_that_has_gone(empty: Path, tmp_path: Path) -> None:
    """Whoever stops reading costs nobody the report: no complaint, exit code 0."""
    process = start(empty, "--out", tmp_path / "out", cwd=tmp_path, env={})
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == ""

    assert process.wait(60) == 0
    assert names(tmp_path / "out") == ["fragment.html", "report.html", "result.json"]


@pytest.mark.parametrize(
    "env, coloured",
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm-256color"}, False),
    ],
    ids=["piped", "forced", "forced and forbidden"],
)
def test_colour(env: dict[str, str], coloured: bool, empty: Path) -> None:
    """Piped text has no escape codes unless they are forced, and NO_COLOR wins."""
    done = grade(empty, env={"NO_COLOR": None, "FORCE_COLOR": None, **env})

    assert bool(ESCAPES.search(done.stdout)) is coloured


@LINUX
@pytest.mark.parametrize(
    "env, coloured",
    [({}, True), ({"TERM": "dumb"}, False)],
    ids=["a terminal", "a dumb one"],
)
def test_colour_on_a_terminal(env: dict[str, str], coloured: bool, empty: Path) -> None:
    """A terminal gets colour, unless it can't show any or nobody wants it."""
    import pty

    ours, theirs = pty.openpty()
    full = {"TERM": "xterm", "NO_COLOR": None, "FORCE_COLOR": None, **env}
    process = subprocess.Popen(command(empty), env=environment(full), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:
        pass  # the other end has gone: that is how a terminal ends
    os.close(ours)

    assert process.wait(60) == 0
    assert b"0 of 100 points" in said
    assert (b"\x1b[" in said) is coloured


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_any_encoding_will_do(encoding: str, kept: Kept, tmp_path: Path) -> None:
    """A terminal that can't show a check mark gets plain letters, one that can gets it; nothing fails."""
    env = {"PYTHONIOENCODING": encoding}
    done = grade("regrade", kept.transcript, "--out", tmp_path, "--hints", 3, env=env)

    assert (done.returncode, done.stderr) == (0, "")
    assert ("✓" in done.stdout) is (encoding == "utf-8")
    if encoding == "ascii":
        assert done.stdout.isascii()


def test_the_json_document_in_any_encoding(kept: Kept, tmp_path: Path) -> None:
    """What is printed as JSON is JSON in any encoding, and the file is UTF-8 in any case."""
    env = {"PYTHONIOENCODING": "ascii"}
    done = grade("regrade", kept.transcript, "--out", tmp_path, "--format", "json", env=env)

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["schema"] == json.loads(kept.document)["schema"]
    assert (tmp_path / "result.json").read_text(encoding="utf-8") == kept.document


# ------------------------------------------------------------------ interrupts


@LINUX
@pytest.mark.parametrize("code", ["import time; time.sleep(60)", "while True: pass"], ids=["asleep", "busy"])
def test_an_interrupt_in_the_middle(code: str, tmp_path: Path) -> None:
    """Ctrl-C ends at once with 130: no report, no process, no scratch folder is left, whatever the file does."""
    import signal

    sign = tmp_path / "running"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "submission.py").write_text(f"open({str(sign)!r}, 'w').close()\n{code}\n")
    before = children()
    process = start("submission.py", cwd=tmp_path, env={"TMPDIR": str(scratch)})
    deadline = time.monotonic() + 30
    while not sign.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sign.exists()
    time.sleep(0.3)
    assert len(children() - before) == 2
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=20)

    assert process.returncode == 130
    assert stdout == ""
    assert stderr.strip() == "grade: interrupted; no report was written."
    assert names(tmp_path) == ["running", "scratch", "submission.py"]
    assert names(scratch) == []
    assert children() <= before


# ------------------------------------------------------------------ start and regrade


def test_start_writes_and_never_overwrites(tmp_path: Path) -> None:
    """The starter files are written once; whoever asks again is told, and nothing has changed."""
    first = grade("start", "work", cwd=tmp_path)

    assert (first.returncode, first.stderr) == (0, "")
    handout = ROOT / "exercises" / "attention"
    assert names(tmp_path / "work") == names(handout)
    assert "grade work" in first.stdout.replace(os.sep, "/")
    (tmp_path / "work" / "submission.py").write_text("mine")
    again = grade("start", "work", cwd=tmp_path)

    one_sentence(again, 2, "submission.py", "nothing is ever overwritten")
    assert (tmp_path / "work" / "submission.py").read_text() == "mine"


def test_start_in_a_folder_with_other_files(tmp_path: Path) -> None:
    """In this folder, beside other files, nothing of theirs is touched."""
    (tmp_path / "notes.txt").write_text("notes")
    done = grade("start", cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})

    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "notes.txt").read_text() == "notes"
    assert (tmp_path / "submission.ipynb").is_file()


@LINUX
def test_start_where_it_cannot_write(tmp_path: Path) -> None:
    """Starter files that can't be written are said with exit code 4."""
    (tmp_path / "locked").mkdir(mode=0o555)
    one_sentence(grade("start", tmp_path / "locked" / "work", before=without_powers), 4, "can't be made")


@pytest.mark.parametrize("name", ["submission.py", pytest.param("submission.ipynb", marks=pytest.mark.slow)])
def test_the_starter_has_no_points(name: str, tmp_path: Path) -> None:
    """What start writes is graded with 0 points, every task not started."""
    grade("start", tmp_path)
    done = grade(tmp_path / name, "--out", tmp_path / "out", "--format", "json")

    document = json.loads(done.stdout)
    assert (done.returncode, document["score"]) == (0, 0)
    assert {task["status"] for task in document["tasks"]} == {"missing"}


def test_regrade_gives_the_same(kept: Kept, tmp_path: Path) -> None:
    """A kept run judged again gives the same three files to the byte, without the submission."""
    done = grade("regrade", kept.transcript, "--out", tmp_path, "--format", "json")

    assert (done.returncode, done.stderr, done.stdout) == (0, "", kept.document)
    for name in THREE:
        assert (tmp_path / name).read_bytes() == (kept.folder / name).read_bytes()


@pytest.mark.slow
def test_regrade_of_a_notebook_in_its_own_folder(tmp_path: Path) -> None:
    """Without --out, the report of a kept notebook lies beside its transcript."""
    (tmp_path / "work.ipynb").write_bytes((EXAMPLES / "with_mistake.ipynb").read_bytes())
    first = grade("work.ipynb", "--seed", SEED, "--transcript", "run.transcript", cwd=tmp_path)
    (tmp_path / "work.ipynb").unlink()
    report = (tmp_path / "work-report.html").read_bytes()
    (tmp_path / "work-report.html").unlink()
    again = grade("regrade", "run.transcript", cwd=tmp_path)

    assert (first.returncode, again.returncode, again.stderr) == (0, 0, "")
    assert names(tmp_path) == ["run.transcript", "work-report.html"]
    assert (tmp_path / "work-report.html").read_bytes() == report


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: b"",
        lambda raw: b"not a transcript",
        lambda raw: raw[: len(raw) // 2],
        lambda raw: raw[:200] + bytes(200) + raw[400:],
        lambda raw: raw[:-8] + bytes(8),
        lambda raw: raw + b"more",
    ],
    ids=["empty", "a text", "cut off", "zeros inside", "a wrong checksum", "more at its end"],
)
def test_a_damaged_transcript(damage: object, tmp_path: Path, kept: Kept) -> None:
    """What isn't a transcript any more is said with exit code 3, and nothing is written."""
    assert callable(damage)
    place = tmp_path / "run.transcript"
    place.write_bytes(damage(kept.transcript.read_bytes()))

    one_sentence(grade("regrade", place), 3, "transcript")
    assert names(tmp_path) == ["run.transcript"]
