"""Exercise 2: each entropy is right if some query and keys drawn during the call have it. Never a monotone fall."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from grader.api import (
    Band,
    Case,
    CellSeen,
    Chart,
    Finding,
    Inputs,
    Line,
    Note,
    Observation,
    Observed,
    Params,
    Seen,
    Status,
    kind_name,
)

from . import explain, oracle
from .freeform import read_entropy
from .made import call_snippet
from .misconceptions import BOOK
from .rates import ENTROPY_CALLS, ENTROPY_SLACK, POPULATION
from .reading import Read, decimals_of, read_entropies

__all__ = ["BAND", "Entropy", "band"]

Doubles = npt.NDArray[np.float64]

WIDTHS = (4, 16, 64, 256)

SWEEPS = tuple(f"draws/{index}" for index in range(6))
"""At d_k = 256 every seventh entropy is so near to 0 that a wrong one can't be told from it; six in a row aren't."""

CLOSE = 1e-6
"""Agreement with the draws' entropy: an epsilon of up to 1e-7 inside the logarithm stays within it."""

SINGLE = 1e-4
"""Relative agreement of an entropy that was calculated in float32: relative, so that none near 0 is let through."""
MAX_EXPLAINED = 8
"""Pairs a width that a misconception may use: with more, some pair explains anything."""

BAND = Band(
    label="entropy.chart.band",
    x=(4.0, 16.0, 64.0, 256.0),
    low=(0.366, 0.024, 0.0001, 0.0),
    high=(1.910, 1.413, 1.005, 0.697),
)
"""Where the entropy of one query against eight keys falls for 90 of 100 honest draws: 400,000 draws of the exact law
(given q, the scores are independent N(0, |q|^2), and |q|^2 is chi-square with d_k degrees of freedom)."""

BAND_DRAWS = 4000
"""Draws a width for the band of other arguments than the lesson's: its ends are within 0.05 of the true ones."""

PARTLY_RIGHT = frozenset(
    ["entropy_normalised", "entropy_big_epsilon", "entropy_rounded", "keys_miscounted", "made_to_fall"]
)
"""Mistakes that leave the work right and its last step not: half of the points."""


