"""Canaries: what must not be possible is tried in a real worker of the backend, every time it is opened."""

from __future__ import annotations

import hashlib
import os
import secrets as chance
import shutil
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from grader.core.values import to_python, to_value
from grader.errors import GraderError
from grader.model import Call, Cell, Limits, Submission
from grader.run.backend import Backend
from grader.run.session import Life

__all__ = ["PLANTED", "trouble"]

PLANTED = "GRADE_CANARY"
"""Name of an environment variable that no worker may see."""

SOURCE = Path(__file__).parent / "inside" / "canary.py"
SECONDS = 60.0

_MEANING = {
    "reference": "could read the course's reference ({detail})",
    "file": "could read a file that isn't its own",
    "write": "could write outside its folder ({detail})",
    "connect": "could open a network connection",
    "fork": "could start another process",
    "signal": "could signal another process",
    "find": "could find a planted secret in {detail}",
    "descriptor": "was given an open file",
    "work": "could not do an honest submission's work ({detail})",
}


def trouble(backend: Backend, secrets: Sequence[Path] = (), *, word: str = "") -> str:
    """Return what is wrong with ``backend``, as the end of a sentence about student code; nothing if it holds.

    Args:
        backend: One that is open.
        secrets: Files that no student may read.
        word: What was put into the environment variable ``PLANTED`` while the backend was opened.
    """
    word = word or f"planted-{chance.token_hex(8)}"
    folder = Path(tempfile.mkdtemp(prefix="grade-canary-"))
    try:
        (folder / "planted").write_text(word, encoding="utf-8")
        outside, life = folder / "outside", folder / "life"
        outside.mkdir()
        life.mkdir(mode=0o700)
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            found = _sing(backend, life, [str(path) for path in secrets], folder, listening.getsockname()[1], word)
        if not found and any(outside.iterdir()):
            found = [["write", str(outside)]]
    except OSError as error:
        return f"couldn't be tried out ({error.strerror or error})"
    except GraderError as error:
        return f"couldn't be started: {error.message}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return " and ".join(_MEANING[name].format(detail=detail) for name, detail in found)


def _sing(backend: Backend, scratch: Path, secrets: list[str], folder: Path, port: int, word: str) -> list[list[str]]:
    source = SOURCE.read_bytes()
    submission = Submission(
        name="canary.py",
        kind="script",
        cells=(Cell(number=0, source=source),),
        sha256=hashlib.sha256(source).hexdigest(),
    )
    limits = Limits(load_seconds=SECONDS, call_seconds=SECONDS, submission_seconds=SECONDS)
    made = Life(backend, scratch, submission, limits, (), packages=("numpy",), stand_ins={})
    try:
        deadline = time.monotonic() + SECONDS
        load = Call(id="load", session="main", kind="load", name="0")
        outcome = made.load(load, deadline)[0]
        if outcome.kind == "returned":
            half = len(word) // 2
            arguments: list[object] = [
                *(secrets, str(folder / "planted"), [str(folder / "outside"), str(folder)], port, [os.getpid()]),
                *(word[:half], word[half:]),
            ]
            call = Call(
                id="canary", session="main", kind="function", name="canary", args=tuple(map(to_value, arguments))
            )
            outcome = made.call(call, deadline)
    finally:
        made.close()
    if outcome.kind != "returned":
        failure = outcome.failure
        said = f"{failure.kind}: {failure.message}" if failure else ""
        return [["work", f"{outcome.kind} {said}".strip()]]
    found = to_python(outcome.value)
    if not isinstance(found, list) or not all(isinstance(item, list) and len(item) == 2 for item in found):
        return [["work", "an answer that makes no sense"]]
    return [[str(name), str(detail)] for name, detail in found if name in _MEANING]
