"""Two hundred hostile submissions and some right ones, before a grader that has something to lose."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from tests.attacks.attack import Attack
from tests.attacks.promises import EVERYWHERE, NOT_PROMISED
from tests.attacks.ring import Ring, Unavailable
from tests.attacks.table import ATTACKS, SUBJECTS

pytestmark = [
    pytest.mark.slow,  # thousands of processes
    pytest.mark.skipif(sys.platform != "linux", reason="harm is looked for in /proc"),
]

CONTAINED = "landlock in a container"
PLACES = {
    # What ends at the wire or strikes in the worker's own code is the same everywhere: it is tried where the worker is
    # the one that most submissions get.
    "process": ("files", "processes", "kernel", "effort", "honest"),
    "landlock": tuple(SUBJECTS),
    "namespaces": ("files", "processes", "kernel", "effort", "honest"),
    CONTAINED: ("files", "processes", "kernel", "honest"),
}
"""Backends, and the subjects that are tried with each."""

ALIKE = frozenset(
    {
        *("slow_digits", "slow_pattern", "slow_sort", "slow_sum"),  # busy, as "loop" is
        *("pause", "read_nothing", "sleep"),  # asleep, as "deadlock" is
        *("clocks", "swallow"),  # nothing that the worker does keeps it alive: "ignore_signals", "loop_when_loaded"
        *("raise_what_ends", "recursion"),  # caught or ended inside, as "kill_oneself" is
    }
)
"""Attacks on time that a backend can't tell from another one of the table: one of them goes to each."""

CASES = [
    pytest.param(place, attack, id=f"{place}-{attack.name}".replace(" ", "_"))
    for place, subjects in PLACES.items()
    for subject in subjects
    for attack in SUBJECTS[subject]
    if place == "landlock" or attack.name not in ALIKE
]


Allowed = Literal["none", "listed", "exactly what is listed"]


class Rings:
    """One grader at a time, in a world of its own: it stays until a test wants another one."""

    def __init__(self, arenas: pytest.TempPathFactory) -> None:
        self._arenas = arenas
        self._place = ""
        self._ring: Ring | None = None
        self._allowed: Allowed = "none"

    def of(self, place: str) -> tuple[Ring, Allowed]:
        """Return the grader of this place, and what an attack may do there."""
        if self._ring is None or place != self._place:
            self.close()
            name, _, container = place.partition(" in a ")
            self._ring, self._place = Ring(self._arenas.mktemp("arena"), name, contained=bool(container)), place
            try:
                self._ring.begin()
            except Unavailable as error:
                self.close()
                pytest.skip(f"this machine doesn't offer {place}: {error}")
            self._allowed = _allowed(self._ring)
        return self._ring, self._allowed

    def close(self) -> None:
        """End it."""
        ring, self._ring = self._ring, None
        if ring is not None:
            ring.close()


def _allowed(ring: Ring) -> Allowed:
    """Return what an attack may do here. ``process`` stops what the kernel lets it stop: two attacks tell."""
    if ring.backend != "process":
        return "none"
    known = {attack.name: attack for attack in ATTACKS}
    open_ways = [bool(ring.run(known[name])["harms"]) for name in ("read_solution", "fork_many")]
    if not any(open_ways):
        return "none"
    return "exactly what is listed" if all(open_ways) and os.geteuid() == 0 else "listed"


@pytest.fixture(scope="module")
def rings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rings]:
    """Return what gives a grader for a place."""
    made = Rings(tmp_path_factory)
    yield made
    made.close()


@pytest.mark.parametrize("place, attack", CASES)
def test_attacks_do_no_harm(rings: Rings, place: str, attack: Attack) -> None:
    """An attack gains no point, learns no secret, harms nobody, and what is right in it keeps its points."""
    ring, allowed_harm = rings.of(place)
    answer = ring.run(attack)

    allowed = frozenset() if allowed_harm == "none" else NOT_PROMISED.get(attack.name, frozenset())
    harms = set(answer["harms"])
    assert harms - allowed == set(), answer
    assert attack.at_least <= answer["points"] <= attack.at_most, answer
    assert set(attack.reviewed) <= set(answer["reviewed"]), answer
    assert answer["ran"] or attack.silent, f"it never came to its attack: {answer}"
    if allowed_harm == "exactly what is listed":
        # Kept to what is true, so that docs/security.md promises neither too much nor too little.
        assert (allowed & EVERYWHERE) - harms == set(), f"`process` stops this now; take it out of the list: {answer}"


def test_there_are_enough_and_each_has_its_name() -> None:
    """Names are unique, since promises are kept by them, and every promise is about an attack that exists."""
    names = [attack.name for attack in ATTACKS]
    assert len(names) == len(set(names)) >= 100
    assert set(NOT_PROMISED) <= set(names)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Return what is found where a submission tells all secrets, and harm is done while it runs."""
    made = Ring(tmp_path_factory.mktemp("open"), "process", contained=False)
    lines = "\n".join(f"print({secret[:10]!r} + {secret[10:]!r})" for secret in made.world.secrets.values())
    left = Path("/tmp/LEFT_BY_AN_ATTACK_x")
    try:
        before = made.world.look()
        answer = made.run(Attack(name="open", tries="everything", source=f"print('ATTACK RUNS')\n{lines}\n"))
        # A backend may stop the rest, so it is done from here.
        (made.world.arena / "others" / "new").touch()
        left.touch()
        os.kill(made.world.sentinel.pid, 19)
        yield answer["harms"] + sorted(made.world.harms(before, made.world.processes()))
    finally:
        left.unlink(missing_ok=True)
        made.close()


@pytest.mark.parametrize("harm", ["tells a secret", "changes files", "slows a process", "leaves something"])
def test_harm_is_found(told: list[str], harm: str) -> None:
    """The watch is no blind one: what happens is seen."""
    assert harm in told
