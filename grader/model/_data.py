"""The one dataclass flavour of the vocabulary: frozen, slotted, keyword-only; and made without compiling anything.

``dataclasses`` writes and compiles half a dozen methods for each class, and imports ``inspect`` to do so. With some
ninety classes that was a fifth of the time of grading one file. The methods here are shared or closures instead; an
object is made as fast as by ``dataclasses``. What asks with ``dataclasses.fields``, ``replace`` or ``is_dataclass``
gets the same answers: the description that these look for is made when it is asked for.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import Field, field, replace
else:

    class field:
        """Describes a field whose default is made for each object."""

        def __init__(self, *, default_factory):  # noqa: ANN001, ANN204 - see dataclasses.field
            self.default_factory = default_factory

    def replace(item, /, **changes):  # noqa: ANN001, ANN003, ANN202 - see dataclasses.replace
        """Return a copy of ``item`` with other values in some of its fields."""
        return type(item)(**{name: getattr(item, name) for name in item.__slots__ if name not in changes}, **changes)


__all__ = ["REQUIRED", "data", "distinct", "field", "fields_of", "is_data", "replace"]

T = TypeVar("T")

REQUIRED = object()
"""In place of the default of a field that has none."""

_FIELDS: dict[Any, dict[str, Any]] = {}
"""The fields of every class, with their defaults."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def data(cls: type[T]) -> type[T]:
    """Turn ``cls`` into a frozen, slotted class whose fields are keyword-only, and whose objects compare by value."""
    made, names = _with_fields(cls)
    # One name alone would be got bare, and a NaN isn't equal to itself unless a tuple holds it.
    values: Callable[[Any], tuple[Any, ...]] = (
        attrgetter(*names) if len(names) > 1 else lambda item: tuple(getattr(item, name) for name in names)
    )

    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    for method in (__eq__, __hash__):
        setattr(made, method.__name__, method)
    return made


@dataclass_transform(eq_default=False, frozen_default=True, kw_only_default=True)
def distinct(cls: type[T]) -> type[T]:
    """As ``data``, but no object equals another one: for what holds arrays, which have no one answer to ``==``."""
    return _with_fields(cls)[0]


def is_data(kind: object) -> bool:
    """Whether ``kind`` is a class of this flavour."""
    return kind in _FIELDS


def fields_of(kind: type) -> Mapping[str, Any]:
    """Return the fields of a class in their order, each with its default, or ``REQUIRED`` if it has none to compare."""
    return _FIELDS[kind]


def _with_fields(cls: type[T]) -> tuple[type[T], tuple[str, ...]]:
    """Return ``cls`` made anew with a slot for each annotation, and the slots' names."""
    names = tuple(cls.__annotations__)
    body = dict(vars(cls))
    defaults = {name: body.pop(name) for name in names if name in body}
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    body |= {
        "__slots__": names,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__reduce__": _reduce,
        "__repr__": _repr,
        "__dataclass_fields__": _Described(),
    }
    made: Any = type(cls.__name__, cls.__bases__, body)
    made.__init__ = _initialiser(made, names, defaults)
    _FIELDS[made] = {name: defaults.get(name, REQUIRED) for name in names}
    return made, names


def _initialiser(cls: type, names: tuple[str, ...], defaults: Mapping[str, Any]) -> Callable[..., None]:
    # A slot's own setter doesn't ask __setattr__, which refuses.
    setters = tuple((name, vars(cls)[name].__set__) for name in names)
    factories = {name: made.default_factory for name, made in defaults.items() if hasattr(made, "default_factory")}
    plain = {name: value for name, value in defaults.items() if name not in factories}
    count = len(names)

    def __init__(self: Any, /, **given: Any) -> None:
        values = given
        if len(given) < count:
            values = plain | given
            for name, factory in factories.items():
                if name not in given:
                    values[name] = factory()
        try:
            for name, put in setters:
                put(self, values[name])
        except KeyError as error:
            raise TypeError(f"{cls.__name__} needs the argument {error}") from None
        if len(values) > count:
            unknown = next(name for name in values if name not in names)
            raise TypeError(f"{cls.__name__} has no argument {unknown!r}")

    return __init__


def _refuse(self: Any, name: str, value: object = None) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{name!r} of {type(self).__name__} can't be changed")


def _reduce(self: Any) -> tuple[Any, ...]:
    """Let ``copy`` make objects anew rather than fill empty ones, which are frozen."""
    return _rebuilt, (type(self), {name: getattr(self, name) for name in self.__slots__})


def _rebuilt(cls: type[T], values: dict[str, Any]) -> T:
    return cls(**values)


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{type(self).__qualname__}({shown})"


class _Described:
    """Stands for ``__dataclass_fields__``, the attribute by which ``dataclasses`` knows its own, until somebody asks.

    Most runs never do, and so never import ``dataclasses``.
    """

    def __get__(self, item: object, owner: Any) -> dict[str, Field[Any]]:
        import dataclasses

        body: dict[str, Any] = {"__annotations__": owner.__annotations__, "__doc__": owner.__doc__}
        for name, default in _FIELDS[owner].items():
            if hasattr(default, "default_factory"):
                body[name] = dataclasses.field(default_factory=default.default_factory)
            elif default is not REQUIRED:
                body[name] = default
        # With all that would be compiled left out, this only describes.
        describe = dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=True)
        found: dict[str, Field[Any]] = describe(type(owner.__name__, (), body)).__dataclass_fields__  # type: ignore[attr-defined]  # it has them now
        owner.__dataclass_fields__ = found
        return found
