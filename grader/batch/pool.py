"""Hands submissions out to job processes, and outlives whatever happens to one of them."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

from grader.batch.folder import Entry
from grader.batch.messages import Failed, Message, Ready, Request, Row, Setup, decode, encode
from grader.errors import EnvironmentFault, GraderError
from grader.run.removal import remove_tree

__all__ = ["Pool", "default_jobs"]

MEMORY_OF_A_JOB = 4 << 30
"""Bytes that student code may use, and so what each job needs to be free."""

MAX_TRIES = 2
MAX_LOST = 3
"""Jobs that end before they are ready, one after the other: then it isn't a submission's doing."""

START_SECONDS = 120.0
POLL_SECONDS = 1.0

# `python -m` would put the folder that we are in before all others, and it may hold a learner's numpy.py.
_BOOTSTRAP = """\
import sys
sys.path[:] = sys.argv[1:]
del sys.argv[1:]
from grader.batch.job import main
main()
"""


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


class _Job:
    """A job process and the submission that it has; a thread of ours reads its answers."""

    def __init__(self, setup: Setup, answers: queue.SimpleQueue[tuple[_Job, Message | None]]) -> None:
        self.entry: tuple[int, Entry] | None = None
        self.ready = self.gone = False
        self.until = time.monotonic() + START_SECONDS
        # Whatever a killed job leaves in its temporary folder goes with the folder.
        self._folder = Path(tempfile.mkdtemp(prefix="grade-batch-"))
        # One thread for NumPy: the jobs share the CPUs, and results are the same bits every time.
        environment = {**os.environ, "TMPDIR": str(self._folder), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        here = str(Path(__file__).resolve().parents[2])
        search = list(dict.fromkeys(path if path else here for path in sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOTSTRAP, *search],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            # Ctrl-C reaches the whole group of a terminal; jobs are ended in order, by us.
            start_new_session=True,
        )
        self._thread = threading.Thread(target=self._read, args=(answers,), daemon=True)
        self._thread.start()
        self.send(setup)

    def send(self, message: Message) -> None:
        """Write a line; a job that has gone is noticed by its answers."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(encode(message))
            self._process.stdin.flush()

    def finish(self) -> None:
        """Tell it that no more is to come."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def end(self, seconds: float) -> str:
        """End it, kindly for so long, and return how it ended in words; its temporary folder is removed."""
        self.gone = True
        self.finish()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        if self._process.poll() is None:
            self._process.kill()
        code = self._process.wait()
        self._thread.join(1)
        remove_tree(self._folder)
        if code >= 0:
            return f"exit status {code}"
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"

    def interrupt(self) -> None:
        """Let it stop where it is and clean up."""
        self._process.terminate()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def _read(self, answers: queue.SimpleQueue[tuple[_Job, Message | None]]) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream, contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            for line in stream:
                answers.put((self, decode(line)))
        answers.put((self, None))


class Pool:
    """Job processes, as a context manager. At its end none of them is left.

    Raises:
        GraderError: What stops every job stops the batch: no isolation, an unusable course, a full disk.
    """

    def __init__(self, setup: Setup, jobs: int) -> None:
        self._setup, self._wanted = setup, jobs
        self._jobs: list[_Job] = []
        self._answers: queue.SimpleQueue[tuple[_Job, Message | None]] = queue.SimpleQueue()
        self._waiting: deque[tuple[int, Entry]] = deque()
        self._tries: dict[int, int] = {}
        self._lost = 0
        self.ready: Ready | None = None

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _deaf():
            if kind is not None:
                for job in self._jobs:
                    job.interrupt()
            for job in self._jobs:
                job.end(10)
            self._jobs.clear()

    def run(self, entries: Sequence[Entry]) -> Iterator[Row]:
        """Grade all of ``entries`` and yield how each ended, as they end."""
        for number, entry in enumerate(entries):
            if entry.trouble:
                yield _not_graded(number, entry, entry.trouble)
            else:
                self._waiting.append((number, entry))
        self._staff()
        while self._jobs:
            self._stop_late_ones()
            try:
                job, message = self._answers.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            if job.gone:
                continue
            match message:
                case Ready():
                    self.ready, job.ready, self._lost = self.ready or message, True, 0
                    self._hand_out(job)
                case Row():
                    job.entry = None
                    yield message
                    self._hand_out(job)
                case Failed() if message.code:
                    raise _error(message)
                case _:
                    yield from self._bury(job, message.message if isinstance(message, Failed) else "")

    def _staff(self) -> None:
        """Have as many jobs as can be of use."""
        while self._waiting and len(self._jobs) < self._wanted:
            if sum(job.entry is None for job in self._jobs) >= len(self._waiting):
                break
            try:
                self._jobs.append(_Job(self._setup, self._answers))
            except OSError as error:
                raise EnvironmentFault(
                    f"No process could be started for grading ({error.strerror or error}).",
                    hint="Check that the machine has memory and space left, or use fewer --jobs.",
                ) from error

    def _hand_out(self, job: _Job) -> None:
        if not self._waiting:
            self._jobs.remove(job)
            job.end(10)
            return
        number, entry = job.entry = self._waiting.popleft()
        seconds = self.ready.seconds if self.ready else 0
        # A run keeps its own deadline; this one is for a grader that hangs.
        job.until = time.monotonic() + 2 * seconds + START_SECONDS
        job.send(Request(number=number, path=str(entry.path), folder=entry.folder))

    def _bury(self, job: _Job, why: str) -> Iterator[Row]:
        """Take a lost job's submission back: another job tries it once more."""
        self._jobs.remove(job)
        how = job.end(10 if why else 1)
        if not job.ready:
            self._lost += 1
            if self._lost >= MAX_LOST:
                raise EnvironmentFault(
                    f"The processes that grade don't start ({how}).",
                    hint="Check that NumPy works for this Python: python -c 'import numpy'.",
                )
        if job.entry is not None:
            number, entry = job.entry
            self._tries[number] = self._tries.get(number, 0) + 1
            if self._tries[number] < MAX_TRIES:
                self._waiting.appendleft(job.entry)
            else:
                reason = why or f"the process that graded it was lost twice ({how})"
                yield _not_graded(number, entry, reason)
        self._staff()

    def _stop_late_ones(self) -> None:
        now = time.monotonic()
        for job in self._jobs:
            if now > job.until and not job.gone:
                job.kill()


def _not_graded(number: int, entry: Entry, reason: str) -> Row:
    return Row(number=number, name=entry.path.name, folder=entry.folder, status="not_graded", reason=reason.rstrip("."))


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Let no second Ctrl-C come in between while jobs are ended."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # only the main thread hears it
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _error(failed: Failed) -> GraderError:
    """Return the error that ended a job, with its exit code."""
    error = GraderError(failed.message, hint=failed.hint)
    error.exit_code = failed.code
    return error
