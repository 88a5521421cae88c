"""``grader.check()`` in a real Jupyter kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from tests.notebook.jupyter import Notebook, notebook

ROOT = Path(__file__).resolve().parents[2]
HANDOUT = ROOT / "exercises" / "attention" / "submission.ipynb"
RIGHT = ROOT / "examples" / "right.ipynb"

WITHOUT_SCALE = """\
def scaled_dot_product_attention(Q, K, V):
    weights = softmax(Q @ K.transpose(0, 2, 1))
    return weights @ V, weights
"""


def cells_of(path: Path) -> dict[str, str]:
    """Return the code cells of a notebook by their ids."""
    return {cell.id: cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"}


def test_the_handout_filled_in(jupyter: Notebook) -> None:
    """Run from the top, filled in and mended: what counts is the notebook as it stands, not all that was ever run."""
    handout, right = cells_of(HANDOUT), cells_of(RIGHT)
    assert list(handout)[-1] == "check"
    for name in ("imports", "softmax", "attention"):
        jupyter.run(handout[name], name)
    jupyter.run(WITHOUT_SCALE, "attention")  # before softmax is written
    jupyter.run("attention(1, 2)  # a try, soon forgotten", "try")
    jupyter.run(right["softmax"], "softmax")
    jupyter.run("softmax(np.zeros(3))", "try")
    wrong = jupyter.check("seed=3, hints=1")
    jupyter.run(right["attention"], "attention")
    outputs = jupyter.run(handout["check"], "check")

    assert "35 of 100 points" in wrong["text/plain"]
    assert "hint:" in wrong["text/plain"]
    assert "stopped" not in wrong["text/plain"]
    assert [output.output_type for output in outputs] == ["display_data"]
    assert "50 of 100 points" in outputs[0].data["text/plain"]
    assert jupyter.value("checked") == "35 of 100 points"
    assert jupyter.value("checked.score, checked.max_score, checked.result['schema']") == "(35, 100, 'grade.result/1')"


def test_a_handout_asks_for_its_assignment(jupyter: Notebook) -> None:
    """Run from the top as it was handed out, the notebook of another assignment shows that one's report."""
    cells = cells_of(ROOT / "exercises" / "causal_attention" / "submission.ipynb")
    outputs = [jupyter.run(source, name) for name, source in cells.items()][-1]

    assert [output.output_type for output in outputs] == ["display_data"]
    assert outputs[0].data["text/plain"].startswith("Causal attention: ")
    assert "grader.check(seed=" in outputs[0].data["text/plain"]
    assert "assignment='causal_attention')" in outputs[0].data["text/plain"]


def test_magics_errors_and_what_the_kernel_was_done_to(jupyter: Notebook, tmp_path: Path) -> None:
    """Magics are skipped, a cell that fails costs nothing else, files beside count, the kernel's own state doesn't."""
    (tmp_path / "helper.py").write_text("TWO = 2.0\n", encoding="utf-8")
    (tmp_path / "json.py").write_text("raise SystemExit('a file of the learner in the way')\n", encoding="utf-8")
    jupyter.run("import numpy as np\nnp.exp = None\nnp.seterr(all='raise')\nimport grader")
    jupyter.run("%matplotlib inline\n!ls\nx = 1")
    jupyter.run("1 / 0")
    jupyter.run("import helper\n%time y = helper.TWO")
    jupyter.run("import numpy as np\ndef softmax(x, axis=-1):\n    return x / 0 * helper.TWO")
    shown = jupyter.check(cell="")

    # In the worker np.exp is None too: the cells say so. What the judge computes with is untouched.
    assert "Cell 3 stopped at line 1 with ZeroDivisionError" in shown["text/plain"]
    assert "ModuleNotFoundError" not in shown["text/plain"]
    assert "x / 0 * helper.TWO" in shown["text/plain"]
    assert "0 of 100 points" in shown["text/plain"]


def test_what_is_shown(jupyter: Notebook) -> None:
    """The report stands below the cell: no style or script of ours in the notebook's page, hostile text stays text."""
    jupyter.run("import grader")
    jupyter.run("def softmax(x, axis=-1): raise ValueError('<script>alert(1)</script>\\x1b[31m')")
    shown = jupyter.check()
    outside, frame, inside = shown["text/html"].partition("<iframe ")

    assert outside.startswith("<h3>")
    assert "&lt;script&gt;" in outside
    assert not re.search(r"<(?:script|style|link|img|object|embed)\b", shown["text/html"])
    assert re.match(r'sandbox="" srcdoc="[^"<>]*" title="', inside)
    assert frame
    assert "grader.check(seed=3)" in outside
    assert "\x1b" not in shown["text/html"] + shown["text/plain"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    """Return a notebook for calls that grade nothing."""
    with notebook(tmp_path_factory.mktemp("shared")) as made:
        made.run("import grader")
        yield made


@pytest.mark.parametrize(
    "call, said",
    [
        ("grader.check(seed=-1)", "seed must be a whole number"),
        ("grader.check(hints=7)", "hints must be a whole number from 0 to 3"),
        ("grader.check(course='nowhere')", "nowhere: there is no such folder"),
        ("grader.check(assignment='nothing')", "nothing"),
        ("import sys; sys.executable = '/nowhere'; grader.check()", "No process for grading could be started"),
    ],
    ids=["a seed", "hints", "a course", "an assignment", "no process"],
)
def test_errors_are_one_sentence(shared: Notebook, call: str, said: str) -> None:
    """What can't be done is told in one sentence, without a traceback."""
    outputs = [output for output in shared.run(call) if output.output_type == "error"]

    assert len(outputs) == 1
    (line,) = outputs[0].traceback
    assert said in line
    assert "Traceback" not in line
    assert outputs[0].ename == "CheckError"


def test_an_interrupt_ends_it(jupyter: Notebook, tmp_path: Path) -> None:
    """The stop button ends grading in one sentence, and no process of ours goes on.

    It sends its signal to the kernel and to what the kernel started.
    """
    jupyter.run("import grader, os, signal, subprocess, threading")
    jupyter.run("def softmax(x, axis=-1):\n    while True: pass")
    jupyter.run("started = []\nbegin = subprocess.Popen")
    jupyter.run(
        "def popen(*args, **more):\n"
        "    started.append(begin(*args, **more))\n"
        "    threading.Timer(1, os.killpg, [os.getpgrp(), signal.SIGINT]).start()\n"
        "    return started[0]\n"
        "subprocess.Popen = popen"
    )
    outputs = [output for output in jupyter.run("grader.check()") if output.output_type == "error"]

    assert [output.traceback for output in outputs] == [["Interrupted: nothing was graded."]]
    assert jupyter.value("[child.poll() is None for child in started]") == "[False]"


def test_cells_that_were_run_before_the_import(jupyter: Notebook) -> None:
    """Without names of cells, as before ``import grader``, a function that was written again is taken once."""
    jupyter.run("import numpy as np")
    jupyter.run("def softmax(x, axis=-1):\n    return x\nprint(softmax(undefined))")
    jupyter.run(
        "def softmax(x, axis=-1):\n"
        "    e = np.exp(x - x.max(axis, keepdims=True))\n"
        "    return e / e.sum(axis, keepdims=True)"
    )
    jupyter.run("import grader")
    shown = jupyter.check(cell="")

    assert "20 of 100 points" in shown["text/plain"]
    assert "stopped" not in shown["text/plain"]
