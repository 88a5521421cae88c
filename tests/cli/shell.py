"""Runs ``grade`` as a shell does: a real process with real files."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.forks import Forks

__all__ = [
    "EXAMPLES",
    "RIGHT",
    "ROOT",
    "WITH_MISTAKE",
    "Done",
    "full_disk",
    "grade",
    "one_sentence",
    "start",
    "without_powers",
]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
RIGHT = EXAMPLES / "right.py"
WITH_MISTAKE = EXAMPLES / "with_mistake.py"

SEED = 2340
THREE = ("fragment.html", "report.html", "result.json")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="these are Linux's ways to fail")

Done = subprocess.CompletedProcess[str]
FORKS = Forks()
ESCAPES = re.compile(r"\x1b|\x9b")


def command(*words: object) -> list[str]:
    """Return the command line."""
    return [sys.executable, "-m", "grader", *map(str, words)]


def environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return this environment, changed; the checkout is found from any folder."""
    inherited = {name: value for name, value in os.environ.items() if name not in changes}
    given = {name: value for name, value in changes.items() if value is not None}
    return {**inherited, "PYTHONPATH": str(ROOT), **given}


def grade(
    *words: object,
    cwd: Path | None = None,
    env: Mapping[str, str | None] | None = None,
    before: Callable[[], None] | None = None,
    stdout: int | None = subprocess.PIPE,
    new: bool = False,
) -> Done:
    """Run to the end. Nothing that grade ever says is a traceback.

    Args:
        words: What is typed after ``grade``.
        cwd: Where it is typed.
        env: Changes of the environment; None takes a name out of it.
        before: What a new process does before it is ``grade``.
        stdout: Where the output goes, if not to us.
        new: Start a process from nothing, also where nothing that is given asks for it.
    """
    starts = (
        new or before is not None or stdout != subprocess.PIPE or any(name.startswith("PYTHON") for name in env or ())
    )
    if sys.platform == "linux" and not starts:
        code, *said = FORKS.run(list(map(str, words)), cwd=cwd, env=environment(env or {}), timeout=100)
        return _plain(Done([*map(str, words)], code, *(part.decode("utf-8", "surrogateescape") for part in said)))
    done = subprocess.run(
        command(*words),
        cwd=cwd,
        env=environment(env or {}),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        preexec_fn=before,
        timeout=100,
        check=False,
    )
    return _plain(done)


def _plain(done: Done) -> Done:
    assert "Traceback" not in done.stderr
    assert "Traceback" not in (done.stdout or "")
    assert "Exception ignored" not in done.stderr
    return done


def start(*words: object, cwd: Path, env: Mapping[str, str | None]) -> subprocess.Popen[str]:
    """Start and return at once."""
    return subprocess.Popen(
        command(*words),
        cwd=cwd,
        env=environment(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A runner of tests may itself ignore interrupts; whoever types Ctrl-C doesn't.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def one_sentence(done: Done, code: int, *words: str) -> None:
    """Hold the exit code, and that one line of plain words is all that was said."""
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert done.stdout in ("", None)
    assert done.stderr.startswith("grade: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.endswith("\n")
    assert not ESCAPES.search(done.stderr)
    for word in words:
        assert word in done.stderr


def without_powers() -> None:
    """Run before exec: take from root what lets it read and write everything."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for power in (1, 2):  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH leave the bounding set
            if libc.prctl(24, power, 0, 0, 0):
                os._exit(99)


@contextmanager
def full_disk(place: Path, size: str) -> Iterator[Path]:
    """Mount a small disk at ``place``; where that isn't allowed there is nothing to test."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if done.returncode:
        pytest.skip("a disk of our own can't be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A run of the example with a mistake, with its files and its transcript."""

    folder: Path
    document: str

    @property
    def transcript(self) -> Path:
        """The kept transcript."""
        return self.folder / "run.transcript"


def holds(folder: Path, name: str) -> bool:
    """Whether a file of this name is below ``folder``, where others come and go meanwhile."""
    return any(name in files for _, _, files in os.walk(folder))


def names(folder: Path) -> list[str]:
    """Return what lies in a folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir())
