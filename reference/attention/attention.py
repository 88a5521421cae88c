"""``scaled_dot_product_attention``: exact checks of the pair, the weights and the output."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from grader.api import (
    DOUBLE,
    SINGLE,
    Case,
    Expected,
    Finding,
    Inputs,
    Note,
    Observation,
    Observed,
    Params,
    Seen,
    Status,
    as_array,
    compare,
    data,
    kind_name,
    picture,
    replace,
)

from . import oracle
from .cost import cost, law
from .made import Made, changed, distinct, named, qkv, single, trouble, unit, wrong
from .misconceptions import BOOK
from .reading import read_pair

__all__ = ["Attention"]

ROW_SUM = 1e-4
"""How far a row's sum may be from 1: float32 through log-sum-exp needs 5e-5 at our largest scores, and no mistake in
the normalisation stays below a thousandth. What is a little off in its values is judged by the weights."""

REMEMBERS = "weights_cached"
"""The misconception that shows only in a second call."""


@data
class Pair:
    """What one attention call gave: two values in the contract's order, and whether they came swapped."""

    seen: Seen
    made: Made
    out: object = None
    weights: object = None
    swapped: bool = False
    alone: bool = False
    mapping: bool = False
    text: str = ""
    params: Params = ()

    @property
    def right(self) -> tuple[Expected, Expected]:
        """The right ``(out, weights)``."""
        return self.seen.once("right", lambda: oracle.attention(*self.made.arrays))


