"""``--format`` for other platforms, and ``grade export``."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import jsonschema
import pytest

from grader.cli.options import PLATFORMS
from grader.render.platforms import WRITERS
from tests.cli.shell import Kept, grade, names, one_sentence
from tests.render.schemas import GRADED, PRAIRIELEARN, strict

SMALL = Path(__file__).resolve().parents[1] / "checkcourse" / "course"


def test_every_platform_can_be_named() -> None:
    """What may be typed is what can be written."""
    assert set(PLATFORMS) == set(WRITERS)


@pytest.mark.parametrize("kind", PLATFORMS)
def test_standard_output_is_the_platform_s_file(kind: str, kept: Kept, tmp_path: Path) -> None:
    """Nothing else is printed, so it can be sent into the file that the platform reads; the report is written too."""
    done = grade("regrade", kept.transcript, "--out", tmp_path / "out", "--format", kind)

    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path / "out") == ["fragment.html", "report.html", "result.json"]
    if kind == "github":
        assert done.stdout.startswith("## 85 of 100 points\n")
    elif kind == "autolab":
        scores = strict(done.stdout.splitlines()[-1])["scores"]
        assert scores == {"softmax": 20, "attention": 15, "variance": 20, "entropy": 15, "ranking": 15}
    else:
        schema = GRADED if kind == "gradescope" else PRAIRIELEARN
        jsonschema.Draft202012Validator(schema).validate(strict(done.stdout))


def test_an_autograder_is_made(tmp_path: Path) -> None:
    """It goes where it is told to, of the course and with the settings that were asked for."""
    done = grade(
        *("export", "--to", "gradescope-autograder", "--course", SMALL, "--isolation", "landlock", "--hints", "0"),
        *("--out", "made.zip"),
        cwd=tmp_path,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote made.zip" in done.stdout
    assert names(tmp_path) == ["made.zip"]
    with zipfile.ZipFile(tmp_path / "made.zip") as archive:
        settings = json.loads(archive.read("settings.json"))
    assert (settings["assignment"], settings["isolation"], settings["hints"]) == ("spread", "landlock", 0)


@pytest.mark.parametrize(
    "words, code, says",
    [
        ((), 2, "--to"),
        (("--to", "elsewhere"), 2, "elsewhere"),
        (("--to", "gradescope-autograder", "--course", "nowhere"), 2, "no such folder"),
        (("--to", "gradescope-autograder", "--assignment", "nothing"), 3, "no assignment 'nothing'"),
        (("--to", "gradescope-autograder", "--out", "nowhere/made.zip"), 4, "can't be written"),
    ],
    ids=["nothing", "unknown", "course", "assignment", "out"],
)
def test_wrong_usage_of_export(tmp_path: Path, words: tuple[str, ...], code: int, says: str) -> None:
    """One sentence and its exit code, and no file."""
    one_sentence(grade("export", *words, cwd=tmp_path), code, says)
    assert names(tmp_path) == []
