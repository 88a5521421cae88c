"""A process of this machine that works for a batch: it is started anew, never forked, and calls what it is told to.

It speaks over its standard input and output, and ends when its input does.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import BinaryIO

from grader.batch import work
from grader.batch.executor import read_frame, write_frame
from grader.run.removal import remove_tree

__all__ = ["main"]


def main() -> None:
    """Answer calls until there are no more."""
    answers = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the batch's to handle
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError, EOFError):
        while True:
            name, count = json.loads(read_frame(sys.stdin.buffer))
            args = [read_frame(sys.stdin.buffer) for _ in range(count)]
            module, _, function = name.partition(":")
            write_frame(answers, getattr(importlib.import_module(module), function)(*args))
            answers.flush()
    work.close()
    # Whoever started this process removes its temporary folder, unless it was killed.
    with contextlib.suppress(OSError, KeyError):
        remove_tree(Path(os.environ["TMPDIR"]))


def _own_output() -> BinaryIO:
    """Keep standard output for answers: what a course prints isn't one."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers
