"""What an instructor says of submissions that fail alike: one sentence, which all of them get."""

from __future__ import annotations

from grader.model import Note, Result
from grader.model._data import replace

__all__ = ["SENTENCE", "with_group_sentence"]

SENTENCE = "engine.note.group"
"""Key of the note that carries the sentence."""


def with_group_sentence(result: Result, criterion: str, sentence: str) -> Result:
    """Return ``result`` with an instructor's sentence as a note of the criterion's task.

    The note is the learner's: it survives ``redact`` and stands in every face. The same sentence is added once.

    Raises:
        ValueError: If the result has no such criterion.
    """
    name, _, part = criterion.partition("/")
    if not any(task.id == name and any(c.id == part for c in task.criteria) for task in result.tasks):
        raise ValueError(f"there is no criterion {criterion}")
    note = Note(text=SENTENCE, params=(("sentence", sentence),))
    return replace(
        result,
        tasks=tuple(
            replace(task, notes=(*task.notes, note)) if task.id == name and note not in task.notes else task
            for task in result.tasks
        ),
    )
