"""Draws random numbers again from recorded states, each time in a process of its own that may crash, hang or starve.

No student code runs here, but the states come from where it ran: they have been checked field by field, and still
nothing that happens here can hurt the grader. Where the system can, this process has NumPy loaded and looks at nothing
itself: it forks a child for each request, so that no request can change what a later one gets.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import limits, wire

BIT_GENERATORS: dict[str, Any] = {
    name: getattr(np.random, name) for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
}


def _generator(kind: str, bit_generator: str, state: dict[str, Any]) -> Any:
    made = BIT_GENERATORS[bit_generator]()
    if kind == "RandomState":
        legacy = np.random.RandomState(made)
        legacy.set_state(state)
        return legacy
    made.state = state
    return np.random.Generator(made)


def _draw(generator: Any, method: str, args: list[float], shape: tuple[int, ...], dtype: str) -> Any:
    legacy = isinstance(generator, np.random.RandomState)
    size = shape or None
    if method in ("randn", "rand"):
        return {"randn": generator.randn, "rand": generator.rand}[method](*shape)
    if method in ("normal", "uniform"):
        return {"normal": generator.normal, "uniform": generator.uniform}[method](*args, size=size)
    if method == "random_sample":
        return generator.random_sample(size)
    drawing = {"standard_normal": generator.standard_normal, "random": generator.random}[method]
    return drawing(size) if legacy else drawing(size, dtype=np.dtype(dtype))


def replay(sources: list[Any], steps: list[Any]) -> bytes:
    """Return all numbers of ``steps`` as little-endian doubles."""
    generators = [_generator(kind, name, _mapping(state)) for kind, name, state in sources]
    parts = []
    for source, method, args, shape, dtype, count in steps:
        for _ in range(count):
            drawn = _draw(generators[source], method, args, tuple(shape), dtype)
            parts.append(np.asarray(drawn, dtype="<f8").tobytes())
    return b"".join(parts)


def _mapping(state: Any) -> Any:
    if isinstance(state, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in state):
        return {key: _mapping(value) for key, value in state}
    return state


def main() -> None:
    """Answer requests, each in a child, until there are no more; where nothing can be forked, one."""
    requests, replies = os.dup(0), os.dup(1)
    if not hasattr(os, "fork"):
        _answer(*wire.read_frame(requests), replies)
        os._exit(0)
    while True:
        try:
            head, payload = wire.read_frame(requests)
        except EOFError:
            os._exit(0)
        child = os.fork()
        if not child:
            try:
                os.close(requests)
                _answer(head, payload, replies)
            finally:
                os._exit(1)
        if os.waitpid(child, 0)[1]:
            wire.write_all(replies, wire.frame({"id": "replay", "kind": "crashed"}, []))


def _answer(head: dict[str, Any], payload: bytes, replies: int) -> None:
    limits.apply(head["memory"], head["cpu"])
    states = [wire.decode(tree, head["arrays"], payload, readonly=False) for tree in head["states"]]
    sources = [(*names, state) for names, state in zip(head["sources"], states, strict=True)]
    numbers = replay(sources, head["steps"])
    wire.write_all(replies, wire.frame({"id": "replay", "kind": "returned"}, [numbers]))
    os._exit(0)
