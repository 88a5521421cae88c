"""From the executions so far to the notebook as it stands: pure, and no code is run."""

from __future__ import annotations

import re
import symtable
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Run", "as_it_stands"]

MAX_READ = 200_000
"""Characters. Of a longer cell it isn't asked which names it uses."""

_DEFINED = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution.

    Attributes:
        number: As the notebook shows it beside the cell.
        source: As it was typed.
        python: The same as IPython made plain Python of it; it is only looked at for names.
        cell: What the frontend calls the cell, or ``""``.
        failed: Whether it ended with an error.
    """

    number: int
    source: str
    python: str
    cell: str = ""
    failed: bool = False


@dataclass(slots=True, kw_only=True)
class _Cell:
    """A cell with its executions, and the names that its last one binds and needs."""

    runs: list[Run]
    binds: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return next((run.cell for run in self.runs if run.cell), "")

    @property
    def last(self) -> Run:
        return self.runs[-1]

    @property
    def place(self) -> int:
        """The first execution that went well: by then all that the cell needs had been run. Else the last one."""
        return next((run.number for run in self.runs if not run.failed), self.last.number)


def as_it_stands(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return each cell once, with the text that was run last, in the order that a run from the top would have.

    Executions of one cell are told by the frontend's name for it. Where it gives none, they are those of the same text,
    or of text that defines the same functions and classes. A cell stands where it first went well: whoever mends a
    function at the top and runs that cell again has changed the notebook there, and not at its end. A cell that uses
    a name which only a later one binds comes after that one: it was put above it later.
    """
    cells: list[_Cell] = []
    for run in runs:
        if not run.source.strip():
            continue
        cell = _cell_of(run, cells)
        if cell is None:
            cells.append(_Cell(runs=[run]))
        else:
            cell.runs.append(run)
    for cell in cells:
        cell.binds, cell.needs = _names(cell.last.python)
    return tuple(cell.last for cell in _settled(sorted(cells, key=lambda cell: cell.place)))


def _cell_of(run: Run, cells: Sequence[_Cell]) -> _Cell | None:
    """Find the cell that ``run`` is of: by its name, else by its text among those that can't be told by their names."""
    latest = list(reversed(cells))
    named = next((cell for cell in latest if run.cell and cell.name == run.cell), None)
    return named or next((cell for cell in latest if not (run.cell and cell.name) and _alike(cell.last, run)), None)


def _alike(before: Run, now: Run) -> bool:
    if before.source.strip() == now.source.strip():
        return True
    defined = _defined(now.source)
    return bool(defined) and defined == _defined(before.source)


@lru_cache(maxsize=4096)
def _defined(source: str) -> frozenset[str]:
    return frozenset(_DEFINED.findall(source))


def _settled(cells: Sequence[_Cell]) -> list[_Cell]:
    """Put a cell behind those that bind what it needs and nothing before it binds; keep the order otherwise."""
    waiting = list(cells)
    unbound = Counter(name for cell in waiting for name in cell.binds)
    bound: set[str] = set()
    settled = []
    while waiting:
        ready = (cell for cell in waiting if not any(unbound[name] for name in cell.needs - bound))
        # Where two need each other, as functions may, they stay as they are.
        cell = next(ready, waiting[0])
        waiting.remove(cell)
        unbound.subtract(cell.binds)
        bound |= cell.binds
        settled.append(cell)
    return settled


def _names(python: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a cell binds and, of those that it doesn't, the ones that it uses."""
    if len(python) > MAX_READ:
        return frozenset(), frozenset()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            top = symtable.symtable(python, "<cell>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(), frozenset()
    binds = {name.get_name() for name in top.get_symbols() if name.is_assigned() or name.is_imported()}
    needs: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        needs |= {
            name.get_name()
            for name in table.get_symbols()
            if name.is_referenced() and (table is top or name.is_global())
        }
    return frozenset(binds), frozenset(needs - binds)
