"""An autograder for numerical exercises."""

from __future__ import annotations

import sys

__all__ = ["check"]

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from grader.notebook.check import Checked


def check(
    *,
    seed: int | None = None,
    hints: int | None = None,
    assignment: str = "",
    course: str | os.PathLike[str] | None = None,
) -> Checked:
    """Grade the cells of this notebook that were run so far, and show the report below the cell.

    They run once more, in a process of their own; nothing in the notebook changes.

    Args:
        seed: Of the random inputs; without it each call draws a fresh one, and the report names it.
        hints: Show hints up to this level: 1 where to look, 2 the idea, 3 the line.
        assignment: Which one, where a course has several.
        course: Folder of another course than the one built in.

    Returns:
        What was found, with ``score`` and ``result``.

    Raises:
        CheckError: If it can't be graded; a notebook shows its one sentence.
    """
    from grader.notebook.check import check as check_notebook

    return check_notebook(seed=seed, hints=hints, assignment=assignment, course=course)


if "IPython" in sys.modules:
    # From here on it is known which cell is run again.
    from grader.notebook import follow as _follow

    _follow.begin()
