"""Answers that stand in a notebook's cells, beside an untouched stub, as the lesson words its exercises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.course import find_course, load_assignment
from grader.intake import read_submission
from grader.model import Result, TaskResult
from grader.pipeline import grade
from grader.run.runner import Scratch
from tests.pipeline.bench import forking

FUNCTIONS = """\
import numpy as np
def softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
def scaled_dot_product_attention(Q, K, V):
    weights = softmax(Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1]))
    return weights @ V, weights
"""
STUBS = """\
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    raw_var = ...
    scaled_var = ...
    return raw_var, scaled_var
def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42):
    entropies = ...
    return entropies
def compare_rankings(d_k=256, n_keys=8, seed=42):
    order_unscaled = ...
    order_scaled = ...
    return order_unscaled, order_scaled
"""
SEED = "np.random.seed(42)\n"
DRAW_1 = (
    SEED
    + "n, d_k = {n}, 1024\nQ = np.random.randn(n, d_k); K = np.random.randn(n, d_k)\nscores = np.sum(Q * K, axis=1)\n"
)
DRAW_3 = (
    SEED + "q = np.random.randn(256)\nKmat = np.random.randn(8, 256)\nraw = Kmat @ q\nscaled = raw / np.sqrt(256)\n"
)
LOOP_2 = SEED + "for d_k in [4, 16, 64, 256]:\n    q = np.random.randn(d_k); Kmat = np.random.randn(8, d_k)\n"

RIGHT = {
    "variance-printed-few": (
        "variance",
        [DRAW_1.format(n=1500) + "print(f'raw {scores.var():.3f} scaled {(scores/32).var():.4f}')"],
    ),
    "variance-lesson-names-many": (
        "variance",
        [DRAW_1.format(n=6000) + "raw_var = scores.var()\nscaled_var = (scores / np.sqrt(d_k)).var()"],
    ),
    "variance-sweep-table": (
        "variance",
        [
            SEED + "n = 900\nfor d_k in [4, 16, 64, 256, 1024]:\n"
            "    Q = np.random.randn(n, d_k); K = np.random.randn(n, d_k)\n    s = (Q * K).sum(axis=1)\n"
            "    print(f'{d_k:>3} | {s.var():>15.3f} | {(s / np.sqrt(d_k)).var():.4f}')"
        ],
    ),
    "variance-one-draw-of-both": (
        "variance",
        [
            "rng = np.random.default_rng(3)\nX = rng.standard_normal((2, 1200, 1024))",
            "s = (X[0] * X[1]).sum(-1)\nprint(s.var(), (s / 32).var())",
        ],
    ),
    "entropy-printed": (
        "entropy",
        [LOOP_2 + "    p = softmax(Kmat @ q)\n    print(d_k, f'{-np.sum(p * np.log(p + 1e-12)):.4f}')"],
    ),
    "entropy-list-shown": (
        "entropy",
        [
            "rng = np.random.default_rng(0)\nH = []\nfor d in (4, 16, 64, 256):\n    q = rng.standard_normal(d)\n"
            "    K = rng.standard_normal((8, d))\n    p = softmax(K @ q)\n    H.append(-(p * np.log(p + 1e-12)).sum())\nH"
        ],
    ),
    "entropy-mean-over-draws": (
        "entropy",
        [
            SEED + "entropies = []\nfor d in (4, 16, 64, 256):\n    hs = []\n    for _ in range(20):\n"
            "        q = np.random.randn(d); K = np.random.randn(8, d)\n        p = softmax(K @ q)\n"
            "        hs.append(-np.sum(p * np.log(p + 1e-12)))\n    entropies.append(np.mean(hs))"
        ],
    ),
    "ranking-printed-arrays": ("ranking", [DRAW_3 + "print(np.argsort(softmax(raw)), np.argsort(softmax(scaled)))"]),
    "ranking-numpy-2-list": (
        "ranking",
        [DRAW_3 + "print(list(np.argsort(softmax(raw))))\nprint(list(np.argsort(softmax(scaled))))"],
    ),
    "ranking-variables": ("ranking", [DRAW_3 + "a = np.argsort(softmax(raw)); b = np.argsort(softmax(scaled))"]),
}

REVIEW = {
    "ranking-true-only": (
        "ranking",
        [DRAW_3 + "print(np.array_equal(np.argsort(softmax(raw)), np.argsort(softmax(scaled))))"],
    ),
    "ranking-bare-assert": (
        "ranking",
        [DRAW_3 + "assert (np.argsort(softmax(raw)) == np.argsort(softmax(scaled))).all()"],
    ),
    "variance-printed-many": (
        "variance",
        [DRAW_1.format(n=6000) + "print(scores.var(), (scores / np.sqrt(d_k)).var())"],
    ),
}

WRONG = {
    "variance-divided-by-dk": ("variance", [DRAW_1.format(n=1500) + "print(scores.var(), (scores / d_k).var())"]),
    "variance-theory": ("variance", ["print('raw', 1024.0, 'scaled', 1.0)  # var(scores) at d_k = 1024"]),
    "variance-std": (
        "variance",
        [
            DRAW_1.format(n=1500)
            + "raw_var = scores.std(); scaled_var = (scores / 32).std()\nprint(raw_var, scaled_var)"
        ],
    ),
    "entropy-bits": (
        "entropy",
        [LOOP_2 + "    p = softmax(Kmat @ q)\n    print(d_k, -np.sum(p * np.log2(p + 1e-12)))"],
    ),
    "entropy-scaled": (
        "entropy",
        [LOOP_2 + "    p = softmax(Kmat @ q / np.sqrt(d_k))\n    print(d_k, -np.sum(p * np.log(p + 1e-12)))"],
    ),
    "entropy-typed": ("entropy", ["entropies = [1.2, 0.7, 0.3, 0.01]\nprint('entropy', entropies)"]),
    "ranking-true-typed": ("ranking", ["print(True)  # argsort is the same"]),
    "ranking-rounded-first": (
        "ranking",
        [DRAW_3 + "print(np.argsort(np.round(softmax(raw), 4)), np.argsort(np.round(softmax(scaled), 4)))"],
    ),
    "ranking-index-list": ("ranking", [DRAW_3 + "a = np.arange(8); b = np.arange(8)\nprint(a, b)"]),
}


def graded(folder: Path, cells: list[str], seed: int = 1) -> Result:
    """Grade a notebook of these cells after the lesson's functions and the untouched stubs."""
    sources = [FUNCTIONS, STUBS, *cells]
    notebook = {
        "cells": [
            {
                "cell_type": "code",
                "id": f"c{i}",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": source,
            }
            for i, source in enumerate(sources)
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = folder / "answers.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    submission = read_submission(path)
    return grade(load_assignment(find_course()), submission, seed, Scratch(forking(), submission))[1]


def task_of(result: Result, name: str) -> TaskResult:
    """Return the task of that id."""
    return next(task for task in result.tasks if task.id == name)


def reviews(task: TaskResult) -> list[str]:
    """Return the texts of what asks for a review."""
    return [note.text for criterion in task.criteria for note in criterion.finding.notes if note.kind == "review"]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_in_a_cell_gets_full_marks(name: str, tmp_path: Path) -> None:
    """A right answer beside an untouched stub counts fully, in whatever style it is shown."""
    task_id, cells = RIGHT[name]

    task = task_of(graded(tmp_path, cells), task_id)

    assert (task.status, task.cents) == ("passed", task.max_cents)
    assert not reviews(task)


@pytest.mark.parametrize("name", REVIEW)
def test_an_uncertain_answer_passes_with_a_review(name: str, tmp_path: Path) -> None:
    """What can't be tied to its draws for certain passes, and the instructor is asked to look."""
    task_id, cells = REVIEW[name]

    task = task_of(graded(tmp_path, cells), task_id)

    assert task.status == "passed"
    assert reviews(task)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_in_a_cell_loses_points(name: str, tmp_path: Path) -> None:
    """A wrong answer in a cell isn't taken for a right one, and isn't passed over as missing without a word."""
    task_id, cells = WRONG[name]

    task = task_of(graded(tmp_path, cells), task_id)

    assert task.status in ("failed", "partial", "missing")
    assert task.cents < task.max_cents


def test_a_cell_that_only_defines_the_stubs_is_missing(tmp_path: Path) -> None:
    """Without any answer every exercise is missing."""
    result = graded(tmp_path, ["print('hello', 3.14159)"])

    assert [task.status.value for task in result.tasks] == ["passed", "passed", "missing", "missing", "missing"]
