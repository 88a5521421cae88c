"""The view model: what is said, in which order, and the one next step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.model import Result, Status
from grader.render.comparison import ComparisonView
from grader.render.evidence import ChartView
from grader.render.view import build
from grader.render.words import bare
from tests.render.course import TASKS, assignment
from tests.render.samples import OUT, failing, finding, full_marks, not_graded, one_mistake, result_of, task_result


def test_full_marks() -> None:
    """Full marks are said in one sentence, with what comes when it counts, and no next step."""
    view = build(full_marks(), assignment())

    assert view.heading == "100 of 100 points"
    assert bare(view.works) == "Everything is right: full marks."
    assert "another seed" in bare(view.after)
    assert build(full_marks(), assignment(), counts=True).after == ()
    assert view.next == ()
    assert (view.open, len(view.correct), view.focus) == ((), 5, "")


def test_one_mistake() -> None:
    """What works comes first, then the one next step: of the first core criterion that failed."""
    view = build(one_mistake(), assignment())
    (task,) = view.open

    assert bare(view.works) == "softmax, measure_variance, entropy_sweep and compare_rankings are right."
    assert bare(view.next).startswith("in scaled_dot_product_attention, put your code")
    assert bare(task.message).startswith("Your attention weights are too peaked")
    assert [finding.message for finding in task.findings] == [()]
    assert [hint.level for hint in task.findings[0].hints] == [1, 2, 3]
    assert view.dispute == "attention/weights 2340 3f9c0000…a7e1"
    assert [row.score + "/" + row.max_score for row in task.criteria] == ["3/3", "3/3", "0/15", "7/7", "2/2"]


def test_tasks_are_ordered_by_need() -> None:
    """Not yet comes before partly, what waits or isn't begun after it, and what is right last."""
    view = build(failing(), assignment())

    assert [task.id for task in view.tasks] == ["attention", "variance", "ranking", "entropy", "softmax"]
    assert [task.id for task in view.in_order] == [task.id for task in TASKS]


def test_the_next_step_is_about_the_first_task_on_the_page() -> None:
    """What was tried and isn't right comes before what isn't started."""
    view = build(failing(), assignment())

    assert view.focus == view.tasks[0].id == "attention"
    assert bare(view.next).startswith("in scaled_dot_product_attention, put your code")


def test_what_a_task_builds_on_comes_first() -> None:
    """A function that isn't there has to be written before the one that calls it can be right."""
    softmax, attention, *others = TASKS
    course = replace(assignment(), tasks=(softmax, replace(attention, uses=("softmax",)), *others))
    view = build(failing(), course)

    assert view.focus == view.tasks[0].id == "softmax"
    assert [task.status.id for task in view.tasks[1:]] == ["failed", "failed", "failed", "partial"]
    assert bare(view.next) == "write softmax: the grader has not found any code of yours in it."


def test_a_file_that_stopped_is_mended_first() -> None:
    """Nobody is told to write what may be written, and right, below the line at which the file stopped."""
    result = failing()
    first = result.tasks[0]
    assert first.status is Status.MISSING
    stopped = replace(result, tasks=(replace(first, text="engine.task.never_reached"),))

    assert bare(build(stopped, assignment()).next).startswith("mend first what the note says")


def test_our_fault_is_no_lost_point() -> None:
    """What we could not grade shows no zero, says whose fault it is, and isn't a next step for the learner."""
    view = build(not_graded(), assignment())
    (task,) = view.open

    assert view.heading == "We could not grade all of this"
    assert "You lose no points" in bare(view.after)
    assert (task.score, task.status.word) == ("–", "We could not grade this")
    assert {row.score for row in task.criteria} == {"–"}
    assert view.focus == ""


def test_nothing_was_graded() -> None:
    """When nothing could be graded, the heading says so and nobody is praised."""
    tasks = tuple(task_result(task, rest=Status.NOT_GRADED) for task in TASKS)
    view = build(result_of(tasks, status="not_graded"), assignment())

    assert view.heading == "We could not grade this"
    assert view.page_title == "Not graded: Scaled dot-product attention"
    assert view.works == ()


@pytest.mark.parametrize("most", [0, 1, 2, 3, 9])
def test_hints_up_to_a_level(most: int) -> None:
    """As many levels of hints are shown as asked for; that there are more stays known."""
    view = build(one_mistake(), assignment(), hints=most)
    (found,) = view.open[0].findings

    assert len(found.hints) == min(most, 3)
    assert found.hint_levels == 3


