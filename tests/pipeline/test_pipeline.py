"""One submission from its bytes to its result: the same bytes every time, with the worker or without."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grader.core.judge import Judgement
from grader.core.observed import STAND_IN
from grader.course import find_course, grounds_of
from grader.errors import IsolationError
from grader.intake import read_submission, submission_from_bytes
from grader.model import Submission, Transcript
from grader.pipeline import judge_transcript
from grader.run.process import ProcessBackend
from grader.run.runner import Scratch
from grader.store import dump_transcript, load_transcript
from grader.store.judgements import dump_judgements, load_judgements
from tests.pipeline.bench import assignment, document, graded, letters, points, report
from tests.run.arena import children, notebook, script

ROOT = Path(__file__).resolve().parents[2]
HANDOUT = ROOT / "exercises" / "attention"
EXAMPLES = ROOT / "examples"

RIGHT = """
import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

def scaled_dot_product_attention(Q, K, V):
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    return weights @ V, weights
"""

UNSEEDED = (
    RIGHT
    + """
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    scores = (np.random.randn(n_samples, d_k) * np.random.default_rng().standard_normal((n_samples, d_k))).sum(1)
    return scores.var(), (scores / np.sqrt(d_k)).var()

def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42):
    rng = np.random.default_rng()
    found = []
    for d in d_ks:
        p = softmax(rng.normal(size=(n_keys, d)) @ rng.normal(size=d))
        found.append(-(p * np.log(p + 1e-12)).sum())
    return found
"""
)

# Which key comes first in a set of texts, the address of an object and a folder's name show in what is returned.
ORDER = (
    RIGHT
    + """
def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42):
    return list({"a", "b", "c", "d", "e"}), object(), print(hash("x"), set("abcdef"))

def compare_rankings(d_k=256, n_keys=8, seed=42):
    import os
    raise ValueError(f"{hash('x')} {set('abcdef')}")
"""
)

CELLS = notebook(
    RIGHT,
    "np.random.randn(3)",
    "def measure_variance(d_k=1024, n_samples=10_000, seed=42):\n    ...",
    "scores = (np.random.randn(2_000, 64) * np.random.randn(2_000, 64)).sum(1)\n"
    "raw_var, scaled_var = scores.var(), (scores / 8).var()\nprint(raw_var, scaled_var)",
    "1 / 0",
)

SUBMISSIONS: dict[str, Submission] = {
    "seeded": read_submission(EXAMPLES / "right.py"),
    "with a mistake": read_submission(EXAMPLES / "with_mistake.ipynb"),
    "unseeded": script(UNSEEDED),
    "order of sets": script(ORDER),
    "answers in cells": CELLS,
    "wrong softmax": script(RIGHT.replace("e / e.sum", "2 * e / e.sum")),
    "ends the process": script(RIGHT + "import os\nos._exit(1)\n"),
    "no source": submission_from_bytes("submission.py", b""),
}


LATER = ("seeded", "wrong softmax", "ends the process")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LATER else (), id=name) for name in SUBMISSIONS],
)
def test_the_same_bytes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs with one seed give the same result.json to the byte, and so does the stored transcript alone."""
    submission = SUBMISSIONS[name]
    transcript, first = graded(submission, seed=11)
    again, second = graded(submission, seed=11)

    assert document(first) == document(second)
    assert dump_transcript(without_costs(transcript)) == dump_transcript(without_costs(again))

    monkeypatch.setattr(ProcessBackend, "start", pytest.fail)
    stored = load_transcript(dump_transcript(transcript))
    assert stored == transcript
    kept: list[Judgement] = []
    assert document(judge_transcript(assignment(), stored, keep=kept.append)) == document(first)

    # And so does what was found of each task, written down and read back.
    grounds = grounds_of(find_course(), assignment())
    content = dump_judgements("mark", grounds, {part.task: part for part in kept[0].tasks})
    known = load_judgements(content, "mark", grounds)
    assert known.keys() == {task.id for task in assignment().tasks}
    assert document(judge_transcript(assignment(), stored, known=known)) == document(first)


def without_costs(transcript: Transcript) -> Transcript:
    """Leave out what a call cost: the only thing that differs from run to run."""
    return replace(transcript, outcomes=tuple(replace(item, cpu_us=0, wall_us=0) for item in transcript.outcomes))


def test_another_seed_asks_for_other_inputs() -> None:
    """The inputs follow the seed; the points don't."""
    (one, first), (other, second) = (graded(SUBMISSIONS["seeded"], seed=seed) for seed in (1, 2))

    assert one.calls != other.calls
    assert points(first) == points(second) == 100


