"""From executions to the notebook as it stands."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from grader.notebook.cells import Run, as_it_stands


def history(*runs: tuple[str, str] | tuple[str, str, bool]) -> list[Run]:
    """Make executions of (cell, source, failed)."""
    return [
        Run(number=number, source=source, python=source, cell=cell, failed=bool(more and more[0]))
        for number, (cell, source, *more) in enumerate(runs, start=1)
    ]


FAILED = True

CASES: dict[str, tuple[list[Run], list[int]]] = {
    "nothing": ([], []),
    "in order": (history(("a", "x = 1"), ("b", "y = x")), [1, 2]),
    "blank cells": (history(("a", " \n"), ("b", "y = 1")), [2]),
    "mended at its place": (history(("a", "x = 1"), ("b", "y = x"), ("a", "x = 2")), [3, 2]),
    "failed until what it needs was run": (
        history(("b", "y = f(1)", FAILED), ("a", "def f(x): return x"), ("b", "y = f(1)")),
        [2, 3],
    ),
    "put above later": (
        history(("a", "x = 1"), ("b", "y = x"), ("new", "import numpy as np"), ("b", "y = np.exp(x)")),
        [1, 3, 4],
    ),
    "two that need each other": (
        history(("a", "def f(): return g()"), ("b", "def g(): return f"), ("a", "def f(): return g() + 1")),
        [3, 2],
    ),
    "a name of its own isn't asked for elsewhere": (
        history(("a", "rng = 1\nprint(rng)"), ("b", "rng = 2"), ("a", "rng = 3\nprint(rng)")),
        [3, 2],
    ),
    "one text in two cells": (history(("a", "x += 1"), ("b", "x += 1")), [1, 2]),
    "never well": (history(("a", "1 / 0", FAILED), ("b", "x = 1"), ("a", "1 / 0", FAILED)), [2, 3]),
    "no names: the same text": (history(("", "x = 1"), ("", "y = x"), ("", "x = 1")), [3, 2]),
    "no names: the same function": (history(("", "def f(): ..."), ("", "y = f()"), ("", "def f(): return 1")), [3, 2]),
    "no names: another text": (history(("", "x = 1"), ("", "x = 2")), [1, 2]),
    "named from the second time on": (history(("", "def f(): ..."), ("a", "def f(): return 1")), [2]),
    "no Python": (history(("a", "f(?"), ("b", "x = 1"), ("a", "f(")), [3, 2]),
}


@pytest.mark.parametrize("title", CASES)
def test_what_stands(title: str) -> None:
    """Each cell stands once, with its last text, where a run from the top would have it."""
    runs, expected = CASES[title]

    assert [run.number for run in as_it_stands(runs)] == expected


@given(
    st.lists(
        st.tuples(st.sampled_from("abc "), st.text("xyz=+1()\n%?:"), st.booleans()).map(
            lambda item: (item[0].strip(), item[1], item[2])
        ),
        max_size=12,
    )
)
def test_whatever_was_run(runs: list[tuple[str, str, bool]]) -> None:
    """Any history gives each cell at most once, and no text that wasn't run."""
    given_runs = history(*runs)
    found = as_it_stands(given_runs)

    assert len({run.number for run in found}) == len(found)
    assert set(found) <= set(given_runs)
    named = [run.cell for run in found if run.cell]
    assert len(named) == len(set(named))
    assert bool(found) == any(run.source.strip() for run in given_runs)
