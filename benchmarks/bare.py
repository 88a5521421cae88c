"""The bare calls of a run: ``python -m benchmarks.bare RUN COUNT`` prints what they took, as JSON.

One process that has NumPy loaded executes each submission's file once, and calls its functions with the very
arguments and seeds that the run asked them with. Nothing is isolated, recorded, judged or written: no grader that
makes these calls can be faster. Reading the transcripts and copying the arguments isn't counted. For trusted files.
"""

from __future__ import annotations

import builtins
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from grader.core.values import to_python
from grader.model import Call, Transcript
from grader.store.layout import FOLDER
from grader.store.transcripts import read_transcript

__all__ = ["main"]


def main() -> int:
    """Call, and print."""
    run, count = Path(sys.argv[1]), int(sys.argv[2])
    paths = sorted((run / FOLDER / "transcripts").glob("*.transcript"))[:count]
    wall = cpu = 0.0
    calls = 0
    for path in paths:
        transcript = read_transcript(path)
        content = (run / FOLDER / "files" / transcript.sha256[:2] / transcript.sha256).read_bytes()
        asked = _asked(transcript)
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            began, used = time.perf_counter(), time.process_time()
            module = _loaded(content)
            for call, args, kwargs in asked:
                # As the worker does, so that code that draws without a seed does the same work.
                np.random.seed(call.seed % (1 << 32))  # noqa: NPY002 - the lesson draws with it
                _called(module.get(call.name), args, kwargs)
            wall += time.perf_counter() - began
            cpu += time.process_time() - used
        calls += len(asked)
    each = len(paths)
    print(json.dumps({"submissions": each, "calls": calls / each, "wall": wall / each, "cpu": cpu / each}))
    return 0


def _asked(transcript: Transcript) -> list[tuple[Call, list[Any], dict[str, Any]]]:
    """Return the calls that came back by themselves, with arguments of their own."""
    ended = {outcome.call for outcome in transcript.outcomes if outcome.kind in ("returned", "raised")}
    return [
        (call, [_own(arg) for arg in call.args], {name: _own(arg) for name, arg in call.kwargs})
        for call in transcript.calls
        if call.kind == "function" and call.id in ended
    ]


def _own(value: Any) -> Any:
    item = to_python(value)
    return item.copy() if isinstance(item, np.ndarray) else item


def _loaded(content: bytes) -> dict[str, Any]:
    module: dict[str, Any] = {"__name__": "submission", "__builtins__": builtins}
    with contextlib.suppress(Exception, SystemExit):
        exec(compile(content, "submission.py", "exec"), module)
    return module


def _called(function: Callable[..., Any] | None, args: list[Any], kwargs: dict[str, Any]) -> None:
    if function is not None:
        with contextlib.suppress(Exception, SystemExit):
            function(*args, **kwargs)


if __name__ == "__main__":
    sys.exit(main())
