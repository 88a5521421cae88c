"""Does a submission cost more in a large class? Time, memory, disk and the rate of judging again, by size.

Run from the checkout: ``python -m benchmarks.classes --sizes 100,300,1000``. All submissions are different, and nothing
is shared among them. ``--corpus DIR`` takes other submissions than those of the tests; ``--times FILE`` keeps what each
took, for ``benchmarks.deadline``; ``--write`` puts the tables into ``README.md``. What counts are the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks import classroom, measure
from grader.course import find_course
from grader.store.layout import FOLDER

__all__ = ["main"]

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MARKS = ("<!-- classes: begin -->", "<!-- classes: end -->")
HUNG = ("infinite_loop_in_entropy.py", "loop_that_swallows_everything.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured of one class: seconds and bytes, of the whole class.

    It is judged ``again`` with the same course, with ``one`` task's checks changed, and ``afresh``, every task.
    """

    size: int
    graded: measure.Spent
    bare_wall: float
    bare_cpu: float
    calls: float
    again: measure.Spent
    one: measure.Spent
    afresh: measure.Spent
    same: bool
    disk: dict[str, tuple[int, int]]
    load: float


def main() -> int:
    """Measure, print, write; 1 if judging again changed a byte."""
    options = _parser().parse_args()
    texts = classroom.sources(options.corpus)
    lines: list[str] = []
    figures: list[Figures] = []
    with tempfile.TemporaryDirectory(prefix="classes-", dir=options.work) as folder:
        work = Path(folder)
        isolation = ""
        for size in options.sizes:
            print(f"a class of {size}", file=sys.stderr, flush=True)
            isolation, measured = _measured(work, texts, size, options)
            figures.append(measured)
            lines = _report(figures, len(texts), isolation, options.jobs)
            print("\n".join(lines[-1:]), file=sys.stderr, flush=True)
        if options.times is not None:
            _keep_times(work, texts, options)
    text = "\n".join(lines)
    print(text)
    if options.write:
        page = HERE / "README.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
        page.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")
    return 0 if all(one.same for one in figures) else 1


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m benchmarks.classes", description=(__doc__ or "").splitlines()[0])
    made.add_argument("--sizes", type=_numbers, default=[10, 30, 100], help="of the classes (default: 10,30,100)")
    made.add_argument("--corpus", type=Path, nargs="+", default=(), help="folders with scripts to make them of")
    made.add_argument("--jobs", type=int, default=2, help="submissions at a time (default: %(default)s)")
    made.add_argument("--isolation", default="landlock", help="(default: %(default)s)")
    made.add_argument("--bare", type=int, default=100, help="submissions whose bare calls are made (default: 100)")
    made.add_argument("--times", type=Path, metavar="FILE", help="write what each submission took, as JSON")
    made.add_argument("--work", type=Path, metavar="DIR", help="where files lie meanwhile (default: the system's)")
    made.add_argument("--write", action="store_true", help="put the tables into README.md")
    return made


def _numbers(text: str) -> list[int]:
    return sorted(int(part) for part in text.split(","))


# ---------------------------------------------------------------- measuring


def _grade(*words: str | Path, log: Path | None = None) -> measure.Spent:
    command = [sys.executable, "-m", "grader", *words]
    spent = measure.run(command, cwd=ROOT, memory=True, log=log)
    if spent.code:
        raise SystemExit(f"exit status {spent.code} of: {' '.join(map(str, command))}")
    return spent


def _measured(work: Path, texts: Sequence[bytes], size: int, options: argparse.Namespace) -> tuple[str, Figures]:
    """Grade a class, make its bare calls, judge it again; return the isolation and the figures."""
    class_, out, log = work / "class", work / "out", work / "log"
    classroom.write(class_, texts, size)
    jobs = ("--jobs", str(options.jobs))
    load = os.getloadavg()[0]
    words = ("--isolation", options.isolation, "--no-share", "--seed", "1")
    graded = _grade("batch", class_, "--out", out, *jobs, *words, log=log)
    said = log.read_text(encoding="utf-8")
    if f"{size} of {size} graded" not in said:
        raise SystemExit(f"not all of {size} were graded:\n{said[-1000:]}")
    bare = _bare(out, min(size, options.bare))
    before = classroom.everything(out)
    disk = {name: _disk(paths) for name, paths in _parts(out).items()}
    again = _grade("regrade", out, *jobs)
    same = classroom.everything(out) == before
    course, changed = find_course().root, _changed_course(work / "course")
    one = _grade("regrade", out, "--course", changed, *jobs)
    afresh = _grade("regrade", out, "--course", course, "--afresh", *jobs)
    same = same and classroom.everything(out) == before
    for path in (class_, out, changed):
        shutil.rmtree(path)
    log.unlink()
    return re.findall(r"isolation (\w+);", said)[-1], Figures(
        size=size,
        graded=graded,
        bare_wall=bare["wall"],
        bare_cpu=bare["cpu"],
        calls=bare["calls"],
        again=again,
        one=one,
        afresh=afresh,
        same=same,
        disk=disk,
        load=load,
    )


def _changed_course(folder: Path) -> Path:
    """Write a copy of the course with another check of one task, that comes to the same."""
    for name in ("exercises", "reference", "reports"):
        shutil.copytree(find_course().root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "reference" / "attention" / "variance.py").open("a", encoding="utf-8") as file:
        file.write("\nANOTHER = True\n")
    return folder


def _bare(run: Path, count: int) -> dict[str, float]:
    """Return what the bare calls took for each submission."""
    # With one thread, as everywhere where submissions are graded.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.bare", str(run), str(count)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _parts(out: Path) -> dict[str, list[Path]]:
    kept = out / FOLDER
    return {
        "reports": [path for path in out.iterdir() if path != kept],
        "transcripts": [kept / "transcripts"],
        "hand-ins": [kept / "files"],
        "verdicts": [kept / "verdicts"],
        "journal": list(kept.glob("*.sqlite*")),
    }


