"""Is anything lost? A class is graded undisturbed, then killed three times and gone on with, then on a Dask cluster.

Run from the checkout: ``python -m benchmarks.survive CORPUS/right CORPUS/wrong --count 1000 --dask``. Every byte that a
run gives to people (reports, ``result.json``, ``gradebook.csv``) has to be the same each time. Kills are SIGKILL, at
moments chosen by ``--chance``: the first and third time of the run alone, whose jobs then see nobody to answer to; the
second time of all its processes at once, as when the power goes. Exit code 1 if anything is lost or differs.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import classroom, measure
from grader.store.layout import FOLDER

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
THREE = ("report.html", "fragment.html", "result.json")
NOT_ALL = 4
"""Exit code of a run in which something isn't graded; that is an end too."""

WAIT_SECONDS = 60.0
POLL_SECONDS = 0.02


class Trial:
    """One class, and the runs of it."""

    def __init__(self, work: Path, options: argparse.Namespace) -> None:
        self.work, self.count, self.faults = work, options.count, 0
        self.temporary = work / "tmp"
        self.temporary.mkdir()
        self._log = work / "log"
        isolation = ("--isolation", options.isolation, "--seed", str(options.seed), "--no-share")
        self._words = ["batch", str(work / "class"), *isolation]
        self.jobs = ["--jobs", str(options.jobs)]

    def start(self, out: Path, *words: str) -> subprocess.Popen[bytes]:
        """Start a run."""
        command = [sys.executable, "-m", "grader", *self._words, "--out", str(out), *(words or self.jobs)]
        with self._log.open("wb") as log:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, "TMPDIR": str(self.temporary)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def finish(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for a run's own end."""
        if process.wait() not in (0, NOT_ALL):
            raise SystemExit(f"exit status {process.returncode}:\n{self._log.read_text(encoding='utf-8')[-2000:]}")

    def check(self, holds: bool, claim: str) -> None:
        """Print a claim and whether it holds."""
        self.faults += not holds
        print(f"{'holds' if holds else 'FAILS'}  {claim}", flush=True)

    def all_there(self, out: Path) -> None:
        """Check that each submission is in the gradebook once, with reports or a reason."""
        with (out / "gradebook.csv").open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        names = Counter(row["file"] for row in rows)
        wanted = {path.name for path in (self.work / "class").iterdir()}
        graded = [row for row in rows if row["status"] == "graded"]
        reports = sum(all((out / row["folder"] / name).stat().st_size for name in THREE) for row in graded)
        reasons = sum(bool(row["reason"]) for row in rows if row["status"] != "graded")
        self.check(
            set(names) == wanted and set(names.values()) == {1} and reports + reasons == self.count,
            f"{len(rows)} of {self.count} are in the gradebook once: {reports} with reports, {reasons} with a reason",
        )

    def compare(self, out: Path, undisturbed: Mapping[str, bytes], what: str) -> None:
        """Check that a run gave the very bytes of the undisturbed one."""
        found = classroom.everything(out)
        differing = sorted(name for name in found.keys() | undisturbed if found.get(name) != undisturbed.get(name))
        kinds = Counter(Path(name).name for name in found)
        total = ", ".join(f"{count} {name}" for name, count in sorted(kinds.items()))
        size = sum(map(len, found.values()))
        self.check(
            not differing,
            f"{what}: {len(found)} files ({total}), {size} bytes, {len(differing)} differ from undisturbed; "
            f"SHA-256 of all: {digest(found)[:16]}",
        )
        for name in differing[:10]:
            print(f"       {name}: {_size(undisturbed, name)} undisturbed, {_size(found, name)} here")


def main() -> int:
    """Run the trial; 1 if something is lost or differs."""
    options = _parser().parse_args()
    chance = random.Random(options.chance)
    with tempfile.TemporaryDirectory(prefix="survive-", dir=options.work) as folder:
        trial = Trial(Path(folder), options)
        texts = classroom.sources(options.corpus)
        classroom.write(trial.work / "class", texts, options.count)
        print(f"{options.count} submissions, all different, made of {len(texts)} scripts", flush=True)

        out = trial.work / "undisturbed"
        began = time.monotonic()
        trial.finish(trial.start(out))
        print(f"undisturbed: {time.monotonic() - began:.0f} s")
        trial.all_there(out)
        undisturbed = classroom.everything(out)
        shutil.rmtree(out)

        _killed(trial, undisturbed, options.kills, chance)
        if options.dask:
            _on_dask(trial, undisturbed, chance)
    print(f"{trial.faults} faults")
    return 1 if trial.faults else 0


def digest(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 over names and bytes of files."""
    total = hashlib.sha256()
    for name in sorted(files):
        total.update(f"{name}\0{hashlib.sha256(files[name]).hexdigest()}\n".encode())
    return total.hexdigest()


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m benchmarks.survive", description=(__doc__ or "").splitlines()[0])
    made.add_argument("corpus", type=Path, nargs="*", help="folders with scripts to make submissions of")
    made.add_argument("--count", type=int, default=100, help="submissions (default: %(default)s)")
    made.add_argument("--jobs", type=int, default=2, help="at a time (default: %(default)s)")
    made.add_argument("--isolation", default="landlock", help="(default: %(default)s)")
    made.add_argument("--seed", type=int, default=1, help="of the runs (default: %(default)s)")
    made.add_argument("--kills", type=int, default=3, help="how often the run is killed (default: %(default)s)")
    made.add_argument("--chance", type=int, default=0, help="chooses the moments (default: %(default)s)")
    made.add_argument("--dask", action="store_true", help="also on a scheduler and two workers, one of them killed")
    made.add_argument("--work", type=Path, metavar="DIR", help="where files lie meanwhile (default: the system's)")
    return made


def _size(files: Mapping[str, bytes], name: str) -> str:
    return f"{len(files[name])} bytes" if name in files else "absent"


# ---------------------------------------------------------------- kill -9


def _killed(trial: Trial, undisturbed: Mapping[str, bytes], kills: int, chance: random.Random) -> None:
    """Kill the run, go on with it, and compare."""
    out = trial.work / "killed"
    transcripts = out / FOLDER / "transcripts"
    done_before = 0
    kept: dict[Path, int] = {}
    for kill in range(kills):
        process = trial.start(out, *trial.jobs, *(["--resume"] if kill else []))
        # One kill in each part of what is left, so that none of them comes after the end.
        wanted = done_before + chance.randrange(1, max(2, (trial.count - done_before) // (kills - kill + 1)))
        while process.poll() is None and _count(transcripts) < wanted:
            time.sleep(POLL_SECONDS)
        time.sleep(0.3 * chance.random())
        family = measure.family(process.pid)
        targets = list(family) if kill % 2 else [process.pid]
        for pid in targets:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if process.wait() != -signal.SIGKILL:
            raise SystemExit(f"the run ended before kill {kill + 1}, with {process.returncode}")
        done_before = _count(transcripts)
        kept = {path: path.stat().st_mtime_ns for path in out.glob("*/result.json")}
        who = f"all {len(targets)} processes" if kill % 2 else "the run alone"
        print(f"kill {kill + 1}: {who}, when {len(kept)} of {trial.count} had a result", flush=True)
    trial.finish(trial.start(out, *trial.jobs, "--resume"))
    again = sum(path.stat().st_mtime_ns != before for path, before in kept.items())
    # What each job had in hand and what the journal hadn't heard of yet is done again, and nothing else.
    trial.check(
        again <= 2 * int(trial.jobs[1]), f"of {len(kept)} that had a result at the last kill, {again} were done again"
    )
    trial.all_there(out)
    trial.compare(out, undisturbed, f"killed {kills} times")
    left = [path.name for path in trial.temporary.iterdir()]
    print(f"left in the temporary folder: {len(left)}")
    shutil.rmtree(out)


def _count(folder: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return sum(1 for entry in os.scandir(folder) if not entry.name.startswith("."))
    return 0


# ---------------------------------------------------------------- Dask


def _on_dask(trial: Trial, undisturbed: Mapping[str, bytes], chance: random.Random) -> None:
    """Grade on a cluster, kill a worker half-way, and compare."""
    out = trial.work / "dask"
    with _cluster(trial.work) as (address, workers):
        began = time.monotonic()
        process = trial.start(out, "--engine", "dask", "--scheduler", address)
        while process.poll() is None and _count(out) < trial.count // 2:
            time.sleep(POLL_SECONDS)
        time.sleep(chance.random())
        workers[0].send_signal(signal.SIGKILL)
        print(f"Dask: a worker killed, when {len(list(out.glob('*/result.json')))} had a result", flush=True)
        own = 0.0
        while process.poll() is None:
            own = max(own, measure.cpu_of(process.pid))
            time.sleep(0.1)
        trial.finish(process)
        each = 1000 * own / trial.count
        print(f"Dask: {time.monotonic() - began:.0f} s; the run itself used {each:.1f} ms of CPU for each")
        trial.all_there(out)
        trial.compare(out, undisturbed, "Dask, two workers, one killed")
    shutil.rmtree(out)


@contextlib.contextmanager
def _cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers; give its address, and the workers."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        here = ("--host", "127.0.0.1", "--no-dashboard")
        address = _said(_begin(started, folder, "scheduler", "--port", "0", "--no-show", *here), r"at:\s+(tcp://\S+)")
        for _ in range(2):
            words = ("worker", address, "--nthreads", "1", "--nworkers", "1", "--no-nanny", *here)
            _said(_begin(started, folder, *words), r"(Registered) to:")
        yield address, started[1:]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def _begin(started: list[subprocess.Popen[bytes]], folder: Path, kind: str, *words: str) -> Path:
    path = folder / f"dask{len(started)}.log"
    with path.open("wb") as log:
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        )
    return path


def _said(log: Path, pattern: str) -> str:
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        if found := re.search(pattern, log.read_text(encoding="utf-8")):
            return found[1]
        time.sleep(0.05)
    raise SystemExit(f"the cluster doesn't start:\n{log.read_text(encoding='utf-8')[-2000:]}")


if __name__ == "__main__":
    sys.exit(main())
