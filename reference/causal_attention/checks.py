"""Checks of ``causal_attention``: exact, in one round, with inputs that a learner can make again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from grader import api

from .misconceptions import BOOK, scored
from .solution import causal_attention

# The smallest comes first: it is the one that is shown. All axes differ within a case, and no width is a square.
SHAPES = {"plain": (2, 3, 5), "again": (2, 3, 5), "alone": (2, 1, 7), "long": (3, 6, 7)}
CUT = 4  # from this position on, the case "changed" has other keys and values than "long"
CRITERIA = ("shapes", "future", "rows", "weights", "out", "kept")
TRACE = 1e-5  # above what rounding leaves in single precision, below what a mask that leaks lets through


def made(inputs: api.Inputs) -> dict[str, tuple[str, Any]]:
    """Return each case as the lines that make Q, K and V, and as these three in one array."""
    cases = {}
    for name, shape in SHAPES.items():
        code = f"Q, K, V = np.random.default_rng({inputs.number(name)}).standard_normal({(3, *shape)})"
        cases[name] = (code, inputs.rng(name).standard_normal((3, *shape)))
    # Scores near -100, and near 100 for later keys, whatever the seed: neither putting -50 in the place of a score
    # nor taking 100 off it hides a key, and no exponential overflows.
    code, qkv = f"{cases['long'][0]}\nQ[:, :, 0], K[:, :, 0] = 1, -265", cases["long"][1]
    qkv[:2, ..., 0] = np.reshape((1, -265), (2, 1, 1))
    later = qkv.copy()
    later[1:, :, CUT:, 0] += 530
    return {**cases, "long": (code, qkv), "changed": (f"{code}\nK[:, {CUT}:, 0] += 530\nV[:, {CUT}:, 0] += 530", later)}


def weighted(w: Any, v: Any, units: float) -> api.Expected:
    """Return ``w @ v``; its errors are relative to ``w @ |v|``, since terms may cancel."""
    total = np.full(v.shape, units + 4 * (np.log2(v.shape[1] + 1) + 4))
    return api.Expected(value=w @ v.astype(np.longdouble), units=total, scale=(abs(w) @ abs(v)).astype(float))


def expected(q: Any, k: Any, v: Any) -> tuple[api.Expected, api.Expected]:
    """Return the right ``(out, weights)``, with tolerances that hold for masks before and after the exponential."""
    w = causal_attention(*(a.astype(np.longdouble) for a in (q, k, v)))[1]
    # A score of d terms is off by sqrt(d) units of their size, and so is, relatively, its weight; the rest is softmax.
    terms, largest = scored(abs(q), abs(k)).max(), abs(scored(q, k)).max()
    units = float(4 * (2 * (q.shape[-1] ** 0.5 + 4) * terms + 3 * largest + np.log2(q.shape[1] + 1) + 8))
    scale = np.asarray(w + np.triu(np.ones(w.shape), 1), dtype=float)  # hidden weights are 0 to rounding
    return weighted(w, v, units), api.Expected(value=w, units=np.full(w.shape, units), scale=scale, weights=True)


def numbers(value: object) -> Any:
    """Return an answer as doubles; ``nan`` is complained of once and counts as 0 elsewhere."""
    return np.clip(np.nan_to_num(np.real(np.asarray(value)).astype(float)), -1e100, 1e100)


def verdicts(seen: api.Seen, q: Any, k: Any, v: Any) -> Iterator[tuple[str, api.Verdict]]:
    """Yield criterion and verdict of what one answer shows; after a complaint about its form, nothing more."""
    value: Any = seen.value
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        text, params = seen.problem() or ("causal.no_pair", (("got", api.kind_name(value)),))
        yield "shapes", api.Verdict(passed=False, text=text, params=params)
        return
    pair = zip(value, expected(q, k, v), ("out", "weights"), strict=True)
    lost = {2: "causal.batch_lost"}  # by the number of axes
    out, weights = (api.compare(*one, shape_hint=lambda got: lost.get(len(got), "causal.shape")) for one in pair)
    for one in (out, weights):
        if not (one.passed or one.comparison or one.text == "engine.compare.not_finite"):
            yield "shapes", one
            return
    w = numbers(value[1])
    own = api.compare(numbers(value[0]), weighted(w, v, 4), "out")
    # A mistake in the weights costs once: out may be right with the learner's own.
    yield from (("weights", weights), ("out", own if own.passed and not out.passed else out))
    ahead, off = np.triu(abs(w), 1), abs(w.sum(-1) - 1)
    if ahead.max() > TRACE:
        b, i, j = np.unravel_index(ahead.argmax(), w.shape)
        params = (("at", f"weights[{b}, {i}, {j}]"), ("got", f"{w[b, i, j]:.3g}"))
        yield "future", api.Verdict(passed=False, text="causal.future.wrong", params=params)
    if off.max() > TRACE:
        b, i = np.unravel_index(off.argmax(), off.shape)
        params = (("at", f"weights[{b}, {i}]"), ("sum", f"{w[b, i].sum():.4g}"))
        yield "rows", api.Verdict(passed=False, text="causal.rows.wrong", params=params)
    before: Any = zip(seen.args_after or (), seen.args, strict=False)
    if not all(np.array_equal(*two) for two in before):
        yield "kept", api.Verdict(passed=False, text="causal.kept.wrong")


def across(values: dict[str, Any], broken: set[str]) -> Iterator[tuple[str, str, api.Verdict]]:
    """Yield case, criterion and verdict of what only two answers together show."""
    answers = {name: [numbers(part) for part in pair] for name, pair in values.items()}
    long, changed = (np.concatenate(answers[name], axis=-1)[:, :CUT] for name in ("long", "changed"))
    # A row that is no distribution may change by its sum, and has paid for that.
    if "rows" not in broken and not np.allclose(long, changed, rtol=1e-4, atol=1e-4):
        yield "changed", "future", api.Verdict(passed=False, text="causal.future.moved", params=(("cut", CUT),))
    if np.allclose(answers["plain"][1], answers["again"][1]):
        # Weights that depend on neither Q nor K are no work yet, whatever else is true of them.
        constant = api.Verdict(passed=False, text="causal.constant")
        yield from (("plain", criterion, constant) for criterion in ("future", "rows", "out"))


def concluded(finding: api.Finding, seen: api.Seen, verdict: api.Verdict, code: str) -> api.Finding:
    """Return the finding with a verdict's notes, or with its complaint and what shows it."""
    if verdict.passed:
        return api.replace(finding, notes=tuple(dict.fromkeys((*finding.notes, *verdict.notes))))
    evidence = () if verdict.comparison is None else (verdict.comparison,)
    text = f"{finding.criterion.replace('/', '.')}.wrong" if evidence else verdict.text
    said = api.replace(finding, status=api.Status.FAILED, text=text, params=verdict.params, notes=verdict.notes)
    shown = "\nprint({at})  # expected: {expected}".format_map(dict(verdict.params)) if evidence else ""
    code += f"\nout, weights = causal_attention(Q, K, V)\nprint(weights.round(3)){shown}"
    return api.replace(said, calls=(seen.id,), evidence=evidence, snippet=code)