@pytest.mark.parametrize("seed", [0, (1 << 53) - 1])
def test_every_seed_grades(seed: int) -> None:
    """The smallest and the largest seeds that can be typed give full marks to what is right."""
    result = graded(SUBMISSIONS["seeded"], seed=seed)[1]

    assert (result.seed, points(result)) == (seed, 100)


def test_nothing_of_the_machine_stands_in_a_result() -> None:
    """No address, no scratch folder and no place of ours can be in what a learner reads."""
    source = RIGHT + (
        "import os\ndef measure_variance(d_k=1024, n_samples=10_000, seed=42): return object()\n"
        "def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42): return [object()] * 4\n"
        "def compare_rankings(d_k=256, n_keys=8, seed=42): raise KeyError(3)\n"
    )
    text = document(graded(script(source))[1])

    assert "0x7f" not in text
    assert "grade-" not in text
    assert str(ROOT) not in text


@pytest.mark.parametrize("name", ["submission.py", "submission.ipynb"])
def test_the_handout_as_it_is(name: str) -> None:
    """The untouched handout has no points: every task is missing, and none is failed."""
    result = graded(read_submission(HANDOUT / name))[1]

    assert (letters(result), points(result), result.status) == ("-----", 0, "graded")
    assert "Not started" in report(result)


@pytest.mark.parametrize(
    "name, task",
    [
        ("Softmax", 0),
        ("scaled_dot_product_atention", 1),
        pytest.param("soft_max", 0, marks=pytest.mark.slow),
        pytest.param("measureVariance", 2, marks=pytest.mark.slow),
        pytest.param("entropy_sweeps", 3, marks=pytest.mark.slow),
        pytest.param("compare_ranking", 4, marks=pytest.mark.slow),
    ],
)
def test_a_near_miss_counts_with_a_note(name: str, task: int) -> None:
    """A function whose name is a slip is judged, and the note says the right one."""
    right = (EXAMPLES / "right.py").read_text(encoding="utf-8")
    function = assignment().tasks[task].function
    result = graded(script(right.replace(function, name)))[1]

    assert (letters(result), points(result)) == ("PPPPP", 100)
    notes = [note for note in result.tasks[task].notes if dict(note.params).get("function") == function]
    assert notes
    assert f"{name}" in report(result)
    assert function in report(result)


def test_two_near_misses_are_none() -> None:
    """Where two names could be meant, neither is called: the report names both."""
    right = (EXAMPLES / "right.py").read_text(encoding="utf-8")
    source = right.replace("measure_variance", "measure_varianse") + "\nmeasure_variancee = measure_varianse\n"
    result = graded(script(source))[1]

    assert letters(result) == "PP-PP"
    assert "measure_varianse" in report(result)
    assert "measure_variancee" in report(result)


def test_a_mistake_is_paid_for_once() -> None:
    """What calls a wrong function is judged again with a stand-in, in a session of its own."""
    right = (EXAMPLES / "right.py").read_text(encoding="utf-8")
    source = right + "\n_softmax = softmax\ndef softmax(x, axis=-1):\n    return 2 * _softmax(x, axis)\n"
    transcript, result = graded(script(source))

    assert letters(result) == "FPPPP"
    assert any(session.id.startswith(STAND_IN) for session in transcript.sessions)


@pytest.mark.parametrize("kind", ["nothing starts", "something else starts"])
def test_a_worker_that_does_not_start(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That no worker starts is our fault: IsolationError, no result, and nothing is left running."""

    def fail(*_: object) -> None:
        raise IsolationError("No Python process could be started.")

    if kind == "nothing starts":
        monkeypatch.setattr(ProcessBackend, "start", fail)
    else:
        monkeypatch.setattr("grader.run.process.command", lambda _: ["/bin/true"])
    before = children()

    with pytest.raises(IsolationError):
        graded(SUBMISSIONS["seeded"])

    assert children() <= before


def test_no_worker_starts_for_a_file_without_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty file is judged without running anything: no points, and why."""
    monkeypatch.setattr(ProcessBackend, "start", pytest.fail)
    submission = SUBMISSIONS["no source"]
    scratch = Scratch(ProcessBackend(), submission)

    assert scratch.first is None
    scratch.close()
    result = graded(submission)[1]
    assert (letters(result), points(result)) == ("-----", 0)
    assert "empty" in report(result)


def test_a_learner_sees_less_than_is_known() -> None:
    """The document is strict JSON with the score, and holds no note that is the instructor's alone."""
    result = graded(SUBMISSIONS["unseeded"])[1]
    read = json.loads(document(result), parse_constant=pytest.fail)

    assert (read["status"], read["score"], read["max_score"]) == ("graded", points(result), 100)
    assert '"integrity"' not in document(result)
