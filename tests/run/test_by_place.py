"""Arguments by name, given to functions that have other names for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grader.run.inside.worker import by_place

WANTED = {"d_ks": 1, "n_keys": 2, "seed": 3}

RENAMED: dict[str, Callable[..., Any]] = {
    "the same": lambda d_ks, n_keys, seed: (d_ks, n_keys, seed),
    "two others": lambda dks, T, seed=0: (dks, T, seed),
    "all others": lambda widths=(4,), keys=8, s=0, verbose=False: (widths, keys, s),
    "another order": lambda seed, dims, keys: (dims, keys, seed),
    "by name only": lambda a, b, *, c: (a, b, c),
    "any name": lambda seed=0, **others: (others["d_ks"], others["n_keys"], seed),
}


@pytest.mark.parametrize("function", RENAMED.values(), ids=RENAMED)
def test_parameters_may_have_other_names(function: Callable[..., Any]) -> None:
    """What the function has no parameter for goes, in order, to the parameters that are free."""
    assert function(**by_place(function, 0, WANTED)) == (1, 2, 3)


TOO_FEW: dict[str, Callable[..., Any]] = {
    "none": lambda: None,
    "one": lambda seed=42: None,
    "one by place only": lambda d, /, seed: None,
    "a builtin": abs,
}


@pytest.mark.parametrize("function", TOO_FEW.values(), ids=TOO_FEW)
def test_too_few_parameters_are_the_functions_own_failure(function: Callable[..., Any]) -> None:
    """No argument is left out in silence: the call is made as it is, and fails."""
    assert by_place(function, 0, WANTED) == WANTED


def test_what_goes_by_place_stays_there() -> None:
    """An array that comes first isn't given twice."""

    def softmax(x: Any, dim: int = -1) -> Any:
        return x, dim

    assert softmax("x", **by_place(softmax, 1, {"axis": 0})) == ("x", 0)
