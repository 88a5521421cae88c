"""The process that grades a notebook's cells: the request on standard input, the reply on standard output.

It is a new Python: what the learner did to modules, settings or files of the kernel's isn't there. It does what
``grade FILE`` does, and the learner's cells run in a worker of their own.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from grader.errors import GraderError, UsageError
from grader.intake import companions, decode, submission_from_bytes
from grader.model import Note, Submission
from grader.model._data import replace
from grader.run.isolation import open_backend
from grader.run.scratch import Scratch

__all__ = ["main"]


def main() -> int:
    """Answer the one request."""
    # Before NumPy is loaded: with one thread it starts faster, and results are the same bits on every machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, _stop)
    # Whatever is printed on the way is no part of the reply.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        reply = _answered(json.load(sys.stdin.buffer))
    except GraderError as error:
        reply = {"error": str(error)}
    except MemoryError:
        reply = {"error": "The machine ran out of memory; close other programs and try again."}
    except KeyboardInterrupt:
        return 130
    with out:
        out.write(json.dumps(reply).encode())
    return 0


def _stop(*_: int | FrameType | None) -> None:
    """End once; what cleans up isn't disturbed by a second request to end."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    raise KeyboardInterrupt


def _answered(request: dict[str, Any]) -> dict[str, Any]:
    submission = _submission(request)
    with open_backend("auto", purpose="own file") as backend:
        # The worker starts while the rest of the grader is still being imported.
        scratch = Scratch(backend, submission)
        try:
            return _graded(request, scratch)
        finally:
            scratch.close()


def _submission(request: dict[str, Any]) -> Submission:
    """Make a notebook of the cells, so that they are read and limited as those of a file are."""
    document = {
        "cells": [
            {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell["source"]}
            for cell in request["cells"]
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    made = submission_from_bytes(request["name"], json.dumps(document).encode())
    source = "\n".join(decode(cell) for cell in made.cells).encode("utf-8", "replace")
    beside, notes = companions(Path.cwd() / made.name, source)
    # The learner sees the executions' numbers, not places.
    numbers = [cell["number"] for cell in request["cells"]]
    return replace(
        made,
        cells=tuple(replace(cell, number=numbers[cell.number - 1]) for cell in made.cells),
        companions=beside,
        notes=(*(_numbered(note, numbers) for note in made.notes), *notes),
        trouble=None if made.trouble is None else _numbered(made.trouble, numbers),
    )


def _numbered(note: Note, numbers: list[int]) -> Note:
    params = tuple(
        (name, numbers[value - 1] if name == "cell" and isinstance(value, int) else value)
        for name, value in note.params
    )
    return replace(note, params=params)


def _graded(request: dict[str, Any], scratch: Scratch) -> dict[str, Any]:
    from grader.core.redact import redact
    from grader.course import find_course, load_assignment
    from grader.pipeline import grade
    from grader.render.document import to_json
    from grader.render.html import inline, report
    from grader.render.terminal import summary
    from grader.render.view import build

    path = None if request["course"] is None else Path(request["course"])
    if path is not None and not path.is_dir():
        raise UsageError(f"{path}: there is no such folder.", hint="Give course= the folder of a course.")
    course = find_course(path)
    assignment = load_assignment(course, request["assignment"])
    seed = secrets.randbelow(1_000_000) if request["seed"] is None else request["seed"]
    _, result = grade(assignment, scratch.submission, seed, scratch, secret=secrets.token_hex(16))
    public = redact(result, "learner")
    asked = request["hints"]
    whole = build(public, assignment, hints=asked)
    # As in a terminal no hint is shown that wasn't asked for; in the whole report they are folded.
    short = build(public, assignment, hints=asked or 0)
    given = {name: request[name] for name in ("assignment", "course") if request[name]}
    options = "".join(f", {name}={value!r}" for name, value in given.items())
    return {
        "result": json.loads(to_json(public, assignment, hints=asked)),
        "said": whole.heading,
        "text": summary(
            whole,
            colour=False,
            unicode=True,
            hints=asked or 0,
            options=options,
            notebook=True,
        ),
        "html": inline(short, report(whole, course.template_dirs), course.template_dirs, options=options),
    }
