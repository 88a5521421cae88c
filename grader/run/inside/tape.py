"""Records the random numbers that NumPy gives to student code.

The module's functions, ``RandomState``, ``Generator`` and ``default_rng`` are replaced, before any student code
runs, by ones that note what they return. What is noted is the array that came back, never the arguments a second
time. The record is a claim like all else from this process: it can explain a value, it proves nothing by itself.
"""

from __future__ import annotations

import functools
import hashlib
import random
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_VALUE_BYTES = 64 * 1024
"""Up to this size the numbers themselves are sent; beyond it the generator's state, for a replay."""

MAX_REPLAY = 4_000_000
"""More numbers than these are never replayed, so no digest of them is made either."""

MAX_STEPS = 4_096
MAX_SOURCES = 64

RECORDED = {
    "randn": (), "standard_normal": (), "normal": ("loc", "scale"), "rand": (), "random": (), "random_sample": (),
    "uniform": ("low", "high"),
}  # fmt: skip
"""Methods that are recorded, with the names of the arguments that shape the distribution."""

DEFAULTS = {"loc": 0.0, "scale": 1.0, "low": 0.0, "high": 1.0}
_HARMLESS = frozenset(["get_state", "bit_generator", "spawn"])

_RandomState, _Generator, _default_rng = np.random.RandomState, np.random.Generator, np.random.default_rng
_asarray, _float64 = np.asarray, np.float64
_sha256 = hashlib.sha256
_LARGEST = float(np.finfo(np.float64).max)


class Tape:
    """The draws of one call."""

    def __init__(self) -> None:
        self.on = self.digests = False
        self.limit: int | None = MAX_VALUE_BYTES
        self.depth = 0
        self.fallback_seed = 0
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.sources: list[list[Any]] = []
        self.steps: list[list[Any]] = []
        self.values: bytearray | None = bytearray()
        self.complete = True
        self.total = 0
        self.others: list[str] = []
        self._open: dict[int, int] = {}
        self._keep: list[object] = []
        self._unseeded = 0

    def start(self, seed: int, wanted: str = "values", limit: int | None = MAX_VALUE_BYTES) -> None:
        """Begin a new record; ``seed`` serves generators that student code doesn't seed."""
        self.digests = wanted == "replay"
        self.limit = limit
        self.clear()
        self.depth = 0
        self.fallback_seed = seed
        self.on = True

    def stop(self) -> None:
        """End the record."""
        self.on = False

    def own_seed(self) -> list[int]:
        """Return a seed for a generator made without one: the same in every replay, another for each generator."""
        self._unseeded += 1
        return [self.fallback_seed, self._unseeded]

    def before(self, generator: Any) -> None:
        """Note the state of ``generator`` before its first draw."""
        if id(generator) in self._open or not self.on:
            return
        if len(self.sources) >= MAX_SOURCES:
            self.complete = False
            return
        legacy = isinstance(generator, _RandomState)
        state = generator.get_state(legacy=False) if legacy else generator.bit_generator.state
        self._open[id(generator)] = len(self.sources)
        self._keep.append(generator)
        self.sources.append(["RandomState" if legacy else "Generator", str(state["bit_generator"]), state, _sha256()])

    def after(self, generator: Any, method: str, args: list[float], result: Any) -> None:
        """Note a draw. Its shape is noted even where its numbers are too many to be kept or replayed."""
        source = self._open.get(id(generator))
        if not self.on or source is None or len(self.steps) >= MAX_STEPS:
            self.complete = self.complete and not self.on
            return
        array = _asarray(result)
        if array.dtype.kind != "f":
            self.complete = False
            return
        self.total += array.size
        if self.complete:
            self._keep_numbers(source, array)
        step = [source, method, args, list(array.shape), array.dtype.str]
        if self.steps and self.steps[-1][:5] == step:
            self.steps[-1][5] += 1
        else:
            self.steps.append([*step, 1])

    def _keep_numbers(self, source: int, array: Any) -> None:
        """Keep the numbers while they are few, their digest while a replay can make them again, else neither."""
        fits = self.values is not None and (self.limit is None or 8 * self.total <= self.limit)
        if not fits:
            self.values = None
            if not self.digests or self.total > MAX_REPLAY:
                self.complete = False
                return
        raw = array.astype(_float64).tobytes()
        if self.digests:
            self.sources[source][3].update(raw)
        if self.values is not None:
            self.values += raw

    def cut(self, generator: object) -> None:
        """The state of ``generator`` changed in a way that isn't recorded: its next draw begins anew."""
        self._open.pop(id(generator), None)


TAPE = Tape()


