"""The one dataclass flavour of the vocabulary: frozen, slotted, keyword-only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def data(cls: type[T]) -> type[T]:
    """Turn ``cls`` into a frozen, slotted dataclass whose fields are keyword-only."""
    make: Callable[[type[T]], type[T]] = dataclass(frozen=True, slots=True, kw_only=True)
    return make(cls)
