"""The verdicts that a run keeps beside its transcripts: judging again looks only at tasks whose grounds changed."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from grader.core.assignment import Assignment
from grader.core.judge import Judgement, TaskJudgement
from grader.course import Course, grounds_of
from grader.errors import OutputError
from grader.store.files import make_folder, write_file
from grader.store.judgements import dump_judgements, load_judgements

__all__ = ["Verdicts"]


class Verdicts:
    """Of one run and one course.

    Args:
        folder: Where they lie; None if nothing can be kept, since the run's folder is on another machine.
        course: What they are judged by.
        assignment: Of that course.
    """

    def __init__(self, folder: Path | None, course: Course, assignment: Assignment) -> None:
        self._folder, self._course, self._assignment = folder, course, assignment

    @cached_property
    def _grounds(self) -> Mapping[str, str]:
        return grounds_of(self._course, self._assignment)

    def known(self, name: str, transcript: bytes) -> dict[str, TaskJudgement]:
        """Return what was found in these bytes of the transcript ``name`` and still holds, by task id."""
        if self._folder is None:
            return {}
        try:
            content = self._path(name).read_bytes()
        except OSError:
            return {}
        return load_judgements(content, _mark(transcript), self._grounds)

    def keep(self, name: str, transcript: bytes, judgement: Judgement) -> None:
        """Keep what was found in these bytes, unless a check of ours failed. That it is kept is needed by nothing."""
        if self._folder is None or judgement.fault:
            return
        found = {task.task: task for task in judgement.tasks}
        # A check may put something into a finding that can't be written down: then it is judged each time.
        with contextlib.suppress(OutputError, TypeError):
            make_folder(self._folder)
            content = dump_judgements(_mark(transcript), self._grounds, found)
            write_file(self._path(name), content, lasting=False)

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{name}.json"


def _mark(transcript: bytes) -> str:
    return hashlib.sha256(transcript).hexdigest()
