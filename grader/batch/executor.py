"""Processes of this machine that work for a batch, behind the interface that every executor has.

Unlike the standard library's pool, one process that is killed takes nothing with it but the work that it had: its
future says `Lost`, and the next work gets a new process.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import IO, Any

from grader.run.removal import remove_tree

__all__ = ["LocalExecutor", "Lost", "default_jobs"]

MEMORY_OF_A_JOB = 4 << 30
"""Bytes that student code may use, and so what each job needs to be free."""

END_SECONDS = 10.0

# `python -m` would put the folder that we are in before all others, and it may hold a learner's numpy.py.
_BOOTSTRAP = """\
import sys
sys.path[:] = sys.argv[1:]
del sys.argv[1:]
from grader.batch.job import main
main()
"""

_Work = tuple["Future[bytes]", str, tuple[bytes, ...]]


class Lost(Exception):
    """The process that had the work ended; the message says how."""


def default_jobs() -> int:
    """Return how many submissions can be graded at a time: as many as there are CPUs and memory for."""
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        cpus = os.cpu_count() or 1
    memory = _free_memory()
    return max(1, cpus if memory is None else min(cpus, memory // MEMORY_OF_A_JOB))


def _free_memory() -> int | None:
    """Return the bytes that can still be used here, or None where the system doesn't tell."""
    free: list[int] = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    # A container may use less than the machine has.
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            free.append(int((Path("/sys/fs/cgroup") / name).read_text(encoding="ascii")))
    return min(free, default=None)


class LocalExecutor(Executor):
    """Runs functions of a module that take bytes and return bytes, each in one of a few processes.

    Args:
        jobs: How many processes.
        seconds: What one piece of work may take. A run keeps its own deadline; this one is for a grader that hangs.
    """

    def __init__(self, jobs: int, *, seconds: float) -> None:
        self.seconds = seconds
        self._waiting: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._stopped = False
        self._lanes = [_Lane(self) for _ in range(jobs)]

    def submit(self, fn: Callable[..., bytes], /, *args: Any, **kwargs: Any) -> Future[bytes]:  # type: ignore[override]  # every function here returns bytes
        """Have ``fn(*args)`` run in a process. Its future raises `Lost` if that process ends before it has."""
        if self._stopped or kwargs:
            raise RuntimeError("no more work is taken" if self._stopped else "work takes no keywords")
        future: Future[bytes] = Future()
        self._waiting.put((future, f"{fn.__module__}:{fn.__qualname__}", args))
        return future

    def take(self) -> _Work | None:
        """Wait for the next work; None means that there will be no more."""
        work = self._waiting.get()
        if work is None:
            self._waiting.put(None)  # for the next who asks
        return work

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes: after the work that waits, or (``cancel_futures``) as soon as they can clean up."""
        self._stopped = True
        if cancel_futures:
            with contextlib.suppress(queue.Empty):
                while (work := self._waiting.get_nowait()) is not None:
                    work[0].cancel()
            for lane in self._lanes:
                lane.interrupt()
        self._waiting.put(None)
        if wait:
            with _deaf():
                for lane in self._lanes:
                    lane.join()


class _Lane:
    """A thread of ours with one process after the other."""

    def __init__(self, executor: LocalExecutor) -> None:
        self._executor = executor
        self._process: _Process | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def interrupt(self) -> None:
        """Let the process stop where it is and clean up."""
        if (process := self._process) is not None:
            process.interrupt()

    def join(self) -> None:
        """Wait until its process has ended."""
        self._thread.join()

    def _serve(self) -> None:
        while (work := self._executor.take()) is not None:
            future, name, args = work
            if not future.set_running_or_notify_cancel():
                continue
            try:
                if self._process is None:
                    self._process = _Process()
                answer = self._process.ask(name, args, self._executor.seconds)
            except OSError as error:
                future.set_exception(error)
            except Lost:
                process, self._process = self._process, None
                assert process is not None
                future.set_exception(Lost(process.end(1.0)))
            else:
                future.set_result(answer)
        if self._process is not None:
            self._process.end(END_SECONDS)


class _Process:
    """A process that answers one call after the other over its standard input and output. Raises OSError."""

    def __init__(self) -> None:
        # Whatever a killed process leaves in its temporary folder goes with the folder.
        self._folder = Path(tempfile.mkdtemp(prefix="grade-batch-"))
        # One thread for NumPy: the processes share the CPUs, and results are the same bits every time.
        environment = {**os.environ, "TMPDIR": str(self._folder), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        here = str(Path(__file__).resolve().parents[2])
        search = list(dict.fromkeys(path if path else here for path in sys.path))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOTSTRAP, *search],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                # Ctrl-C reaches the whole group of a terminal; these are ended in order, by us.
                start_new_session=True,
            )
        except OSError:
            remove_tree(self._folder)
            raise

    def ask(self, name: str, args: tuple[bytes, ...], seconds: float) -> bytes:
        """Call a function and return what it returns. Raises Lost if the process ends, or is late and ended by us."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        late = threading.Timer(seconds, self._process.kill)
        late.daemon = True
        late.start()
        try:
            write_frame(self._process.stdin, json.dumps([name, len(args)]).encode())
            for arg in args:
                write_frame(self._process.stdin, arg)
            self._process.stdin.flush()
            return read_frame(self._process.stdout)
        except (OSError, EOFError, ValueError) as error:
            raise Lost from error
        finally:
            late.cancel()

    def interrupt(self) -> None:
        """Let it stop where it is and clean up."""
        self._process.terminate()

    def end(self, seconds: float) -> str:
        """End it, kindly for so long, and return how it ended in words; its temporary folder is removed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        if self._process.poll() is None:
            self._process.kill()
        code = self._process.wait()
        self._process.stdout.close()
        remove_tree(self._folder)
        if code >= 0:
            return f"exit status {code}"
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"


def write_frame(stream: IO[bytes], content: bytes) -> None:
    """Write bytes with their length before them."""
    stream.write(len(content).to_bytes(8, "big"))
    stream.write(content)


def read_frame(stream: IO[bytes]) -> bytes:
    """Read what `write_frame` wrote. Raises EOFError if it isn't whole."""
    head = stream.read(8)
    content = stream.read(int.from_bytes(head, "big")) if len(head) == 8 else b""
    if len(head) < 8 or len(content) < int.from_bytes(head, "big"):
        raise EOFError
    return content


@contextlib.contextmanager
def _deaf() -> Any:
    """Let no second Ctrl-C come in between while processes are ended."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # only the main thread hears it
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
