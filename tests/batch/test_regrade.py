"""Judging a class again, overrides and appeals: from outside, on a run that is kept."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from grader.batch.regrade import Change, judge_again
from grader.batch.roll import roll_of
from grader.store.journal import Journal
from tests.batch.course import write_course
from tests.batch.test_resume import everything
from tests.cli.shell import grade, one_sentence

WORDS = {"a": "right", "b": "wrong", "c": "look", "d": "other"}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a course and a run of four submissions in it."""
    root = tmp_path_factory.mktemp("graded")
    write_course(root / "course")
    (root / "hand-ins").mkdir()
    for name, word in WORDS.items():
        (root / "hand-ins" / f"{name}.py").write_text(f"def say():\n    return {word!r}\n", encoding="utf-8")
    words = ("--course", root / "course", "--isolation", "process", "--out", root / "run", "--seed", 5)
    assert grade("batch", root / "hand-ins", *words).returncode == 0
    # Nothing of what was handed in is needed any more.
    shutil.rmtree(root / "hand-ins")
    return root


@pytest.fixture
def root(graded: Path, tmp_path: Path) -> Path:
    """Return a copy that may be changed. The run knows its course by its place, which is the copy's by --course."""
    return Path(shutil.copytree(graded, tmp_path / "root"))


def change_checks(root: Path, old: str, new: str) -> None:
    """Change the course."""
    path = root / "course" / "reference" / "say" / "checks.py"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def result_of(root: Path, name: str) -> dict:
    """Return the result of a submission."""
    (path,) = (root / "run").glob(f"{name}-*/result.json")
    read: dict = json.loads(path.read_text("utf-8"))
    return read


def test_the_same_rubric_gives_the_same_bytes(root: Path) -> None:
    """All are judged, nothing changes, and no student code runs."""
    before = everything(root / "run")
    done = grade("regrade", root / "run", "--course", root / "course")

    assert (done.returncode, done.stderr) == (0, "")
    assert "4 judged, 0 with other points, 4 with the same bytes as before" in done.stdout
    assert everything(root / "run") == before


def test_a_changed_rubric(root: Path) -> None:
    """Who changed, by how much, by which criterion; reports and results follow, once more gives the same."""
    change_checks(root, '"right", "look"', '"right", "wrong", "look"')
    done = grade("regrade", root / "run", "--course", root / "course")

    assert done.returncode == 0
    assert "b.py: 0 -> 10 (say/word 0 -> 10)" in done.stdout.splitlines()
    assert "say/word: 1 changed" in done.stdout
    assert "4 judged, 1 with other points" in done.stdout
    assert result_of(root, "b")["score"] == 10
    again = grade("regrade", root / "run", "--course", root / "course", "--format", "json")
    assert [(item["key"], item["criteria"]) for item in json.loads(again.stdout)] == [
        (f"{name}.py", []) for name in WORDS
    ]
    assert all(item["same_bytes"] for item in json.loads(again.stdout))