class Attention:
    """30 points: shapes 3, row sums 3, weights 15, out 7, inputs kept 2."""

    def cases(self, inputs: Inputs) -> dict[str, Made]:
        """Return all cases: shapes all different, d_k no perfect square, B above and at 1, sizes up to hundreds."""
        return inputs.once("cases", lambda: self._cases(inputs))

    def _cases(self, inputs: Inputs) -> dict[str, Made]:
        return {
            "plain": qkv(inputs, "plain", (2, 3, 12)),
            "batch": qkv(inputs, "batch", (2, 5, 8)),
            "again": qkv(inputs, "again", (2, 5, 8)),
            "long": qkv(inputs, "long", (3, 4, 6)),
            "lesson": qkv(inputs, "lesson", (1, 6, 16)),
            "cube": qkv(inputs, "cube", (3, 3, 3)),
            "narrow": qkv(inputs, "narrow", (2, 4, 1)),
            "alone": qkv(inputs, "alone", (2, 1, 8)),
            "large": qkv(inputs, "large", (2, 3, 7), 8),
            "head": qkv(inputs, "head", (1, 4, 64)),
            "single": single(qkv(inputs, "single", (2, 3, 5))),
        }

    def plan(self, inputs: Inputs, seen: Observed) -> Iterator[Case]:
        """One round: every case is exact."""
        for name, made in self.cases(inputs).items():
            yield Case(id=name, args=made.arrays, seed=inputs.number(name), watch=name == "batch", draws="none")

    def judge(self, inputs: Inputs, seen: Observed) -> Iterator[Finding]:
        """Judge the five criteria."""
        cases = self.cases(inputs)
        pairs = _unswap([_pair(seen[name], made) for name, made in cases.items()])
        shapes, rows, weights = self._shapes(pairs), self._rows(pairs), self._weights(pairs)
        out = self._out(pairs, weights)
        if shapes.status is Status.FAILED:
            whole = [Observation.of(pair.seen, pair.made.arrays) for pair in pairs]
            (shapes,) = named([shapes], BOOK.explain("attention/shapes", whole))
        if weights.status is Status.FAILED and shapes.status is not Status.FAILED:
            (weights,) = named([weights], _explain_weights(pairs))
            scales = _measured_scales(pairs)
            if scales:
                # What isn't a distribution has other costs than those of its scale.
                followed = law(scales) if rows.status is Status.PASSED else None
                shown = None if followed is None else cost(*followed)
                evidence = weights.evidence if shown is None else (*weights.evidence, shown)
                weights = replace(weights, notes=(*weights.notes, _told(scales)), evidence=evidence)
        if out.status is Status.FAILED and not out.text.startswith("attention.degenerate"):
            (out,) = named([out], _explain_out(pairs))
        if REMEMBERS in weights.misconceptions:
            weights, out = (_after_the_first(finding, cases) for finding in (weights, out))
        yield from (shapes, rows, weights, out, self._kept(seen["batch"], cases["batch"]))

    def _shapes(self, pairs: list[Pair]) -> Finding:
        criterion = "attention/shapes"
        for pair in pairs:
            unanswered = trouble(criterion, pair.seen, _attention_snippet(pair.made))
            if unanswered:
                return unanswered
        for pair in pairs:
            if pair.text:
                return Finding(
                    criterion=criterion,
                    status=Status.FAILED,
                    text=pair.text,
                    params=pair.params,
                    calls=(pair.seen.id,),
                    snippet=_attention_snippet(pair.made),
                )
        if all(pair.swapped for pair in pairs):
            return Finding(
                criterion=criterion,
                status=Status.PARTIAL,
                text="misconception.pair_swapped.text",
                misconceptions=("pair_swapped",),
                calls=(pairs[0].seen.id,),
                snippet=_attention_snippet(pairs[0].made),
            )
        notes: list[Note] = [Note(text="note.mapping")] if pairs[0].mapping else []
        for pair in pairs:
            B, T, d = pair.made.arrays[0].shape
            for name, got, shape in (("out", pair.out, (B, T, d)), ("weights", pair.weights, (B, T, T))):
                array, verdict = as_array(got, name)
                if array is None:
                    return wrong(criterion, pair.seen, verdict, _attention_snippet(pair.made))
                notes += verdict.notes
                if array.shape != shape:
                    text = "attention.batch_lost" if array.shape == shape[1:] else "engine.compare.shape"
                    params: Params = (("name", name), ("expected", str(shape)), ("got", str(array.shape)))
                    return Finding(
                        criterion=criterion,
                        status=Status.FAILED,
                        text=text,
                        params=(*params, ("input", str((B, T, d)))),
                        calls=(pair.seen.id,),
                        snippet=_attention_snippet(pair.made),
                    )
        return Finding(criterion=criterion, status=Status.PASSED, notes=distinct(notes))

    def _rows(self, pairs: list[Pair]) -> Finding:
        criterion = "attention/rows"
        for pair in pairs:
            array = _weights_of(pair)
            if array is None:
                snippet = _attention_snippet(pair.made)
                return Finding(criterion=criterion, status=Status.FAILED, calls=(pair.seen.id,), snippet=snippet)
            sums = array.sum(axis=-1)
            # Rows that sum to 1 within single precision: 1e-8 in the denominator or float32 inside are no mistake here.
            allowed = ROW_SUM
            off = ~(np.abs(sums - 1) <= allowed)
            if off.any():
                worst = tuple(
                    int(i) for i in np.unravel_index(int(np.argmax(np.where(off, np.abs(sums - 1), -1))), sums.shape)
                )
                columns = bool(np.all(np.abs(array.sum(axis=-2) - 1) <= allowed))
                at = ", ".join(map(str, worst))
                return Finding(
                    criterion=criterion,
                    status=Status.FAILED,
                    text="attention.rows.columns" if columns else "attention.rows.sum",
                    params=(("at", f"weights[{at}]"), ("sum", f"{float(sums[worst]):.4g}")),
                    calls=(pair.seen.id,),
                    snippet=_attention_snippet(pair.made, f"print(weights[{at}].sum())  # expected: 1"),
                )
            if bool(np.any(array < 0)):
                return Finding(
                    criterion=criterion,
                    status=Status.FAILED,
                    text="attention.rows.negative",
                    calls=(pair.seen.id,),
                    snippet=_attention_snippet(pair.made, "print(weights.min())  # expected: at least 0"),
                )
        return Finding(criterion=criterion, status=Status.PASSED)

    def _weights(self, pairs: list[Pair]) -> Finding:
        criterion = "attention/weights"
        notes: list[Note] = []
        for pair in pairs:
            unanswered = trouble(criterion, pair.seen, _attention_snippet(pair.made))
            if unanswered:
                return unanswered
            expected = pair.right[1]
            verdict = compare(pair.weights, expected, "weights", input_unit=unit(pair.made))
            if not verdict.passed:
                snippet = _attention_snippet(pair.made, "print(weights.round(3))")
                return wrong(criterion, pair.seen, verdict, snippet, text="attention.weights.wrong")
            notes += verdict.notes
        shown = picture(pairs[0].weights, pairs[0].right[1], "weights")
        evidence = () if shown is None else (shown,)
        return Finding(criterion=criterion, status=Status.PASSED, evidence=evidence, notes=distinct(notes))

    def _out(self, pairs: list[Pair], weights: Finding) -> Finding:
        """``out`` is right, or it is the learner's own weights times V: one mistake costs once."""
        criterion = "attention/out"
        notes: list[Note] = []
        own = False
        broken = [pair for pair in pairs if _broken(pair)]
        for pair in pairs:
            if pair in broken and len(broken) < len(pairs) // 2:
                # Nothing can be said of an average with weights that aren't numbers: paid for with the weights.
                continue
            if pair.seen.problem():
                # Said once, with the shapes.
                snippet = _attention_snippet(pair.made)
                return Finding(criterion=criterion, status=Status.FAILED, calls=(pair.seen.id,), snippet=snippet)
            right = pair.right[0]
            verdict = compare(pair.out, right, "out", input_unit=unit(pair.made))
            if not verdict.passed or verdict.notes:
                mine = _from_own_weights(pair)
                again = None if mine is None else compare(pair.out, mine, "out", input_unit=unit(pair.made))
                if again is not None and again.passed and (not verdict.passed or not again.notes):
                    own, verdict = own or not verdict.passed, again
            if not verdict.passed:
                snippet = _attention_snippet(pair.made, "print(out.round(3))")
                return wrong(criterion, pair.seen, verdict, snippet, text="attention.out.wrong")
            notes += verdict.notes
        if own and _degenerate(pairs):
            return Finding(
                criterion=criterion,
                status=Status.FAILED,
                text="attention.degenerate",
                calls=(pairs[0].seen.id,),
                snippet=_attention_snippet(pairs[0].made, "print(weights.round(3))"),
            )
        text = "attention.out.own_weights" if own and weights.status is not Status.PASSED else ""
        return Finding(criterion=criterion, status=Status.PASSED, text=text, notes=distinct(notes))

    def _kept(self, seen: Seen, made: Made) -> Finding:
        criterion = "attention/kept"
        if not seen.returned:
            return Finding(
                criterion=criterion,
                status=Status.FAILED,
                text="attention.kept.no_answer",
                calls=(seen.id,),
                snippet=_attention_snippet(made),
            )
        after = seen.args_after or ()
        names = [name for name, now, before in zip("QKV", after, seen.args, strict=False) if changed(now, before)]
        if names:
            return Finding(
                criterion=criterion,
                status=Status.FAILED,
                text="misconception.inputs_changed.text",
                misconceptions=("inputs_changed",),
                params=(("names", " and ".join(names)),),
                calls=(seen.id,),
                snippet=f"{made.code}\nbefore = Q.copy(), K.copy(), V.copy()\nscaled_dot_product_attention(Q, K, V)\n"
                "print([np.array_equal(*pair) for pair in zip(before, (Q, K, V))])  # expected: three times True",
            )
        return Finding(criterion=criterion, status=Status.PASSED)


