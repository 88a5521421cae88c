"""Results built by hand: what every face of the grader has to show well."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace

from grader.model import (
    Adjustment,
    Array,
    Band,
    Chart,
    Comparison,
    CriterionResult,
    Finding,
    Line,
    Note,
    Orders,
    Param,
    Params,
    Result,
    Status,
    Table,
    Task,
    TaskResult,
)
from tests.render.course import TASKS

HOSTILE = (
    "<script>alert(1)</script> \x1b[31mred\x1b[0m \u202edesrever\u202c \ud800 \x00 \ufffe {{7*7}} {0.__class__} "
    "{score} `a` ' \" & ]]> \r\n=1+1 \x9b2J \u2066x\u2069 %s"
)


def block(rows: Sequence[Sequence[float]]) -> Array:
    """A table of doubles as the model carries it."""
    flat = [value for row in rows for value in row]
    return Array(dtype="<f8", shape=(len(rows), len(rows[0])), data=struct.pack(f"<{len(flat)}d", *flat))


def vector(values: Sequence[float]) -> Array:
    """A vector of doubles as the model carries it."""
    return Array(dtype="<f8", shape=(len(values),), data=struct.pack(f"<{len(values)}d", *values))


WEIGHTS = Comparison(
    name="weights[1]",
    yours=block([[0.009, 0.961, 0.03], [0.014, 0.965, 0.021], [0.111, 0.919, 0.866]]),
    expected=block([[0.16, 0.615, 0.225], [0.183, 0.615, 0.202], [0.291, 0.557, 0.152]]),
    corner=(0, 0),
    first=(1, 0, 0),
    worst=(1, 2, 1),
    yours_at_worst=0.919,
    expected_at_worst=0.557,
    differing=18,
    total=18,
    weights=True,
)
OUT = Comparison(
    name="out[0]",
    yours=block([[1.5, -20.25, float("nan"), 3.0], [1e-9, 0.5, float("inf"), -0.0]]),
    expected=block([[1.5, -20.5, 1.0, 3.0], [2e-9, 0.5, 4.0, 0.0]]),
    corner=(4, 2),
    first=(0, 0, 1),
    worst=(0, 4, 3),
    yours_at_worst=-20.25,
    expected_at_worst=-20.5,
    differing=40,
    total=192,
)
ENTROPIES = Comparison(
    name="entropies",
    yours=vector([1.0787, 1.4753, 0.014, 0.1033]),
    expected=vector([1.5563, 2.1284, 0.0202, 0.149]),
    corner=(0,),
    first=(0,),
    worst=(1,),
    yours_at_worst=1.4753,
    expected_at_worst=2.1284,
    differing=4,
    total=4,
)
CALLS = Table(
    caption="variance.calls",
    header=("variance.calls.call", "variance.calls.yours", "variance.calls.measured"),
    rows=(("seed 42", 1024.0, 970.512), ("seed 7", 1024.0, 1023.2), ("seed 1", 1024.0, "1035.0, 1.011")),
)
LARGEST = Chart(
    id="largest",
    lines=(
        Line(label="largest.yours", role="yours", x=(4, 16, 64, 256), y=(0.52, 0.74, 0.87, 0.94)),
        Line(label="largest.expected", role="expected", x=(4, 16, 64, 256), y=(0.34, 0.35, 0.36, 0.36)),
    ),
    band=Band(label="largest.band", x=(4, 16, 64, 256), low=(0.3, 0.31, 0.32, 0.32), high=(0.38, 0.39, 0.4, 0.41)),
    log_x=True,
    log_y=True,
    params=(("low", 0.52), ("high", 0.94)),
)
SHARES = Comparison(
    name="softmax(x)",
    yours=block([[0.04, 0.01, 0.12], [0.96, 0.99, 0.88]]),
    expected=block([[0.09, 0.8, 0.11], [0.03, 0.96, 0.01]]),
    corner=(0, 0),
    first=(0, 0),
    worst=(1, 0),
    yours_at_worst=0.96,
    expected_at_worst=0.03,
    differing=6,
    total=6,
    weights=True,
    bars="rows",
)
LAW = replace(
    LARGEST,
    lines=(*LARGEST.lines, Line(label="largest.law", role="reference", x=(4, 256), y=(1, 1))),
    bands=(Band(label="largest.equal", x=(4, 256), low=(0.1, 0.1), high=(0.15, 0.15)),),
)
PLACES = Orders(id="places", first=(4, 6, 5, 0, 3), second=(4, 5, 6, 0, 3), params=(("equal", 3), ("n", 5)))
SNIPPET = """import numpy as np
from submission import scaled_dot_product_attention   # in a notebook, leave this line out
Q, K, V = np.random.default_rng(2340).standard_normal((3, 2, 3, 12))
out, weights = scaled_dot_product_attention(Q, K, V)
print(weights[0].round(3))                            # first row should be 0.160 0.615 0.225
"""


def finding(criterion: str, status: Status, **more: object) -> Finding:
    """A finding with what matters to a test."""
    return replace(Finding(criterion=criterion, status=status), **more)  # type: ignore[arg-type]


def task_result(
    task: Task,
    findings: dict[str, Finding] | None = None,
    *,
    rest: Status = Status.PASSED,
    status: Status | None = None,
    text: str = "",
    params: Params = (),
    notes: tuple[Note, ...] = (),
) -> TaskResult:
    """A task whose criteria stand as in ``findings``, and all others at ``rest``."""
    criteria = []
    for criterion in task.criteria:
        found = (findings or {}).get(criterion.id) or finding(f"{task.id}/{criterion.id}", rest)
        top, bottom = found.share
        cents = criterion.points * 100
        criteria.append(
            CriterionResult(
                id=criterion.id,
                status=found.status,
                cents=cents if found.status is Status.PASSED else cents * top // bottom,
                max_cents=cents,
                core=criterion.core,
                hidden=criterion.hidden,
                finding=found,
            )
        )
    return TaskResult(
        id=task.id,
        function=task.function,
        status=status or rest,
        cents=sum(criterion.cents for criterion in criteria),
        max_cents=task.points * 100,
        criteria=tuple(criteria),
        text=text,
        params=params,
        notes=notes,
    )


def result_of(tasks: tuple[TaskResult, ...], **more: object) -> Result:
    """A result of these tasks, with what ``more`` says instead."""
    base = Result(
        schema="grade.result/1",
        assignment="attention",
        version="1.0",
        digest="d" * 64,
        name="submission.py",
        sha256="3f9c" + "0" * 56 + "a7e1",
        seed=2340,
        status="graded",
        cents=sum(task.cents for task in tasks),
        max_cents=10000,
        tasks=tasks,
        environment=(("isolation", "landlock"), ("numpy", "2.4.6"), ("python", "3.11.2")),
        judged=(("grade", "0.1.0"), ("numpy", "2.4.6")),
    )
    return replace(base, **more)  # type: ignore[arg-type]


def full_marks() -> Result:
    """Everything right, one note."""
    softmax, *others = (task_result(task) for task in TASKS)
    note = Note(text="note.slow", params=(("function", "softmax"),))
    return result_of((replace(softmax, notes=(note,)), *others))


def one_mistake() -> Result:
    """Attention without the scale, as in the lesson's second half; all else right."""
    params: tuple[tuple[str, Param], ...] = (("factor", "1.000"), ("right", 0.288675))
    weights = finding(
        "attention/weights",
        Status.FAILED,
        text="misconception.no-scale.text",
        params=params,
        misconceptions=("no-scale",),
        evidence=(WEIGHTS, LARGEST),
        snippet=SNIPPET,
    )
    out = finding("attention/out", Status.PASSED, share=(1, 1), knock_on="attention.own")
    softmax, attention, *others = TASKS
    failed = task_result(
        attention, {"weights": weights, "out": out}, status=Status.FAILED, text=weights.text, params=params
    )
    return result_of((task_result(softmax), failed, *(task_result(task) for task in others)))