class Entropy:
    """15 points: the four entropies fit their draws 12 (3 each), they follow the arguments 3."""

    def plan(self, inputs: Inputs, seen: Observed) -> Iterator[Case]:
        """First the lesson's widths with two seeds and other arguments; many seeds only where draws explain nothing."""
        for name in SWEEPS:
            yield self._case(inputs, name, WIDTHS, 8)
        yield self._case(inputs, "arguments/widths", (3, 10), 8)
        yield self._case(inputs, "arguments/keys", (6, 12, 7), 5)
        if len(seen) and self._open(seen):
            for index in range(ENTROPY_CALLS):
                yield self._case(inputs, f"seed/{index}", WIDTHS, 8, stage=2)

    def _case(self, inputs: Inputs, name: str, d_ks: tuple[int, ...], n: int, stage: int = 1) -> Case:
        return Case(
            id=name,
            kwargs={"d_ks": d_ks, "n_keys": n, "seed": inputs.number(name) % 10_000},
            seed=inputs.number(name + "/global"),
            draws="replay" if stage == 1 else "none",
            stage=stage,
        )

    def _open(self, seen: Observed) -> bool:
        """Whether there are four numbers, and a width that no draw explains."""
        judged = _sweeps(seen)
        return all(sweep.complete for sweep in judged) and not all(all(sweep.agreement) for sweep in judged)

    def read_cells(self, inputs: Inputs, cells: tuple[CellSeen, ...]) -> Iterator[Finding]:
        """Judge an answer that stands in a notebook's cells."""
        return read_entropy(cells)

    def judge(self, inputs: Inputs, seen: Observed) -> Iterator[Finding]:
        """Judge the two criteria."""
        sweeps = _sweeps(seen)
        more = [_Sweep.of(call) for call in seen.all_of("seed/")]
        yield self._draws(sweeps, more)
        usual = all(all(sweep.agreement) for sweep in sweeps)
        yield self._arguments(usual, sweeps[0].known, _sweeps(seen, "arguments/widths", "arguments/keys"))

    def _draws(self, sweeps: list[_Sweep], more: list[_Sweep]) -> Finding:
        criterion = "entropy/draws"
        for sweep in sweeps:
            problem = sweep.seen.problem() or sweep.form_problem()
            if problem is not None:
                known = _explain(sweeps) if problem[0] == "entropy.not_finite" else ""
                return Finding(
                    criterion=criterion,
                    status=Status.FAILED,
                    text=f"misconception.{known}.text" if known else problem[0],
                    misconceptions=(known,) if known else (),
                    params=problem[1],
                    calls=(sweep.seen.id,),
                    snippet=call_snippet("entropy_sweep", sweep.seen),
                )
        right = [all(sweep.agreement[i] for sweep in sweeps) for i in range(len(WIDTHS))]
        if all(right):
            notes = self._notes(sweeps)
            return Finding(criterion=criterion, status=Status.PASSED, evidence=(_chart(sweeps[0]),), notes=notes)
        used = _other_keys(sweeps)
        if not any(right) and not used and not all(sweep.known for sweep in sweeps):
            by_statistics = self._population(more)
            if all(by_statistics):
                review = Note(text="entropy.review", audience="instructor", kind="review")
                return Finding(criterion=criterion, status=Status.PASSED, notes=(review,))
        wrong = [i for i, good in enumerate(right) if not good]
        sweep = next(s for s in sweeps if not all(s.agreement))
        at = next(i for i, good in enumerate(sweep.agreement) if not good)
        misconception = (
            "keys_miscounted" if used else _explain(sweeps) or _other_numbers(sweeps) or _made_to_fall(sweeps)
        )
        text = f"misconception.{misconception}.text" if misconception else ""
        expected = sweep.nearest(at)
        params: Params = (
            ("count", len(wrong)),
            ("d", WIDTHS[at]),
            ("got", f"{sweep.numbers[at].value:.4f}"),
            ("expected", "unknown" if expected is None else f"{expected:.4f}"),
            ("asked", sweep.n),
            ("used", used),
        )
        if not text:
            text = "entropy.wrong" if expected is not None else "entropy.unexplained"
        partial = misconception in PARTLY_RIGHT
        share = (6, 12) if partial else (3 * (len(WIDTHS) - len(wrong)), 12)
        return Finding(
            criterion=criterion,
            status=Status.PARTIAL if partial else Status.FAILED,
            share=share,
            text=text,
            params=params,
            calls=(sweep.seen.id,),
            misconceptions=(misconception,) if misconception else (),
            evidence=(_chart(sweep),),
            snippet=call_snippet("entropy_sweep", sweep.seen),
        )

    def _arguments(self, usual_explained: bool, usual_known: bool, sweeps: list[_Sweep]) -> Finding:
        """Other widths and another number of keys: where draws explain the usual sweeps, they explain these too."""
        criterion = "entropy/arguments"
        for sweep in sweeps:
            text = ""
            params: Params = ()
            if not sweep.seen.returned:
                text = "entropy.arguments.no_answer"
            elif len(sweep.numbers) == len(WIDTHS):
                # The cases have fewer widths: these are the lesson's.
                text, params = "misconception.widths_ignored.text", _counts(sweep)
            elif len(sweep.numbers) != len(sweep.d_ks):
                text, params = sweep.form_problem() or ("", ())
            elif (usual_explained and not all(sweep.agreement)) or (usual_known and not sweep.known):
                text = "misconception.arguments_ignored.text"
                params = (("n", sweep.n), ("widths", ", ".join(map(str, sweep.d_ks))))
            if text:
                return Finding(
                    criterion=criterion,
                    status=Status.FAILED,
                    text=text,
                    params=params,
                    calls=(sweep.seen.id,),
                    misconceptions=tuple(re.findall(r"misconception\.(\w+)\.text", text)),
                    evidence=(_chart(sweep, beside=sweep.known),) if sweep.complete else (),
                    snippet=call_snippet("entropy_sweep", sweep.seen),
                )
        return Finding(criterion=criterion, status=Status.PASSED)

    def _population(self, more: list[_Sweep]) -> list[bool]:
        """Whether the mean and scatter of many calls are the population's, width by width."""
        complete = [sweep for sweep in more if sweep.complete]
        if len(complete) < ENTROPY_CALLS:
            return [False]
        values = np.array([[read.value for read in sweep.numbers] for sweep in complete])
        if len({tuple(row) for row in values}) == 1:
            return [False]
        good = []
        for column, width in zip(values.T, WIDTHS, strict=True):
            honest = POPULATION[width]
            near = honest.low - ENTROPY_SLACK <= float(column.mean()) <= honest.high + ENTROPY_SLACK
            good.append(near and float(column.std()) <= honest.scatter + ENTROPY_SLACK)
        return good

    def _notes(self, sweeps: list[_Sweep]) -> tuple[Note, ...]:
        notes = []
        if any(sweep.form == "mapping" for sweep in sweeps):
            notes.append(Note(text="entropy.note.mapping"))
        if any("rounded" in sweep.agreement for sweep in sweeps):
            notes.append(Note(text="note.rounded"))
        if any("single" in sweep.agreement for sweep in sweeps):
            notes.append(Note(text="note.single"))
        if all([r.value for r in sweep.numbers] == [r.value for r in sweeps[0].numbers] for sweep in sweeps[1:]):
            notes.append(Note(text="note.seed_ignored"))
        if all("mean" in sweep.agreement for sweep in sweeps):
            notes.append(Note(text="entropy.note.averaged"))
        return tuple(notes)


