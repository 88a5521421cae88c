"""From what an LMS gave to what it takes, by the command line: real archives in, and what comes out is imported."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from tests.cli.shell import LINUX, ROOT, grade, names, one_sentence
from tests.lms.canvas_server import ASSIGNMENT, COURSE, TOKEN, Site, serve
from tests.lms.made import canvas, zip_of
from tests.lms.moodle_import import assignment

LMS = ROOT / "tests" / "data" / "lms"


@pytest.fixture(scope="module")
def run(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of Moodle's archive, with the worksheet filled."""
    out = tmp_path_factory.mktemp("moodle") / "run"
    words = ("--course", course, "--isolation", "process", "--out", out, "--worksheet", LMS / "hw1_worksheet.csv")
    done = grade("batch", LMS / "hw1_folders.zip", *words)
    assert done.returncode == 0, done
    assert "8 of 9 rows will be taken by Moodle." in done.stdout.splitlines()
    assert "Alice Example (6)" in done.stdout
    return out


def test_moodle_takes_what_we_write(run: Path) -> None:
    """Grades reach everybody who handed in, and nobody else; each gets their own report."""
    assert names(run / "moodle") == ["checklist.txt", "dry-run.txt", "feedback-1.zip", "worksheet.csv"]
    site = assignment(range(1, 10))
    site.upload_worksheet((run / "moodle" / "worksheet.csv").read_bytes())
    site.upload_zip((run / "moodle" / "feedback-1.zip").read_bytes())

    assert {number for number, record in site.people.items() if record.grade is not None} == set(range(2, 10))
    reports = {
        path.name.split("-")[-2]: path / "report.html" for path in run.iterdir() if (path / "report.html").is_file()
    }
    assert len(reports) == 8
    for number, record in site.people.items():
        if number > 1:
            assert record.files == {"feedback.html": reports[str(number)].read_bytes()}


def test_a_plain_gradebook_is_always_there(run: Path) -> None:
    """It has a row for each, with the number that Moodle knows them by."""
    rows = list(csv.DictReader(io.StringIO((run / "gradebook.csv").read_text("utf-8-sig"))))
    assert {row["participant"] for row in rows} == {str(number) for number in range(2, 10)}
    assert {row["status"] for row in rows} == {"graded"}
    assert set(rows[0]) > {"score", "max_score", "task.say"}


def test_the_same_again_in_smaller_parts(run: Path) -> None:
    """Another export replaces the parts of the one before, and each part is as small as was asked."""
    whole = sum(path.stat().st_size for path in run.glob("*/report.html"))
    limit = whole // 8
    done = grade("export", run, "--to", "moodle", "--upload-limit", limit)
    assert done.returncode == 0, done
    parts = sorted((run / "moodle").glob("feedback-*.zip"))
    assert len(parts) >= 3
    assert all(part.stat().st_size <= limit for part in parts)
    assert sum(len(zipfile.ZipFile(part).namelist()) for part in parts) == 8

    assert grade("export", run, "--to", "moodle").returncode == 0
    assert names(run / "moodle") == ["checklist.txt", "dry-run.txt", "feedback-1.zip", "worksheet.csv"]


EXPORTS = {
    "no run": (["--to", "moodle"], 2, "Of which run?"),
    "no such run": (["nowhere", "--to", "csv"], 2, "no run in"),
    "no column": (["RUN", "--to", "canvas"], 2, "--column"),
    "no place in Canvas": (["RUN", "--to", "canvas-api"], 2, "--canvas-url"),
    "no token": (
        ["RUN", "--to", "canvas-api", "--canvas-url", "https://c.invalid", "--canvas-course", "1",
         "--canvas-assignment", "2"], 2, "CANVAS_TOKEN",
    ),
    "no such sheet": (["RUN", "--to", "moodle", "--worksheet", "nowhere.csv"], 2, "nowhere.csv"),
    "no sheet": (["RUN", "--to", "moodle", "--worksheet", str(LMS / "hw1_flat.zip")], 3, "hw1_flat.zip"),
    "columns": (["RUN", "--to", "moodle", "--columns", "x=y"], 2, "WHAT=HEADER"),
    "a run for an autograder": (["RUN", "--to", "gradescope-autograder"], 2, "isn't made of a run"),
    "a file for a run": (["RUN", "--to", "csv", "--out", "x.csv"], 2, "--out"),
}  # fmt: skip


@pytest.mark.parametrize("title", EXPORTS)
def test_an_export_that_can_t_be(title: str, run: Path, tmp_path: Path) -> None:
    """One sentence and its exit code."""
    words, code, said = EXPORTS[title]
    given = [str(run) if word == "RUN" else word for word in words]
    one_sentence(grade("export", *given, cwd=tmp_path, env={"CANVAS_TOKEN": None}), code, said)


