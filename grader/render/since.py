"""What changed since an earlier result, in words."""

from __future__ import annotations

from collections.abc import Iterable

from grader.core.changes import Changes
from grader.model import Params, Result
from grader.model._data import data
from grader.render.figures import points
from grader.render.words import Paragraph, Rich, Span, Words, inline

__all__ = ["SinceView", "since_view"]


@data
class SinceView:
    """What changed.

    Attributes:
        score: One sentence on the points.
        right: The criteria that became right, each with its task.
        wrong: Those that are right no longer.
    """

    score: Rich
    right: tuple[Rich, ...]
    wrong: tuple[Rich, ...]


def since_view(changes: Changes, result: Result, words: Words) -> SinceView:
    """Resolve what is said of ``changes``, which lead to ``result``."""
    params: Params = (("before", points(changes.before)), ("now", points(changes.now)))
    if changes.none:
        score = words.own("page.since_none", params)
    else:
        score = words.own("page.since" if changes.before != changes.now else "page.since_same", params)
    return SinceView(
        score=score,
        right=_named(changes.right, result, words),
        wrong=_named(changes.wrong, result, words),
    )


def _named(criteria: Iterable[str], result: Result, words: Words) -> tuple[Rich, ...]:
    """Name criteria as ``function: title``. All of them are the result's own, so no text of an older file is shown."""
    functions = {task.id: task.function for task in result.tasks}
    return tuple(
        (
            Paragraph(
                spans=(
                    Span(text=functions[task], code=True),
                    Span(text=": "),
                    *inline(words.titled(f"{task}.{criterion}.title", criterion)),
                )
            ),
        )
        for name in criteria
        for task, _, criterion in [name.partition("/")]
    )
