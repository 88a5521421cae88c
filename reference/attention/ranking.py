"""Exercise 3: two orders are right if they are equal and some query and keys drawn during the call have them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from grader.api import (
    Case,
    CellSeen,
    Finding,
    Inputs,
    Note,
    Observation,
    Observed,
    Orders,
    Params,
    Seen,
    Status,
    kind_name,
)

from . import explain
from .freeform import read_ranking
from .made import call_snippet
from .misconceptions import BOOK
from .rates import COINCIDENCE, RANKING_CALLS, RANKING_DIFFERENT
from .reading import forms_of, from_one, read_order, read_pair

__all__ = ["Ranking"]

Order = npt.NDArray[np.intp]


WIDTH, KEYS = 256, 8
"""The exercise's own."""


class Ranking:
    """15 points: orders belong to real draws 5, both right and equal 8, form 2."""

    CASES: ClassVar = {"first": (WIDTH, KEYS), "second": (WIDTH, KEYS), "third": (100, 11)}

    def plan(self, inputs: Inputs, seen: Observed) -> Iterator[Case]:
        """First three calls; many seeds only where draws explain nothing."""
        for name, (d, n) in self.CASES.items():
            yield self._case(inputs, name, d, n)
        if len(seen) and self._open(seen):
            for index in range(RANKING_CALLS):
                yield self._case(inputs, f"seed/{index}", WIDTH, KEYS, stage=2)

    def _case(self, inputs: Inputs, name: str, d: int, n: int, stage: int = 1) -> Case:
        return Case(
            id=name,
            kwargs={"d_k": d, "n_keys": n, "seed": inputs.number(name) % 10_000},
            seed=inputs.number(name + "/global"),
            draws="replay" if stage == 1 else "none",
            stage=stage,
        )

    def _open(self, seen: Observed) -> bool:
        answers = [_Answer.of(seen[name]) for name in self.CASES]
        return _nearly_all_equal(answers) and not _explained(answers, "first")

    def read_cells(self, inputs: Inputs, cells: tuple[CellSeen, ...]) -> Iterator[Finding]:
        """Judge an answer that stands in a notebook's cells."""
        return read_ranking(cells)

    def judge(self, inputs: Inputs, seen: Observed) -> Iterator[Finding]:
        """Judge the three criteria."""
        answers = [_Answer.of(seen[name]) for name in self.CASES]
        for answer in answers:
            problem = answer.seen.problem()
            if problem is not None:
                for criterion in ("draws", "equal", "form"):
                    yield Finding(
                        criterion=f"ranking/{criterion}",
                        status=Status.FAILED,
                        text=problem[0] if criterion == "draws" else "",
                        params=problem[1] if criterion == "draws" else (),
                        calls=(answer.seen.id,),
                        snippet=call_snippet("compare_rankings", answer.seen),
                    )
                return
        bad_form = next((answer for answer in answers if answer.first is None or answer.second is None), None)
        if bad_form is not None:
            yield from self._without_orders(answers, bad_form)
            return
        more = [_Answer.of(call) for call in seen.all_of("seed/")]
        yield self._draws(answers, more)
        yield self._equal(answers, more)
        yield self._form(answers)

    def _form(self, answers: list[_Answer]) -> Finding:
        """Two orders came back; that they are ranks or came in a dictionary is no more than a note."""
        criterion = "ranking/form"
        ignored = next((answer for answer in answers if answer.ignored), None)
        if ignored is not None:
            asked = ignored.seen.kwargs
            return Finding(
                criterion=criterion,
                status=Status.FAILED,
                text="misconception.ranking_arguments_ignored.text",
                params=(("d", str(asked["d_k"])), ("n", str(asked["n_keys"])), ("ignored", ignored.ignored)),
                misconceptions=("ranking_arguments_ignored",),
                calls=(ignored.seen.id,),
                snippet=call_snippet("compare_rankings", ignored.seen),
            )
        ranks = all({"ranks", "reversed ranks"} & answer.forms for answer in answers)
        if all(answer.from_one for answer in answers) and not ranks and all(answer.forms for answer in answers):
            return Finding(
                criterion=criterion,
                status=Status.FAILED,
                text="misconception.positions_from_one.text",
                misconceptions=("positions_from_one",),
                params=(("n", answers[0].n),),
                calls=(answers[0].seen.id,),
                snippet=call_snippet("compare_rankings", answers[0].seen),
            )
        order = all({"order", "reversed"} & answer.forms for answer in answers)
        notes = [Note(text="ranking.note.ranks")] if ranks and not order else []
        notes += [Note(text="note.mapping")] if all(answer.mapping for answer in answers) else []
        return Finding(criterion=criterion, status=Status.PASSED, notes=tuple(notes))

    def _without_orders(self, answers: list[_Answer], bad: _Answer) -> Iterator[Finding]:
        """Only the conclusion came back, or something else: part of the points if the claim was checked on draws."""
        drew = all(explain.trustworthy(explain.recorded(answer.seen)) for answer in answers)
        conclusion = all(answer.conclusion for answer in answers)
        known = "conclusion_only" if conclusion and drew else "weights_returned" if _floats(bad) else ""
        text = f"misconception.{known}.text" if known else "ranking.form.wrong"
        params: Params = (("got", kind_name(bad.seen.value)), ("n", bad.n))
        status = Status.PARTIAL if conclusion and drew else Status.FAILED
        share = (1, 2) if conclusion and drew else (0, 1)
        for criterion in ("draws", "equal"):
            yield Finding(
                criterion=f"ranking/{criterion}",
                status=status,
                share=share if criterion == "equal" else (0, 1),
                text=text,
                misconceptions=(known,) if known else (),
                params=params,
                calls=(bad.seen.id,),
                snippet=call_snippet("compare_rankings", bad.seen),
            )
        yield Finding(
            criterion="ranking/form",
            status=Status.FAILED,
            text=text,
            params=params,
            calls=(bad.seen.id,),
            snippet=call_snippet("compare_rankings", bad.seen),
        )

    def _draws(self, answers: list[_Answer], more: list[_Answer]) -> Finding:
        criterion = "ranking/draws"
        if _explained(answers, "first") or _explained(answers, "second"):
            same = all(np.array_equal(answers[0].first_order, a.first_order) for a in answers[1:2])
            notes = (Note(text="note.seed_ignored"),) if same else ()
            return Finding(criterion=criterion, status=Status.PASSED, notes=notes)
        if _by_statistics(answers, more):
            review = Note(text="ranking.review", audience="instructor", kind="review")
            return Finding(criterion=criterion, status=Status.PASSED, notes=(review,))
        answer = answers[0]
        index_list = all(np.array_equal(a.first_order, np.arange(a.n)) for a in answers)
        return Finding(
            criterion=criterion,
            status=Status.FAILED,
            text="misconception.index_list.text" if index_list else "ranking.draws.unexplained",
            misconceptions=("index_list",) if index_list else (),
            params=(("got", _text(answer.first_order)),),
            calls=(answer.seen.id,),
            evidence=_beside_draws(answer),
            snippet=call_snippet("compare_rankings", answer.seen),
        )

    def _equal(self, answers: list[_Answer], more: list[_Answer]) -> Finding:
        criterion = "ranking/equal"
        wrong = next((answer for answer in answers if not answer.equal and not answer.tied), None)
        statistics = _by_statistics(answers, more)
        if wrong is None or statistics:
            if _explained(answers, "second") or statistics:
                return Finding(criterion=criterion, status=Status.PASSED)
            seen = answers[0].seen
            snippet = call_snippet("compare_rankings", seen)
            return Finding(criterion=criterion, status=Status.FAILED, calls=(seen.id,), snippet=snippet)
        backwards = all(np.array_equal(a.first_order, a.second_order[::-1]) for a in answers)
        misconception = _explain(answers)
        text = "ranking.equal.backwards" if backwards else "ranking.equal.differ"
        return Finding(
            criterion=criterion,
            status=Status.FAILED,
            text=f"misconception.{misconception}.text" if misconception else text,
            misconceptions=(misconception,) if misconception else (),
            params=(("first", _text(wrong.first_order)), ("second", _text(wrong.second_order))),
            calls=(wrong.seen.id,),
            evidence=(_two_orders(wrong),),
            snippet=call_snippet("compare_rankings", wrong.seen),
        )


