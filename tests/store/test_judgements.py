"""Verdicts are kept and read back whole, and never where they don't belong."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.judge import TaskJudgement
from grader.model import Array, Band, Chart, Comparison, Finding, Line, Note, Orders, Status, Table
from grader.model._data import replace
from grader.store.judgements import dump_judgements, load_judgements

GRID = Array(dtype="<f8", shape=(2, 2), data=np.arange(4.0).tobytes())
EVIDENCE = (
    Comparison(
        name="weights", yours=GRID, expected=GRID, corner=(0, 0), first=(0, 1), worst=(1, 1),
        yours_at_worst=float("nan"), expected_at_worst=-0.0, differing=1, total=4, bars="rows",
    ),
    Table(caption="c", header=("a", "b"), rows=((1, 2.5), ("x", True)), params=(("n", 3),)),
    Chart(
        id="chart", lines=(Line(label="yours", role="yours", x=(1.0, 1e-300), y=(float("inf"), 0.1 + 0.2)),),
        band=Band(label="band", x=(1.0,), low=(0.0,), high=(2.0,)), log_x=True,
    ),
    Orders(id="orders", first=(2, 0, 1), second=(0, 1, 2)),
)  # fmt: skip
FOUND = {
    "softmax": TaskJudgement(
        task="softmax",
        findings=(
            Finding(criterion="softmax/values", status=Status.PASSED),
            Finding(
                criterion="softmax/large",
                status=Status.PARTIAL,
                share=(3, 4),
                text="softmax.large.wrong",
                params=(("got", "1e\ud800"), ("count", 2), ("ratio", 0.5)),
                calls=("softmax/large/positive",),
                misconceptions=("max_forgotten",),
                evidence=EVIDENCE,
                snippet="import numpy as np\nπ",
                notes=(Note(text="note.rounded", audience="instructor", kind="review"),),
            ),
        ),
        notes=(Note(text="engine.note.slip", params=(("got", "soft_max"),)),),
    ),
    "attention": TaskJudgement(task="attention", findings=(), text="engine.task.missing"),
}
GROUNDS = {"softmax": "a" * 64, "attention": "b" * 64}
KEPT = dump_judgements("mark", GROUNDS, FOUND)


def test_verdicts_come_back_as_they_were() -> None:
    """Each field with its type, each number with its last bit, and the same verdicts as the same bytes."""
    read = load_judgements(KEPT, "mark", GROUNDS)

    assert repr(read) == repr(FOUND)  # NaN equals itself here, and 1 isn't 1.0
    assert dump_judgements("mark", GROUNDS, read) == KEPT


@pytest.mark.parametrize(
    "mark, grounds, still",
    [
        ("mark", GROUNDS, {"softmax", "attention"}),
        ("another", GROUNDS, set()),
        ("mark", {**GROUNDS, "softmax": "c" * 64}, {"attention"}),
        ("mark", {"softmax": "a" * 64}, {"softmax"}),
        ("mark", {}, set()),
    ],
)
def test_only_what_still_holds(mark: str, grounds: dict[str, str], still: set[str]) -> None:
    """Of another transcript, or of a task whose grounds changed or aren't known, nothing is read."""
    assert load_judgements(KEPT, mark, grounds).keys() == still


def test_a_task_without_grounds_is_not_kept() -> None:
    """What rests on something unknown holds for nobody."""
    content = dump_judgements("mark", {"softmax": "a"}, FOUND)

    assert load_judgements(content, "mark", GROUNDS | {"softmax": "a"}).keys() == {"softmax"}


def test_what_belongs_into_no_verdict() -> None:
    """A check that puts something else into a finding is told, not kept half."""
    odd = replace(FOUND["attention"], params=(("n", np.float64(1)),))
    with pytest.raises(TypeError, match="float64"):
        dump_judgements("mark", GROUNDS, {"attention": odd})


@given(st.data())
def test_other_bytes_are_no_verdicts(data: st.DataObject) -> None:
    """Whatever stands there: verdicts that hold, or none; and no error."""
    cut = data.draw(st.integers(0, len(KEPT)))
    put = data.draw(st.binary(max_size=4) | st.sampled_from([b"{}", b"[]", b"null", b'{"Status":1}', b"[[", b"NaN"]))
    skip = data.draw(st.integers(0, 40))
    found = load_judgements(KEPT[:cut] + put + KEPT[cut + skip :], "mark", GROUNDS)

    assert all(isinstance(part, TaskJudgement) for part in found.values())


@pytest.mark.parametrize("tree", [1, [], {"Finding": {}}, {"Nobody": {}}, {"TaskJudgement": {"task": "softmax"}}, {}])
def test_a_tree_of_something_else(tree: object) -> None:
    """Well-formed and wrong: judged as the first time."""
    content = json.dumps(["grade.judgements/1", "mark", {"softmax": ["a" * 64, tree]}]).encode()

    assert load_judgements(content, "mark", GROUNDS) == {}
