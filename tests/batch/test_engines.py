"""The same batch on a Dask cluster: real scheduler, real workers, one of them killed half-way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.batch import run as run_module
from grader.batch.engines import open_engine
from grader.batch.entries import entries_of
from grader.batch.run import Run
from grader.batch.start import setup_of
from grader.errors import EnvironmentFault
from grader.model.attempt import Attempt, HandedFile
from grader.store.journal import Facts, Journal
from tests.batch.test_resume import everything
from tests.cli.shell import LINUX, ROOT, grade, one_sentence, start

pytestmark = [pytest.mark.slow, LINUX]
pytest.importorskip("distributed")


class Cluster:
    """A scheduler and two workers on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[str]] = []
        log = self._begin("scheduler", "--port", "0", "--no-dashboard", "--no-show", "--host", "127.0.0.1")
        self.address = self._said(log, r"Scheduler at:\s+(tcp://\S+)")
        self.workers = [self._worker() for _ in range(2)]

    def _worker(self) -> subprocess.Popen[str]:
        options = ("--nthreads", "1", "--nworkers", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1")
        log = self._begin("worker", self.address, *options)
        self._said(log, r"Registered to:")
        return self.processes[-1]

    def _begin(self, *words: str) -> Path:
        log = self.folder / f"{len(self.processes)}.log"
        with log.open("w") as file:
            self.processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    cwd=self.folder,
                    env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
                    text=True,
                )
            )
        return log

    @staticmethod
    def _said(log: Path, pattern: str) -> str:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            found = re.search(pattern, log.read_text())
            if found:
                return found[1] if found.groups() else found[0]
            time.sleep(0.05)
        raise AssertionError(log.read_text())

    def close(self) -> None:
        """End all processes."""
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Return a running cluster."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    made.close()


def test_a_worker_that_is_killed(cluster: Cluster, course: Path, tmp_path: Path) -> None:
    """What the lost worker had is done again by the other; all bytes are those of a local run."""
    hand_ins = tmp_path / "hand-ins"
    hand_ins.mkdir()
    for number in range(24):
        word = ("right", "wrong", "look")[number % 3]
        text = f"def say():\n    total = sum(range({number} * 100_000))\n    return {word!r}\n"
        (hand_ins / f"{number:02}.py").write_text(text, encoding="utf-8")
    words = ("batch", hand_ins, "--course", course, "--isolation", "process", "--seed", 7)
    local = grade(*words, "--out", tmp_path / "a")
    assert local.returncode == 0

    out = tmp_path / "b"
    engine = ("--engine", "dask", "--scheduler", cluster.address)
    process = start(*words, "--out", out, *engine, cwd=tmp_path, env={})
    until = time.monotonic() + 60
    while len(list(out.glob("*/result.json"))) < 8 and time.monotonic() < until:
        time.sleep(0.01)
    cluster.workers[0].send_signal(signal.SIGKILL)
    said, err = process.communicate(timeout=120)

    assert process.returncode == 0, (said, err)
    assert "24 of 24 graded" in said
    assert everything(out) == everything(tmp_path / "a")


def test_all_workers_are_gone(cluster: Cluster, course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for ever: the run ends, and what was graded stays."""
    monkeypatch.setattr(run_module, "MAX_ALONE", 2)
    (tmp_path / "a.py").write_text("def say():\n    return 'right'\n")
    attempt = Attempt(key="a.py", learners=(), files=(HandedFile(name="a.py", path=tmp_path / "a.py"),))
    with (
        Journal(tmp_path / "out", new=True) as journal,
        open_engine("dask", jobs=1, scheduler=cluster.address) as engine,
    ):
        journal.plan(entries_of([attempt], journal, flat=True, expected=(), picks={}))
        facts = Facts(
            source="", kind="folder", title="", seed=1, hidden="00", course=str(course), assignment="say", version="",
            digest="", max_cents=0, isolation="", hints=3,
        )  # fmt: skip
        setup = setup_of(journal, facts, isolation="process", here=False)
        run = Run(journal, engine.executor, setup, workers=engine.workers)
        run.introduce(engine.workers())
        for worker in cluster.workers:
            worker.kill()
        with pytest.raises(EnvironmentFault, match="workers of the cluster have gone"):
            list(run.grade(journal.entries(), {}))


def test_what_is_missing_is_said(tmp_path: Path, course: Path) -> None:
    """No address, or nobody there: one sentence."""
    (tmp_path / "a.py").write_text("")
    words = ("batch", tmp_path, "--course", course, "--engine", "dask")
    one_sentence(grade(*words, "--out", tmp_path / "a"), 2, "--scheduler")
    one_sentence(grade(*words, "--out", tmp_path / "b", "--scheduler", "tcp://127.0.0.1:9"), 4, "No Dask scheduler")