class _Sweep:
    """One call of ``entropy_sweep`` and what its draws explain."""

    @classmethod
    def of(cls, seen: Seen) -> _Sweep:
        """Look at a call once."""
        return seen.once("sweep", lambda: cls(seen))

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        widths = seen.kwargs["d_ks"]
        self.d_ks: tuple[int, ...] = tuple(widths) if isinstance(widths, tuple) else ()
        self.n = int(str(seen.kwargs["n_keys"]))
        self.numbers: list[Read] = []
        self.form = ""
        if seen.returned:
            self.numbers, self.form = read_entropies(seen.value, self.d_ks)
        self.complete = len(self.numbers) == len(self.d_ks) and all(math.isfinite(r.value) for r in self.numbers)
        self.drew_known = False
        self.explained: list[Doubles] = []
        self._tried: list[int] = []
        self.agreement: list[str] = [""] * len(self.d_ks)

    def explain(self, places: int | None) -> None:
        """Compare with what the draws give; ``places`` is to how many decimals the answers are rounded, if they are."""
        self.drew_known = explain.trustworthy(explain.recorded(self.seen))
        if self.drew_known and self.complete:
            skip = 0
            for i, (d, read) in enumerate(zip(self.d_ks, self.numbers, strict=True)):
                if i == len(self.explained):
                    values, tried = self._candidates(d, skip, read.value)
                    self.explained.append(values)
                    self._tried.append(tried)
                skip += d * (self.n + 1)
                self.agreement[i] = _agreement(read.value, self.explained[i], self._tried[i], places)

    def _candidates(self, d: int, skip: int, value: float) -> tuple[Doubles, int]:
        """Return the entropies that the draws give, and of how many pairs: of the one that was meant if it fits."""
        drawn = explain.recorded(self.seen)
        meant = explain.only_pair(drawn, d, self.n)
        if meant is not None:
            q, keys = meant
            found = np.atleast_1d(oracle.entropy(keys @ q))
            if abs(float(found[0]) - value) <= CLOSE:
                return found, 1
        return explain.entropies(drawn, d, self.n, skip)

    @property
    def known(self) -> bool:
        """Whether a query and keys of the right shapes were drawn for every width, so that draws can tell."""
        return self.drew_known and all(explain.exact_pairs(explain.recorded(self.seen), d, self.n) for d in self.d_ks)

    def nearest(self, at: int) -> float | None:
        """Return the entropy that the draws give for the width at this place, if they give just one or a few."""
        values = self.explained[at] if at < len(self.explained) else np.empty(0)
        if not values.size:
            return None
        return float(values[min(at, values.size - 1)] if values.size == len(self.d_ks) else values[0])

    def form_problem(self) -> tuple[str, Params] | None:
        """Say what is wrong with the form of the answer."""
        if not self.numbers:
            return "entropy.form", (("got", kind_name(self.seen.value)),)
        if len(self.numbers) != len(self.d_ks):
            return "entropy.count", _counts(self)
        for d, read in zip(self.d_ks, self.numbers, strict=True):
            if not math.isfinite(read.value):
                return "entropy.not_finite", (("d", d), ("got", f"{read.value:g}"))
        return None


