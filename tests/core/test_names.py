"""Names that are a slip of the right one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.names import MAX_NAME_LENGTH, MAX_NAMES, near_misses

ATTENTION = "scaled_dot_product_attention"


@pytest.mark.parametrize(
    "wanted, names, found",
    [
        pytest.param("softmax", ["Softmax"], ["Softmax"], id="case"),
        pytest.param("softmax", ["soft_max"], ["soft_max"], id="underscore"),
        pytest.param("softmax", ["SOFT_MAX_", "helper"], ["SOFT_MAX_"], id="shouted"),
        pytest.param("softmax", ["sofmax"], ["sofmax"], id="letter missing"),
        pytest.param("softmax", ["softmaxx"], ["softmaxx"], id="letter twice"),
        pytest.param("softmax", ["softmax_2"], ["softmax_2"], id="second try"),
        pytest.param("softmax", ["stable_softmax"], [], id="another word before it"),
        pytest.param("softmax", ["max", "soft", "softplus", "hardmax"], [], id="other words"),
        pytest.param("softmax", ["softmax"], [], id="right one is no slip"),
        pytest.param("softmax", [], [], id="no names"),
        pytest.param("softmax", ["soft_max", "sofmax"], ["soft_max"], id="same letters win"),
        pytest.param("softmax", ["soft_max", "Softmax"], ["Softmax", "soft_max"], id="two of the same letters"),
        pytest.param("softmax", ["sofmax", "sotmax"], ["sofmax", "sotmax"], id="two slips"),
        pytest.param(ATTENTION, ["scaledDotProductAttention"], ["scaledDotProductAttention"], id="camel case"),
        pytest.param(ATTENTION, ["scaled_dot_prodct_atention"], ["scaled_dot_prodct_atention"], id="two letters"),
        pytest.param(ATTENTION, ["attention", "dot_product"], [], id="parts"),
        pytest.param("measure_variance", ["measure_variances"], ["measure_variances"], id="plural"),
        pytest.param("softmax", ["___", "", "ßoftmäx"], [], id="nothing but signs"),
    ],
)
def test_near_misses(wanted: str, names: list[str], found: list[str]) -> None:
    """Other case, underscores, a letter or two count as a slip; another word doesn't."""
    assert near_misses(wanted, names) == tuple(found)


def test_another_functions_name_is_no_slip() -> None:
    """A name that the assignment asks for elsewhere is never taken for this one."""
    assert near_misses("measure_a", ["measure_b"], taken=["measure_b"]) == ()


def test_long_and_many_names_are_left_out() -> None:
    """What is too long, or comes after a thousand others, is never compared: that would be slow on purpose."""
    long = "softmax" + "_" * MAX_NAME_LENGTH

    assert near_misses("softmax", [long]) == ()
    assert near_misses("softmax", [*(f"f{i}" for i in range(MAX_NAMES)), "Softmax"]) == ()


NAMES = st.text("softmax_SOFTMAX2é", max_size=12)


@given(NAMES, st.lists(NAMES), st.lists(NAMES))
def test_slips_are_some_of_the_names(wanted: str, names: list[str], taken: list[str]) -> None:
    """Slips come sorted, out of the names given, and are never the right name or another function's."""
    found = near_misses(wanted, names, taken)

    assert list(found) == sorted(found)
    assert set(found) <= set(names) - {wanted, *taken}
    assert found == near_misses(wanted, reversed(names), taken)
