"""A path becomes a Submission: a script or a notebook, and the files beside it that it needs."""

from grader.intake.beside import companions
from grader.intake.reader import read_submission, submission_from_bytes, submission_of
from grader.intake.source import decode

__all__ = ["companions", "decode", "read_submission", "submission_from_bytes", "submission_of"]
