"""Exercise 1: a variance is right if the numbers drawn during the call explain it.

Where no draws are known, statistics over several seeds decide, at a stated rate, and a pass asks for a review.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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
    product_variance_interval,
    replace,
)

from . import explain
from .freeform import read_variance
from .made import call_snippet, distinct, named
from .misconceptions import BOOK
from .rates import INTERVAL, VARIANCE_CALLS
from .reading import Read, decimals_of, read_numbers, read_pair

__all__ = ["Variance", "reach"]

Doubles = npt.NDArray[np.float64]

EXACT = 1e-8
NEAR = 2e-3
"""How near another estimator of the same scores' variance has to come, relatively."""

SINGLE = 3e-5
"""Relative agreement with the value that the draws give: in double precision, and in single precision (a note)."""


class Variance:
    """20 points: both numbers measured 8, raw variance near d_k 6, scaled variance near 1 6."""

    EXACT_CASES = ((3, 1000), (5, 500), (7, 500))
    """(d_k, n_samples) small enough for the numbers themselves to be sent."""

    SHOWN_CASES = ((60, 500), (1024, 200))
    """Larger ones: judged by their interval, and shown in the picture."""

    SEEDS = VARIANCE_CALLS
    """More measurements, for programs whose draws aren't known."""

    def plan(self, inputs: Inputs, seen: Observed) -> Iterator[Case]:
        """First the exact cases and d_k = 1024; more seeds only where the draws leave a verdict open."""
        for d, n in self.EXACT_CASES:
            yield self._case(inputs, f"exact/{d}", d, n, draws=True)
        d, n = self.EXACT_CASES[0]
        again = self._case(inputs, f"exact/{d}", d, n, draws=True)
        yield Case(id="again", kwargs=again.kwargs, seed=inputs.number("again"))
        for d, n in self.SHOWN_CASES:
            yield self._case(inputs, f"shown/{d}", d, n)
        if len(seen) and self._open(seen):
            for index in range(self.SEEDS):
                yield self._case(inputs, f"seed/{index}", 48, 1000, stage=2)

    def _case(self, inputs: Inputs, name: str, d: int, n: int, *, draws: bool = False, stage: int = 1) -> Case:
        return Case(
            id=name,
            kwargs={"d_k": d, "n_samples": n, "seed": inputs.number(name) % 10_000},
            seed=inputs.number(name + "/global"),
            draws="replay" if draws else "none",
            stage=stage,
        )

    def _open(self, seen: Observed) -> bool:
        """Whether the numbers are there but their draws don't explain both of them."""
        judged = [_Measured.of(seen[f"exact/{d}"]) for d, _ in self.EXACT_CASES]
        return all(m.numbers for m in judged) and not all(m.raw_explained and m.scaled_explained for m in judged)

    def read_cells(self, inputs: Inputs, cells: tuple[CellSeen, ...]) -> Iterator[Finding]:
        """Judge an answer that stands in a notebook's cells."""
        return read_variance(cells)

    def judge(self, inputs: Inputs, seen: Observed) -> Iterator[Finding]:
        """Judge the three criteria."""
        calls = [seen[f"exact/{d}"] for d, _ in self.EXACT_CASES] + [seen[f"shown/{d}"] for d, _ in self.SHOWN_CASES]
        for call in calls:
            problem = call.problem() or _pair_problem(call)
            if problem is not None:
                for criterion in ("measured", "raw", "scaled"):
                    yield Finding(
                        criterion=f"variance/{criterion}",
                        status=Status.FAILED,
                        text=problem[0],
                        params=problem[1],
                        calls=(call.id,),
                        snippet=call_snippet("measure_variance", call),
                    )
                return
        exact = [_Measured.of(call) for call in calls[: len(self.EXACT_CASES)]]
        every = [*exact, *(_Measured.of(call) for call in calls[len(self.EXACT_CASES) :])]
        more = [_Measured.of(call) for call in seen.all_of("seed/") if call.returned and not _pair_problem(call)]
        measured = self._measured(exact, every, more)
        evidence = (_chart(every),)
        notes = self._notes(exact, seen)
        values = [self._value(which, exact, every, more, evidence) for which in ("raw", "scaled")]
        if measured.status is Status.PASSED and any(finding.status is Status.FAILED for finding in values):
            values = _followed(named(values, _explain(exact)))
        yield _with(measured, evidence if measured.status is not Status.PASSED else (), notes)
        yield from values

    def _measured(self, exact: list[_Measured], every: list[_Measured], more: list[_Measured]) -> Finding:
        criterion = "variance/measured"
        call = every[-1].seen
        typed = _typed(every, "raw")
        if typed and all(m.scaled_explained for m in exact) and not _typed(every, "scaled"):
            # One of the two was measured: said by the criteria of the values.
            return Finding(criterion=criterion, status=Status.PASSED)
        if typed:
            return Finding(
                criterion=criterion,
                status=Status.FAILED,
                text="misconception.theory_returned.text",
                misconceptions=("theory_returned",),
                calls=(call.id,),
                snippet=call_snippet("measure_variance", call),
            )
        same_always = Finding(
            criterion=criterion,
            status=Status.FAILED,
            text="misconception.same_numbers_always.text",
            misconceptions=("same_numbers_always",),
            calls=(call.id,),
            snippet=call_snippet("measure_variance", call),
        )
        drew = all(explain.trustworthy(explain.recorded(m.seen)) or m.other_draws for m in exact)
        ratios = {round(m.raw / m.d, 9) for m in [*every, *more]}
        if not drew and len(ratios) == 1:
            return same_always
        for m in exact:
            if m.samples is not None and m.raw_explained and not m.samples_right:
                return Finding(
                    criterion=criterion,
                    status=Status.PARTIAL,
                    share=(1, 2),
                    text="misconception.samples_ignored.text",
                    misconceptions=("samples_ignored",),
                    params=(("asked", m.n), ("used", m.samples)),
                    calls=(m.seen.id,),
                    snippet=call_snippet("measure_variance", m.seen),
                )
        if all(m.raw_explained for m in exact):
            return Finding(criterion=criterion, status=Status.PASSED)
        if drew and not self._inside(more, "raw"):
            # Measured, but of something else: said by the criteria of the values.
            return Finding(criterion=criterion, status=Status.PASSED)
        # The draws aren't known or don't explain the numbers: they scatter as measurements do, or they don't.
        if len({m.raw for m in more}) <= 1 and len(more) > 1:
            return same_always
        review = Note(text="variance.review", audience="instructor", kind="review")
        return Finding(criterion=criterion, status=Status.PASSED, notes=(review,))

    def _value(
        self,
        which: str,
        exact: list[_Measured],
        every: list[_Measured],
        more: list[_Measured],
        evidence: tuple[Chart, ...],
    ) -> Finding:
        criterion = f"variance/{which}"
        explained = all(m.explained(which) for m in exact)
        shown = every[len(exact) :]
        if explained and all(m.inside(which) for m in shown):
            notes = distinct([note for m in exact for note in m.value_notes(which)])
            picture = evidence if which == "raw" else ()
            return Finding(criterion=criterion, status=Status.PASSED, evidence=picture, notes=notes)
        contradicted = any(m.contradicts(which) for m in exact) or _typed(every, which)
        if not explained and more and not contradicted and self._inside([*more, *every], which):
            review = Note(text="variance.review", audience="instructor", kind="review")
            return Finding(criterion=criterion, status=Status.PASSED, notes=(review,))
        call = shown[-1]
        got = call.raw if which == "raw" else call.scaled
        low, high = product_variance_interval(1e-2, call.n, call.d)
        factor = call.d if which == "raw" else 1
        swapped = all(m.swapped_explained for m in exact)
        text = "misconception.variances_swapped.text" if swapped else f"variance.{which}.wrong"
        inside = all(m.inside(which) for m in every)
        if inside and not swapped:
            text = f"variance.{which}.unexplained"
        params: Params = (
            ("d", call.d),
            ("n", call.n),
            ("got", f"{got:.4g}"),
            ("expected", f"{factor:g}"),
            ("low", f"{low * factor:.4g}"),
            ("high", f"{high * factor:.4g}"),
        )
        return Finding(
            criterion=criterion,
            status=Status.PARTIAL if swapped else Status.FAILED,
            share=(1, 2) if swapped else (0, 1),
            text=text,
            params=params,
            misconceptions=("variances_swapped",) if swapped else (),
            calls=(call.seen.id,),
            evidence=evidence,
            snippet=call_snippet("measure_variance", call.seen),
        )

    def _inside(self, measured: list[_Measured], which: str) -> bool:
        """Whether all measurements lie where honest ones do, and scatter."""
        values = [m.raw if which == "raw" else m.scaled for m in measured]
        return bool(measured) and all(m.inside(which) for m in measured) and len(set(values)) > 1

    def _notes(self, exact: list[_Measured], seen: Observed) -> tuple[Note, ...]:
        notes = (Note(text="note.mapping"),) if read_pair(exact[0].seen.value, "scaled")[1] else ()
        again = _Measured.of(seen["again"]) if seen["again"].returned and not _pair_problem(seen["again"]) else None
        if again is not None and again.raw != exact[0].raw and exact[0].raw_explained:
            return (*notes, Note(text="variance.note.unseeded"))
        return notes