def _pair(seen: Seen, made: Made) -> Pair:
    """Read what came back as a pair, whatever sequence of two it is."""
    value, mapping = read_pair(seen.value, "weights") if seen.returned else (None, False)
    if mapping and isinstance(value, tuple):
        return Pair(seen=seen, made=made, out=value[0], weights=value[1], mapping=True)
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return Pair(seen=seen, made=made, out=value[0], weights=value[1])
    if isinstance(value, np.ndarray) and value.shape == made.arrays[0].shape and value.shape[0] != 2:
        return Pair(seen=seen, made=made, out=value, alone=True, text="attention.one_value")
    if isinstance(value, np.ndarray):
        # Two arrays of one shape stacked into one are still a pair; anything else is a single value.
        B, T, d = made.arrays[0].shape
        if value.shape == (2, B, T, d) and d == T:
            return Pair(seen=seen, made=made, out=value[0], weights=value[1])
        return Pair(seen=seen, made=made, out=value, alone=True, text="attention.one_value")
    return Pair(seen=seen, made=made, text="attention.no_pair", params=(("got", kind_name(value)),))


def _unswap(pairs: list[Pair]) -> list[Pair]:
    """Exchange the two values if every pair whose shapes can tell came as (weights, out)."""
    telling = [pair for pair in pairs if pair.made.arrays[0].shape[1] != pair.made.arrays[0].shape[2]]
    if not telling or not all(
        _shape(pair.out) == _weights_shape(pair) and _shape(pair.weights) == pair.made.arrays[0].shape
        for pair in telling
    ):
        return pairs
    return [Pair(seen=p.seen, made=p.made, out=p.weights, weights=p.out, swapped=True) for p in pairs]


def _shape(value: object) -> tuple[int, ...] | None:
    array, _ = as_array(value, "")
    return None if array is None else array.shape


def _weights_shape(pair: Pair) -> tuple[int, ...]:
    B, T, _ = pair.made.arrays[0].shape
    return (B, T, T)


def _weights_of(pair: Pair) -> npt.NDArray[np.float64] | None:
    """Return the weights as doubles if they are finite numbers of the right shape."""
    array, _ = as_array(pair.weights, "weights")
    if array is None or array.shape != _weights_shape(pair):
        return None
    return array.astype(np.float64)


def _from_own_weights(pair: Pair) -> Expected | None:
    array = _weights_of(pair)
    if array is None or not bool(np.all(np.isfinite(array))):
        return None
    # The learner's weights are exact as given; their coarser dtype still limits what out can be.
    given, _ = as_array(pair.weights, "weights")
    units = 4.0 if given is not None and given.dtype == np.float64 else 4.0 * SINGLE / DOUBLE
    return oracle.weighted(array, np.full(array.shape, units), pair.made.arrays[2])


