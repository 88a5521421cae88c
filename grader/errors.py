"""What can go wrong that isn't the learner's doing.

::

    GraderError                 exit code 4, the root of all
    ├── UsageError              2  what was asked for can't be done (no such path, wrong suffix)
    ├── CourseError             3  a course that we can't use: names the file and the key
    ├── ArchiveError            3  an archive or sheet of an LMS that we can't use
    ├── TranscriptError         3  a stored transcript that we can't use
    ├── CheckError              4  grader.check() in a notebook can't grade
    └── EnvironmentFault        4  the machine doesn't let us work
        ├── OutputError         4  a report can't be written
        └── IsolationError      4  no worker can be started

A learner's mistake is never among them: it is data (see ``grader.model.Outcome``).
Each message is one sentence that stands alone; ``hint`` says what to do.
"""

from __future__ import annotations

__all__ = [
    "ArchiveError",
    "CheckError",
    "CourseError",
    "EnvironmentFault",
    "GraderError",
    "IsolationError",
    "OutputError",
    "TranscriptError",
    "UsageError",
]


class GraderError(Exception):
    """Root of the grader's own errors."""

    exit_code = 4

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(GraderError):
    """What was asked for can't be done."""

    exit_code = 2


class CourseError(GraderError):
    """A course that can't be used; the message begins with its file and key."""

    exit_code = 3

    def __init__(self, file: str, key: str, message: str, *, hint: str = "") -> None:
        where = f"{file}, {key}" if key else file
        super().__init__(f"{where}: {message}", hint=hint)
        self.file = file
        self.key = key


class ArchiveError(GraderError):
    """An archive or a sheet of an LMS that can't be used."""

    exit_code = 3


class TranscriptError(GraderError):
    """A stored transcript that can't be used."""

    exit_code = 3


class CheckError(GraderError):
    """A notebook's cells can't be graded."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [str(self)]


class EnvironmentFault(GraderError):
    """The machine doesn't let the grader work."""


class OutputError(EnvironmentFault):
    """A report or result can't be written."""


class IsolationError(EnvironmentFault):
    """No worker can be started for student code."""