def failing(hostile: str = HOSTILE) -> Result:
    """A bit of everything: each status, each kind of evidence, and text from a hostile file."""
    softmax, attention, variance, entropy, ranking = TASKS
    said: Params = (("message", hostile), ("factor", hostile), ("right", 0.288675))
    weights = finding(
        "attention/weights",
        Status.FAILED,
        text="misconception.no-scale.text",
        params=said,
        misconceptions=("no-scale",),
        evidence=(WEIGHTS, LARGEST),
        snippet=SNIPPET + f"# {hostile}\n",
    )
    out = finding(
        "attention/out",
        Status.FAILED,
        text="attention.out.differs",
        evidence=(OUT,),
        notes=(Note(text="note.review", kind="review"),),
    )
    measured = finding(
        "variance/measured",
        Status.FAILED,
        text="variance.theory",
        evidence=(CALLS, Table(caption="variance.calls", header=(hostile, "b"), rows=((hostile, hostile),))),
    )
    waits = {name: finding(f"variance/{name}", Status.BLOCKED) for name in ("raw", "scaled")}
    fit = finding("entropy/fit", Status.PARTIAL, share=(1, 8), evidence=(ENTROPIES,))
    equal = finding("ranking/equal", Status.FAILED)
    tasks = (
        task_result(softmax, rest=Status.MISSING, text="engine.task.missing", params=(("function", "softmax"),)),
        task_result(
            attention,
            {"weights": weights, "out": out},
            status=Status.FAILED,
            text=weights.text,
            params=said,
            notes=(Note(text="note.hostile", params=said),),
        ),
        task_result(variance, {"measured": measured, **waits}, status=Status.FAILED, text="variance.theory"),
        task_result(entropy, {"fit": fit}, status=Status.PARTIAL),
        task_result(ranking, {"equal": equal}, status=Status.FAILED),
    )
    return result_of(
        tasks,
        name=f"my {hostile}.ipynb",
        notes=(
            Note(text="note.hostile", params=said),
            Note(text="note.slow", params=(("function", "softmax"),), audience="instructor"),
        ),
        adjustments=(
            Adjustment(kind="override", target="ranking/form", before=0, after=150, reason=hostile, by="A. Teacher"),
        ),
    )


def pictures() -> Result:
    """One of each picture."""
    shown = {"softmax": ("rows", SHARES), "attention": ("weights", WEIGHTS, LAW), "ranking": ("draws", PLACES)}
    tasks = []
    for task in TASKS:
        criterion, *evidence = shown.get(task.id, ("",))
        found = finding(f"{task.id}/{criterion}", Status.FAILED, evidence=tuple(evidence))
        if evidence:
            tasks.append(task_result(task, {str(criterion): found}, status=Status.FAILED))
        else:
            tasks.append(task_result(task))
    return result_of(tuple(tasks))


def not_graded() -> Result:
    """A check of ours failed in one task."""
    softmax, *others = TASKS
    fault = task_result(softmax, rest=Status.NOT_GRADED, text="engine.task.not_graded")
    return result_of((fault, *(task_result(task) for task in others)), status="not_graded")


SAMPLES = {
    "full": full_marks,
    "one": one_mistake,
    "failing": failing,
    "pictures": pictures,
    "not_graded": not_graded,
}
