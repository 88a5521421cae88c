"""Wrong references: each explains its own mistake and nothing else, and each has its six texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from grader.api import Drawn, Inputs, Misconception, Observation
from grader.core.catalogue import placeholders
from grader.core.misconceptions import agrees, explains
from grader.course import find_course, load_assignment
from reference.attention.misconceptions import BOOK, SAID_BY_CHECKS

pytestmark = pytest.mark.slow  # plain pytest stays below two minutes; .ci/run runs all

ASSIGNMENT = load_assignment(find_course())
CHECKS: Any = ASSIGNMENT.checks
ENTRIES = tuple(BOOK)
SEEDS = (1, 20, 300)
SEEDS_IN_SHORT = (pytest.param(SEEDS[:1], id="one seed"), pytest.param(SEEDS[1:], id="more", marks=pytest.mark.slow))

Arguments = Sequence[tuple[tuple[Any, ...], dict[str, Any]]]

QUESTIONS = (
    "softmax",
    "attention/weights",
    "attention/out",
    "attention/shapes",
    "variance",
    "entropy/draws",
    "ranking/equal",
)
"""What ``explain`` is asked, by the checks."""


def asked(entry: Misconception) -> str:
    """Return the target with which the checks ask for this entry."""
    return entry.target if entry.target in QUESTIONS else entry.task


def arguments(question: str, seed: int) -> list[Arguments]:
    """Return what the wrong references get; several lists where a learner may draw in several ways."""
    inputs = Inputs(seed, question.partition("/")[0])
    if question == "softmax":
        cases = CHECKS["softmax"].cases(inputs).values()
        return [[(made.arrays, {"axis": kwargs.get("axis", -1)}) for made, kwargs in cases]]
    if question.startswith("attention"):
        made = [made.arrays for made in CHECKS["attention"].cases(inputs).values()]
        if question == "attention/weights":
            return [[(arrays[:2], {}) for arrays in made]]
        if question == "attention/shapes":
            return [[(arrays, {}) for arrays in made]]
        return [[((right_weights(*arrays[:2]), *arrays), {}) for arrays in made]]
    rng = np.random.default_rng(seed)
    if question == "variance":
        return [[((drawn, d, n), {}) for d, n, drawn in way] for way in ways_to_draw(rng)]
    if question == "entropy/draws":
        return [[(pair_scores, {}) for _ in range(6) for pair_scores in sweep(rng)]]
    sizes = ((256, 8), (256, 8), (100, 11))
    return [[((np.stack([scores_of(rng, d, n) for _ in range(pairs)]), d), {}) for d, n in sizes] for pairs in (1, 2)]


def right_weights(Q: Any, K: Any) -> Any:
    """Return the weights of attention, as a learner computes them."""
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def scores_of(rng: np.random.Generator, d: int, n: int) -> Any:
    """Draw a query and n keys, and return their scores."""
    q = rng.standard_normal(d)
    return rng.standard_normal((n, d)) @ q


def sweep(rng: np.random.Generator) -> Iterator[tuple[Any, ...]]:
    """Draw for the lesson's widths."""
    scores = {d: scores_of(rng, d, 8)[None] for d in (4, 16, 64, 256)}
    for d, own in scores.items():
        yield own, scores[256], d, 8


def ways_to_draw(rng: np.random.Generator) -> Iterator[list[tuple[int, int, tuple[Drawn, ...]]]]:
    """Draw for the two exact cases of exercise 1 in the ways that a learner may."""
    sizes = ((3, 1000), (7, 500))
    normal = rng.standard_normal
    yield [(d, n, (draw("randn", normal((2, n, d))),)) for d, n in sizes]
    yield [(d, n, (draw("randn", normal((1, n, d))),)) for d, n in sizes]
    yield [(d, n, (draw("randn", normal((1, d))), draw("randn", normal((1, n, d))))) for d, n in sizes]
    yield [(d, n, (draw("randn", normal((2, n, 256))),)) for d, n in sizes]
    yield [(d, n, (draw("rand", rng.random((2, n, d))),)) for d, n in sizes]
    yield [(d, n, (draw("normal", 3 * normal((2, n, d)), 0.0, 3.0),)) for d, n in sizes]


def draw(method: str, values: Any, *args: float) -> Drawn:
    """Make the record of equal draws in a row."""
    return Drawn(source=0, method=method, args=args, shape=values.shape[1:], values=values)


