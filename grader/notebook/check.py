"""``grader.check()``, on the kernel's side: collects the cells, asks a process for a grade, shows what it says."""

from __future__ import annotations

import contextlib
import json
import operator
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from grader.errors import CheckError
from grader.notebook import follow
from grader.notebook.cells import Run, as_it_stands

__all__ = ["Checked", "check"]

PATIENCE = 0.5
"""Seconds after which a line says that something is going on."""
END_SECONDS = 5
MAX_SEED = 1 << 53
MAX_HINTS = 3
MAX_SAID = 200
OUTSIDE = (
    "grader.check() grades the cells of a notebook, and this isn't one. For a file, type in a terminal: grade FILE"
)

# The package's folder may not be where the new process would look: in a checkout, or if the kernel was told of it.
_CHILD = """
import sys
if {root!r} not in sys.path:
    sys.path.insert(0, {root!r})
from grader.notebook.child import main
sys.exit(main())
"""


class Checked:
    """What ``grader.check()`` found.

    Attributes:
        score: Points, or None if nothing was graded.
        max_score: Points that there are.
        result: The whole document, as ``result.json`` holds it; empty if nothing was graded.
    """

    __slots__ = ("_said", "max_score", "result", "score")

    def __init__(self, result: Mapping[str, Any] | None = None, said: str = "nothing graded") -> None:
        self.result: Mapping[str, Any] = result or {}
        graded = self.result.get("status") == "graded"
        self.score: float | None = self.result["score"] if graded else None
        self.max_score: float | None = self.result.get("max_score")
        self._said = said

    def __repr__(self) -> str:
        return self._said


def check(
    *,
    seed: int | None = None,
    hints: int | None = None,
    assignment: str = "",
    course: str | os.PathLike[str] | None = None,
) -> Checked:
    """As ``grader.check``, which is what learners call."""
    shell = follow.shell()
    if shell is None:
        # A script goes on: whoever runs it wants its own output too.
        sys.stderr.write(f"{OUTSIDE}\n")
        return Checked()
    follow.begin()
    cells = as_it_stands(_runs(shell))
    if not cells:
        raise CheckError("No cell has been run yet.", hint="Run your cells, and then this one.")
    request = {
        "cells": [{"number": run.number, "source": run.source} for run in cells],
        "name": _name(shell),
        "seed": _whole("seed", seed, MAX_SEED - 1),
        "hints": _whole("hints", hints, MAX_HINTS),
        "assignment": str(assignment or ""),
        "course": None if course is None else str(Path(course).expanduser()),
    }
    with _Inline(shell, len(cells)) as inline:
        reply = _asked(json.dumps(request).encode(), inline)
        inline.show({"text/html": reply["html"], "text/plain": reply["text"]})
    return Checked(reply["result"], reply["said"])


def _runs(shell: Any) -> Iterator[Run]:
    """Yield all executions so far, with the one that is going on."""
    history = shell.history_manager
    if history is None:
        return
    for number, (source, python) in enumerate(zip(history.input_hist_raw, history.input_hist_parsed, strict=False)):
        if isinstance(source, str) and isinstance(python, str):
            yield Run(
                number=number,
                source=source,
                python=python,
                cell=follow.ids.get(number, ""),
                failed=number in follow.failed,
            )


def _name(shell: Any) -> str:
    """Return the notebook's name where VS Code or Jupyter tell it; it is only shown."""
    for told in (shell.user_ns.get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME")):
        name = PurePath(told).name if isinstance(told, str) else ""
        if name.endswith(".ipynb"):
            return name
    return "notebook.ipynb"


def _whole(name: str, value: object, most: int) -> int | None:
    if value is None:
        return None
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # whatever was given, it is asked
    except TypeError:
        number = -1
    if not 0 <= number <= most or isinstance(value, bool):
        raise CheckError(f"{name} must be a whole number from 0 to {most}.")
    return number


def _asked(request: bytes, inline: _Inline) -> dict[str, Any]:
    """Let a process of its own grade. Raises CheckError."""
    code = _CHILD.format(root=str(Path(__file__).resolve().parents[2]))
    try:
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError) as error:
        raise CheckError(
            f"No process for grading could be started ({error}).",
            hint="Save the notebook, and type in a terminal: grade FILE",
        ) from error
    try:
        try:
            out, told = child.communicate(request, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            inline.wait()
            out, told = child.communicate()
    except KeyboardInterrupt:
        raise CheckError("Interrupted: nothing was graded.") from None
    finally:
        _end(child)
    try:
        reply = json.loads(out)
    except ValueError:
        last = told.decode("utf-8", "replace").strip().rpartition("\n")[2][:MAX_SAID]
        raise CheckError(f"The grader failed ({last or f'exit code {child.returncode}'}).") from None
    if "error" in reply:
        raise CheckError(reply["error"])
    return dict(reply)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Wait for the process, which cleans up when it is asked to end; don't wait for ever."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


class _Inline:
    """The place below the cell: a line while something is going on, then the report in its stead."""

    def __init__(self, shell: Any, cells: int) -> None:
        self._cells = cells
        # A terminal can't take back what it has shown.
        self._can_change = hasattr(shell, "kernel")
        self._handle: Any = None

    def __enter__(self) -> _Inline:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)

    def wait(self) -> None:
        """Say that something is going on."""
        if self._can_change:
            from IPython.display import display

            said = f"Grading {self._cells} cells ..."
            self._handle = display({"text/plain": said}, raw=True, display_id=True)  # type: ignore[no-untyped-call]  # IPython has few types

    def show(self, bundle: dict[str, str]) -> None:
        """Show the report."""
        if self._handle is not None:
            self._handle.update(bundle, raw=True)
            return
        from IPython.display import display

        display(bundle, raw=True)  # type: ignore[no-untyped-call]  # see above
