"""Hidden criteria: nothing of what they ask or of what came back reaches the learner, in whatever is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import grade

ASSIGNMENT = """\
id = "tell"
version = "1.0"
packages = ["numpy"]

[[task]]
id = "tell"
function = "tell"
signature = "tell(x, words='')"
criteria = [
  { id = "value", points = 6, core = true },
  { id = "other", points = 4, core = true, hidden = true },
]
"""
FEEDBACK = """\
"title" = "Tell"
"tell.title" = "Telling"
"tell.wrong" = "It gave {got} for {asked} and printed {printed}: {message}."
"tell.wrong.hint.1" = "It was asked {asked}."
"tell.note" = "Noted: {got} for {asked}."
[tell.value]
title = "the value"
[tell.other]
title = "other values"
"""
CHECKS = """\
import numpy as np
from grader.api import Book, Case, Chart, Finding, Line, Note, Status, Table, compare, Expected

class Checks:
    def plan(self, inputs, seen):
        yield Case(id="first", args=(1.5,))
        if "first" in seen:
            yield Case(id="second", args=(2.5,))
        yield Case(id="hidden", args=(inputs.hidden.rng("x").standard_normal(3),), kwargs={"words": "INPUT" + "MARK"},
                   hidden=True, watch=True)

    def judge(self, inputs, seen):
        yield self.one("value", seen, "first")
        yield self.one("other", seen, "hidden")

    def one(self, criterion, seen, case):
        if case not in seen:
            return Finding(criterion="tell/" + criterion, status=Status.PASSED)
        call = seen[case]
        right = call.returned and np.array_equal(call.value, call.args[0])
        got, asked = repr(call.value), repr(call.args) + repr(call.kwargs)
        failure = call.outcome.failure
        params = (("got", got), ("asked", asked), ("printed", call.outcome.stdout),
                  ("message", failure.kind + failure.message if failure else ""))
        return Finding(
            criterion="tell/" + criterion,
            status=Status.PASSED if right else Status.FAILED,
            text="" if right else "tell.wrong",
            params=params,
            calls=(call.id,),
            evidence=(Table(caption="tell.wrong", header=("tell.title",), rows=((got,), (asked,)), params=params),),
            snippet="tell(" + asked + ")",
            notes=(Note(text="tell.note", params=params), Note(text="tell.note", params=params, kind="review"),
                   Note(text="tell.note", params=params, kind="review", audience="instructor")),
        )

TASKS = {"tell": Checks()}
"""

SUBMISSION = """\
import os, sys, warnings
import numpy as np

def remembered():
    found = [open(name).read() for name in sorted(os.listdir(".")) if name.startswith("kept")]
    return "".join(found + [vars(np).get("kept", "")])

def tell(x, words=""):
    print(remembered())
    if not words:
        return x
    input_mark = words
    numbers = " ".join(f"{v:.17g}" for v in x)
    for place in (".", "..", "../..", "/tmp"):
        try:
            with open(place + "/kept-" + str(os.getpid()), "w") as file:
                file.write("REMEMBERED" + "MARK" + words + numbers)
        except OSError:
            pass
    np.kept = words + numbers
    globals()["NAME" + "MARK"] = lambda: None
    print("STDOUT" + "MARK", words, numbers)
    print("STDERR" + "MARK", words, numbers, file=sys.stderr)
    warnings.warn("WARNING" + "MARK" + words)
    x[:] = 7261.7261
    {act}
"""

ACTS = {
    "returns": 'return ["VALUE" + "MARK", 90909.5, x, {"KEY" + "MARK": words}]',
    "returns a type": 'return type("TYPE" + "MARK" + words, (), {})()',
    "raises": 'raise type("KIND" + "MARK", (ValueError,), {})("MESSAGE" + "MARK" + words + numbers)',
    "raises in a line": '{}["KEY" + "MARK" + words]',
    "ends": "os._exit(3)",
    "opens": 'open("/EVENT" + "MARK" + words)',
    "prints much": 'print(("FLOOD" + "MARK") * 100_000); return 0',
}
MARKS = ("MARK", "90909", "7261.7261")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Return a course with a hidden criterion whose check tells all that it knows."""
    folder = tmp_path / "course" / "reference" / "tell"
    folder.mkdir(parents=True)
    files = {"__init__.py": "", "assignment.toml": ASSIGNMENT, "feedback.en.toml": FEEDBACK, "checks.py": CHECKS}
    for name, text in files.items():
        (folder / name).write_text(text)
    return tmp_path / "course"


def told(text: str) -> list[str]:
    """Return what of the hidden call stands in a text."""
    return [mark for mark in MARKS if mark in text]


def numbers_of(transcript: Path) -> list[str]:
    """Return the hidden input, as numbers are written."""
    from grader.core.values import to_python
    from grader.store import read_transcript

    kept = read_transcript(transcript)
    (call,) = [call for call in kept.calls if call.hidden]
    values = to_python(call.args[0])
    return [f"{value:.4g}" for value in values] + [f"{value:.3f}" for value in values]  # type: ignore[attr-defined]  # an array


@pytest.mark.parametrize("act", ACTS)
def test_nothing_of_a_hidden_call_is_told(act: str, course: Path, tmp_path: Path) -> None:
    """Whatever the code prints, raises, returns or keeps: no mark of it and no input stands in what a learner gets."""
    work = tmp_path / "work.py"
    work.write_text(SUBMISSION.replace("{act}", ACTS[act]))
    out, transcript = tmp_path / "out", tmp_path / "kept.transcript"

    made = [
        grade(work, "--course", course, "--hints", 3, "--transcript", transcript, "--seed", 7),
        grade(work, "--course", course, "--hints", 3, "--out", out, "--format", "json", "--seed", 7),
        grade("regrade", transcript, "--course", course, "--hints", 3, "--out", tmp_path / "again"),
    ]

    text = "".join(done.stdout + done.stderr for done in made)
    files = [tmp_path / "work-report.html", *out.iterdir(), *(tmp_path / "again").iterdir()]
    text += "".join(path.read_text() for path in files)
    assert len(files) == 7
    assert told(text) == []
    assert not [number for number in numbers_of(transcript) if number in text]
    result = json.loads((out / "result.json").read_text())
    assert (result["score"], result["tasks"][0]["status"]) == (6, "failed")
    # The same marks are there for whoever keeps the run.
    assert told(repr(transcript_of(transcript)))


def transcript_of(path: Path) -> object:
    """Return what was kept."""
    from grader.store import read_transcript

    return read_transcript(path)


def test_nothing_of_a_hidden_call_is_told_by_a_batch(course: Path, tmp_path: Path) -> None:
    """The same for a class, whose folders are handed out; what a batch prints is for instructors."""
    folder, out = tmp_path / "hand-ins", tmp_path / "out"
    folder.mkdir()
    for number, act in enumerate(ACTS):
        (folder / f"w{number}.py").write_text(SUBMISSION.replace("{act}", ACTS[act]))

    done = grade("batch", folder, "--course", course, "--isolation", "process", "--out", out)

    handed_out = [path for path in out.rglob("*") if path.name in ("report.html", "fragment.html", "result.json")]
    assert len(handed_out) == 3 * len(ACTS)
    assert told("".join(path.read_text() for path in handed_out)) == []
    assert f"{len(ACTS)} of {len(ACTS)} graded" in done.stdout
