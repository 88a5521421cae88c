"""The one dataclass flavour of the vocabulary: frozen, slotted, keyword-only."""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def data(cls: type[T]) -> type[T]:
    """Turn ``cls`` into a frozen, slotted dataclass whose fields are keyword-only.

    ``dataclass`` writes and compiles six methods for each class, and with some eighty classes that is a noticeable
    part of a start. Three of them need no code of their own.
    """
    make: Callable[[type[T]], type[T]] = dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
    made = make(cls)
    _add_methods(made, [field.name for field in fields(made)])  # type: ignore[arg-type]  # a dataclass by now
    return made


def _add_methods(cls: type, names: list[str]) -> None:
    # One name alone would be got bare, and a NaN isn't equal to itself unless a tuple holds it.
    values: Callable[[Any], tuple[Any, ...]] = (
        attrgetter(*names) if len(names) > 1 else lambda item: tuple(getattr(item, name) for name in names)
    )

    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    def __repr__(self: Any) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({shown})"

    for method in (__eq__, __hash__, __repr__):
        setattr(cls, method.__name__, method)
