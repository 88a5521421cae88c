"""The verdicts that a run keeps beside its transcripts: judging again looks only at tasks whose grounds changed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from grader.core.assignment import Assignment
from grader.core.judge import Judgement, TaskJudgement
from grader.course import Course, grounds_of
from grader.errors import OutputError
from grader.store.files import make_folder, write_file
from grader.store.judgements import dump_judgements, load_judgements
from grader.store.layout import verdict_path

__all__ = ["Verdicts"]


class Verdicts:
    """Of one run and one course.

    Args:
        out: The run's output folder; None if nothing can be kept, since it is on another machine.
        course: What they are judged by.
        assignment: Of that course.
    """

    def __init__(self, out: Path | None, course: Course, assignment: Assignment) -> None:
        self._out, self._course, self._assignment = out, course, assignment

    @cached_property
    def _grounds(self) -> Mapping[str, str]:
        return grounds_of(self._course, self._assignment)

    def known(self, name: str, mark: str) -> dict[str, TaskJudgement]:
        """Return what was found in the transcript ``name``, if it has this SHA-256, and still holds, by task id."""
        if self._out is None:
            return {}
        try:
            content = verdict_path(self._out, name).read_bytes()
        except OSError:
            return {}
        return load_judgements(content, mark, self._grounds)

    def keep(self, name: str, mark: str, judgement: Judgement) -> None:
        """Keep what was found in that transcript, unless a check of ours failed. Nothing needs it to be kept."""
        if self._out is None or judgement.fault:
            return
        path = verdict_path(self._out, name)
        found = {task.task: task for task in judgement.tasks}
        # A check may put something into a finding that can't be written down: then it is judged each time.
        with contextlib.suppress(OutputError, TypeError):
            content = dump_judgements(mark, self._grounds, found)
            make_folder(path.parent)
            write_file(path, content, lasting=False)
