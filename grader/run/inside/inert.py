"""Modules that a lesson's cells import and grading doesn't need: plots, progress bars, notebook helpers.

Where such a module isn't installed, an inert one takes its place: every name in it can be called, entered,
indexed and iterated, and nothing happens. So a plot at the end costs nobody a point.
"""

from __future__ import annotations

import importlib.machinery
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


class Inert:
    """Accepts everything, does nothing, and is falsy and empty."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __getattr__(self, name: str) -> Inert:
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert()

    def __call__(self, *args: Any, **_: Any) -> Any:
        """Hand back what a decorator or a progress bar is put around; else another inert thing."""
        if args and (callable(args[0]) or isinstance(args[0], Iterable)) and not isinstance(args[0], (str, Inert)):
            return args[0]
        return Inert()

    def __getitem__(self, _: Any) -> Inert:
        return Inert()

    def __setitem__(self, _: Any, __: Any) -> None: ...

    def __iter__(self) -> Iterator[Any]:
        # Unpacking `fig, ax = plt.subplots()` asks for two.
        return iter((Inert(), Inert()))

    def __enter__(self) -> Inert:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __bool__(self) -> bool:
        return False

    def __format__(self, _: str) -> str:
        return ""

    def __lt__(self, _: object) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__


class _InertModule(types.ModuleType):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Subplots() if name == "subplots" else Inert()


class _Subplots(Inert):
    def __call__(self, *args: Any, **_: Any) -> Any:
        return Inert(), Inert()


class InertFinder:
    """Finds the modules named, and all below them; finder and loader in one.

    It has no base class: ``importlib.abc`` takes 5 ms to import, and import asks for methods only.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Claim a module of ours that nothing before us has found."""
        if fullname.partition(".")[0] not in self._names:
            return None
        loader: Any = self
        return importlib.machinery.ModuleSpec(fullname, loader, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Make the inert module."""
        return _InertModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


def install(names: Iterable[str]) -> None:
    """Let the modules in ``names`` be imported where they aren't installed; IPython and we are inert in any case."""
    sys.meta_path.insert(0, InertFinder(["IPython", "grader"]))
    sys.meta_path.append(InertFinder(names))
