"""Checks of the two functions with one right answer for each input: ``softmax`` and the attention itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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
    Observed,
    Params,
    Seen,
    Status,
    Verdict,
    as_array,
    compare,
    kind_name,
)

from . import oracle

__all__ = ["Attention", "Softmax"]

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Made:
    """Arguments, and the Python line that makes the very same ones."""

    code: str
    arrays: tuple[Array, ...]


def _normal(inputs: Inputs, name: str, shape: tuple[int, ...], scale: float = 1, offset: float = 0) -> Made:
    seed = inputs.number(name)
    array = np.random.default_rng(seed).standard_normal(shape)
    code = f"x = np.random.default_rng({seed}).standard_normal({shape})"
    if scale != 1:
        array, code = array * scale, f"{code} * {scale}"
    if offset:
        array, code = array + offset, f"{code} + {offset}"
    return Made(code, (array,))


def _literal(rows: object, dtype: str = "float") -> Made:
    return Made(f"x = np.array({rows}, dtype={dtype})", (np.array(rows, dtype=dtype),))


def _qkv(inputs: Inputs, name: str, shape: tuple[int, int, int], scale: float = 1) -> Made:
    seed = inputs.number(name)
    stack = np.random.default_rng(seed).standard_normal((3, *shape))
    code = f"Q, K, V = np.random.default_rng({seed}).standard_normal({(3, *shape)})"
    if scale != 1:
        stack, code = stack * scale, f"{code} * {scale}"
    return Made(code, tuple(stack))


def _single(made: Made) -> Made:
    return Made(f"{made.code}.astype(np.float32)", tuple(array.astype(np.float32) for array in made.arrays))


def _trouble(criterion: str, seen: Seen, share: tuple[int, int] = (0, 1)) -> Finding | None:
    """Return the finding for a call that gave no answer."""
    problem = seen.problem()
    if problem is None:
        return None
    return Finding(
        criterion=criterion, status=Status.FAILED, share=share, text=problem[0], params=problem[1], calls=(seen.id,)
    )


def _wrong(criterion: str, seen: Seen, verdict: Verdict, snippet: str = "") -> Finding:
    return Finding(
        criterion=criterion,
        status=Status.FAILED,
        text=verdict.text,
        params=verdict.params,
        calls=(seen.id,),
        evidence=() if verdict.comparison is None else (verdict.comparison,),
        snippet=snippet,
        notes=verdict.notes,
    )


def _distinct(notes: Iterable[Note]) -> tuple[Note, ...]:
    """One note of each kind is enough."""
    return tuple({note.text: note for note in notes}.values())


# ---------------------------------------------------------------------- softmax


class Softmax:
    """20 points: values 10, the axis argument 4, large scores 4, care with the input 2."""

    def cases(self, inputs: Inputs) -> dict[str, tuple[Made, dict[str, int]]]:
        """Return all cases: id to (input, keyword arguments)."""
        made: dict[str, tuple[Made, dict[str, int]]] = {
            "values/vector": (_normal(inputs, "vector", (5,), 2), {}),
            "values/table": (_normal(inputs, "table", (3, 4), 2), {}),
            "values/batch": (_normal(inputs, "batch", (2, 3, 5), 2), {}),
            "values/again": (_normal(inputs, "again", (2, 3, 5), 2), {}),
            "values/one": (_normal(inputs, "one", (1, 4, 4), 2), {}),
            "values/column": (_normal(inputs, "column", (2, 3, 1), 2), {}),
            "values/wide": (_normal(inputs, "wide", (2, 6), 30), {}),
            "values/single": (_single(_normal(inputs, "single", (3, 5), 2)), {}),
            "axis/last": (_normal(inputs, "last", (3, 5), 2), {"axis": 1}),
            "axis/first": (_normal(inputs, "first", (3, 5), 2), {"axis": 0}),
            "axis/middle": (_normal(inputs, "middle", (2, 3, 5), 2), {"axis": 1}),
            "axis/front": (_normal(inputs, "front", (2, 3, 5), 2), {"axis": 0}),
            "axis/second_last": (_normal(inputs, "second_last", (4, 3, 2), 2), {"axis": -2}),
            "large/positive": (_normal(inputs, "positive", (2, 4), 1, 1000), {}),
            "large/negative": (_normal(inputs, "negative", (2, 4), 1, -1000), {}),
            "large/outlier": (_literal([[0, 0, 0, 2000], [0, 1, -2000, 2]]), {}),
            "large/mixed": (_literal([[0, 1, 2], [2000, 2001, 2003], [-2000, -2001, -1999]]), {}),
            "care/kept": (_normal(inputs, "kept", (3, 4), 2), {}),
            "care/whole": (_literal([[1, 2, 3, 5], [2, 0, 1, 1]], "int"), {}),
        }
        return made

    def plan(self, inputs: Inputs, seen: Observed) -> Iterator[Case]:
        """One round: every case is exact."""
        for name, (made, kwargs) in self.cases(inputs).items():
            yield Case(
                id=name, args=made.arrays, kwargs=kwargs, seed=inputs.number(name), watch=name == "care/kept", draws="none"
            )

    def judge(self, inputs: Inputs, seen: Observed) -> Iterator[Finding]:
        """Judge the four criteria."""
        cases = self.cases(inputs)
        verdicts = {name: self._verdict(seen[name], *cases[name]) for name in cases if name in seen}
        yield self._all_right("values", cases, verdicts, seen)
        yield self._all_right("axis", cases, verdicts, seen)
        yield self._large(cases, verdicts, seen)
        yield self._care(cases, verdicts, seen)

    def _verdict(self, seen: Seen, made: Made, kwargs: dict[str, int]) -> Verdict | None:
        """Compare one answer; None if there is none."""
        if not seen.returned:
            return None
        (x,) = made.arrays
        expected = oracle.softmax(x, kwargs.get("axis", -1))
        unit = SINGLE if x.dtype == np.float32 else DOUBLE
        return compare(seen.value, expected, _call_text(kwargs), input_unit=unit)

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
                return _trouble(full, seen[name]) or Finding(criterion=full, status=Status.FAILED)
            if not verdict.passed:
                return _wrong(full, seen[name], verdict, _snippet(*cases[name]))
            notes += verdict.notes
        return Finding(criterion=full, status=Status.PASSED, notes=_distinct(notes))

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
            finding = _trouble("softmax/large", seen[bad[0]], share)
            assert finding is not None
            return finding
        made, kwargs = cases[bad[0]]
        count: Params = (("bad", len(bad)), ("probes", len(probes)))
        return Finding(
            criterion="softmax/large",
            status=status,
            share=share,
            text="softmax.large.not_finite" if verdict.text == "engine.compare.not_finite" else "softmax.large.wrong",
            params=(*verdict.params, *count),
            calls=(seen[bad[0]].id,),
            evidence=() if verdict.comparison is None else (verdict.comparison,),
            snippet=_snippet(made, kwargs),
        )

    def _care(
        self,
        cases: dict[str, tuple[Made, dict[str, int]]],
        verdicts: dict[str, Verdict | None],
        seen: Observed,
    ) -> Finding:
        """One point for the input as it was, one for whole numbers."""
        points, text, call, params = 2, "", "", ()
        kept = seen["care/kept"]
        if not kept.returned or _changed(kept):
            points, text, call = 1, "softmax.care.changed" if kept.returned else "softmax.care.no_answer", kept.id
        whole = seen["care/whole"]
        # Wrong in the same way as on other numbers: that mistake is paid for elsewhere.
        values_right = _passed(verdicts["values/table"])
        if not whole.returned or (values_right and not _passed(verdicts["care/whole"])):
            points -= 1
            text = text or ("softmax.care.whole" if whole.returned else "softmax.care.whole_raised")
            call = call or whole.id
        if points == 2:
            return Finding(criterion="softmax/care", status=Status.PASSED)
        status = Status.PARTIAL if points else Status.FAILED
        return Finding(
            criterion="softmax/care",
            status=status,
            share=(points, 2),
            text=text,
            params=params,
            calls=(call,),
            snippet=_snippet(*cases["care/whole" if call == whole.id else "care/kept"]),
        )


def _passed(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.passed


def _changed(seen: Seen) -> bool:
    """Whether an argument differs after the call, bit by bit."""
    after = seen.args_after
    if after is None or len(after) != len(seen.args):
        return False
    return any(
        isinstance(now, np.ndarray) and isinstance(before, np.ndarray)
        and (now.dtype != before.dtype or now.shape != before.shape or now.tobytes() != before.tobytes())
        for now, before in zip(after, seen.args, strict=True)
    )  # fmt: skip


def _call_text(kwargs: dict[str, int]) -> str:
    return f"softmax(x, axis={kwargs['axis']})" if kwargs else "softmax(x)"


def _snippet(made: Made, kwargs: dict[str, int]) -> str:
    return f"{made.code}\nprint({_call_text(kwargs)})"


# ---------------------------------------------------------------------- attention


@dataclass(frozen=True, slots=True)
class Pair:
    """What one attention call gave: two values in the contract's order, and whether they came swapped."""

    seen: Seen
    made: Made
    out: object = None
    weights: object = None
    swapped: bool = False
    alone: bool = False
    text: str = ""
    params: Params = ()