class _Measured:
    """One call of ``measure_variance`` and what its draws explain."""

    @classmethod
    def of(cls, seen: Seen) -> _Measured:
        """Look at a call once."""
        return seen.once("measured", lambda: cls(seen))

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.d, self.n = int(str(seen.kwargs["d_k"])), int(str(seen.kwargs["n_samples"]))
        self.read: list[Read] = []
        if seen.returned:
            self.read = read_numbers(_pair(seen))
        self.numbers = len(self.read) == 2
        self.raw, self.scaled = (self.read[0].value, self.read[1].value) if self.numbers else (np.nan, np.nan)
        places = [decimals_of([read.value]) for read in self.read]
        # A rounded number may end in zeros: then the other one tells to how many decimals both were rounded.
        self.places = [
            own if own is None or own >= 2 else other for own, other in zip(places, places[::-1], strict=True)
        ]
        self.samples: int | None = None
        self._how = {"raw": "", "scaled": ""}
        self._known: float | None = None
        self.swapped_explained = False
        if self.numbers:
            self._explain()

    @property
    def other_draws(self) -> bool:
        """Whether something else than standard normal numbers was drawn."""
        return any(not item.standard_normal for item in explain.recorded(self.seen) or ())

    @property
    def raw_explained(self) -> bool:
        """Whether the draws give the raw variance."""
        return bool(self._how["raw"])

    @property
    def scaled_explained(self) -> bool:
        """Whether the draws give the scaled variance."""
        return bool(self._how["scaled"])

    @property
    def samples_right(self) -> bool:
        """Whether as many pairs were drawn as asked for: whole repeats are fine, a dropped rest of blocks too."""
        return self.samples is not None and (self.samples % self.n == 0 or 0.75 * self.n <= self.samples <= self.n)

    def explained(self, which: str) -> bool:
        """Whether the draws give the value ``which``, for the number of samples asked."""
        return bool(self._how[which])

    def contradicts(self, which: str) -> bool:
        """Whether it is known what was drawn, a Q and a K of the right shape, and the value isn't near their variance.

        Near, since another estimator than the documented ones may be a right one.
        """
        if self._known is None:
            return False
        expected, got = (self._known, self.raw) if which == "raw" else (self._known / self.d, self.scaled)
        return abs(got - expected) > NEAR * expected

    def inside(self, which: str) -> bool:
        """Whether the value lies in the interval that honest ones leave with chance INTERVAL."""
        low, high = product_variance_interval(INTERVAL, self.n, self.d)
        ratio = self.raw / self.d if which == "raw" else self.scaled
        return bool(low <= ratio <= high)

    def value_notes(self, which: str) -> list[Note]:
        """Notes on the precision of a right value."""
        return [Note(text=f"note.{self._how[which]}")] if self._how[which] in ("rounded", "single") else []

    def _explain(self) -> None:
        if not explain.trustworthy(explain.recorded(self.seen)):
            return
        shapes = [array.shape for array in explain.normal_arrays(explain.recorded(self.seen))]
        plain = shapes == [(self.n, self.d)] * 2
        for _, Q, K in explain.score_sets(explain.recorded(self.seen), self.d):
            if plain and self._known is None:
                self._known = float(np.einsum("ij,ij->i", Q, K).var())
            for _, variance in explain.variances(Q, K, self.n):
                self._try(variance, len(Q))
                if self.raw_explained and self.scaled_explained:
                    return
        for _, variance in explain.block_variances(explain.recorded(self.seen), self.d):
            self._try(variance, self.n)

    def _try(self, variance: float, samples: int) -> None:
        raw, scaled = (
            _agrees(self.read[0], variance, self.places[0]),
            _agrees(self.read[1], variance / self.d, self.places[1]),
        )
        if raw and not self._how["raw"]:
            self._how["raw"], self.samples = raw, samples
        if scaled and not self._how["scaled"]:
            self._how["scaled"] = scaled
        crossed = _agrees(self.read[0], variance / self.d, None) and _agrees(self.read[1], variance, None)
        if crossed:
            self.swapped_explained = True