class _Answer:
    """One call of ``compare_rankings``."""

    @classmethod
    def of(cls, seen: Seen) -> _Answer:
        """Look at a call once."""
        return seen.once("answer", lambda: cls(seen))

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.d, self.n = int(str(seen.kwargs["d_k"])), int(str(seen.kwargs["n_keys"]))
        value, self.mapping = read_pair(seen.value, "scaled") if seen.returned else (None, False)
        if isinstance(value, np.ndarray) and value.ndim == 2 and len(value) == 2:
            value = [value[0], value[1]]
        self._pair = list(value) if isinstance(value, (list, tuple)) and len(value) >= 2 else [None, None]
        self.from_one = all(from_one(item) for item in self._pair[:2])
        self.ignored = ""
        self.first: Order | None = None
        self.second: Order | None = None
        self._read()
        self.conclusion = value is None or (isinstance(value, (bool, np.bool_)) and bool(value))
        if isinstance(value, np.ndarray) and value.dtype == np.bool_ and bool(value.all()):
            self.conclusion = True
        self.forms: set[str] = set()
        self.tried = 0
        self.matches = {"first": False, "second": False}
        self._known = explain.trustworthy(explain.recorded(seen))
        self._match()
        if self._known and not all(self.matches.values()):
            self._with_the_defaults()

    @property
    def first_order(self) -> Order:
        """The first order; empty if there is none."""
        return np.empty(0, np.intp) if self.first is None else self.first

    @property
    def second_order(self) -> Order:
        """The second order; empty if there is none."""
        return np.empty(0, np.intp) if self.second is None else self.second

    @property
    def equal(self) -> bool:
        """Whether there are two orders and they are equal."""
        return self.first is not None and np.array_equal(self.first, self.second_order)

    @property
    def tied(self) -> bool:
        """Whether the orders differ only where single precision can't tell neighbours apart.

        Scores that are nearly equal, and unscaled weights that underflow to the same number, have no order in it: that
        happens to a few float32 programs in a million.
        """
        if self.first is None or self.second is None or not self.matches["second"]:
            return False
        for q, k in explain.query_key_pairs(explain.recorded(self.seen), self.d, self.n):
            scores = k @ q
            near = explain.NEAR_TIE * float((np.abs(k) @ np.abs(q)).max())
            weights = np.exp((scores - scores.max()).astype(np.float32))
            for first, second in zip(_readings(self.first), _readings(self.second), strict=True):
                rising = np.diff(scores[first]) >= -near
                underflown = np.diff(weights[first]) >= 0
                if bool(np.all(rising | underflown)) and bool(np.all(np.diff(scores[second]) >= -near)):
                    return True
        return False

    def _read(self) -> None:
        self.first, self.second = (read_order(item, self.n) for item in self._pair[:2])

    def _with_the_defaults(self) -> None:
        """Look whether the function answers for the exercise's own width or number of keys, whatever it was asked."""
        asked = self.d, self.n
        for d, n, ignored in ((self.d, KEYS, "n_keys"), (WIDTH, self.n, "d_k"), (WIDTH, KEYS, "d_k and n_keys")):
            if (d, n) != asked:
                self.d, self.n = d, n
                self._read()
                self._match()
                if self.equal and all(self.matches.values()):
                    self.ignored = ignored
                    return
        self.d, self.n = asked
        self._read()
        self._match()

    def _match(self) -> None:
        self.matches = dict.fromkeys(self.matches, False)
        self.forms = set()
        if not self._known or self.first is None:
            return
        meant = explain.only_pair(explain.recorded(self.seen), self.d, self.n)
        if meant is not None:
            q, keys = meant
            self._compare([np.argsort(keys @ q)])
            self.tried = 1
            if all(self.matches.values()):
                return
        found, self.tried = explain.orders(explain.recorded(self.seen), self.d, self.n)
        self._compare(found)

    def _compare(self, orders: list[Order]) -> None:
        for order in orders:
            for form, expected in forms_of(order).items():
                for which, got in (("first", self.first), ("second", self.second)):
                    if got is not None and np.array_equal(got, expected):
                        self.matches[which] = True
                        self.forms.add(form)
            if all(self.matches.values()):
                return


