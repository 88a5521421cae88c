"""Where the work of a batch is done: in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor

from grader.batch.executor import LocalExecutor
from grader.errors import EnvironmentFault, UsageError
from grader.model._data import data

__all__ = ["ENGINES", "Engine", "open_engine"]

ENGINES = ("local", "dask")
SECONDS = 300.0
"""What a worker may take for one piece of work: more than any course allows; only a grader that hangs needs it."""

CONNECT_SECONDS = 10.0
ASK_SECONDS = 1.0
"""How long a cluster's number of workers is taken for true."""


@data
class Engine:
    """An executor, how many can work now (a cluster grows and shrinks), and whether they see this machine's files."""

    executor: Executor
    workers: Callable[[], int]
    here: bool


@contextlib.contextmanager
def open_engine(name: str, *, jobs: int, scheduler: str = "") -> Iterator[Engine]:
    """Open an engine and close it after use.

    Args:
        name: One of ``ENGINES``.
        jobs: Processes of this machine, for ``local``.
        scheduler: Address of the Dask scheduler, such as ``tcp://10.0.0.5:8786``.

    Raises:
        UsageError: If Dask isn't installed, or no address is given.
        EnvironmentFault: If nobody answers there, or there are no workers.
    """
    if name == "local":
        executor = LocalExecutor(jobs, seconds=SECONDS)
        finished = False
        try:
            yield Engine(executor=executor, workers=lambda: jobs, here=True)
            finished = True
        finally:
            executor.shutdown(cancel_futures=not finished)
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError("Dask isn't installed.", hint="pip install 'numgrade[cluster]'") from error
    if not scheduler:
        raise UsageError("Where is the cluster?", hint="Give the scheduler's address: --scheduler tcp://HOST:8786.")
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]  # Dask has few types
    except (OSError, ValueError, TypeError) as error:
        raise EnvironmentFault(
            f"No Dask scheduler answers at '{scheduler}'.", hint="Start one with: dask scheduler."
        ) from error
    with client:
        known = (0, -ASK_SECONDS)

        def workers() -> int:
            nonlocal known
            # To ask takes as long as all else that this process does for a submission.
            if time.monotonic() - known[1] >= ASK_SECONDS:
                # One submission at a time for each worker, however many threads it has.
                known = len(client.scheduler_info(n_workers=-1)["workers"]), time.monotonic()
            return known[0]

        if not workers():
            raise EnvironmentFault(
                f"The Dask scheduler at '{scheduler}' has no workers.",
                hint=f"Start some with: dask worker {scheduler} --nworkers auto --nthreads 1.",
            )
        # The same work twice is two pieces of work: what has come back isn't taken from a memory of answers.
        executor = client.get_executor(pure=False)  # type: ignore[no-untyped-call]  # see above
        try:
            yield Engine(executor=executor, workers=workers, here=False)
        finally:
            executor.shutdown(wait=False)
