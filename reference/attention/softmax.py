"""``softmax``: exact checks of values, axis, stability and care."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from grader.api import (
    Case,
    Finding,
    Inputs,
    Note,
    Observation,
    Observed,
    Params,
    Seen,
    Status,
    Verdict,
    as_array,
    compare,
    replace,
)

from . import oracle
from .made import Made, changed, distinct, expectation, literal, named, normal, single, trouble, unit, wrong
from .misconceptions import BOOK

__all__ = ["Softmax"]

PARTLY_RIGHT = frozenset(["epsilon_in_total", "rounded_shares"])
"""Mistakes that leave the structure right and add a visible bias: half of the points."""

REMEMBERS = "shape_cached"
"""The misconception that shows only in a second call."""

SAME = {"softmax.axis.wrong": "softmax.axis.same", "softmax.large.wrong": "softmax.large.same"}
"""What is said of other values that the mistake which was named explains as well."""

WHOLE = 6
"""Rows and columns of a table that a comparison still shows as a whole."""


class Softmax:
    """20 points: values 10, the axis argument 4, large scores 4, care with the input 2."""

    def cases(self, inputs: Inputs) -> dict[str, tuple[Made, dict[str, int]]]:
        """Return all cases: id to (input, keyword arguments)."""
        return inputs.once("cases", lambda: self._cases(inputs))

    def _cases(self, inputs: Inputs) -> dict[str, tuple[Made, dict[str, int]]]:
        made: dict[str, tuple[Made, dict[str, int]]] = {
            # The smallest comes first: it is the one that is shown.
            "values/table": (normal(inputs, "table", (2, 3), 2), {}),
            "values/vector": (normal(inputs, "vector", (5,), 2), {}),
            "values/wider": (normal(inputs, "wider", (3, 4), 2), {}),
            "values/batch": (normal(inputs, "batch", (2, 3, 5), 2), {}),
            "values/again": (normal(inputs, "again", (2, 3, 5), 2), {}),
            "values/one": (normal(inputs, "one", (1, 4, 4), 2), {}),
            "values/column": (normal(inputs, "column", (2, 3, 1), 1, 2), {}),
            "values/wide": (_wide(inputs), {}),
            "values/single": (single(normal(inputs, "single", (3, 5), 2)), {}),
            "axis/last": (normal(inputs, "last", (3, 5), 2), {"axis": 1}),
            "axis/first": (normal(inputs, "first", (3, 5), 2), {"axis": 0}),
            "axis/middle": (normal(inputs, "middle", (2, 3, 5), 2), {"axis": 1}),
            "axis/front": (normal(inputs, "front", (2, 3, 5), 2), {"axis": 0}),
            "axis/second_last": (normal(inputs, "second_last", (4, 3, 2), 2), {"axis": -2}),
            "large/positive": (normal(inputs, "positive", (2, 4), 1, 1000), {}),
            # Wide: of so many small weights some show a rounding, however coarse single precision is out here.
            "large/negative": (normal(inputs, "negative", (3, 9), 1, -1000), {}),
            "large/outlier": (literal([[0, 0, 0, 2000], [0, 1, -2000, 2]]), {}),
            "large/mixed": (literal([[0, 1, 2], [2000, 2001, 2003], [-2000, -2001, -1999]]), {}),
            "care/kept": (normal(inputs, "kept", (3, 4), 2), {}),
            "care/whole": (literal([[1, 2, 3, 5], [2, 0, 1, 1]], "int"), {}),
        }
        return made

    def plan(self, inputs: Inputs, seen: Observed) -> Iterator[Case]:
        """One round: every case is exact."""
        for name, (made, kwargs) in self.cases(inputs).items():
            yield Case(
                id=name,
                args=made.arrays,
                kwargs=kwargs,
                seed=inputs.number(name),
                watch=name == "care/kept",
                draws="none",
            )

    def judge(self, inputs: Inputs, seen: Observed) -> Iterator[Finding]:
        """Judge the four criteria."""
        cases = self.cases(inputs)
        verdicts = {name: self._verdict(seen[name], *cases[name]) for name in cases if name in seen}
        findings = [
            self._all_right("values", cases, verdicts, seen),
            self._all_right("axis", cases, verdicts, seen),
            self._large(cases, verdicts, seen),
            self._care(cases, verdicts, seen),
        ]
        if any(finding.status is not Status.PASSED for finding in findings):
            observed = [
                Observation.of(seen[name], made.arrays, axis=kwargs.get("axis", -1))
                for name, (made, kwargs) in cases.items()
                if name in seen
            ]
            misconception = BOOK.explain("softmax", observed)
            if misconception in PARTLY_RIGHT:
                findings = [*map(_partly, findings[:-1]), findings[-1]]
            findings = named(findings, misconception)
            if misconception:
                findings = [_followed(finding) for finding in findings]
                if misconception == REMEMBERS:
                    findings = [_after_the_first(finding, cases) for finding in findings]
        yield from findings

    def _verdict(self, seen: Seen, made: Made, kwargs: dict[str, int]) -> Verdict | None:
        """Compare one answer; None if there is none."""
        if not seen.returned:
            return None
        expected = oracle.softmax(made.arrays[0], kwargs.get("axis", -1))
        return compare(seen.value, expected, _call_text(kwargs), input_unit=unit(made))

    def _all_right(
        self,
        criterion: str,
        cases: dict[str, tuple[Made, dict[str, int]]],
        verdicts: dict[str, Verdict | None],
        seen: Observed,
    ) -> Finding:
        full = f"softmax/{criterion}"
        notes: list[Note] = []
        for name in cases:
            if not name.startswith(criterion + "/"):
                continue
            verdict = verdicts[name]
            if verdict is None:
                unanswered = trouble(full, seen[name], _snippet(*cases[name]))
                return unanswered or Finding(criterion=full, status=Status.FAILED)
            if not verdict.passed:
                shown = _as_bars(verdict, *cases[name])
                return wrong(full, seen[name], shown, _snippet(*cases[name]), text=f"softmax.{criterion}.wrong")
            notes += verdict.notes
        return Finding(criterion=full, status=Status.PASSED, notes=distinct(notes))

    def _large(
        self,
        cases: dict[str, tuple[Made, dict[str, int]]],
        verdicts: dict[str, Verdict | None],
        seen: Observed,
    ) -> Finding:
        """Each of the four probes is worth a quarter: what is right for most large scores isn't worth nothing."""
        probes = [name for name in cases if name.startswith("large/")]
        bad = [name for name in probes if not _passed(verdicts[name])]
        if not bad:
            return Finding(criterion="softmax/large", status=Status.PASSED)
        share = (len(probes) - len(bad), len(probes))
        status = Status.PARTIAL if share[0] else Status.FAILED
        verdict = verdicts[bad[0]]
        if verdict is None:
            finding = trouble("softmax/large", seen[bad[0]], _snippet(*cases[bad[0]]), share)
            assert finding is not None
            return finding
        text = "softmax.large.wrong" if verdict.values_wrong else verdict.text
        if text == "engine.compare.not_finite":
            text = "softmax.large.not_finite"
        made, kwargs = cases[bad[0]]
        count: Params = (("bad", len(bad)), ("probes", len(probes)))
        return Finding(
            criterion="softmax/large",
            status=status,
            share=share,
            text=text,
            params=(*verdict.params, *count),
            calls=(seen[bad[0]].id,),
            evidence=() if verdict.comparison is None else (verdict.comparison,),
            snippet=_snippet(made, kwargs) + expectation(verdict),
        )

    def _care(
        self,
        cases: dict[str, tuple[Made, dict[str, int]]],
        verdicts: dict[str, Verdict | None],
        seen: Observed,
    ) -> Finding:
        """One point for the input as it was, one for whole numbers."""
        points, text, call = 2, "", ""
        kept = seen["care/kept"]
        if not _answered(kept) or _was_changed(kept):
            text = "misconception.input_changed.text" if _was_changed(kept) else "softmax.care.no_answer"
            points, call = 1, kept.id
        whole = seen["care/whole"]
        # Wrong in the same way as on other numbers: that mistake is paid for elsewhere.
        values_right = _passed(verdicts["values/table"])
        if not _answered(whole) or (values_right and not _passed(verdicts["care/whole"])):
            points -= 1
            text = text or ("softmax.care.whole" if whole.returned else "softmax.care.whole_raised")
            call = call or whole.id
        if points == 2:
            return Finding(criterion="softmax/care", status=Status.PASSED)
        status = Status.PARTIAL if points else Status.FAILED
        made, kwargs = cases["care/whole" if call == whole.id else "care/kept"]
        snippet = _snippet(made, kwargs)
        if text == "misconception.input_changed.text":
            snippet = f"{made.code}\nbefore = x.copy()\nsoftmax(x)\nprint(np.array_equal(x, before))  # expected: True"
        return Finding(
            criterion="softmax/care",
            status=status,
            share=(points, 2),
            text=text,
            misconceptions=("input_changed",) if text.startswith("misconception") else (),
            calls=(call,),
            snippet=snippet,
        )