def _broken(pair: Pair) -> bool:
    """Whether the learner's own weights are there and not all finite."""
    array = _weights_of(pair)
    return array is not None and not bool(np.all(np.isfinite(array)))


def _degenerate(pairs: list[Pair]) -> bool:
    """Whether the weights don't depend on Q and K: equal for different inputs, the identity, uniform or zero."""
    by_shape: dict[tuple[int, ...], list[npt.NDArray[np.float64]]] = {}
    for pair in pairs:
        array = _weights_of(pair)
        if array is not None:
            by_shape.setdefault(array.shape, []).append(array)
    same = [group for group in by_shape.values() if len(group) > 1]
    return any(bool(np.allclose(group[0], other, rtol=0, atol=1e-9)) for group in same for other in group[1:])


def _attention_snippet(made: Made, show: str = "print(out.shape, weights.shape)") -> str:
    return f"{made.code}\nout, weights = scaled_dot_product_attention(Q, K, V)\n{show}"


def _explain_weights(pairs: list[Pair]) -> str:
    observed = [Observation(args=pair.made.arrays[:2], value=pair.weights) for pair in pairs]
    found = BOOK.explain("attention/weights", observed)
    if found:
        return found
    # The same with the values in the place of the keys, or of the queries: asked only when Q and K explain nothing.
    for first, second in ((0, 2), (2, 1), (1, 2)):
        expected = [oracle.attention(*_with_values(pair, first, second))[1] for pair in pairs]
        if all(
            compare(pair.weights, right, "weights", input_unit=unit(pair.made)).passed
            for pair, right in zip(pairs, expected, strict=True)
        ):
            return "values_matched"
    return ""


def _with_values(pair: Pair, first: int, second: int) -> tuple[npt.NDArray[np.generic], ...]:
    arrays = pair.made.arrays
    return arrays[first], arrays[second], arrays[2]


def _explain_out(pairs: list[Pair]) -> str:
    """Explain ``out`` by what was done with the learner's own weights, or with the right ones if there are none."""
    observed = []
    for pair in pairs:
        own = _weights_of(pair)
        w = np.asarray(pair.right[1].value, dtype=np.float64) if own is None else own
        observed.append(Observation(args=(w, *pair.made.arrays), value=pair.out))
    return BOOK.explain("attention/out", observed)


def _measured_scales(pairs: list[Pair]) -> list[tuple[int, float]]:
    """Measure by what the scores are multiplied before the softmax: log weights are a straight line over the scores.

    Within a row, log w_ij - log w_ik = scale * (s_ij - s_ik). The slope is fitted for each input; it is told only if
    every input lies on its line, so that nothing is claimed of weights that aren't a softmax of scaled scores.
    """
    scales: list[tuple[int, float]] = []
    for pair in pairs:
        w = _weights_of(pair)
        Q, K, _ = (array.astype(np.float64) for array in pair.made.arrays)
        if w is None or w.shape[-1] < 2 or not bool(np.all((w > 1e-200) & (w < 1))):
            continue
        scores = Q @ K.transpose(0, 2, 1)
        x = (scores - scores.mean(-1, keepdims=True)).ravel()
        logs = np.log(w)
        y = (logs - logs.mean(-1, keepdims=True)).ravel()
        slope = float(x @ y / (x @ x))
        if float(np.abs(y - slope * x).max()) > 1e-4 * (1 + float(np.abs(y).max())):
            return []
        scales.append((Q.shape[-1], slope))
    # A scale that is right is no news: the mistake lies elsewhere.
    return [] if all(abs(slope - d**-0.5) < 1e-4 for d, slope in scales) else scales


def _after_the_first(finding: Finding, cases: dict[str, Made]) -> Finding:
    """Let a function that remembers an answer remember one first: called once, it is right."""
    if finding.status is Status.PASSED or not finding.calls:
        return finding
    made = cases[finding.calls[0].removeprefix("attention/")]
    before = next(other for other in cases.values() if other.arrays[0].shape == made.arrays[0].shape)
    if finding.text == "attention.out.wrong":
        # Its own weights have no part in it: the output was remembered with them.
        finding = replace(finding, text="attention.out.remembered", evidence=())
    return replace(finding, snippet=f"{before.code}\nscaled_dot_product_attention(Q, K, V)\n{finding.snippet}")


def _told(scales: list[tuple[int, float]]) -> Note:
    d, slope = scales[0]
    same = len({round(value, 4) for _, value in scales}) == 1
    params: Params = (("scale", f"{slope:.3f}"), ("expected", f"{d**-0.5:.3f}"))
    return Note(text="attention.measured.same" if same else "attention.measured.scale", params=params)