def _sweeps(seen: Observed, *names: str) -> list[_Sweep]:
    """Read the usual calls, or those of the names, and compare them with their draws.

    To how many decimals a program rounds shows in all usual calls together: in a single one all numbers may end in 0.
    """
    usual = [_Sweep.of(seen[name]) for name in SWEEPS]
    places = decimals_of([read.value for sweep in usual if sweep.complete for read in sweep.numbers])
    sweeps = [_Sweep.of(seen[name]) for name in names] if names else usual
    for sweep in sweeps:
        sweep.explain(places)
    return sweeps


def _agreement(value: float, candidates: Doubles, tried: int, places: int | None) -> str:
    """Say how one of the candidates agrees with ``value``: "exact", "mean", "rounded", or "" if none does."""
    if not candidates.size:
        return ""
    errors = np.abs(candidates - value)
    # Candidates times the width of what counts as agreement: what a coincidence may do. Beyond it nothing is explained.
    if candidates.size > tried and float(errors[tried:].min()) <= CLOSE:
        return "mean"
    if tried * CLOSE < 1e-2 and float(errors.min()) <= CLOSE * max(1.0, abs(value)):
        return "exact"
    # Tried few: the pairs that were meant, and means over them.
    few = errors if tried <= 64 else errors[tried:]
    nearest = float(few.min()) if few.size else math.inf
    # Rounded first: to four decimals is as near as single precision, and its note says what was done.
    if places is not None and places >= 3 and nearest <= 0.5 * 10.0**-places + CLOSE + SINGLE * abs(value):
        return "rounded"
    return "single" if nearest <= CLOSE + SINGLE * abs(value) else ""


def _explain(sweeps: list[_Sweep]) -> str:
    """Name the misconception that explains every width of every sweep by what was drawn for it."""
    observed = []
    for sweep in sweeps:
        pairs = {
            d: explain.query_key_pairs(explain.recorded(sweep.seen), d, sweep.n)[:MAX_EXPLAINED] for d in sweep.d_ks
        }
        if not sweep.drew_known or not any(pairs.values()):
            return ""
        scores = {d: np.array([k @ q for q, k in found]).reshape(-1, sweep.n) for d, found in pairs.items()}
        largest = scores[max(sweep.d_ks)]
        for d, read in zip(sweep.d_ks, sweep.numbers, strict=True):
            observed.append(Observation(args=(scores[d], largest, d, sweep.n), value=read.value))
    return BOOK.explain("entropy/draws", observed)


def _other_keys(sweeps: list[_Sweep]) -> int:
    """Return the number of keys, other than asked for, that explains every width of every sweep; 0 if none does."""
    for n in {sweep.n for sweep in sweeps}:
        for used in {n - 2, n - 1, n + 1, n + 2, 10, 16, *WIDTHS} - {n}:
            if used > 1 and all(_fits(explain.recorded(s.seen), s, used) for s in sweeps):
                return used
    return 0


