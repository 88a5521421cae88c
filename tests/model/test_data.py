"""The classes of the vocabulary behave as frozen, slotted, keyword-only dataclasses do."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import pytest

from grader.model import Call, Criterion, Limits, Outcome, Task
from grader.model._data import REQUIRED, data, distinct, field, fields_of, is_data, replace


@data
class Point:
    """A point with a name."""

    x: float
    y: float = 0.0
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def both(self) -> tuple[float, float]:
        """Both numbers."""
        return self.x, self.y


@data
class Lone:
    """One field."""

    value: object


@distinct
class Thing:
    """Equal to itself alone."""

    value: object = None


def test_fields_are_given_by_name_and_defaults_fill_the_rest() -> None:
    """What isn't given has its default, one of its own where the field asks for that."""
    one, two = Point(x=1.0), Point(x=1.0, y=2.0, names={"a": "b"})

    assert (one.both, two.both, one.names, two.names) == ((1.0, 0.0), (1.0, 2.0), {}, {"a": "b"})
    assert one.names is not Point(x=1.0).names


@pytest.mark.parametrize(
    "given, said",
    [
        pytest.param({}, "Point needs the argument 'x'", id="missing"),
        pytest.param({"y": 1.0}, "Point needs the argument 'x'", id="missing, another given"),
        pytest.param({"x": 1.0, "z": 1.0}, "Point has no argument 'z'", id="unknown"),
        pytest.param({"x": 1.0, "y": 1.0, "names": {}, "z": 1.0}, "Point has no argument 'z'", id="one too many"),
        pytest.param({"y": 1.0, "names": {}, "z": 1.0}, "Point needs the argument 'x'", id="the wrong one"),
    ],
)
def test_wrong_arguments_are_named(given: dict[str, Any], said: str) -> None:
    """Neither a forgotten nor a misspelt argument goes through."""
    with pytest.raises(TypeError, match=said):
        Point(**given)


def test_places_are_no_arguments() -> None:
    """All are keywords."""
    with pytest.raises(TypeError):
        Point(1.0)  # type: ignore[call-arg]  # that it is refused is the test


def test_nothing_can_be_changed() -> None:
    """Neither a field nor another name can be set or deleted, and there is no room for more."""
    point = Point(x=1.0)
    for name in ("x", "z"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(point, name, 2.0)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(point, name)

    assert not hasattr(point, "__dict__")


def test_equal_by_value() -> None:
    """The same values, the same object as far as anybody can tell; another class is something else."""
    assert Limits(call_seconds=2.0) == Limits(call_seconds=2.0) != Limits()
    assert len({Lone(value=1), Lone(value=1), Lone(value=2)}) == 2
    assert Lone(value=1) != object()
    assert Lone(value=math.nan) == Lone(value=math.nan)  # the same NaN, as in a tuple


def test_distinct_things_equal_themselves() -> None:
    """By identity, and they can be keys whatever they hold."""
    one, two = Thing(value=[1]), Thing(value=[1])

    assert one == one != two
    assert len({one, two}) == 2


def test_shown_as_they_are_typed() -> None:
    """``repr`` gives what makes the same object."""
    assert repr(Point(x=1.0)) == "Point(x=1.0, y=0.0, names={})"


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
def test_copies_are_equal(how: Any) -> None:
    """A copy is made anew, since nothing can be put into an empty one."""
    point = Point(x=1.0, names={"a": "b"})

    assert how(point) == point
    assert how(point) is not point


@pytest.mark.parametrize("change", [replace, dataclasses.replace], ids=["ours", "the library's"])
def test_replaced_fields(change: Any) -> None:
    """A copy has other values in the fields named; an unknown name is refused."""
    task = Task(id="a", function="f", signature="f()", criteria=(Criterion(id="c", points=1),))

    assert change(task, id="b") == Task(id="b", function="f", signature="f()", criteria=task.criteria)
    with pytest.raises(TypeError, match="nothing"):
        change(task, nothing=1)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """The point as the library makes it."""

    x: float
    y: float = 0.0
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)


def test_the_library_sees_a_dataclass() -> None:
    """``dataclasses`` says of it what it says of its own."""
    mine, theirs = dataclasses.fields(Point), dataclasses.fields(Twin)
    told = [(one.name, one.type, one.default, one.default_factory, one.kw_only, one.init) for one in mine]

    assert told == [(one.name, one.type, one.default, one.default_factory, one.kw_only, one.init) for one in theirs]
    assert dataclasses.asdict(Point(x=1.0)) == dataclasses.asdict(Twin(x=1.0))
    assert dataclasses.is_dataclass(Point)


def test_fields_and_their_defaults() -> None:
    """In the order of the class."""
    assert dict(fields_of(Criterion)) == {
        "id": REQUIRED,
        "points": REQUIRED,
        "core": False,
        "requires": "",
        "hidden": False,
    }
    assert is_data(Outcome)
    assert is_data(Thing)
    assert not any(is_data(other) for other in (int, Twin, Call.__init__, None, tuple[int]))


def test_a_default_of_the_library_counts() -> None:
    """``dataclasses.field`` does as well."""

    @data
    class Other:
        """With a default of the library's."""

        items: list[int] = dataclasses.field(default_factory=list)

    assert Other().items == []
    assert Other().items is not Other().items
    assert dataclasses.fields(Other)[0].default_factory is list