class Attention:
    """30 points: shapes 3, row sums 3, weights 15, out 7, inputs kept 2."""

    def cases(self, inputs: Inputs) -> dict[str, Made]:
        """Return all cases: shapes all different, d_k no perfect square, B above and at 1, sizes up to hundreds."""
        return {
            "plain": _qkv(inputs, "plain", (2, 3, 12)),
            "batch": _qkv(inputs, "batch", (2, 5, 8)),
            "again": _qkv(inputs, "again", (2, 5, 8)),
            "long": _qkv(inputs, "long", (3, 4, 6)),
            "lesson": _qkv(inputs, "lesson", (1, 6, 16)),
            "cube": _qkv(inputs, "cube", (3, 3, 3)),
            "narrow": _qkv(inputs, "narrow", (2, 4, 1)),
            "alone": _qkv(inputs, "alone", (2, 1, 8)),
            "large": _qkv(inputs, "large", (2, 3, 7), 8),
            "head": _qkv(inputs, "head", (1, 4, 64)),
            "single": _single(_qkv(inputs, "single", (2, 3, 5))),
        }

    def plan(self, inputs: Inputs, seen: Observed) -> Iterator[Case]:
        """One round: every case is exact."""
        for name, made in self.cases(inputs).items():
            yield Case(id=name, args=made.arrays, seed=inputs.number(name), watch=name == "batch", draws="none")

    def judge(self, inputs: Inputs, seen: Observed) -> Iterator[Finding]:
        """Judge the five criteria."""
        cases = self.cases(inputs)
        pairs = _unswap([_pair(seen[name], made) for name, made in cases.items()])
        shapes = self._shapes(pairs)
        yield shapes
        yield self._rows(pairs)
        weights = self._weights(pairs)
        yield weights
        yield self._out(pairs, weights)
        yield self._kept(seen["batch"])

    def _shapes(self, pairs: list[Pair]) -> Finding:
        criterion = "attention/shapes"
        for pair in pairs:
            trouble = _trouble(criterion, pair.seen)
            if trouble:
                return trouble
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
                text="attention.swapped",
                calls=(pairs[0].seen.id,),
                snippet=_attention_snippet(pairs[0].made),
            )
        notes: list[Note] = []
        for pair in pairs:
            B, T, d = pair.made.arrays[0].shape
            for name, got, shape in (("out", pair.out, (B, T, d)), ("weights", pair.weights, (B, T, T))):
                array, verdict = as_array(got, name)
                if array is None:
                    return _wrong(criterion, pair.seen, verdict, _attention_snippet(pair.made))
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
        return Finding(criterion=criterion, status=Status.PASSED, notes=_distinct(notes))

    def _rows(self, pairs: list[Pair]) -> Finding:
        criterion = "attention/rows"
        for pair in pairs:
            array = _weights_of(pair)
            if array is None:
                return Finding(criterion=criterion, status=Status.FAILED)
            sums = array.sum(axis=-1)
            # Rows that sum to 1 within single precision: 1e-8 in the denominator or float32 inside are no mistake here.
            allowed = 4 * SINGLE * (array.shape[-1] + 8)
            off = ~(np.abs(sums - 1) <= allowed)
            if off.any():
                worst = tuple(int(i) for i in np.unravel_index(int(np.argmax(np.where(off, np.abs(sums - 1), -1))), sums.shape))
                columns = bool(np.all(np.abs(array.sum(axis=-2) - 1) <= allowed))
                at = ", ".join(map(str, worst))
                return Finding(
                    criterion=criterion,
                    status=Status.FAILED,
                    text="attention.rows.columns" if columns else "attention.rows.sum",
                    params=(("at", f"weights[{at}]"), ("sum", f"{float(sums[worst]):.4g}")),
                    calls=(pair.seen.id,),
                    snippet=_attention_snippet(pair.made, "print(weights.sum(axis=-1))"),
                )
            if bool(np.any(array < 0)):
                return Finding(
                    criterion=criterion, status=Status.FAILED, text="attention.rows.negative", calls=(pair.seen.id,)
                )
        return Finding(criterion=criterion, status=Status.PASSED)

    def _weights(self, pairs: list[Pair]) -> Finding:
        criterion = "attention/weights"
        notes: list[Note] = []
        for pair in pairs:
            trouble = _trouble(criterion, pair.seen)
            if trouble:
                return trouble
            expected = oracle.attention(*pair.made.arrays)[1]
            verdict = compare(pair.weights, expected, "weights", input_unit=_unit(pair.made))
            if not verdict.passed:
                return _wrong(criterion, pair.seen, verdict, _attention_snippet(pair.made, "print(weights.round(3))"))
            notes += verdict.notes
        return Finding(criterion=criterion, status=Status.PASSED, notes=_distinct(notes))

    def _out(self, pairs: list[Pair], weights: Finding) -> Finding:
        """``out`` is right, or it is the learner's own weights times V: one mistake costs once."""
        criterion = "attention/out"
        notes: list[Note] = []
        own = False
        for pair in pairs:
            trouble = _trouble(criterion, pair.seen)
            if trouble:
                # Said once, with the shapes.
                return Finding(criterion=criterion, status=Status.FAILED, calls=(pair.seen.id,))
            right = oracle.attention(*pair.made.arrays)[0]
            verdict = compare(pair.out, right, "out", input_unit=_unit(pair.made))
            if not verdict.passed:
                mine = _from_own_weights(pair)
                again = None if mine is None else compare(pair.out, mine, "out", input_unit=_unit(pair.made))
                if again is None or not again.passed:
                    return _wrong(criterion, pair.seen, verdict, _attention_snippet(pair.made, "print(out.round(3))"))
                own, verdict = True, again
            notes += verdict.notes
        if own and _degenerate(pairs):
            return Finding(criterion=criterion, status=Status.FAILED, text="attention.degenerate", calls=(pairs[0].seen.id,))
        text = "attention.out.own_weights" if own and weights.status is not Status.PASSED else ""
        return Finding(criterion=criterion, status=Status.PASSED, text=text, notes=_distinct(notes))

    def _kept(self, seen: Seen) -> Finding:
        criterion = "attention/kept"
        if not seen.returned:
            return Finding(criterion=criterion, status=Status.FAILED, calls=(seen.id,))
        after = seen.args_after or ()
        names = [
            name
            for name, now, before in zip("QKV", after, seen.args, strict=False)
            if isinstance(now, np.ndarray) and isinstance(before, np.ndarray)
            and (now.shape != before.shape or now.tobytes() != before.tobytes())
        ]  # fmt: skip
        if names:
            return Finding(
                criterion=criterion,
                status=Status.FAILED,
                text="attention.kept.changed",
                params=(("names", " and ".join(names)),),
                calls=(seen.id,),
            )
        return Finding(criterion=criterion, status=Status.PASSED)