def right(question: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what a right function gives."""
    if question == "softmax":
        x = args[0]
        e = np.exp(x - x.max(keepdims=True, **kwargs))
        return e / e.sum(keepdims=True, **kwargs)
    if question == "attention/weights":
        return right_weights(*args)
    if question == "attention/out":
        return args[0] @ args[3]
    if question == "attention/shapes":
        weights = right_weights(*args[:2])
        return weights @ args[2], weights
    if question == "variance":
        Q, K = args[0][0].values
        scores = (Q * K).sum(axis=1)
        return scores.var(), scores.var() / args[1]
    p = np.exp(args[0][0] - args[0][0].max())
    p /= p.sum()
    if question == "entropy/draws":
        return -(p * np.log(p + 1e-12)).sum()
    return p.argsort(), p.argsort()


def learners(entry: Misconception, given: Arguments) -> Iterator[list[Observation]]:
    """Yield what comes back from each kind of learner who makes the mistake: one for each candidate."""
    predict = entry.predict() if entry.fresh else entry.predict
    answers = [answers_of(entry, predict, args, kwargs) for args, kwargs in given]
    if [] in (answer for answer in answers if isinstance(answer, list)):
        # Nothing was drawn that this mistake could be made with.
        return
    for number in range(max(len(answer) if isinstance(answer, list) else 1 for answer in answers)):
        yield [
            observed(args, kwargs, raised=answer)
            if isinstance(answer, str)
            else observed(args, kwargs, answer[min(number, len(answer) - 1)])
            for (args, kwargs), answer in zip(given, answers, strict=True)
        ]


def observed(args: tuple[Any, ...], kwargs: dict[str, Any], value: Any = None, raised: str = "") -> Observation:
    """Make an observation of a value, or of what was raised: "<type>: <text>"."""
    kind, _, message = raised.partition(": ")
    return Observation(args=args, kwargs=tuple(kwargs.items()), value=value, raised=kind, message=message)


class Rivals:
    """What all other wrong references of a question give for the same arguments, computed once."""

    def __init__(self, question: str, given: Arguments) -> None:
        self.entries = [entry for entry in ENTRIES if asked(entry) == question]
        self._answers = {
            (entry.id, at): answers_of(entry, entry.predict, args, kwargs)
            for entry in self.entries
            if not entry.fresh
            for at, (args, kwargs) in enumerate(given)
        }

    def explain(self, seen: list[Observation]) -> list[str]:
        """Return the ids of all entries that explain what was seen, as ``explain`` finds them."""
        texts = all(one.raised for one in seen)
        return [
            entry.id
            for entry in self.entries
            if (
                explains(entry, seen)
                if entry.fresh
                else all(self._fits(entry, at, one, texts=texts) for at, one in enumerate(seen))
            )
        ]

    def _fits(self, entry: Misconception, at: int, seen: Observation, *, texts: bool) -> bool:
        answers = self._answers[entry.id, at]
        if isinstance(answers, str):
            kind, _, message = answers.partition(": ")
            return kind == seen.raised and (not texts or message == seen.message)
        single = any(isinstance(arg, np.ndarray) and arg.dtype == np.float32 for arg in seen.args)
        return not seen.raised and any(agrees(seen.value, answer, single=single) for answer in answers)


def answers_of(entry: Misconception, predict: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | str:
    """Return the candidates of an entry, or the type and text of what it raises."""
    try:
        with np.errstate(all="ignore"):
            answer = predict(*args, **kwargs)
            return list(answer) if entry.many else [answer]
    except Exception as error:  # noqa: BLE001 - a mistake may be one that raises
        return f"{type(error).__name__}: {error}"


@cache
def settings(question: str, seeds: tuple[int, ...]) -> list[tuple[Arguments, Rivals]]:
    """Return all arguments for some seeds, each with what the wrong references make of them."""
    return [(given, Rivals(question, given)) for seed in seeds for given in arguments(question, seed)]


@pytest.mark.parametrize("seeds", SEEDS_IN_SHORT)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_each_mistake_is_told_from_all_others(entry: Misconception, seeds: tuple[int, ...]) -> None:
    """Whoever makes it, in any of its forms and with any seed, is named by it and by nothing else."""
    met = 0
    for given, rivals in settings(asked(entry), seeds):
        for number, seen in enumerate(learners(entry, given)):
            assert rivals.explain(seen) == [entry.id], f"form {number}"
            # The same by the way that the checks go.
            assert met or BOOK.explain(asked(entry), seen) == entry.id
            met += 1
    assert met


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_right_is_no_mistake(question: str) -> None:
    """No wrong reference gives the right answers."""
    for seed in SEEDS:
        given = arguments(question, seed)[0]
        seen = [observed(args, kwargs, right(question, args, kwargs)) for args, kwargs in given]

        assert Rivals(question, given).explain(seen) == []


PARTS = ("title", "text", "next", "hint1", "hint2", "hint3")
NAMES = (*(entry.id for entry in ENTRIES), *SAID_BY_CHECKS)
EMPTY_WORDS = re.compile(r"\b(simply|just|obviously|easy|easily|clearly|of course)\b", re.IGNORECASE)


@pytest.mark.parametrize("name", NAMES)
def test_each_mistake_has_its_six_texts(name: str) -> None:
    """They are there, fit on a page, and talk to nobody from above."""
    texts = {part: ASSIGNMENT.texts[f"misconception.{name}.{part}"] for part in PARTS}
    said = " ".join(texts[part] for part in ("text", "hint1", "hint2", "hint3"))

    assert 50 <= len(said.split()) <= 170
    assert [text for text in texts.values() if EMPTY_WORDS.search(text)] == []
    # A title is a name; a message is whole sentences; a hint goes on after its heading; the last one has the line.
    assert not texts["title"].endswith(".")
    assert texts["text"][0].isupper()
    assert all(texts[part].endswith(".") and not texts[part][0].isupper() for part in ("next", "hint1", "hint2"))
    assert texts["hint3"].startswith("`")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_texts_need_no_parameter(entry: Misconception) -> None:
    """Whichever criterion says a mistake: its texts hold without the numbers of that one."""
    assert [part for part in PARTS if placeholders(ASSIGNMENT.texts[f"misconception.{entry.id}.{part}"])] == []


def test_no_text_is_of_a_mistake_that_isn_t_there() -> None:
    """Every text of a misconception belongs to an entry, or to a mistake that a check sees by itself."""
    named = {key.split(".")[1] for key in ASSIGNMENT.texts if key.startswith("misconception.")}

    assert named == set(NAMES)


def test_ids_are_short_words() -> None:
    """They stand in result files and tables."""
    assert [name for name in NAMES if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+){0,4}", name)] == []
    assert len(set(NAMES)) == len(NAMES)
