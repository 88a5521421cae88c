"""How fast is it? Everything is measured in one run, interleaved, on one machine; what counts are the ratios.

Run from the checkout: ``python -m benchmarks.speed --install`` once for the peers, then ``python -m benchmarks.speed``.
It prints tables in Markdown, and writes ``speed.svg``; ``--write`` puts both into ``README.md``. A figure is the
median of the runs.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks import hand_ins, measure, peer_tools, picture
from benchmarks.lives import ABSENT, BACKENDS
from grader import __version__

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MARKS = ("<!-- speed: begin -->", "<!-- speed: end -->")
STARTS = 5
"""Processes of (a) in each run, of each kind in turn."""


@dataclass
class Figures:
    """What was measured; every list has one entry for each run, in seconds or bytes."""

    numpy: list[float] = field(default_factory=list)
    file: list[float] = field(default_factory=list)
    graders: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    sizes: dict[int, list[tuple[float, float, int]]] = field(default_factory=dict)
    lives: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    isolation: str = ""


def main() -> int:
    """Measure, print, write."""
    options = _parser().parse_args()
    if options.install:
        peer_tools.install(options.peers)
        return 0
    # As users have it: an installed package lies there compiled, and so does a checkout once it has run.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="speed-") as folder:
        work = Path(folder)
        figures.isolation = _isolation(options.isolation, work)
        for number in range(options.runs):
            _say(f"run {number + 1} of {options.runs}")
            if "a" in options.only:
                _starts(figures, work)
            if "b" in options.only:
                _against_peers(figures, options, work)
            if "c" in options.only:
                _sizes(figures, options, work)
            if "d" in options.only:
                _lives(figures, options.lives)
    text = "\n".join(_report(figures, options))
    print(text)
    drawn = picture.draw(
        {name: statistics.median(cpu for _, cpu in runs) for name, runs in figures.graders.items()},
        {size: statistics.median(wall for wall, _, _ in runs) / size for size, runs in figures.sizes.items()},
    )
    if drawn:
        (HERE / "speed.svg").write_text(drawn, encoding="utf-8")
    if options.write:
        page = HERE / "README.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
        page.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    made.add_argument("--install", action="store_true", help="make the environments of the peers, and stop")
    made.add_argument("--peers", type=Path, default=Path.home() / ".cache" / "numgrade-peers", help="where they are")
    made.add_argument("--runs", type=int, default=3, help="runs, of which the median counts (default: 3)")
    made.add_argument("--each", type=int, default=20, help="hand-ins for each grader in (b) (default: 20)")
    made.add_argument("--sizes", type=_numbers, default=[10, 30, 100, 300, 1000], help="batches of (c), such as 10,100")
    made.add_argument("--lives", type=int, default=100, help="lives of each backend in (d) (default: 100)")
    made.add_argument("--isolation", default="auto", help="of (b) and (c) (default: auto)")
    made.add_argument("--jobs", type=int, default=1, help="of (c) (default: 1); in (b) every grader has one")
    made.add_argument("--only", default="abcd", help="parts to measure, such as ab (default: all)")
    made.add_argument("--write", action="store_true", help="put tables and picture into README.md")
    return made


def _numbers(text: str) -> list[int]:
    return sorted(int(part) for part in text.split(","))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# ---------------------------------------------------------------- measuring


def _grade(*words: str | Path, memory: bool = False) -> measure.Spent:
    """Run ``grade`` of this checkout."""
    command = [sys.executable, "-m", "grader", *words]
    spent = measure.run(command, cwd=ROOT, memory=memory)
    if spent.code:
        raise SystemExit(f"exit status {spent.code} of: {' '.join(map(str, command))}")
    return spent


def _isolation(wanted: str, work: Path) -> str:
    """Return the backend that ``wanted`` means here, as a batch of one says."""
    hand_ins.write(work / "one", 1)
    words = ["batch", work / "one", "--out", work / "one-out", "--isolation", wanted]
    command = [sys.executable, "-m", "grader", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    return done.stdout.partition("isolation ")[2].partition(";")[0]


def _starts(figures: Figures, work: Path) -> None:
    """Measure (a): a file's whole way against the one thing that can't be saved."""
    path = hand_ins.write(work / "file", 1)[0]
    _grade(path)
    for _ in range(STARTS):
        figures.numpy.append(measure.run([sys.executable, "-c", "import numpy"]).wall)
        figures.file.append(_grade(path).wall)


def _against_peers(figures: Figures, options: argparse.Namespace, work: Path) -> None:
    """Measure (b): every grader on the same files, one at a time."""
    files = hand_ins.write(work / "each", options.each)
    _say(f"  numgrade on {options.each}")
    out = work / "each-out"
    shutil.rmtree(out, ignore_errors=True)
    spent = _grade("batch", work / "each", "--out", out, "--jobs", "1", "--isolation", options.isolation)
    figures.graders.setdefault("numgrade", []).append((spent.wall / len(files), spent.cpu / len(files)))
    for peer in peer_tools.PEERS:
        if not (options.peers / peer.name / "ready").exists():
            if peer.name not in figures.absent:
                figures.absent.append(peer.name)
            continue
        _say(f"  {peer.name} on {options.each}")
        spent = peer_tools.grade_with(peer, options.peers, files, work / "peer")
        for number, path in enumerate(files):
            # Whoever doesn't run the checks is fast.
            points = peer_tools.points(peer, work / "peer", path.stem)
            if (points == peer_tools.ALL_POINTS) == hand_ins.has_mistake(number):
                raise SystemExit(f"{peer.name} gives {path.name} {points:g} points; see the log in {options.peers}")
        figures.graders.setdefault(peer.name, []).append((spent.wall / len(files), spent.cpu / len(files)))


def _sizes(figures: Figures, options: argparse.Namespace, work: Path) -> None:
    """Measure (c): does a hand-in of a large class take what one of a small class takes?"""
    for size in options.sizes:
        _say(f"  a batch of {size}")
        folder, out = work / f"class{size}", work / f"class{size}-out"
        hand_ins.write(folder, size)
        words = ("batch", folder, "--out", out, "--jobs", str(options.jobs), "--isolation", options.isolation)
        spent = _grade(*words, memory=True)
        figures.sizes.setdefault(size, []).append((spent.wall, spent.cpu, spent.peak))
        shutil.rmtree(out)
        shutil.rmtree(folder)


def _lives(figures: Figures, count: int) -> None:
    """Measure (d): what a life costs, without what starting the backend itself takes."""
    for name in (*BACKENDS, "fork"):
        command = [sys.executable, "-m", "benchmarks.lives", name]
        few, many = (measure.run([*command, str(lives)], cwd=ROOT) for lives in (1, count + 1))
        if ABSENT in (few.code, many.code):
            if name not in figures.absent:
                figures.absent.append(name)
        elif few.code or many.code:
            raise SystemExit(f"{name}: a life failed; run: {' '.join(command)} 1")
        else:
            figures.lives.setdefault(name, []).append(((many.wall - few.wall) / count, (many.cpu - few.cpu) / count))


# ---------------------------------------------------------------- telling


def _report(figures: Figures, options: argparse.Namespace) -> list[str]:
    lines = [f"{options.runs} runs, medians; {_machine()}; isolation `{figures.isolation}`."]
    if figures.absent:
        lines += ["", f"Absent here, so not measured: {', '.join(figures.absent)}."]
    if figures.file:
        ours, floor = statistics.median(figures.file), statistics.median(figures.numpy)
        rows = [["`python -c 'import numpy'`", _ms(floor), "1"], ["`grade FILE`", _ms(ours), f"{ours / floor:.2f}"]]
        lines += ["", "**(a) One file, by the clock**", "", *_table(["", "ms", "ratio"], rows)]
    if figures.graders:
        lines += ["", f"**(b) {options.each} different hand-ins, one at a time, for each of them**", ""]
        lines += _graders(figures, options.peers)
    if figures.sizes:
        lines += ["", f"**(c) Classes of different size, {options.jobs} at a time**", "", *_classes(figures)]
    if figures.lives:
        lines += ["", "**(d) A life of student code: start, load, three calls, end**", "", *_backends(figures)]
    return lines


def _graders(figures: Figures, peers: Path) -> list[str]:
    medians = {name: _medians(runs) for name, runs in figures.graders.items()}
    wall_of_ours, cpu_of_ours = medians["numgrade"]
    versions = {peer.name: peer_tools.version(peers, peer) for peer in peer_tools.PEERS} | {"numgrade": __version__}
    rows = [
        [f"{name} {versions[name]}", _ms(wall), _ms(cpu), f"{wall / wall_of_ours:.1f}", f"{cpu / cpu_of_ours:.1f}"]
        for name, (wall, cpu) in medians.items()
    ]
    return _table(["", "wall ms", "CPU ms", "wall, ratio", "CPU, ratio"], rows)


def _classes(figures: Figures) -> list[str]:
    rows = []
    smallest = min(figures.sizes)
    first = statistics.median(run[0] for run in figures.sizes[smallest])
    for size, runs in figures.sizes.items():
        wall, cpu, peak = (statistics.median(run[part] for run in runs) for part in range(3))
        more = f"{1000 * (wall - first) / (size - smallest):.1f}" if size > smallest else ""
        rows.append([str(size), _ms(wall / size), _ms(cpu / size), more, f"{peak / 2**20:.0f}"])
    heads = ["hand-ins", "wall ms each", "CPU ms each", f"wall ms of each beyond {smallest}", "peak memory, MiB"]
    return _table(heads, rows)


def _backends(figures: Figures) -> list[str]:
    medians = {name: _medians(runs) for name, runs in figures.lives.items()}
    floor = medians["fork"][1]
    rows = [
        [f"`{name}`" if name != "fork" else "bare fork, no isolation", _ms(wall), _ms(cpu), f"{cpu / floor:.1f}"]
        for name, (wall, cpu) in medians.items()
    ]
    return _table(["", "wall ms", "CPU ms", "CPU, ratio"], rows)


def _medians(runs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(wall for wall, _ in runs), statistics.median(cpu for _, cpu in runs)


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f}" if seconds < 0.1 else f"{1000 * seconds:.0f}"


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    line = "|---|" + "---:|" * (len(heads) - 1)
    return [f"| {' | '.join(heads)} |", line, *(f"| {' | '.join(row)} |" for row in rows)]


def _machine() -> str:
    cpu = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    load = os.getloadavg()[0]
    python = f"Python {platform.python_version()}, NumPy {np.__version__}"
    return f"{cpu}, {os.cpu_count()} CPUs, Linux {platform.release().partition('-')[0]}, {python}, load {load:.1f}"


if __name__ == "__main__":
    sys.exit(main())
