"""Texts are filled in once, and what is filled in is never read again."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.catalogue import Catalogue, placeholders, show
from grader.model import Param, Params


@pytest.mark.parametrize(
    "text, names",
    [
        pytest.param("{got} is not {expected}", {"got", "expected"}, id="two"),
        pytest.param("{got} and {got}", {"got"}, id="one twice"),
        pytest.param("{hint1} {d_k} {_x}", {"hint1", "d_k", "_x"}, id="digits and underscores"),
        pytest.param("{0} {} {a b} {A} {a.b} {a[0]} {a!r} {a:>9} {-a} { a }", set(), id="none"),
        pytest.param("{{got}}", {"got"}, id="no escapes"),
        pytest.param("", set(), id="empty"),
    ],
)
def test_placeholders(text: str, names: set[str]) -> None:
    """A placeholder is a small name in braces and nothing more."""
    assert placeholders(text) == names


@pytest.mark.parametrize(
    "text, params, rendered",
    [
        pytest.param("{got} of {n}", (("got", 0.5), ("n", 3)), "0.5 of 3", id="numbers"),
        pytest.param("{got}", (("got", "{secret}"), ("secret", "leak")), "{secret}", id="placeholder as value"),
        pytest.param("{a}{b}", (("a", "{"), ("b", "a}")), "{a}", id="braces that join"),
        pytest.param("{got.__class__} {got[0]}", (("got", "x"),), "{got.__class__} {got[0]}", id="attributes"),
        pytest.param("{got:>9999999999} {got!r}", (("got", "x"),), "{got:>9999999999} {got!r}", id="formats"),
        pytest.param("{other}", (("got", "x"),), "{other}", id="unknown stays"),
        pytest.param("{a}", (("a", "1"), ("a", "2")), "2", id="last of two"),
        pytest.param("100 % {a}", (("a", r"\g<0> \1 %s $a"),), r"100 % \g<0> \1 %s $a", id="other languages"),
    ],
)
def test_render(text: str, params: Params, rendered: str) -> None:
    """Values stand in the text as they are, whatever they look like."""
    assert Catalogue({"key": text}).render("key", params) == rendered


@given(st.text(), st.text())
def test_a_value_is_never_read_again(first: str, second: str) -> None:
    """Whatever two parameters hold, both stand whole in the text."""
    catalogue = Catalogue({"key": "<{a}|{b}>", "a": "no", "b": "no"})

    assert catalogue.render("key", (("a", first), ("b", second))) == f"<{first}|{second}>"


@given(st.text())
def test_a_text_without_parameters_stays(text: str) -> None:
    """Nothing is looked up in a text but its placeholders."""
    assert Catalogue({"key": text}).render("key") == text


@pytest.mark.parametrize(
    "value, text",
    [
        pytest.param(0.1 + 0.2, "0.3", id="six digits"),
        pytest.param(1027.8996, "1027.9", id="hundreds"),
        pytest.param(1234567.0, "1.23457e+06", id="millions"),
        pytest.param(1234567, "1234567", id="whole number"),
        pytest.param(10**30, "1" + "0" * 30, id="large whole number"),
        pytest.param(math.nan, "nan", id="nan"),
        pytest.param(-math.inf, "-inf", id="infinite"),
        pytest.param("1e5", "1e5", id="text"),
        pytest.param("", "", id="empty"),
    ],
)
def test_parameters_are_written_as_people_read_them(value: Param, text: str) -> None:
    """Floats have six significant digits, everything else stands as it is."""
    assert show(value) == text


def test_unknown_keys() -> None:
    """``render`` wants a known key, ``get`` takes any."""
    catalogue = Catalogue({"known": "{a}"})

    assert "known" in catalogue
    assert "unknown" not in catalogue
    assert catalogue.get("known", (("a", 1),)) == "1"
    assert catalogue.get("unknown") == ""
    with pytest.raises(KeyError):
        catalogue.render("unknown")