def _arguments(method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[float] | None:
    """Return the distribution's parameters if they are single plain numbers, else None."""
    found = []
    for position, name in enumerate(RECORDED[method]):
        item = args[position] if position < len(args) else kwargs.get(name, DEFAULTS[name])
        if type(item) not in (int, float, np.float64, np.int64, np.float32):
            return None
        number = float(item)
        if not -_LARGEST <= number <= _LARGEST:  # not a number, or infinite: no header can say it
            return None
        found.append(number)
    return found


def _recording(method: str, original: Callable[..., Any], owner: object = None) -> Callable[..., Any]:
    """Wrap a drawing method; ``owner`` is the generator of a module-level function."""

    def call(generator: Any, bound: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not TAPE.on or TAPE.depth:
            return bound(*args, **kwargs)
        # Read once, before the draw: objects may change between two looks.
        params = _arguments(method, args, kwargs)
        TAPE.depth += 1
        try:
            TAPE.before(generator)
            result = bound(*args, **kwargs)
        finally:
            TAPE.depth -= 1
        TAPE.after(generator, method if params is not None else method + "?", params or [], result)
        return result

    return _dressed(original, call, owner)


def _breaking(name: str, original: Callable[..., Any], owner: object = None) -> Callable[..., Any]:
    """Wrap a method that changes a generator's state without its numbers being recorded."""
    draws = name not in ("seed", "set_state", "jumped")

    def call(generator: Any, bound: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if TAPE.on and not TAPE.depth:
            TAPE.cut(generator)
            if draws and name not in TAPE.others and len(TAPE.others) < 32:
                TAPE.others.append(name)
        TAPE.depth += 1
        try:
            return bound(*args, **kwargs)
        finally:
            TAPE.depth -= 1

    return _dressed(original, call, owner)


def _dressed(original: Callable[..., Any], call: Callable[..., Any], owner: object) -> Callable[..., Any]:
    if owner is not None:

        @functools.wraps(original)
        def function(*args: Any, **kwargs: Any) -> Any:
            return call(owner, original, args, kwargs)

        return function

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(self, functools.partial(original, self), args, kwargs)

    return method


def _wrapped_methods(base: type) -> dict[str, Any]:
    methods: dict[str, Any] = {}
    for name in dir(base):
        original = getattr(base, name)
        if name.startswith("_") or not callable(original) or name in _HARMLESS:
            continue
        methods[name] = _recording(name, original) if name in RECORDED else _breaking(name, original)
    return methods


class _StandsFor(type):
    """The type of a replaced class: NumPy's own instances, such as copies, are instances of it too."""

    stands_for: type | None = None

    def __instancecheck__(cls, item: object) -> bool:
        return type.__instancecheck__(vars(cls).get("stands_for") or cls, item)

    def __subclasscheck__(cls, other: type) -> bool:
        return type.__subclasscheck__(vars(cls).get("stands_for") or cls, other)


def _replace_entropy() -> None:
    """Give what is made or seeded without a seed one of the call, wherever NumPy asks for chance."""
    module: Any = np.random.bit_generator
    chance: Callable[[int], int] | None = getattr(module, "randbits", None)
    if chance is None:  # a private name: without it such generators draw as ever, and are recorded as ever
        return

    def randbits(count: int) -> int:
        if not TAPE.on:
            return chance(count)
        digest = _sha256(repr(TAPE.own_seed()).encode()).digest()
        return int.from_bytes(digest * (count // 256 + 1), "big") & ((1 << count) - 1)

    module.randbits = randbits


def install() -> None:
    """Replace NumPy's ways to random numbers. Call once, before student code runs."""
    _replace_entropy()
    create: Any = _RandomState.__new__

    def new_state(cls: Any, seed: Any = None) -> Any:
        return create(cls, TAPE.own_seed() if seed is None and TAPE.on else seed)

    def init_state(self: Any, seed: Any = None) -> None:
        _RandomState.__init__(self, TAPE.own_seed() if seed is None and TAPE.on else seed)

    tapped_state = _StandsFor(
        "RandomState",
        (_RandomState,),
        {
            **_wrapped_methods(_RandomState),
            "__init__": init_state,
            "__new__": new_state,
            "__module__": "numpy.random",
            "stands_for": _RandomState,
        },
    )
    tapped_generator = _StandsFor(
        "Generator",
        (_Generator,),
        {**_wrapped_methods(_Generator), "__module__": "numpy.random", "stands_for": _Generator},
    )

    @functools.wraps(_default_rng)
    def default_rng(seed: Any = None) -> Any:
        if isinstance(seed, tapped_generator):
            return seed
        made = _default_rng(TAPE.own_seed() if seed is None and TAPE.on else seed)
        return tapped_generator(made.bit_generator)

    module: Any = np.random
    owner = module.mtrand._rand
    for name in dir(module):
        original = getattr(module, name)
        if getattr(original, "__self__", None) is owner and not name.startswith("_") and name not in _HARMLESS:
            setattr(
                module,
                name,
                _recording(name, original, owner) if name in RECORDED else _breaking(name, original, owner),
            )
    # The last two are functions of the module, not methods of its generator.
    for name in ("seed", "ranf", "sample"):
        original = getattr(module, name, None)
        if original is not None and not hasattr(original, "__wrapped__"):
            setattr(module, name, _breaking(name, original, owner))
    module.RandomState, module.Generator, module.default_rng = tapped_state, tapped_generator, default_rng


_global = np.random.mtrand._rand
_seed_global, _seed_python = _global.seed, random.seed


def seed_everything(seed: int) -> None:
    """Seed NumPy's global generator and Python's, so that unseeded student code replays too."""
    _seed_global(seed % (1 << 32))  # it takes no larger one
    _seed_python(seed)