class Causal:
    """100 points: shapes 10, no look ahead 25, row sums 10, weights 30, out 20, inputs kept 5."""

    def plan(self, inputs: api.Inputs, seen: api.Observed) -> Iterator[api.Case]:
        """One round; the first case also shows what became of its arguments."""
        for name, (_, stack) in made(inputs).items():
            yield api.Case(id=name, args=tuple(stack), watch=name == "plain", draws="none")

    def judge(self, inputs: api.Inputs, seen: api.Observed) -> Iterator[api.Finding]:
        """Say the first complaint of each criterion, or the misconception that explains all answers."""
        cases = made(inputs)
        said = [(name, *one) for name, (_, stack) in cases.items() for one in verdicts(seen[name], *stack)]
        broken = {criterion for _, criterion, verdict in said if not verdict.passed}
        if "shapes" not in broken:
            said += across({name: seen[name].value for name in cases}, broken)
        found = {name: api.Finding(criterion=f"causal/{name}", status=api.Status.PASSED) for name in CRITERIA}
        for name, criterion, verdict in said:
            if found[criterion].status is api.Status.PASSED:
                found[criterion] = concluded(found[criterion], seen[name], verdict, cases[name][0])
        failed = any(one.status is api.Status.FAILED for one in found.values())
        cause = BOOK.explain("causal", [api.Observation.of(one, one.args) for one in seen]) if failed else ""
        for one in found.values():
            named = cause and one.criterion == BOOK[cause].target
            yield api.replace(one, text=f"misconception.{cause}.text", misconceptions=(cause,)) if named else one


TASKS: dict[str, api.TaskChecks] = {"causal": Causal()}
