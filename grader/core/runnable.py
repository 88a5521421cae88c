"""Lines that make a case again, so that a learner can run them as they are."""

from __future__ import annotations

import keyword

from grader.core.assignment import Assignment
from grader.core.catalogue import Catalogue
from grader.model import Finding, Transcript
from grader.model._data import replace

__all__ = ["runnable"]


def runnable(finding: Finding, assignment: Assignment, transcript: Transcript, function: str) -> Finding:
    """Begin a finding's lines with what they need: imports, and the stand-in that it was judged with.

    Args:
        finding: What was found.
        assignment: Whose stand-ins are shown.
        transcript: The submission's.
        function: The name under which the learner's file has the function that was judged.
    """
    if not finding.snippet:
        return finding
    stem = transcript.name.removesuffix(".py")
    importable = transcript.kind == "script" and stem.isidentifier() and not keyword.iskeyword(stem)
    script = stem if importable else ""
    lines = ["import numpy as np"]
    via = finding.calls[0].partition("/")[0].partition("@")[2] if finding.calls else ""
    if via and assignment.task(via).function in assignment.stand_ins:
        replaced = assignment.task(via).function
        lines = [*_stand_in(replaced, assignment), *lines]
        lines += [f"import {script}", f"{script}.{replaced} = {replaced}"] if script else []
    if script:
        lines.append(f"from {script} import {function}")
    return replace(finding, snippet="\n".join((*lines, finding.snippet)))


def _stand_in(function: str, assignment: Assignment) -> list[str]:
    """Return a working function as the course shows it. It comes first, since it may begin with __future__ imports."""
    comment = Catalogue(assignment.texts).get("engine.snippet.stand_in", (("function", function),))
    return [f"# {comment}", assignment.stand_ins[function].strip(), ""]
