"""A deadline evening: how many cores, how long a wait, how much disk, what does it cost?

Run from the checkout: ``python -m benchmarks.deadline``. Submissions arrive all evening, more and more towards the
deadline and most of all in the last minutes; each waits for the first free core, in order of arrival (FIFO). Service
times are drawn from measured ones (``python -m benchmarks.classes --times FILE``); some hang and take as long as they
may. Every assumption is an option; ``--help`` names them.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["Evening", "arrivals", "cores_needed", "fluid_cores", "main", "peak_rate", "services", "waits"]

Floats = npt.NDArray[np.float64]

MEASURED = Path(__file__).with_name("service_times.json")
TARGETS = (60, 300, 1800)
"""Seconds that 99 of 100 may wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evening:
    """When submissions arrive: a background all evening, a rise towards the deadline, and a rush at the end.

    Attributes:
        submissions: All of them.
        hours: From the beginning of the evening to the deadline.
        rise: Share whose density grows like exp(t / ``rise_minutes``) until the deadline.
        rush: Share that arrives evenly in the last ``rush_minutes``. The rest arrives evenly all evening.
    """

    submissions: int = 100_000
    hours: float = 6.0
    rise: float = 0.6
    rise_minutes: float = 60.0
    rush: float = 0.2
    rush_minutes: float = 10.0


def arrivals(evening: Evening, chance: np.random.Generator) -> Floats:
    """Return when submissions arrive: (submissions,), in seconds after the beginning, sorted."""
    end, tau = 3600 * evening.hours, 60 * evening.rise_minutes
    kind, place = chance.random((2, evening.submissions))
    # By the inverse of the truncated exponential's distribution.
    rising = end + tau * np.log(place + (1 - place) * math.exp(-end / tau))
    rushing = end - 60 * evening.rush_minutes * place
    times = np.where(kind < evening.rise, rising, np.where(kind < evening.rise + evening.rush, rushing, end * place))
    return np.sort(times)


def peak_rate(evening: Evening) -> float:
    """Return the arrivals a second at the deadline, where they are densest."""
    end, tau = 3600 * evening.hours, 60 * evening.rise_minutes
    density = (
        (1 - evening.rise - evening.rush) / end
        + evening.rise / tau / -math.expm1(-end / tau)
        + evening.rush / (60 * evening.rush_minutes)
    )
    return evening.submissions * density


def services(
    measured: Sequence[float], count: int, hung: float, hung_seconds: float, chance: np.random.Generator
) -> Floats:
    """Return what each of ``count`` submissions takes, in seconds; a share ``hung`` takes ``hung_seconds``."""
    drawn = chance.choice(np.asarray(measured, dtype=np.float64), size=count)
    return np.where(chance.random(count) < hung, hung_seconds, drawn)


def waits(arriving: Floats, serving: Floats, cores: int) -> Floats:
    """Return how long each waits, with one queue in order of arrival and ``cores`` equal servers.

    Args:
        arriving: (n,) seconds, sorted.
        serving: (n,) seconds.
        cores: At least 1.
    """
    free = [0.0] * cores
    waited = np.empty(len(arriving))
    for number, (arrival, service) in enumerate(zip(arriving.tolist(), serving.tolist(), strict=True)):
        begun = max(arrival, free[0])
        heapq.heapreplace(free, begun + service)
        waited[number] = begun - arrival
    return waited


def cores_needed(arriving: Floats, serving: Floats, seconds: float, quantile: float = 0.99) -> int:
    """Return the fewest cores with which that quantile of the waits is at most ``seconds``.

    With one queue in order of arrival one more core makes nobody wait longer, so bisection finds it.
    """

    def enough(cores: int) -> bool:
        return bool(np.quantile(waits(arriving, serving, cores), quantile) <= seconds)

    most = 1
    while not enough(most):
        most *= 2
    fewest = most // 2
    while most - fewest > 1:
        middle = (fewest + most) // 2
        fewest, most = (fewest, middle) if enough(middle) else (middle, most)
    return most


def fluid_cores(evening: Evening, mean_service: float, seconds: float) -> float:
    """Return the cores for which nobody waits longer than ``seconds``, if work flowed evenly (on paper).

    In the last T seconds work arrives at its highest rate a (in cores); with K cores (a - K) T of it is left at the
    deadline, and the last one waits for (a - K) T / K. That is ``seconds`` for K = a T / (T + seconds).
    """
    rush = 60 * evening.rush_minutes
    return peak_rate(evening) * mean_service * rush / (rush + seconds)