def test_an_override_stays(root: Path) -> None:
    """It is in the file, in result and report with its reason, and survives a changed rubric."""
    words = ("override", root / "run", "b.py", "say/word", "7.5", "--reason", "Said it <aloud>.", "--by", "Ada")
    done = grade(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "b.py: 0 -> 7.5 (say/word 0 -> 7.5)" in done.stdout
    assert 'reason = "Said it <aloud>."' in (root / "run" / "overrides.toml").read_text("utf-8")

    change_checks(root, '"look", "print"', '"look", "other", "print"')
    regraded = grade("regrade", root / "run", "--course", root / "course")
    assert "d.py: 0 -> 10" in regraded.stdout
    result = result_of(root, "b")
    assert result["score"] == 7.5
    (adjustment,) = result["adjustments"]
    assert adjustment == {
        "kind": "override", "target": "say/word", "before": 0, "after": 7.5, "reason": "Said it <aloud>.", "by": "Ada",
    }  # fmt: skip
    assert result["tasks"][0]["criteria"][0]["status"] == "partial"
    (report,) = (root / "run").glob("b-*/report.html")
    assert "Said it &lt;aloud&gt;." in report.read_text("utf-8")

    # By hand, the file is as good: full points make it right.
    path = root / "run" / "overrides.toml"
    path.write_text(path.read_text("utf-8").replace("7.5", "10"), encoding="utf-8")
    assert "b.py: 7.5 -> 10" in grade("regrade", root / "run", "--course", root / "course").stdout
    assert result_of(root, "b")["tasks"][0]["status"] == "passed"


def test_hostile_names_can_be_decided_on(tmp_path: Path) -> None:
    """Whatever a folder is called, what the class page shows of it names it; two that look the same need more."""
    course = write_course(tmp_path / "course")
    for name in ("a\x1b[31m\nb", "c\u202ed", "c\u202dd", "n" * 255):
        (tmp_path / "hand-ins" / name).mkdir(parents=True)
        (tmp_path / "hand-ins" / name / "x.py").write_text(f"def say():\n    return {name!r}\n", encoding="utf-8")
    words = ("--course", course, "--isolation", "process", "--out", tmp_path / "run")
    assert grade("batch", tmp_path / "hand-ins", *words).returncode == 0

    points = ("say/word", "2.5", "--reason", "Fine. \U0001f600", "--by", "Ada")
    for name in ("a\ufffd[31m b", "n" * 255):
        done = grade("override", tmp_path / "run", name, *points)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"{name}: 0 -> 2.5 (say/word 0 -> 2.5)" in done.stdout.splitlines()
    one_sentence(grade("override", tmp_path / "run", "c\ufffdd", *points), 2, "Several attempts", "folders: cd-")
    assert grade("regrade", tmp_path / "run").stdout.startswith("4 judged, 0 with other points, 4 with the same bytes")


def test_no_such_number_of_jobs(graded: Path) -> None:
    """One sentence."""
    one_sentence(grade("regrade", graded / "run", "--jobs", -1), 2, "number of jobs")


OVERRIDES = {
    "nobody": (["nobody", "say/word", "1", "--reason", "x"], "Nobody"),
    "no criterion": (["b.py", "say/words", "1", "--reason", "x"], "There is: say/word"),
    "too many points": (["b.py", "say/word", "11", "--reason", "x"], "10 points"),
    "negative": (["b.py", "say/word", "-1", "--reason", "x"], "number of points"),
    "no number": (["b.py", "say/word", "many", "--reason", "x"], "number of points"),
    "no reason": (["b.py", "say/word", "1"], "--reason"),
    "an empty reason": (["b.py", "say/word", "1", "--reason", " "], "letters"),
}


@pytest.mark.parametrize("title", OVERRIDES)
def test_an_override_that_can_t_be(title: str, graded: Path) -> None:
    """One sentence, and nothing is written."""
    words, said = OVERRIDES[title]
    one_sentence(grade("override", graded / "run", *words), 2, said)
    assert not (graded / "run" / "overrides.toml").exists()


BROKEN = {
    "not TOML": ("[[override", "can't be read"),
    "another table": ("[other]\n", "something else"),
    "no points": ('[[override]]\nstudent="b.py"\ncriterion="say/word"\nreason="x"\nby="y"\n', "override 1: 'points'"),
    "no reason": ('[[override]]\nstudent="b.py"\ncriterion="say/word"\npoints=1\nby="y"\n', "override 1: 'reason'"),
}


@pytest.mark.parametrize("title", BROKEN)
def test_overrides_that_are_broken_by_hand(title: str, root: Path) -> None:
    """The sentence names the file and the entry, and no result changes."""
    text, said = BROKEN[title]
    (root / "run" / "overrides.toml").write_text(text, encoding="utf-8")
    before = everything(root / "run")
    one_sentence(grade("regrade", root / "run", "--course", root / "course"), 2, "overrides.toml", said)
    assert everything(root / "run") == before


def test_one_is_run_again(root: Path) -> None:
    """--rerun runs what is kept, with the inputs that it had."""
    before = everything(root / "run")
    words = ("regrade", root / "run", "--rerun", "b.py", "--isolation", "process")
    done = grade(*words)

    assert (done.returncode, done.stderr) == (0, "")
    assert "1 judged, 0 with other points, 1 with the same bytes as before" in done.stdout
    assert everything(root / "run") == before


def test_an_appeal_opens_the_case(root: Path) -> None:
    """The last line of a report leads to what was asked, what came back and an instructor's report."""
    (report,) = (root / "run").glob("b-*/report.html")
    (line,) = re.findall(r"<code>(say/word \d+ [0-9a-f]+…[0-9a-f]+)</code>", report.read_text("utf-8"))
    done = grade("appeal", line, "--run", root / "run", "--course", root / "course")

    assert (done.returncode, done.stderr) == (0, "")
    assert "b.py: b.py, 0 of 10" in done.stdout
    assert "say/word: failed, 0 of 10" in done.stdout
    assert "returned: 'wrong'" in done.stdout
    (page,) = (root / "run" / ".grade" / "appeals").iterdir()
    assert page.read_text("utf-8").startswith("<!doctype html>")
    plain = line.replace("…", "...")
    assert grade("appeal", plain, cwd=root / "run").stdout == done.stdout.replace(f"{root / 'run'}/", "")


@pytest.mark.parametrize(
    "line, said", [("hello", "isn't such a line"), ("say/word 1 aaaaaaaa…bbbb", "No submission of the run")]
)
def test_an_appeal_that_fits_nothing(line: str, said: str, graded: Path) -> None:
    """One sentence."""
    one_sentence(grade("appeal", line, "--run", graded / "run"), 2, said)


def test_a_run_that_is_none(tmp_path: Path) -> None:
    """A folder without a run is wrong usage, for each command."""
    for words in (
        ("regrade", tmp_path),
        ("override", tmp_path, "a", "b/c", "1", "--reason", "x"),
        ("name-group", tmp_path, "ab", "x"),
        ("appeal", "a/b 1 aaaaaaaa…bbbb", "--run", tmp_path),
    ):
        one_sentence(grade(*words), 2, "no run in")


def test_a_failure_is_named_once_for_all(root: Path) -> None:
    """Whoever fails in the same unexplained way reads the sentence; the class page shows it; it can be taken back."""
    page = (root / "run" / "index.html").read_text("utf-8")
    (name,) = re.findall(r'<tr id="group-([a-z0-9]+)">', page)
    done = grade("name-group", root / "run", name, "Ask yourself <which> word it has to be.")

    assert (done.returncode, done.stderr) == (0, "")
    assert "2 judged, 0 with other points, 0 with the same bytes" in done.stdout
    for who in "bd":
        (report,) = (root / "run").glob(f"{who}-*/report.html")
        assert "Ask yourself &lt;which&gt; word it has to be." in report.read_text("utf-8")
    (right,) = (root / "run").glob("a-*/report.html")
    assert "Ask yourself" not in right.read_text("utf-8")
    assert "Ask yourself &lt;which&gt;" in (root / "run" / "index.html").read_text("utf-8")

    assert grade("name-group", root / "run", name, "").returncode == 0
    (report,) = (root / "run").glob("b-*/report.html")
    assert "Ask yourself" not in report.read_text("utf-8")


def test_a_group_that_is_none(graded: Path) -> None:
    """One sentence."""
    one_sentence(grade("name-group", graded / "run", "zzzz", "x"), 2, "no group 'zzzz'")


BY_HAND = {
    "nobody": ("c", "say/word", 5, "no attempt has the key 'c'; is it 'c.py'?"),
    "no criterion": ("b.py", "say/words", 5, "'b.py' has no criterion 'say/words'. There is: say/word."),
    "too many points": ("b.py", "say/word", 50, "say/word of 'b.py' has 10 points, so 50 count as these."),
}


@pytest.mark.parametrize("title", BY_HAND)
def test_an_override_by_hand_that_does_nothing(title: str, root: Path) -> None:
    """It stops nobody's grade, and is told."""
    student, criterion, points, said = BY_HAND[title]
    (root / "run" / "overrides.toml").write_text(
        f'[[override]]\nstudent = "{student}"\ncriterion = "{criterion}"\npoints = {points}\nreason = "x"\nby = "y"\n',
        encoding="utf-8",
    )
    done = grade("regrade", root / "run", "--course", root / "course")
    assert (done.returncode, done.stderr) == (0, f"grade: overrides.toml: {said}\n")
    assert "4 judged" in done.stdout


def test_an_appeal_as_it_was_copied(root: Path) -> None:
    """The whole sentence of the report will do, also without quotes; a changed point says who changed it."""
    assert grade("override", root / "run", "b.py", "say/word", 3, "--reason", "Heard it.", "--by", "A").returncode == 0
    (report,) = (root / "run").glob("b-*/report.html")
    (line,) = re.findall(r"<code>(say/word \d+ [0-9a-f]+…[0-9a-f]+)</code>", report.read_text("utf-8"))
    sentence = f"Do you disagree? Send your instructor this line: {line}"
    for words in ([sentence], sentence.split()):
        done = grade("appeal", *words, "--run", root / "run", "--course", root / "course")
        assert (done.returncode, done.stderr) == (0, "")
        assert "override: say/word 0 -> 3, by A: Heard it." in done.stdout.splitlines()


def test_an_appeal_of_a_file_that_never_ran(tmp_path: Path) -> None:
    """It says why there is nothing to show, and who else handed in the same."""
    course = write_course(tmp_path / "course")
    (tmp_path / "hand-ins").mkdir()
    for name in ("a", "b"):
        (tmp_path / "hand-ins" / f"{name}.py").write_text("def say(:\n")
    words = ("--course", course, "--isolation", "process", "--out", tmp_path / "run", "--format", "json")
    done = grade("batch", tmp_path / "hand-ins", *words)
    one, two = json.loads(done.stdout)["submissions"]
    assert (one["score"], two["same_as"]) == (0, 0)

    done = grade("appeal", f"say/word {one['seed']} {one['sha256'][:8]}", "--run", tmp_path / "run")
    assert "The same file: b.py" in done.stdout.splitlines()
    assert "note: Python can't read your file: line 1 has a syntax error" in done.stdout


def test_a_decision_is_kept_where_it_can_t_be_taken_over(root: Path) -> None:
    """With a changed course one submission isn't judged alone; the decision waits for the regrade, and that is said."""
    # The run's own course is the one that this copy was made of.
    assert grade("regrade", root / "run", "--course", root / "course").returncode == 0
    change_checks(root, '"look", "print"', '"look", "other", "print"')
    words = ("override", root / "run", "b.py", "say/word", "7.5", "--reason", "Heard it.")
    one_sentence(grade(*words), 3, "isn't the one", "What you decided is kept")
    assert "b.py: 0 -> 7.5" in grade("regrade", root / "run").stdout


def test_the_page_says_that_grades_are_mixed(root: Path) -> None:
    """Whatever ends a regrade with a changed course half-way: the page has said so before the first grade changed."""
    change_checks(root, '"look", "print"', '"look", "other", "print"')
    page = root / "run" / "index.html"
    with Journal(root / "run", new=False) as journal:
        roll = roll_of(journal)
        again = judge_again(journal, roll, roll.entries, course=str(root / "course"), jobs=1)
        while not isinstance(next(again), Change):
            pass
        again.close()
        assert "grades are mixed" in page.read_text("utf-8")
    assert grade("regrade", root / "run", "--course", root / "course").returncode == 0
    assert "grades are mixed" not in page.read_text("utf-8")


def test_an_override_is_of_one_file(root: Path, tmp_path: Path) -> None:
    """A later file of the same student is judged as it is, and that is said; without a hash it holds for any."""
    words = ("override", root / "run", "b.py", "say/word", "2", "--reason", "x", "--by", "Ada")
    assert grade(*words).returncode == 0
    hand_ins = tmp_path / "later"
    hand_ins.mkdir()
    (hand_ins / "b.py").write_text("def say():\n    return 'right'\n# better\n", encoding="utf-8")
    options = ("--out", root / "run", "--resume", "--course", root / "course", "--isolation", "process")
    done = grade("batch", hand_ins, *options)

    assert done.returncode == 0, done
    assert "say/word of 'b.py' was decided for an earlier file" in done.stderr
    assert result_of(root, "b")["score"] == 10
    path = root / "run" / "overrides.toml"
    path.write_text(re.sub(r"file = .*\n", "", path.read_text("utf-8")), encoding="utf-8")
    assert grade("regrade", root / "run", "--course", root / "course").returncode == 0
    assert result_of(root, "b")["score"] == 2


def test_without_a_transcript_a_grade_stays(root: Path) -> None:
    """What can't be judged again keeps its grade, and the summary says what to do."""
    before = everything(root / "run")
    shutil.rmtree(root / "run" / ".grade" / "transcripts")
    done = grade("regrade", root / "run", "--course", root / "course")

    assert done.returncode == 4
    assert done.stdout.count("not graded: its transcript") == 4
    assert "--rerun" in done.stdout
    assert everything(root / "run") == before
    assert grade("regrade", root / "run", "--rerun", "b.py", "--isolation", "process").returncode == 0
