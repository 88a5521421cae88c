"""All attacks, by subject."""

from __future__ import annotations

from tests.attacks.attack import Attack
from tests.attacks.table import (
    cheating,
    effort,
    files,
    honest,
    kernel,
    lasting,
    machinery,
    notebooks,
    processes,
    texts,
    values,
    wire,
)

__all__ = ["ATTACKS", "SUBJECTS"]

_MODULES = (cheating, effort, files, honest, kernel, lasting, machinery, notebooks, processes, texts, values, wire)
SUBJECTS: dict[str, tuple[Attack, ...]] = {module.__name__.rpartition(".")[2]: module.ATTACKS for module in _MODULES}
ATTACKS: tuple[Attack, ...] = tuple(attack for attacks in SUBJECTS.values() for attack in attacks)
