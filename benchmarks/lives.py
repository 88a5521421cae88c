"""One life of student code after the other: ``python -m benchmarks.lives BACKEND COUNT``.

Each starts, loads a file, answers three calls of ``softmax`` and ends. ``fork`` is the floor: a Python with NumPy
loaded forks a child that does the same and nothing else, without any isolation.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

import numpy as np

from grader.core.values import to_value
from grader.errors import IsolationError
from grader.intake import read_submission
from grader.model import Call, Limits
from grader.run.backend import Backend
from grader.run.isolation import open_backend
from grader.run.runner import Runner, Scratch

__all__ = ["BACKENDS", "main"]

BACKENDS: tuple[Literal["namespaces", "landlock", "process"], ...] = ("namespaces", "landlock", "process")
EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "right.py"
ABSENT = 3
INPUTS = [np.arange(12.0).reshape(3, 4) * scale for scale in (1, 2, 3)]


def main() -> int:
    """Live so often; 3 if the machine doesn't offer the backend."""
    name, count = sys.argv[1], int(sys.argv[2])
    if name == "fork":
        for _ in range(count):
            _fork()
        return 0
    for known in BACKENDS:
        if known == name:
            try:
                with open_backend(known, purpose="others' files") as backend:
                    for _ in range(count):
                        _live(backend)
            except IsolationError as error:
                print(error)
                return ABSENT
    return 0


def _live(backend: Backend) -> None:
    submission = read_submission(EXAMPLE, beside=False)
    calls = [Call(id="load/0", session="main", kind="cell", name="0", seed=1)]
    calls += [
        Call(id=f"call/{number}", session="main", kind="function", name="softmax", args=(to_value(array),), seed=1)
        for number, array in enumerate(INPUTS)
    ]
    scratch = Scratch(backend, submission)
    with Runner(scratch, Limits(), ()) as runner:
        outcomes = runner.run(calls)
    assert all(outcome.kind == "returned" for outcome in outcomes), outcomes


def _fork() -> None:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        code: dict[str, object] = {"__name__": "submission"}
        exec(compile(EXAMPLE.read_bytes(), "submission.py", "exec"), code)
        softmax = code["softmax"]
        assert callable(softmax)
        os.write(write, b"".join(softmax(array).tobytes() for array in INPUTS))
        os._exit(0)
    os.close(write)
    got = b""
    while part := os.read(read, 1 << 16):
        got += part
    os.close(read)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert len(got) == sum(array.nbytes for array in INPUTS)


if __name__ == "__main__":
    sys.exit(main())