def test_a_waiting_criterion_says_for_what() -> None:
    """A criterion that waits names the one that has to be right first."""
    view = build(failing(), assignment())
    variance = next(task for task in view.tasks if task.id == "variance")

    assert variance.criteria[1].status.word == "Waiting for: both numbers come from drawn vectors"


def test_several_explanations_are_none() -> None:
    """Where several misconceptions explain the same numbers, none is named and none of their hints shown."""
    found = finding("softmax/rows", Status.FAILED, misconceptions=("no-scale", "other"))
    tasks = (task_result(TASKS[0], {"rows": found}, status=Status.FAILED),)
    (task,) = build(result_of(tasks), assignment()).open

    assert task.message == ()
    assert task.findings[0].hints == ()
    assert task.findings[0].cause == ()


def test_a_misconception_beside_a_message() -> None:
    """A message of its own comes first, then what explains all the numbers, by name."""
    found = finding("softmax/rows", Status.FAILED, text="variance.theory", misconceptions=("no-scale",))
    tasks = (task_result(TASKS[0], {"rows": found}, status=Status.FAILED, text="variance.theory"),)
    view = build(result_of(tasks), assignment())
    (task,) = view.open

    assert bare(task.message).startswith("Your two numbers")
    assert bare(task.findings[0].cause).startswith("What explains all your numbers: the scores are not divided")
    assert task.findings[0].hints[0].text == build(failing(), assignment()).open[1].findings[0].hints[0].text
    assert bare(view.next).startswith("in measure_variance, draw")


def test_nothing_is_said_twice() -> None:
    """Two criteria with one message, hints and snippet share them."""
    same = {"text": "variance.theory", "snippet": "print(1)"}
    findings = {name: finding(f"softmax/{name}", Status.FAILED, **same) for name in ("rows", "axis")}
    tasks = (task_result(TASKS[0], findings, status=Status.FAILED, text="variance.theory"),)
    (task,) = build(result_of(tasks), assignment()).open

    assert len(task.findings) == 1


def test_comparison() -> None:
    """A block is named by its place in the whole array, and odd numbers are shown as they are."""
    view = build(failing(), assignment())
    attention = next(task for task in view.tasks if task.id == "attention")
    weights, chart = attention.findings[0].evidence
    (out,) = attention.findings[1].evidence
    assert isinstance(weights, ComparisonView)
    assert isinstance(out, ComparisonView)
    assert isinstance(chart, ChartView)

    assert weights.worst.at == "weights[1, 2, 1]"
    assert weights.grids[0].heat
    assert weights.grids[0].rows[0].cells[0].background
    assert out.first is None
    assert bare(out.sentence) == (
        "40 of 192 values differ, most of all out[0, 4, 3]: yours -20.25, expected -20.50. "
        "The first one is out[0, 0, 1]. The part around the largest difference is shown."
    )
    assert [cell.text for cell in out.grids[0].rows[1].cells] == ["0.00", "0.50", "inf", "0.00"]
    assert out.grids[0].columns == ("column 2", "column 3", "column 4", "column 5")
    assert chart.alternative == "Yours climbs from 0.52 at d_k 4 to 0.94 at d_k 256; scaled, it stays near 0.35."


def test_a_comparison_of_a_single_number_is_a_sentence() -> None:
    """A single number needs no table."""
    single = replace(OUT, name="entropy", corner=(), first=(), worst=(), differing=1, total=1)
    found = finding("softmax/rows", Status.FAILED, text="variance.theory", evidence=(single,))
    tasks = (task_result(TASKS[0], {"rows": found}, status=Status.FAILED),)
    (evidence,) = build(result_of(tasks), assignment()).open[0].findings[0].evidence
    assert isinstance(evidence, ComparisonView)

    assert bare(evidence.sentence) == "entropy: yours -20.25, expected -20.50."


@pytest.mark.parametrize("make", [full_marks, one_mistake, failing, not_graded])
def test_unknown_texts_do_not_break_a_report(make: object) -> None:
    """A course whose texts are missing still gets a report, with ids in their place."""
    assert callable(make)
    result: Result = make()
    course = assignment()
    bald = replace(
        course, texts={key: text for key, text in course.texts.items() if key.startswith(("page.", "status."))}
    )

    assert build(result, bald).heading