def _disk(paths: Sequence[Path]) -> tuple[int, int]:
    """Return the bytes in files, and those that they take on the disk."""
    found = [below for path in paths for below in (path, *path.rglob("*"))]
    told = [path.lstat() for path in found]
    return (
        sum(one.st_size for path, one in zip(found, told, strict=True) if path.is_file()),
        sum(512 * one.st_blocks for one in told),
    )


def _keep_times(work: Path, texts: Sequence[bytes], options: argparse.Namespace) -> None:
    """Write what single submissions took from the first to the last: each text once for each CPU, and hung ones."""
    hung = [(classroom.DATA / f"{name}.txt").read_bytes() for name in HUNG]
    told = {
        "machine": machine(),
        "isolation": options.isolation,
        "load": round(os.getloadavg()[0], 1),
        "seconds": _each(work, texts, options.isolation),
        "hung": _each(work, hung, options.isolation),
    }
    options.times.write_text(json.dumps(told) + "\n", encoding="utf-8")


def _each(work: Path, texts: Sequence[bytes], isolation: str) -> list[float]:
    """Return the seconds between one result and the next, while every CPU grades one after the other.

    The first of each run, which waits for the start, is there once more and isn't counted.
    """
    runs = []
    for number in range(os.cpu_count() or 1):
        # Not all at the same text at the same time.
        turned = [*texts[number:], *texts[:number]]
        class_, out = work / f"class{number}", work / f"out{number}"
        classroom.write(class_, [turned[0], *turned], len(turned) + 1)
        words = ("--out", out, "--jobs", "1", "--isolation", isolation, "--no-share", "--seed", "1")
        command: list[str | Path] = [sys.executable, "-m", "grader", "batch", class_, *words]
        runs.append((subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL), class_, out))
    seconds: list[float] = []
    for process, class_, out in runs:
        if process.wait():
            raise SystemExit(f"exit status {process.returncode} of a run of {len(texts)}")
        ends = sorted(path.stat().st_mtime_ns for path in out.glob("*/result.json"))
        seconds += [round((after - before) / 1e9, 4) for before, after in pairwise(ends)]
        shutil.rmtree(class_)
        shutil.rmtree(out)
    return seconds


# ---------------------------------------------------------------- telling


def _report(figures: Sequence[Figures], texts: int, isolation: str, jobs: int) -> list[str]:
    loads = sorted(one.load for one in figures)
    what = f"{jobs} at a time; classes made of {texts} scripts, {figures[0].calls:.0f} calls each"
    lines = [
        f"One run; {machine()}, load before {loads[0]:.1f} to {loads[-1]:.1f}; isolation `{isolation}`, {what}.",
        "",
        "**Time of each submission, start and end of the run included**",
        "",
    ]
    heads = [
        "submissions",
        "wall ms",
        "CPU ms",
        "bare calls: wall ms",
        "CPU ms",
        "CPU, ratio",
        "the run itself: CPU ms",
    ]
    rows = [
        [
            str(one.size),
            f"{1000 * one.graded.wall / one.size:.0f}",
            f"{1000 * one.graded.cpu / one.size:.0f}",
            f"{1000 * one.bare_wall:.0f}",
            f"{1000 * one.bare_cpu:.0f}",
            f"{one.graded.cpu / one.size / one.bare_cpu:.1f}",
            f"{1000 * one.graded.own_cpu / one.size:.1f}",
        ]
        for one in figures
    ]
    lines += [*_table(heads, rows), "", "**Peak memory, MiB, shared pages counted once**", ""]
    heads = ["submissions", "all together", "the run", "its jobs", "student code", "judging again"]
    rows = [
        [str(one.size), *(f"{part / 2**20:.0f}" for part in (one.graded.peak, *one.graded.peaks, one.afresh.peak))]
        for one in figures
    ]
    lines += [*_table(heads, rows), "", "**Judging again: submissions a second, start and end included**", ""]
    heads = ["submissions", "nothing changed", "one task's checks changed", "every task", "CPU ms each", "bytes"]
    rows = [
        [
            str(one.size),
            *(f"{one.size / spent.wall:.0f}" for spent in (one.again, one.one, one.afresh)),
            " / ".join(f"{1000 * spent.cpu / one.size:.1f}" for spent in (one.again, one.one, one.afresh)),
            "the same" if one.same else "CHANGED",
        ]
        for one in figures
    ]
    lines += [
        *_table(heads, rows),
        "",
        "**Disk for each submission, KiB (in brackets: as the file system counts)**",
        "",
    ]
    names = list(figures[0].disk)
    rows = [
        [
            str(one.size),
            *(
                f"{in_files / one.size / 1024:.1f} ({on_disk / one.size / 1024:.1f})"
                for in_files, on_disk in (*one.disk.values(), _sum(one.disk.values()))
            ),
        ]
        for one in figures
    ]
    return [*lines, *_table(["submissions", *names, "all"], rows)]


def _sum(parts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    in_files, on_disk = zip(*parts, strict=True)
    return sum(in_files), sum(on_disk)


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    line = "|---:|" + "---:|" * (len(heads) - 1)
    return [f"| {' | '.join(heads)} |", line, *(f"| {' | '.join(row)} |" for row in rows)]


def machine() -> str:
    """Say on what was measured, without any path."""
    cpu = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    python = f"Python {platform.python_version()}, NumPy {np.__version__}"
    return f"{cpu}, {os.cpu_count()} CPUs, Linux {platform.release().partition('-')[0]}, {python}"


if __name__ == "__main__":
    sys.exit(main())
