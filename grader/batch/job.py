"""A process of this machine that works for a batch: it is started anew, never forked, and calls what it is told to.

It speaks over its standard input and output, and ends when its input does: at once, in the middle of its work, if
whoever started it was killed.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from grader.batch import work
from grader.batch.executor import read_frame, write_frame
from grader.run.removal import remove_tree

__all__ = ["main"]


END_SECONDS = 5.0
"""For cleaning up when nobody waits for us any more."""


def main() -> None:
    """Answer calls until there are no more."""
    answers = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the batch's to handle
    signal.signal(signal.SIGTERM, _stop)
    threading.Thread(target=_end_with_the_other_side, daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError, EOFError):
        try:
            while True:
                name, count = json.loads(read_frame(sys.stdin.buffer))
                args = [read_frame(sys.stdin.buffer) for _ in range(count)]
                module, _, function = name.partition(":")
                write_frame(answers, getattr(importlib.import_module(module), function)(*args))
                answers.flush()
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
    work.close()
    # Whoever started this process removes its temporary folder, unless it was killed.
    with contextlib.suppress(OSError, KeyError):
        remove_tree(Path(os.environ["TMPDIR"]))


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop the work, once: nothing interrupts the cleaning up that follows."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _end_with_the_other_side() -> None:
    """Wait until nobody can write to our input any more; then nobody waits for our work either, and it is stopped."""
    if not hasattr(select, "poll"):
        return  # on such a system the work that we have is finished first
    other_side = select.poll()
    other_side.register(sys.stdin.fileno(), 0)  # that it has gone is told without being asked for
    other_side.poll()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(END_SECONDS)
    # Something here can't be stopped. The processes for student code end with this one.
    os._exit(1)


def _own_output() -> BinaryIO:
    """Keep standard output for answers: what a course prints isn't one."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers
