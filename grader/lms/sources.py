"""Interim: a flat folder only."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from grader.errors import UsageError
from grader.model._data import data
from grader.model.attempt import Attempt, HandedFile, Learner

SUFFIXES = (".py", ".ipynb")


@data
class Source:
    kind: str
    title: str
    attempts: tuple[Attempt, ...]
    others: tuple[str, ...]


def read_source(path: Path, into: Path, *, kind: str = "auto", assignment: str = "") -> Source:
    try:
        with os.scandir(path) as found:
            items = sorted((item.name, _trouble(item)) for item in found if not item.name.startswith("."))
    except (FileNotFoundError, ValueError) as error:
        raise UsageError(f"There is no folder '{path}'.", hint="Check the spelling.") from error
    except NotADirectoryError as error:
        raise UsageError(f"'{path}' is a file, not a folder.", hint=f"Use: grade {path}") from error
    wanted = [(n, t) for n, t in items if Path(n).suffix.lower() in SUFFIXES and t != "folder"]
    if not wanted:
        raise UsageError(f"There is no .py or .ipynb file in '{path}'.", hint="Name the folder that holds them.")
    return Source(
        kind="folder",
        title="",
        attempts=tuple(
            Attempt(
                key=name,
                learners=(Learner(name=name),),
                files=(HandedFile(name=name, path=path / name),),
                trouble=trouble,
            )
            for name, trouble in wanted
        ),
        others=tuple(n for n, _ in items if n not in dict(wanted)),
    )


def candidates(attempt: Attempt, expected: tuple[str, ...]) -> tuple[HandedFile, ...]:
    return attempt.files


def _trouble(item: os.DirEntry[str]) -> str:
    try:
        mode = item.stat(follow_symlinks=False).st_mode
    except OSError as error:
        return f"it can't be looked at ({error.strerror or error})"
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISLNK(mode):
        return "it is a symbolic link, and links aren't followed"
    return "" if stat.S_ISREG(mode) else "it is not an ordinary file"