def _as_bars(verdict: Verdict, made: Made, kwargs: dict[str, int]) -> Verdict:
    """Let a comparison be drawn as bars, if the block that is shown holds whole distributions."""
    shape = made.arrays[0].shape
    from_the_end = len(shape) - kwargs.get("axis", -1) % len(shape)
    if verdict.comparison is None or from_the_end > 2 or max(shape[-2:]) > WHOLE:
        return verdict
    return replace(verdict, comparison=replace(verdict.comparison, bars="rows" if from_the_end == 1 else "columns"))


def _followed(finding: Finding) -> Finding:
    """Say of other values no more than that the mistake explains them as well: there is one thing to mend."""
    return replace(finding, text=SAME[finding.text], evidence=()) if finding.text in SAME else finding


def _after_the_first(finding: Finding, cases: Mapping[str, tuple[Made, dict[str, int]]]) -> Finding:
    """Let a function that remembers an answer remember one first: called once, it is right."""
    name = finding.calls[0].removeprefix("softmax/") if finding.calls else ""
    if name not in cases or not finding.snippet:
        return finding
    made, kwargs = cases[name]
    alike = (one for one, (other, _) in cases.items() if other.arrays[0].shape == made.arrays[0].shape)
    first = next(alike)
    before = cases[first][0]
    return replace(finding, snippet=f"{before.code}\n{_call_text(kwargs)}\n{finding.snippet}")