def _floats(answer: _Answer) -> bool:
    """Whether a pair of real numbers' arrays came back: weights or scores in place of their order."""
    value = answer.seen.value
    return isinstance(value, (list, tuple)) and all(isinstance(v, np.ndarray) and v.dtype.kind == "f" for v in value)


def _readings(written: Order) -> tuple[Order, ...]:
    """The ascending orders that ``written`` may stand for: the inverse of ``forms_of``."""
    return written, written[::-1], np.argsort(written), np.argsort(-written)


def _nearly_all_equal(answers: list[_Answer]) -> bool:
    """Whether both orders are equal in all calls but one: in single precision, one in a million calls has a tie."""
    return sum(not answer.equal for answer in answers) <= 1


def _by_statistics(answers: list[_Answer], more: list[_Answer]) -> bool:
    """Whether the orders are those of a right program as far as can be told without its draws."""
    return _varies(more) and _nearly_all_equal([*answers, *more]) and not _known(answers)


def _chance(answers: list[_Answer]) -> float:
    """Chance that some of the pairs tried gives the orders of all calls by accident."""
    return math.prod(min(1.0, 4 * max(1, a.tried) / math.factorial(a.n)) for a in answers)


def _too_many(answers: list[_Answer]) -> bool:
    return _chance(answers) > COINCIDENCE


