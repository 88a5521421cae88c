"""Chooses how student code is kept apart, and makes sure that it is before any of it runs."""

from __future__ import annotations

import contextlib
import os
import secrets as chance
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from grader.errors import IsolationError
from grader.model._data import data
from grader.run.backend import Backend

__all__ = ["NAMES", "Examined", "Isolation", "Name", "Purpose", "examine", "open_backend"]

Name = Literal["namespaces", "landlock", "process"]
Isolation = Literal["auto", "namespaces", "landlock", "process"]
Purpose = Literal["own file", "others' files"]

NAMES: tuple[Name, ...] = ("namespaces", "landlock", "process")
"""The best first."""

ISOLATED: tuple[Name, ...] = ("namespaces", "landlock")
"""Those that promise something against malice."""


@data
class Examined:
    """What trying out a backend gave; ``why`` says what is missing or wrong, and is empty where it works."""

    name: Name
    works: bool
    why: str = ""


def open_backend(name: Isolation, *, purpose: Purpose, secrets: Sequence[Path] = ()) -> Backend:
    """Return a backend that holds. Close it after use; it is a context manager.

    Args:
        name: ``auto`` takes ``process`` for one's own file, and for others' files the best that passes its canaries.
        purpose: Whose code is going to run.
        secrets: Files that no student may read; the canaries try.

    Raises:
        IsolationError: If the backend asked for, or for others' files every isolated one, is missing or has a hole.
    """
    if name == "process" or (name == "auto" and purpose == "own file"):
        return _made("process")
    wanted = ISOLATED if name == "auto" else (name,)
    reasons = []
    for candidate in wanted:
        try:
            return _proven(candidate, secrets)
        except IsolationError as error:
            reasons.append(f"{candidate}: {error.message[:1].lower()}{error.message[1:].rstrip('.')}")
    said = "; ".join(reasons)
    if name == "auto":
        raise IsolationError(
            f"Nothing on this machine keeps student code apart ({said}).",
            hint="Install bubblewrap, or use Linux 5.13 or later with Landlock and allow it in the container; "
            "--isolation process would run student code with your own rights.",
        )
    raise IsolationError(
        f"The isolation '{name}' doesn't work on this machine ({said}).",
        hint="See grade doctor; --isolation process would run student code with your own rights.",
    )


def examine(secrets: Sequence[Path] = ()) -> tuple[Examined, ...]:
    """Try every backend out and say which of them works."""
    found = []
    for name in NAMES:
        try:
            if name != "process":
                _proven(name, secrets).close()
            found.append(Examined(name=name, works=True))
        except IsolationError as error:
            found.append(Examined(name=name, works=False, why=error.message))
    return tuple(found)


def _proven(name: Name, secrets: Sequence[Path]) -> Backend:
    """Open a backend and let its canaries sing. Raises IsolationError."""
    from grader.run.canaries import PLANTED, trouble

    word = f"planted-{chance.token_hex(8)}"
    with _planted(PLANTED, word):
        backend = _made(name)
    try:
        wrong = trouble(backend, secrets, word=word)
    except BaseException:
        backend.close()
        raise
    if wrong:
        backend.close()
        raise IsolationError(f"Student code {wrong}.")
    return backend


@contextlib.contextmanager
def _planted(name: str, word: str) -> Iterator[None]:
    """Hold a word in our environment for as long as something is started."""
    os.environ[name] = word
    try:
        yield
    finally:
        del os.environ[name]


def _made(name: Name) -> Backend:
    """Open a backend that nobody has tried out. Raises IsolationError."""
    if name == "process":
        from grader.run.process import ProcessBackend

        return ProcessBackend()
    if sys.platform != "linux":
        raise IsolationError("Linux is needed.")
    from grader.run import filter as system_calls
    from grader.run.inside import landlock

    if system_calls.program() is None:
        raise IsolationError("There is no filter of system calls for this kind of processor.")
    from grader.run.forked import LandlockBackend, NamespacesBackend

    if name == "namespaces":
        return NamespacesBackend()
    if not landlock.version():
        raise IsolationError("This kernel has no Landlock.")
    return LandlockBackend()
