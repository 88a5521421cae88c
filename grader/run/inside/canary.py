"""Tries what student code must not be able to do. Sent to a worker as if a student had written it.

Whatever gets through is named in the answer, with what was seen. Nothing here does harm where it gets through.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

import numpy as np


def _reads(paths: list[str]) -> str:
    for path in paths:
        try:
            with open(path, "rb") as file:
                file.read(1)
            return path
        except OSError:
            continue
    return ""


def _writes(folders: list[str], scratch: str) -> str:
    for folder in (*folders, os.path.dirname(scratch) or "/", os.sep):
        path = os.path.join(folder, "grade-canary")
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError:
            continue
        os.unlink(path)
        return path
    return ""


def _connects(port: int) -> str:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return f"port {port}"
    except OSError:
        return ""


def _forks() -> str:
    try:
        pid = os.fork()
    except OSError:
        return ""
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "fork"


def _signals(pids: list[int]) -> str:
    for pid in (*pids, os.getppid()):
        if pid > 1:
            try:
                os.kill(pid, 0)
                return str(pid)
            except OSError:
                continue
    return ""


def _finds(mark: str, pids: list[int]) -> str:
    """Look for a planted word in the environment, in what this process was told, and in other processes."""
    import gc
    import sys

    places = {
        "the environment": repr(dict(os.environ)),
        "the arguments": repr((sys.argv, sys.orig_argv)),
        "the memory": " ".join(thing for thing in gc.get_objects() if type(thing) is str),
    }
    for pid in ("self", *pids, os.getppid()):
        for name in ("environ", "cmdline"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    places[f"/proc/{pid}/{name}"] = file.read().decode("latin-1")
            except OSError:
                continue
    return next((place for place, text in places.items() if mark in text), "")


def _holds() -> str:
    """Look for open descriptors beside the standard streams and the two pipes."""
    for descriptor in range(5, 64):
        try:
            os.fstat(descriptor)
            return str(descriptor)
        except OSError:
            continue
    return ""


def _works() -> str:
    """Do what any honest submission may do; return what can't be done."""
    import colorsys  # one that nothing has loaded yet

    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(8, 8))
    if not np.allclose(np.linalg.inv(matrix) @ matrix, np.eye(8)) or colorsys.rgb_to_hsv(0.0, 0.0, 0.0)[2]:
        return "NumPy computes wrongly"
    np.save("canary.npy", matrix)
    if not np.array_equal(np.load("canary.npy"), matrix):
        return "the scratch folder loses what is written"
    os.unlink("canary.npy")
    return "" if len(os.urandom(8)) == 8 else "there is no chance"


def canary(
    secrets: list[str], planted: str, outside: list[str], port: int, pids: list[int], half: str, other_half: str
) -> list[list[str]]:
    """Return name and detail of everything that got through, or that should have worked and didn't."""
    attempts: list[tuple[str, Callable[[], str]]] = [
        ("reference", lambda: _reads(secrets)),
        ("file", lambda: _reads([planted])),
        ("write", lambda: _writes(outside, os.getcwd())),
        ("connect", lambda: _connects(port)),
        ("fork", _forks),
        ("signal", lambda: _signals(pids)),
        ("find", lambda: _finds(half + other_half, pids)),
        ("descriptor", _holds),
        ("work", _works),
    ]
    found = []
    for name, attempt in attempts:
        try:
            detail = attempt()
        except Exception as error:
            detail = f"{type(error).__name__}: {error}" if name == "work" else ""
        if detail:
            found.append([name, detail])
    return found