def _pair(seen: Seen, made: Made) -> Pair:
    """Read what came back as a pair, whatever sequence of two it is."""
    value = seen.value if seen.returned else None
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return Pair(seen=seen, made=made, out=value[0], weights=value[1])
    if isinstance(value, np.ndarray) and value.shape == made.arrays[0].shape and value.shape[0] != 2:
        return Pair(seen=seen, made=made, out=value, alone=True, text="attention.one_value")
    if isinstance(value, np.ndarray):
        # Two arrays of one shape stacked into one are still a pair; anything else is a single value.
        B, T, d = made.arrays[0].shape
        if value.shape == (2, B, T, d) and T == d:
            return Pair(seen=seen, made=made, out=value[0], weights=value[1])
        return Pair(seen=seen, made=made, out=value, alone=True, text="attention.one_value")
    return Pair(seen=seen, made=made, text="attention.no_pair", params=(("got", kind_name(value)),))


def _unswap(pairs: list[Pair]) -> list[Pair]:
    """Exchange the two values if every pair whose shapes can tell came as (weights, out)."""
    telling = [pair for pair in pairs if pair.made.arrays[0].shape[1] != pair.made.arrays[0].shape[2]]
    if not telling or not all(
        _shape(pair.out) == _weights_shape(pair) and _shape(pair.weights) == pair.made.arrays[0].shape for pair in telling
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


def _degenerate(pairs: list[Pair]) -> bool:
    """Whether the weights don't depend on Q and K: equal for different inputs, the identity, uniform or zero."""
    by_shape: dict[tuple[int, ...], list[npt.NDArray[np.float64]]] = {}
    for pair in pairs:
        array = _weights_of(pair)
        if array is not None:
            by_shape.setdefault(array.shape, []).append(array)
    same = [group for group in by_shape.values() if len(group) > 1]
    return any(bool(np.allclose(group[0], other, rtol=0, atol=1e-9)) for group in same for other in group[1:])


def _unit(made: Made) -> float:
    return SINGLE if made.arrays[0].dtype == np.float32 else DOUBLE


def _attention_snippet(made: Made, show: str = "print(out.shape, weights.shape)") -> str:
    return f"{made.code}\nout, weights = scaled_dot_product_attention(Q, K, V)\n{show}"