def test_canvas_gets_scores_and_comments(course: Path, tmp_path: Path) -> None:
    """Canvas's archive is graded, and its own interface takes the grades; the token is in no output."""
    people = {"adalovelace": 1001, "grace": 1002, "lateone": 1003}
    entries = {
        canvas(name, user, 9000 + user, "hw-1.py", late=name == "lateone"): b"def say():\n    return 'right'\n# %d\n"
        % user
        for name, user in people.items()
    }
    archive = zip_of(tmp_path / "submissions.zip", entries)
    out = tmp_path / "run"
    done = grade("batch", archive, "--course", course, "--isolation", "process", "--out", out, "--format", "json")
    assert {entry["key"]: entry["late"] for entry in json.loads(done.stdout)["submissions"]} == {
        "1001": False, "1002": False, "1003": True,
    }  # fmt: skip

    site = Site(tuple(str(user) for user in people.values()))
    with serve(site) as url:
        words = ("--canvas-url", url, "--canvas-course", COURSE, "--canvas-assignment", ASSIGNMENT)
        sent = grade("export", out, "--to", "canvas-api", *words, env={"CANVAS_TOKEN": TOKEN})
    assert (sent.returncode, sent.stdout.strip()) == (0, "3 sent, 0 unchanged, 0 failed, 0 skipped")
    assert TOKEN not in sent.stdout + sent.stderr
    assert {has["score"] for has in site.submissions.values()} == {50.0}


def test_a_sheet_of_older_results_is_not_left(course: Path, tmp_path: Path) -> None:
    """An export without a sheet, after grades have changed, removes the one that holds the old ones, and says so."""
    out, sheet_file = tmp_path / "run", LMS / "hw1_worksheet.csv"
    words = ("--course", course, "--isolation", "process", "--out", out)
    assert grade("batch", LMS / "hw1_folders.zip", *words, "--worksheet", sheet_file).returncode == 0
    assert "Ready: the files in moodle" in (out / "index.html").read_text("utf-8")
    assert grade("override", out, "6", "say/word", "3", "--reason", "x").returncode == 0
    assert "Not ready: grades have changed" in (out / "index.html").read_text("utf-8")

    done = grade("export", out, "--to", "moodle")
    assert "The worksheet is of older results, and was removed" in done.stdout
    assert names(out / "moodle") == ["checklist.txt", "feedback-1.zip"]


@LINUX
def test_an_export_that_fails_costs_no_class_page(course: Path, tmp_path: Path) -> None:
    """What can't be written for the LMS is said last: the class is graded, and has its page and its gradebook."""
    out = tmp_path / "run"
    (tmp_path / "elsewhere").mkdir()
    out.mkdir()
    (out / "moodle").symlink_to(tmp_path / "elsewhere")
    words = ("--course", course, "--isolation", "process", "--out", out, "--worksheet", LMS / "hw1_worksheet.csv")
    done = grade("batch", LMS / "hw1_folders.zip", *words)

    assert done.returncode == 4
    assert done.stderr.endswith("moodle is a link, and nothing is written through links. Remove it.\n")
    assert "8 of 8 graded" in done.stdout
    assert "Alice Example (6)" in (out / "index.html").read_text("utf-8")
    assert "Ready: the files in moodle" not in (out / "index.html").read_text("utf-8")
    assert (out / "gradebook.csv").is_file()


def test_what_is_to_be_known_is_said(course: Path, tmp_path: Path) -> None:
    """Remarks on an attempt and what was left alone are named for people and programs."""
    right = b"def say():\n    return 'right'\n"
    entries = {
        "Ada_1_assignsubmission_file/hw.py": right,
        "Ada_1_assignsubmission_file/old.zip": b"no zip",
        "Bob_2_assignsubmission_file/hw.py": right,
        "what.txt": b"?",
    }
    zip_of(tmp_path / "a.zip", entries)
    words = ("batch", tmp_path / "a.zip", "--course", course, "--isolation", "process", "--out", tmp_path / "run")
    lines = grade(*words).stdout.splitlines()
    assert lines[lines.index("to know (1):") + 1].startswith("  Ada (1): 'old.zip' can't be used")
    assert lines[lines.index("left alone (1):") + 1].startswith("  'what.txt'")
    assert "old.zip" in (tmp_path / "run" / "gradebook.csv").read_text("utf-8-sig")
    assert "old.zip" in (tmp_path / "run" / "index.html").read_text("utf-8")
    document = json.loads(grade(*words, "--resume", "--format", "json").stdout)
    assert len(document["others"]) == 1
    assert [len(entry["remarks"]) for entry in document["submissions"]] == [1, 0]


def test_a_sheet_that_can_t_be_used_is_told_first(course: Path, tmp_path: Path) -> None:
    """Nobody waits for a class to be graded whose sheet can't be filled; its columns can be named at once."""
    text = (LMS / "hw1_worksheet.csv").read_text("utf-8-sig")
    head, _, rows = text.partition("\n")
    (tmp_path / "odd.csv").write_text(",".join(f"c{number}" for number in range(len(head.split(",")))) + "\n" + rows)
    words = ("--course", course, "--isolation", "process", "--out", tmp_path / "run")
    given = (*words, "--worksheet", tmp_path / "odd.csv")
    one_sentence(grade("batch", LMS / "hw1_folders.zip", *given), 3, "odd.csv", "--columns")
    assert not (tmp_path / "run").exists()

    named = "identifier=c0,grade=c4,maximum=c5,modified=c9,feedback=c10"
    done = grade("batch", LMS / "hw1_folders.zip", *given, "--columns", named)
    assert done.returncode == 0, done
    assert "8 of 9 rows will be taken by Moodle." in done.stdout
    assert done.stdout.splitlines()[-1].startswith("next: read ")
