"""The ``process`` backend: a plain subprocess with a clean environment. For one's own file, on any system."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.errors import IsolationError
from grader.run.backend import Closing, End, Launch, Usage, end_of, usage_of
from grader.run.inside.frames import MAX_PAYLOAD, encode_policy
from grader.run.library import policy, search_path
from grader.run.pipes import open_pipes

__all__ = ["ProcessBackend", "command", "environment"]

INSIDE = Path(__file__).parent / "inside"

# The package is found by its place and named `inside`: the grader itself isn't on the worker's path. What it loads is
# there to stay, so nobody looks for garbage in it (3 ms of a start, and memory that children of a zygote share). From
# then on no bytecode is written: what a submission imports leaves nothing behind.
_BOOTSTRAP = """
import gc, sys, importlib.util
gc.disable()
sys.path[:] = sys.argv[2:]
place = sys.argv[1]
spec = importlib.util.spec_from_file_location("inside", place + "/__init__.py", submodule_search_locations=[place])
package = importlib.util.module_from_spec(spec)
sys.modules["inside"] = package
spec.loader.exec_module(package)
from inside.MODULE import main
sys.dont_write_bytecode = True
gc.freeze()
gc.enable()
del sys.argv[1:]
main()
"""


def command(module: str, *, python: str = "", inside: str = "") -> list[str]:
    """Return the command that runs ``inside/<module>.py``.

    ``-S`` leaves site and its .pth files out, so an editable installation of the grader isn't importable;
    ``-s -P`` in place of ``-I``, since ``-I`` would ignore PYTHONHASHSEED.

    Args:
        module: Its name.
        python: The interpreter, if not the one that runs us.
        inside: The folder with the module, if the process sees it at another place than we do.
    """
    bootstrap = _BOOTSTRAP.replace("MODULE", module)
    writes = ["-B"] if sys.dont_write_bytecode else []
    return [
        *(python or sys.executable, "-s", "-S", "-P", *writes, "-c", bootstrap),
        *(inside or str(INSIDE), *search_path()),
    ]


def environment(folder: Path | None) -> dict[str, str]:
    """Return a worker's whole environment: nothing of ours is inherited but what a system needs to start it.

    A zygote has no folder; its children are given theirs.
    """
    keep = {name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    openblas = {name: value for name, value in os.environ.items() if name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    scratch = os.sep if folder is None else str(folder)
    return {
        **keep,
        **openblas,
        "PATH": os.defpath,
        "HOME": scratch,
        "TMPDIR": scratch,
        "TEMP": scratch,
        "MPLCONFIGDIR": scratch,
        "MPLBACKEND": "Agg",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        # One thread: results are the same bits every time, and NumPy starts faster.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "VECLIB_MAXIMUM_THREADS": "1",
    }


class ProcessWorker:
    """A subprocess and its two pipes."""

    def __init__(
        self,
        launch: Launch,
        module: str = "worker",
        *,
        max_payload: int = MAX_PAYLOAD,
        start: Sequence[str] | None = None,
    ) -> None:
        """Start the process.

        Args:
            launch: Where it lives.
            module: Of the worker's package.
            max_payload: Bytes of a reply that are read.
            start: The command, if it isn't the usual one for ``module``.
        """
        opened: list[int] = []
        try:
            opened += os.pipe()
            opened += os.pipe()
            self._process = subprocess.Popen(
                start or command(module),
                stdin=opened[0],
                stdout=opened[3],
                stderr=subprocess.DEVNULL,
                cwd=launch.folder,
                env=environment(launch.folder),
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            for ours in opened[1:3]:
                os.close(ours)
            raise IsolationError(
                f"No Python process could be started for the submission ({error.strerror or error}).",
                hint="Check that the machine has memory and processes left, then try again.",
            ) from error
        finally:
            for theirs in (*opened[:1], *opened[3:]):
                os.close(theirs)
        _, requests, replies, _ = opened
        self._pipes = open_pipes(requests, replies, max_payload)
        self._end: End | None = None

    def send(self, frame: bytes) -> None:
        """Hand a request over; never blocks."""
        self._pipes.send(frame)

    def receive(self, seconds: float) -> tuple[bytes, bytes] | None:
        """Return header and payload of the next reply, or None after ``seconds``. Raises EOFError at the end."""
        return self._pipes.receive(seconds)

    def usage(self) -> Usage | None:
        """CPU time so far, and whether it sleeps; None where the system doesn't tell."""
        return usage_of(self._process.pid)

    def interrupt(self) -> bool:
        """Ask the running code to stop (KeyboardInterrupt); False where that can't be done."""
        if os.name != "posix":
            return False
        with contextlib.suppress(OSError):
            os.kill(self._process.pid, signal.SIGINT)
        return True

    def close(self) -> End:
        """End the process and all that it started, and say how it had ended if it already had."""
        if self._end is None:
            self._end = self._finish()
            # Only now: a worker whose pipe is closed ends by itself, and that would look like its own doing.
            self._pipes.close()
        return self._end

    def _finish(self) -> End:
        # A worker that closed its pipe is about to end by itself: its status says how.
        code: int | None = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(0.5 if self._pipes.ended and not self._pipes.garbled else 0)
        if os.name == "posix":
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        if code is None:
            self._process.kill()
            self._process.wait()
        return End(kind="killed") if self._pipes.garbled or code is None else end_of(code)


class ProcessBackend(Closing):
    """A subprocess of its own, with whatever lockdown the kernel gives; where it gives none, it runs all the same.

    So it guards against accidents everywhere, and promises nothing against malice anywhere.
    """

    name = "process"

    def start(self, launch: Launch) -> ProcessWorker:
        """Start a worker. Raises IsolationError."""
        worker = ProcessWorker(launch)
        # The worker is importing NumPy by now, so finding out what it may read costs no time.
        worker.send(encode_policy(policy(strict=False)))
        return worker
