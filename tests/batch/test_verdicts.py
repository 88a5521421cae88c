"""A class is judged again from verdicts that still hold, and comes out as if all of it were judged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from grader.batch.verdicts import Verdicts
from grader.core.judge import Judgement, TaskJudgement
from grader.course import find_course, load_assignment
from tests.batch.test_resume import everything
from tests.cli.shell import grade

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the shipped course and a run of two submissions in it."""
    root = tmp_path_factory.mktemp("verdicts")
    for name in ("exercises", "reference", "reports"):
        shutil.copytree(find_course().root / name, root / "course" / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "hand-ins").mkdir()
    for name in ("right.py", "with_mistake.ipynb"):
        shutil.copy(EXAMPLES / name, root / "hand-ins" / name)
    words = ("--course", root / "course", "--isolation", "process", "--out", root / "run", "--seed", 5)
    assert grade("batch", root / "hand-ins", *words).returncode == 0
    return root


@pytest.fixture
def root(graded: Path, tmp_path: Path) -> Path:
    """Return a copy that may be changed."""
    return Path(shutil.copytree(graded, tmp_path / "root", symlinks=True))


def again(root: Path, *words: str) -> str:
    """Judge again and return what is said."""
    done = grade("regrade", root / "run", "--course", root / "course", *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def verdicts_of(root: Path) -> list[Path]:
    """Return where the verdicts of both are kept."""
    found = sorted((root / "run" / ".grade" / "verdicts").iterdir())
    assert len(found) == 2
    return found


def falsify(root: Path) -> None:
    """Write into the verdicts that softmax fails, so that it shows whether they are read."""
    for path in verdicts_of(root):
        schema, mark, tasks = json.loads(path.read_text("utf-8"))
        for finding in tasks["softmax"][1]["TaskJudgement"]["findings"]:
            finding["Finding"]["status"] = {"Status": "failed"}
        path.write_text(json.dumps([schema, mark, tasks]), encoding="utf-8")


def softmax_of(root: Path) -> set[str]:
    """Return what softmax comes to in the results."""
    results = [json.loads(path.read_text("utf-8")) for path in (root / "run").glob("*/result.json")]
    return {task["status"] for result in results for task in result["tasks"] if task["id"] == "softmax"}


def test_what_holds_is_not_judged_again_unless_asked(root: Path) -> None:
    """A verdict whose grounds are the same is taken; with --afresh it isn't, and what it said is mended."""
    before = everything(root / "run")
    falsify(root)
    again(root)
    assert softmax_of(root) == {"failed"}

    again(root, "--afresh")
    assert everything(root / "run") == before


@pytest.mark.parametrize(
    "name, old, new",
    [
        ("softmax.py", "misconception in PARTLY_RIGHT", "misconception in set(PARTLY_RIGHT)"),
        ("oracle.py", "FACTOR = 4.0", "FACTOR = 4.0 + 0"),
        ("assignment.toml", 'version = "', 'version = "1'),
    ],
    ids=["its checks", "what they import", "the version alone"],
)
def test_a_change_is_judged_as_if_nothing_were_known(root: Path, name: str, old: str, new: str) -> None:
    """What rests on the change is judged anew; and all comes out as with --afresh, to the byte."""
    path = root / "course" / "reference" / "attention" / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    if name != "assignment.toml":
        falsify(root)
    again(root)
    kept = everything(root / "run")
    assert softmax_of(root) == {"passed"}

    again(root, "--afresh")
    assert everything(root / "run") == kept


def test_verdicts_of_another_transcript_are_not_read(root: Path) -> None:
    """Exchanged verdicts, broken ones and none at all: everything is judged, and is as before."""
    before = everything(root / "run")
    one, other = verdicts_of(root)
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept[:-5])
    again(root)
    assert everything(root / "run") == before

    shutil.rmtree(one.parent)
    again(root)
    assert everything(root / "run") == before
    verdicts_of(root)


def test_what_can_t_be_kept_costs_nothing(tmp_path: Path) -> None:
    """A check that puts an odd thing into its finding is judged each time."""
    course = find_course()
    verdicts = Verdicts(tmp_path, course, load_assignment(course))
    odd = TaskJudgement(task="softmax", findings=(), params=(("n", np.float64(1)),))
    verdicts.keep("a", "mark", Judgement(tasks=(odd,)))

    assert verdicts.known("a", "mark") == {}
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_through_a_link(root: Path, tmp_path: Path) -> None:
    """The folder of the verdicts is one of those that must not be a link."""
    place = verdicts_of(root)[0].parent
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    done = grade("regrade", root / "run", "--course", root / "course")

    assert done.returncode != 0
    assert "verdicts is a link" in done.stderr


def test_pages_are_made_anew_only_where_they_change(root: Path) -> None:
    """Another check with the same verdict writes result.json, which names the course; another text writes the pages."""
    reference = root / "course" / "reference" / "attention"
    before = everything(root / "run")
    made = {path: path.stat().st_ino for path in (root / "run").glob("*/report.html")}
    with (reference / "variance.py").open("a", encoding="utf-8") as file:
        file.write("\nMORE = 1\n")
    again(root)
    after = everything(root / "run")
    names = {Path(name).name for name in before if before[name] != after[name]}
    assert (names, {path: path.stat().st_ino for path in made}) == ({"result.json"}, made)

    text = (reference / "feedback.en.toml").read_text("utf-8")
    (reference / "feedback.en.toml").write_text(text.replace('"title" = "', '"title" = "New: ', 1), encoding="utf-8")
    again(root)
    assert all("New: " in path.read_text("utf-8") for path in made)