def _typed(measured: list[_Measured], which: str) -> bool:
    """Whether a number is exactly what theory predicts, every time: no measurement is."""
    values = [m.raw / m.d if which == "raw" else m.scaled for m in measured]
    return all(abs(value - 1) < 1e-9 for value in values)


def _agrees(read: Read, value: float, places: int | None) -> str:
    """Say how ``read`` agrees with ``value``: "exact", "single", "rounded", or "" if it doesn't."""
    error = abs(read.value - value)
    if error <= EXACT * abs(value):
        return "exact"
    if error <= SINGLE * abs(value):
        return "single"
    return "rounded" if places is not None and places >= 2 and error <= 0.500001 * 10.0**-places else ""


def _pair(seen: Seen) -> object:
    """Return the answer, the values of a mapping as a pair."""
    return read_pair(seen.value, "scaled")[0]


def _pair_problem(seen: Seen) -> tuple[str, Params] | None:
    """Say what is wrong with the form of an answer: two finite numbers are asked for."""
    value = seen.value
    numbers = read_numbers(_pair(seen))
    if len(numbers) != 2:
        return "variance.form", (("got", kind_name(value)),)
    if not all(np.isfinite(read.value) for read in numbers):
        return "variance.not_finite", (("got", ", ".join(f"{read.value:g}" for read in numbers)),)
    return None