def _partly(finding: Finding) -> Finding:
    """Half of the points, also where single probes of large scores happened to pass: no seed makes a difference."""
    if finding.status is Status.PASSED:
        return finding
    return replace(finding, status=Status.PARTIAL, share=(1, 2))


def _wide(inputs: Inputs) -> Made:
    """Make rows of widely spread scores with the largest at 10.

    Without that bound, a tiny epsilon in the denominator would show for some seeds and not for others.
    """
    made = normal(inputs, "wide", (2, 6), 30)
    (x,) = made.arrays
    return Made(f"{made.code}\nx = x - x.max(axis=-1, keepdims=True) + 10", (x - x.max(axis=-1, keepdims=True) + 10,))


def _passed(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.passed


def _answered(seen: Seen) -> bool:
    """Whether numbers of the input's shape came back: care for the input is worth nothing without an answer."""
    array = as_array(seen.value, "")[0] if seen.returned else None
    (x,) = seen.args
    return array is not None and isinstance(x, np.ndarray) and array.shape == x.shape


def _was_changed(seen: Seen) -> bool:
    return any(changed(now, before) for now, before in zip(seen.args_after or (), seen.args, strict=False))


def _call_text(kwargs: dict[str, int]) -> str:
    return f"softmax(x, axis={kwargs['axis']})" if kwargs else "softmax(x)"


def _snippet(made: Made, kwargs: dict[str, int]) -> str:
    return f"{made.code}\nprint({_call_text(kwargs)})"
