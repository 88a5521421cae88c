"""An autograder for Gradescope: the archive that an instructor uploads, and what runs inside it."""

from grader.gradescope.build import build_autograder

__all__ = ["build_autograder"]
