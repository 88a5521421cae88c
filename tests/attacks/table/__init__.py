"""All attacks, by subject."""

from __future__ import annotations

import importlib
import pkgutil

from tests.attacks.attack import Attack

__all__ = ["ATTACKS"]

ATTACKS: tuple[Attack, ...] = tuple(
    attack
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name)
    for attack in importlib.import_module(f"{__name__}.{module.name}").ATTACKS
)