def _fits(drawn: explain.Record | None, sweep: _Sweep, n: int) -> bool:
    """Whether draws of ``n`` keys a width, and nothing less, explain a sweep."""
    if not sweep.complete or not all(explain.exact_pairs(drawn, d, n) for d in sweep.d_ks):
        return False
    found = [explain.entropies(drawn, d, n) for d in sweep.d_ks]
    return all(
        _agreement(r.value, values, tried, None) for r, (values, tried) in zip(sweep.numbers, found, strict=True)
    )


def _other_numbers(sweeps: list[_Sweep]) -> str:
    """Say whether every entropy is that of a query or keys that weren't drawn from N(0, 1)."""
    for sweep in sweeps:
        if not sweep.complete:
            return ""
        for d, read in zip(sweep.d_ks, sweep.numbers, strict=True):
            pairs = explain.odd_pairs(explain.recorded(sweep.seen), d, sweep.n)
            if not pairs or np.abs(oracle.entropy(np.stack([k @ q for q, k in pairs])) - read.value).min() > CLOSE:
                return ""
    return "entropy_other_numbers"


def _made_to_fall(sweeps: list[_Sweep]) -> str:
    """Say whether right entropies were put in order, or lowered to the one before: none of six sweeps rises.

    Honest ones all fall once in 400 times, and then each is in its place.
    """
    for sweep in sweeps:
        values = [read.value for read in sweep.numbers]
        if not sweep.complete or not sweep.drew_known or any(np.diff(values) > 0):
            return ""
        drawn = np.concatenate(sweep.explained)
        if not drawn.size or any(np.abs(drawn - value).min() > CLOSE for value in values):
            return ""
    return "made_to_fall"


def _counts(sweep: _Sweep) -> Params:
    return (("expected", len(sweep.d_ks)), ("got", len(sweep.numbers)), ("widths", ", ".join(map(str, sweep.d_ks))))


@lru_cache(maxsize=32)
def band(d_ks: tuple[int, ...], n: int) -> Band:
    """Return where the entropy of one query against ``n`` keys falls for 90 of 100 honest draws, at each width."""
    if (d_ks, n) == (WIDTHS, 8):
        return BAND
    rng = np.random.default_rng(n)
    ends = []
    for d in d_ks:
        size = np.sqrt(rng.chisquare(d, (BAND_DRAWS, 1)))
        entropies = oracle.entropy(size * rng.standard_normal((BAND_DRAWS, n)))
        ends.append(np.round(np.quantile(entropies, (0.05, 0.95)), 3))
    low, high = (tuple(map(float, side)) for side in zip(*ends, strict=True))
    return Band(label="entropy.chart.band", x=tuple(map(float, d_ks)), low=low, high=high)


def _chart(sweep: _Sweep, *, beside: bool = True) -> Chart:
    """Draw a sweep inside the band.

    With ``beside``, the entropies of its draws stand beside it where it isn't theirs. Draws for other arguments than
    those asked for have nothing to say.
    """
    order = sorted(range(len(sweep.d_ks)), key=lambda at: sweep.d_ks[at])
    widths = tuple(sweep.d_ks[at] for at in order)
    yours = Line(
        label="entropy.chart.yours",
        role="yours",
        x=tuple(map(float, widths)),
        y=tuple(_short(sweep.numbers[at].value) for at in order),
    )
    drawn = {} if all(sweep.agreement) or not beside else {sweep.d_ks[at]: sweep.nearest(at) for at in order}
    known = [(float(d), _short(value)) for d, value in drawn.items() if value is not None]
    if not known:
        return Chart(id="entropy.chart", lines=(yours,), band=band(widths, sweep.n), log_x=True)
    x, y = zip(*known, strict=True)
    expected = Line(label="entropy.chart.draws", role="expected", x=x, y=y)
    return Chart(id="entropy.compared", lines=(yours, expected), band=band(widths, sweep.n), log_x=True)


def _short(value: float) -> float:
    """Round what is only looked at, so that a result stays small."""
    return round(value, 4)
