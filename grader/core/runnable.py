"""Lines that make a case again, so that a learner can run them as they are."""

from __future__ import annotations

from grader.core.assignment import Assignment
from grader.model import Finding, Task, Transcript
from grader.model._data import replace

__all__ = ["runnable"]

_OURS = frozenset(["__future__", "typing", "collections.abc"])
"""Modules of which a stand-in needs names for its annotations only."""


def runnable(finding: Finding, assignment: Assignment, task: Task, transcript: Transcript, function: str) -> Finding:
    """Begin a finding's lines with what they need: imports, and the stand-in that it was judged with.

    Args:
        finding: One of ``task``.
        assignment: Whose stand-ins are shown.
        task: What was judged.
        transcript: The submission's.
        function: The name under which the learner's file has the task's function.
    """
    if not finding.snippet:
        return finding
    stem = transcript.name.removesuffix(".py")
    script = stem if transcript.kind == "script" and stem.isidentifier() else ""
    lines = ["import numpy as np"]
    if script:
        lines.append(f"from {script} import {function}")
    via = finding.calls[0].partition("/")[0].partition("@")[2] if finding.calls else ""
    if via:
        lines += _with_stand_in(assignment, assignment.task(via).function, script)
    return replace(finding, snippet="\n".join((*lines, finding.snippet)))


def _with_stand_in(assignment: Assignment, function: str, script: str) -> list[str]:
    """Return lines that put a working function in the place of the learner's, as was done in judging."""
    source = _bare(assignment.stand_ins.get(function, ""))
    if not source:
        return []
    comment = f"# A working {function} in place of yours, so that a mistake in it doesn't count twice:"
    put = [f"import {script}", f"{script}.{function} = {function}"] if script else []
    return ["", comment, source, *put, ""]


def _bare(source: str) -> str:
    """Return a stand-in without docstrings and annotations."""
    import ast  # late: few submissions are judged with a stand-in

    kept: list[ast.stmt] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module in _OURS:
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                argument.annotation = None
            if ast.get_docstring(node) is not None and len(node.body) > 1:
                node.body = node.body[1:]
        if not (isinstance(node, ast.Import) and ast.unparse(node) == "import numpy as np"):
            kept.append(node)
    return "\n".join(ast.unparse(node) for node in kept)
