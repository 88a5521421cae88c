"""The handout and the examples: they run as they are, and script and notebook are the same."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path
from types import FunctionType
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
HANDOUT = ROOT / "exercises" / "attention"
EXAMPLES = ROOT / "examples"

SIGNATURES = {
    "softmax": "(x, axis=-1)",
    "scaled_dot_product_attention": "(Q, K, V)",
    "measure_variance": "(d_k=1024, n_samples=10000, seed=42)",
    "entropy_sweep": "(d_ks=(4, 16, 64, 256), n_keys=8, seed=42)",
    "compare_rankings": "(d_k=256, n_keys=8, seed=42)",
}
PAIRS = [HANDOUT / "submission", EXAMPLES / "right", EXAMPLES / "with_mistake"]
NAMES = [path.name for path in PAIRS]


def source_of(path: Path) -> str:
    """Return the code of a script, or of all cells of a notebook."""
    if path.suffix == ".py":
        return path.read_text(encoding="utf-8")
    notebook = nbformat.read(path, as_version=4)
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")


def functions_of(path: Path) -> dict[str, str]:
    """Return the text of each function, comments and all."""
    source = source_of(path)
    lines = source.splitlines()
    return {
        node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
    }


def run(path: Path) -> dict[str, Any]:
    """Run a file's code as Python or Jupyter would, and return its names."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source_of(path), path.name, "exec"), names)
    return names


def both(pair: Path) -> list[Path]:
    """Return script and notebook."""
    return [pair.with_suffix(".py"), pair.with_suffix(".ipynb")]


@pytest.mark.parametrize("path", both(HANDOUT / "submission"), ids=["script", "notebook"])
def test_the_starter_runs_untouched(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A learner who runs the starter as it is sees where numbers will stand, and no error."""
    names = run(path)

    assert "Ellipsis" in capsys.readouterr().out
    assert names["softmax"](None) is ...
    assert names["scaled_dot_product_attention"](None, None, None) is ...
    assert names["measure_variance"]() == (..., ...)
    assert names["entropy_sweep"]() is ...
    assert names["compare_rankings"]() == (..., ...)


def test_the_starter_is_a_program(root: Path) -> None:
    """``python submission.py`` ends well."""
    command = [sys.executable, str(HANDOUT / "submission.py")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", [file for pair in PAIRS for file in both(pair)], ids=lambda path: path.name)
def test_signatures(path: Path) -> None:
    """All five functions are there, with the names and defaults that the grader and the lesson use."""
    names = run(path)
    found = {name: names[name] for name in SIGNATURES}

    assert all(isinstance(function, FunctionType) for function in found.values())
    assert {name: str(inspect.signature(function)) for name, function in found.items()} == SIGNATURES


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_script_and_notebook_are_the_same(pair: Path) -> None:
    """Whoever takes the notebook gets the functions of the script, to the letter."""
    script, notebook = both(pair)

    assert functions_of(notebook) == functions_of(script)


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_notebooks_are_clean(pair: Path) -> None:
    """Notebooks are valid, of format 4.5, for Python 3, and carry neither outputs nor counts."""
    notebook = nbformat.read(pair.with_suffix(".ipynb"), as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]

    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    assert [cell.id for cell in code if cell.outputs or cell.execution_count is not None] == []
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


def test_the_notebook_has_the_lesson_s_headings() -> None:
    """Each exercise has its heading, which is how the grader finds answers that stand outside functions."""
    notebook = nbformat.read(HANDOUT / "submission.ipynb", as_version=4)
    headings = [cell.source.splitlines()[0] for cell in notebook.cells if cell.cell_type == "markdown"]

    assert [heading for heading in headings if "Exercise" in heading] == [
        "## Exercise 1",
        "## Exercise 2",
        "## Exercise 3",
    ]


@pytest.mark.parametrize("assignment", ["attention", "causal_attention"])
def test_the_notebook_runs_without_the_grader(assignment: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the grader isn't installed, the first cell goes on and the last one says what to do."""
    cells = nbformat.read(ROOT / "exercises" / assignment / "submission.ipynb", as_version=4).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "grader", None)  # which is how Python keeps a module from being imported
        exec(code[0], names)
        exec(code[-1], names)

    assert cells[-1].cell_type == "code"
    assert "np" in names
    assert capsys.readouterr().out.startswith("The grader isn't installed here; where it is, type: grade submission")


def test_the_mistake_is_one() -> None:
    """The example with a mistake has attention wrong by exactly the scale, and nothing else."""
    right, wrong = run(EXAMPLES / "right.py"), run(EXAMPLES / "with_mistake.py")
    np = right["np"]
    Q, K, V = np.random.default_rng(0).standard_normal((3, 2, 5, 12))
    out, weights = right["scaled_dot_product_attention"](Q * np.sqrt(12), K, V)

    assert np.allclose(wrong["scaled_dot_product_attention"](Q, K, V)[1], weights)
    assert np.allclose(wrong["scaled_dot_product_attention"](Q, K, V)[0], out)
    assert np.allclose(wrong["softmax"](Q), right["softmax"](Q))


def test_the_brief_has_the_points() -> None:
    """The table of the brief gives every function of the assignment with its signature and its points."""
    assignment = tomllib.loads((ROOT / "reference" / "attention" / "assignment.toml").read_text(encoding="utf-8"))
    expected = [(task["signature"], sum(item["points"] for item in task["criteria"])) for task in assignment["task"]]
    rows = [line.split("|") for line in (HANDOUT / "README.md").read_text(encoding="utf-8").splitlines()]
    table = [(row[1].strip().strip("`"), int(row[3])) for row in rows if len(row) == 5 and row[3].strip().isdigit()]

    assert table == expected


def test_nothing_secret_is_handed_out() -> None:
    """The handout holds brief and starters, and no starter holds an answer."""
    files = sorted(path.name for path in HANDOUT.iterdir() if not path.name.startswith((".", "__")))
    answers = ("exp(", "sqrt(", "argsort(", ".var(", "randn(")

    assert files == ["README.md", "submission.ipynb", "submission.py"]
    for text in functions_of(HANDOUT / "submission.py").values():
        code = ast.unparse(_without_docstring(ast.parse(text)))
        assert [answer for answer in answers if answer in code] == []


def _without_docstring(module: ast.Module) -> ast.Module:
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = function.body[1:]
    return module