def _explained(answers: list[_Answer], which: str) -> bool:
    return all(answer.matches[which] for answer in answers) and not _too_many(answers)


def _varies(more: list[_Answer]) -> bool:
    return len({tuple(answer.first_order) for answer in more}) >= RANKING_DIFFERENT


def _known(answers: list[_Answer]) -> bool:
    """Whether it is known what was drawn: a query and keys of the right shapes, or a random order itself.

    Otherwise the program may have drawn in a way that the record doesn't follow, and its draws say nothing.
    """
    shuffled = all(explain.shuffled(answer.seen) for answer in answers)
    return shuffled or (
        not _too_many(answers) and all(explain.exact_pairs(explain.recorded(a.seen), a.d, a.n) for a in answers)
    )


def _text(order: Order) -> str:
    return " ".join(map(str, order.tolist()))


def _two_orders(answer: _Answer) -> Orders:
    """Show both orders side by side."""
    first, second = _places(answer.first_order), _places(answer.second_order)
    return Orders(id="ranking.orders", first=first, second=second, params=_agreement(first, second))


def _beside_draws(answer: _Answer) -> tuple[Orders, ...]:
    """Show the first order beside that of the query and keys that were drawn, if it is clear which were meant."""
    meant = explain.only_pair(explain.recorded(answer.seen), answer.d, answer.n)
    if meant is None or answer.first is None:
        return ()
    q, keys = meant
    first, second = _places(answer.first), _places(np.argsort(keys @ q))
    return (Orders(id="ranking.drawn", first=first, second=second, params=_agreement(first, second)),)


def _places(order: Order) -> tuple[int, ...]:
    return tuple(int(position) for position in order)


def _agreement(first: tuple[int, ...], second: tuple[int, ...]) -> Params:
    same = [one == other for one, other in zip(first, second, strict=True)]
    parts = next((at for at, equal in enumerate(same, start=1) if not equal), 0)
    return (("equal", sum(same)), ("n", len(same)), ("place", parts))


def _explain(answers: list[_Answer]) -> str:
    """Name the misconception that explains both orders of every call by what was drawn."""
    observed = []
    for answer in answers:
        pairs = explain.query_key_pairs(explain.recorded(answer.seen), answer.d, answer.n)[:4]
        if not explain.trustworthy(explain.recorded(answer.seen)) or not pairs:
            return ""
        scores = np.array([k @ q for q, k in pairs])
        value = (answer.first_order, answer.second_order)
        observed.append(Observation(args=(scores, answer.d), value=value))
    return BOOK.explain("ranking/equal", observed)
