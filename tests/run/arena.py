"""Submissions made of text, and a Runner with small limits to ask them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from grader.core.values import to_python, to_value
from grader.intake import submission_from_bytes
from grader.model import Call, Companion, DrawsWanted, Limits, Outcome, Submission
from grader.run.backend import Backend
from grader.run.process import ProcessBackend
from grader.run.runner import Runner, Scratch

__all__ = [
    *(
        "CHOSEN",
        "LIMITS",
        "LINUX",
        "TOOLS",
        "Arena",
        "alive",
        "arena",
        "assert_fine",
        "bad",
        "children",
        "function",
        "notebook",
        "roomy",
    ),
    "script",
]

CHOSEN: list[Backend] = [ProcessBackend()]
"""The backend that a test gets if it names none: see the option ``--isolation`` in ``conftest.py``."""

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="these are Linux's ways to die")
LIMITS = Limits(
    load_seconds=0.5, call_seconds=0.5, asleep_seconds=0.5, submission_seconds=10, memory_mib=512, stdout_kib=4
)


TOOLS = """
import sys
import numpy as np

def fine(x=1.0):
    return np.full(3, x) + len([1, 2])

def reply_pipe():
    # The pipe to the grader: the only open one that can be written to.
    import os, stat, fcntl
    for fd in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode) and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
                return fd
        except OSError:
            pass

def request_pipe():
    import os, stat, fcntl
    for fd in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode) and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                return fd
        except OSError:
            pass

def forged(payload=b"", **head):
    import json, struct
    text = json.dumps(head).encode()
    return b"GRD1" + struct.pack("<IQ", len(text), len(payload)) + text + payload

def forge(**head):
    import os
    os.write(reply_pipe(), forged(**head))

def my_id():
    # The frames above hold the request.
    frame = sys._getframe()
    while frame:
        head = frame.f_locals.get("head")
        if isinstance(head, dict) and "id" in head:
            return head["id"]
        frame = frame.f_back
"""


def function(name: str, body: str) -> str:
    """Return a function without parameters."""
    return f"\ndef {name}():\n" + "".join(f"    {line}\n" for line in body.splitlines())


def bad(body: str) -> str:
    """Return a script with a function ``bad`` and one that is fine."""
    return TOOLS + function("bad", body)


def roomy(**changes: float) -> Limits:
    """Return limits that nothing honest comes near on a slow machine, but for ``changes``."""
    seconds = {"load_seconds": 20.0, "call_seconds": 20.0, "asleep_seconds": 20.0, "submission_seconds": 60.0}
    return Limits(**{**seconds, **changes})  # type: ignore[arg-type]  # names of seconds only


def script(source: str, *, companions: Mapping[str, bytes] | None = None) -> Submission:
    """Return the submission of a script."""
    beside = tuple(Companion(name=name, content=content) for name, content in (companions or {}).items())
    return submission_from_bytes("submission.py", source.encode(), companions=beside)


def notebook(*cells: str) -> Submission:
    """Return the submission of a notebook with these code cells."""
    document = {
        "nbformat": 4,
        "nbformat_minor": 4,
        "metadata": {},
        "cells": [
            {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": cell}
            for cell in cells
        ],
    }
    return submission_from_bytes("submission.ipynb", json.dumps(document).encode())


class Arena:
    """A runner whose submission is loaded."""

    def __init__(self, runner: Runner, submission: Submission, root: Path, draws: DrawsWanted = "none") -> None:
        self.runner, self.root = runner, root
        kind = "load" if submission.kind == "script" else "cell"
        self.loads = runner.run(
            Call(
                id=f"load/{cell.number}",
                session="main",
                kind="load" if kind == "load" else "cell",
                name=str(cell.number),
                draws=draws,
                seed=7,
            )
            for cell in submission.cells
        )
        self._count = 0

    @property
    def load(self) -> Outcome:
        """The outcome of the last cell."""
        return self.loads[-1]

    def ask(
        self,
        name: str,
        *args: object,
        session: str = "main",
        seed: int = 7,
        draws: DrawsWanted = "none",
        watch: bool = False,
        readonly: bool = False,
        **kwargs: object,
    ) -> Outcome:
        """Call a function of the submission."""
        self._count += 1
        call = Call(
            id=f"{name}/{self._count}",
            session=session,
            kind="function",
            name=name,
            args=tuple(map(to_value, args)),
            kwargs=tuple((key, to_value(value)) for key, value in kwargs.items()),
            seed=seed,
            draws=draws,
            watch=watch,
            readonly=readonly,
        )
        return self.runner.run([call])[0]

    def value(self, name: str, *args: object, **options: object) -> object:
        """Call a function that must return, and give its value as a Python object."""
        outcome = self.ask(name, *args, **options)  # type: ignore[arg-type]  # passed on as they are
        assert outcome.kind == "returned", outcome
        return to_python(outcome.value)


@contextmanager
def arena(
    submission: Submission | str,
    *,
    limits: Limits | None = None,
    inert: tuple[str, ...] = (),
    stand_ins: Mapping[str, Mapping[str, str]] | None = None,
    draws: DrawsWanted = "none",
    packages: tuple[str, ...] = ("numpy",),
    backend: Backend | None = None,
) -> Iterator[Arena]:
    """Load a submission, hand it over, and leave nothing behind; with the backend that the tests were asked for."""
    handed_in = script(submission) if isinstance(submission, str) else submission
    scratch = Scratch(backend or CHOSEN[0], handed_in)
    with Runner(scratch, limits or roomy(), inert, stand_ins, packages) as runner:
        yield Arena(runner, handed_in, scratch.root, draws)


def children(of: int | None = None) -> set[int]:
    """Return the processes that descend from a process (this one), or that are in a session of such a one."""
    parent_of: dict[int, int] = {}
    session_of: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] != b"Z":
                parent_of[int(entry.name)], session_of[int(entry.name)] = int(fields[1]), int(fields[3])
    root = os.getpid() if of is None else of
    found: set[int] = set()
    grown = {root}
    while grown:
        found |= grown
        grown = {pid for pid, parent in parent_of.items() if parent in found} - found
        grown |= {pid for pid, session in session_of.items() if session in found - {root}} - found
    return found - {root}


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def assert_fine(made: Arena) -> None:
    """The other function still returns."""
    assert np.asarray(made.value("fine", 2.0)).tolist() == [4.0, 4.0, 4.0]