def main() -> int:
    """Simulate and print."""
    options = _parser().parse_args()
    told = json.loads(options.times.read_text(encoding="utf-8"))
    evening = Evening(
        submissions=options.submissions,
        hours=options.hours,
        rise=options.rise,
        rise_minutes=options.rise_minutes,
        rush=options.rush,
        rush_minutes=options.rush_minutes,
    )
    measured = [seconds * options.slower for seconds in told["seconds"]]
    evenings = []
    for number in range(options.evenings):
        chance = np.random.default_rng([options.seed, number])
        arriving = arrivals(evening, chance)
        evenings.append((arriving, services(measured, evening.submissions, options.hung, options.hung_seconds, chance)))
    print("\n".join(_report(evening, evenings, measured, options)))
    return 0


def _parser() -> argparse.ArgumentParser:
    own = Evening()
    made = argparse.ArgumentParser(prog="python -m benchmarks.deadline", description=(__doc__ or "").splitlines()[0])

    def add(name: str, default: float, what: str) -> None:
        made.add_argument(name, type=type(default), default=default, help=f"{what} (default: %(default)s)")

    add("--submissions", own.submissions, "of the evening")
    add("--hours", own.hours, "from the beginning of the evening to the deadline")
    add("--rise", own.rise, "share that rises exponentially towards the deadline")
    add("--rise-minutes", own.rise_minutes, "in which the rise grows by a factor of e")
    add("--rush", own.rush, "share of the last minutes")
    add("--rush-minutes", own.rush_minutes, "how many these are")
    add("--hung", 0.005, "share that hangs")
    add("--hung-seconds", 90.0, "what one that hangs takes")
    add("--slower", 1.0, "times that a core is slower than the measured one")
    add("--price", 0.05, "of a core for an hour, in any currency")
    add("--disk-kib", 480.0, "that a submission takes on the disk")
    add("--disk-price", 0.05, "of a GiB for a month")
    add("--evenings", 3, "simulated; the worst counts")
    add("--seed", 1, "of the simulation")
    made.add_argument("--times", type=Path, default=MEASURED, help="measured service times (default: those beside)")
    made.add_argument("--cores", type=_numbers, default=None, help="to tell the waits of, such as 20,40,80")
    return made


def _numbers(text: str) -> list[int]:
    return sorted(int(part) for part in text.split(","))


def _report(
    evening: Evening,
    evenings: Sequence[tuple[Floats, Floats]],
    measured: Sequence[float],
    options: argparse.Namespace,
) -> list[str]:
    usual = sum(measured) / len(measured)
    mean = (1 - options.hung) * usual + options.hung * options.hung_seconds
    hours = evening.submissions * mean / 3600
    at_peak = peak_rate(evening)
    disk = evening.submissions * options.disk_kib / 2**20
    hangs = f"{options.hung:.1%} hang for {options.hung_seconds:g} s"
    busy = f"{at_peak:.0f} arrivals a second at the deadline keep {at_peak * mean:.1f} cores busy"
    lines = [
        f"{evening.submissions:,} submissions in {evening.hours:g} hours; {len(measured)} measured service times",
        f"mean of these {usual:.3f} s; {hangs}; mean of all {mean:.3f} s",
        f"on paper: {hours:.1f} core-hours of work, {options.price * hours:.2f} at {options.price:g} each; {busy}",
        f"disk: {disk:.1f} GiB at {options.disk_kib:g} KiB each, {options.disk_price * disk:.2f} a month",
        "",
        "| 99 of 100 wait at most | cores on paper | cores simulated | price of the evening with so many |",
        "|---:|---:|---:|---:|",
    ]
    chosen: list[int] = []
    for seconds in TARGETS:
        needed = max(cores_needed(arriving, serving, seconds) for arriving, serving in evenings)
        chosen.append(needed)
        paper, price = fluid_cores(evening, mean, seconds), options.price * needed * evening.hours
        lines.append(f"| {seconds // 60} min | {paper:.1f} | {needed} | {price:.2f} |")
    lines += ["", "| cores | busy | wait: p50 | p95 | p99 | longest |", "|---:|---:|---:|---:|---:|---:|"]
    for cores in options.cores or sorted({*chosen, 2 * chosen[0], math.ceil(at_peak * mean)}):
        told = [np.quantile(waits(arriving, serving, cores), [0.5, 0.95, 0.99, 1]) for arriving, serving in evenings]
        cells = [_clock(seconds) for seconds in np.max(told, axis=0)]
        lines.append(f"| {cores} | {hours / cores / evening.hours:.0%} | {' | '.join(cells)} |")
    return lines


def _clock(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"


if __name__ == "__main__":
    sys.exit(main())