def _with(finding: Finding, evidence: tuple[Chart, ...], notes: tuple[Note, ...]) -> Finding:
    return replace(finding, evidence=evidence, notes=(*finding.notes, *notes))


def _followed(values: list[Finding]) -> list[Finding]:
    """Where one mistake explains both numbers, say of the second no more than that."""
    first, second = values
    if not first.misconceptions or second.status is not Status.FAILED:
        return values
    return [first, replace(second, text="variance.scaled.same")]


def _chart(measured: list[_Measured]) -> Chart:
    """Draw the measurements beside what theory says, with the regions where 19 of 20 honest ones lie.

    The regions belong to the samples that each measurement was asked for. The laws are drawn over the widths that were
    asked; over the lesson's too if that is a single one, since a line needs two ends.
    """
    every = sorted(measured, key=lambda m: m.d)
    x = tuple(float(m.d) for m in every)
    ends = [product_variance_interval(0.05, m.n, m.d) for m in every]
    wide = reach(x)
    lines = (
        Line(label="variance.chart.raw", role="yours", x=x, y=_short(m.raw for m in every)),
        Line(label="variance.chart.scaled", role="yours", x=x, y=_short(m.scaled for m in every)),
        Line(label="variance.chart.theory", role="reference", x=wide, y=wide),
        Line(label="variance.chart.one", role="reference", x=wide, y=(1.0, 1.0)),
    )
    raw = Band(
        label="variance.chart.raw_band",
        x=x,
        low=_short(low * d for d, (low, _) in zip(x, ends, strict=True)),
        high=_short(high * d for d, (_, high) in zip(x, ends, strict=True)),
    )
    scaled = Band(
        label="variance.chart.scaled_band",
        x=x,
        low=_short(low for low, _ in ends),
        high=_short(high for _, high in ends),
    )
    last = every[-1]
    params = (("d", last.d), ("raw", f"{last.raw:.4g}"), ("scaled", f"{last.scaled:.4g}"))
    return Chart(id="variance.chart", lines=lines, band=raw, bands=(scaled,), log_x=True, log_y=True, params=params)


def reach(widths: Sequence[float]) -> tuple[float, float]:
    """Return from where to where a law is drawn for ascending widths."""
    first, last = widths[0], widths[-1]
    return (first, last) if first < last else (min(first, 4.0), max(last, 256.0))


def _short(values: Iterable[float]) -> tuple[float, ...]:
    """Round what is only looked at, so that a result stays small."""
    return tuple(float(f"{value:.4g}") for value in values)


def _explain(exact: list[_Measured]) -> str:
    """Name the misconception that explains both numbers of every exact call by what was drawn."""
    observed = []
    for m in exact:
        if not explain.recorded(m.seen):
            return ""
        observed.append(Observation(args=(explain.recorded(m.seen), m.d, m.n), value=(m.raw, m.scaled)))
    return BOOK.explain("variance", observed)
