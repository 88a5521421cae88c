"""``grade``: arguments in, exit codes and pages out."""

from grader.cli.main import main

__all__ = ["main"]
