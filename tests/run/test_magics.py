"""Notebook source to plain Python."""

from __future__ import annotations

import ast
import re
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.run.inside.magics import MAX_PARSED, transform


def lines(source: str) -> int:
    """Count lines as Python does."""
    return len(re.split(r"\r\n|\r|\n", source))


@pytest.mark.parametrize(
    "source, plain, skipped",
    [
        ("%matplotlib inline\nx = 1", "\nx = 1", ["%matplotlib inline"]),
        ("!pip install numpy\n!!ls\nx = 1", "\n\nx = 1", ["!pip install numpy", "!!ls"]),
        ("!echo \"it's ( [\nx = 1", "\nx = 1", ["!echo \"it's ( ["]),
        ("!pip install \\\n  numpy\nx = 1", "\n\nx = 1", ["!pip install \\"]),
        ("%%time\nx = 1", "\nx = 1", []),
        ("\n\n# note\n%%time\nx = 1", "\n\n# note\n\nx = 1", []),
        ("%%capture out\n%%time\n%pwd\nx = 1", "\n\n\nx = 1", ["%pwd"]),
        ("%%timeit -n 10 -r3 y = 2\nx = y", "y = 2\nx = y", []),
        ("%%timeit\nx = y", "\nx = y", []),
        ("%%prun -l 5\nx = 1", "\nx = 1", []),
        ("%%mymagic a b\nx = 1", "\nx = 1", ["%%mymagic a b"]),
        ("%%bash\nls 'x\n(", "\n\n", ["%%bash"]),
        ("%%html\n<b>\n", "\n\n", ["%%html"]),
        ("%%writefile a.py\nx = 1\n", "\n\n", ["%%writefile a.py"]),
        ("%%script false\nx = 1", "\n", ["%%script false"]),
        ("%%R -i x\ny <- x", "\n", ["%%R -i x"]),
        ("%%!\nls", "\n", ["%%!"]),
        ("%%javascript", "", ["%%javascript"]),
        ("x = 1\n%%time\ny = 2", "x = 1\n\ny = 2", ["%%time"]),
        ("%time x = f(1)", "x = f(1)", []),
        ("%time x = f(1,\n% 2)", "x = f(1,\n% 2)", []),
        ("%time %time x = 1", "x = 1", []),
        ("%time\nx = 1", "\nx = 1", ["%time"]),
        ("%timeit x = f(1)", "", ["%timeit x = f(1)"]),
        ("x = !ls", "x = None", ["x = !ls"]),
        ("x = !ls | grep (\ny = 1", "x = None\ny = 1", ["x = !ls | grep ("]),
        ("a, b = !ls", "a = b = None", ["a, b = !ls"]),
        ("x['a'] = %who_ls", "x['a'] = None", ["x['a'] = %who_ls"]),
        ("x = %time f(1)\ny = 2", "x = f(1)\ny = 2", []),
        ("x = %timeit -o f(1)", "x = None", ["x = %timeit -o f(1)"]),
        (
            "x?\ny.z??\n?x\n??y\n%pinfo x\nnp.*load*?",
            "\n\n\n\n\n",
            ["x?", "y.z??", "?x", "??y", "%pinfo x", "np.*load*?"],
        ),
        ("y = x?  # what", "", ["y = x?  # what"]),
        (
            "if a:\n    %pwd\n    !ls\n    x?\nelse:\n\tz = !ls",
            "if a:\n    pass\n    pass\n    pass\nelse:\n\tz = None",
            None,
        ),
        ("%pwd\nfrom __future__ import annotations", "\nfrom __future__ import annotations", ["%pwd"]),
        ("x = 1\r\n%pwd\r\ny = 2\r\n", "x = 1\r\n\r\ny = 2\r\n", ["%pwd"]),
        ("x = 1\r%pwd\ry = 2", "x = 1\r\ry = 2", ["%pwd"]),
        ("  x = 1\n  %pwd\n  if x:\n    y = 2", "x = 1\n\nif x:\n  y = 2", ["%pwd"]),
        ("  %pwd\n  x = 1", "\nx = 1", ["%pwd"]),
        ("pip install numpy", "", ["pip install numpy"]),
        ("conda install -y numpy\n", "\n", ["conda install -y numpy"]),
        ("!" + "x" * 200, "", ["!" + "x" * 79]),
    ],
)
def test_magics_are_skipped(source: str, plain: str, skipped: list[str] | None) -> None:
    """Magics, shell lines and help go; what they wrap stays; every line keeps its number."""
    found = transform(source)
    assert found[0] == plain
    assert skipped is None or found[1] == skipped
    assert lines(found[0]) == lines(source)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "\n",
        "x = (7\n% 4)\ny = 3",
        "x = 7 \\\n% 4",
        "t = '''\n%matplotlib inline\n!rm x\nwhat?\n'''",
        't = """\n%%bash\n"""',
        "t = 'a\\\n%b\\\n!c'",
        "x = [1,\n!= 2]",
        "# 100 %\n# really?\nx = '%d?' % 3  # !",
        "f'{x!r}'\n",
        "x %= 3\ny != 4",
        "f(a='=%d', b=3)",
        "print('what?')",
        "pip = 3",
        "   # a comment\nx = 1",
        "\x0cx = 1",
        "t = r'\\'\n",
    ],
)
def test_what_only_looks_like_magic_stays(source: str) -> None:
    """Continuations, strings, comments and operators are Python, with a magic elsewhere in the cell as well."""
    assert transform(source) == (source, [])
    if source.strip() and not source.startswith(("x = [1,\n!=", "   ")):
        assert transform(source + "\n%pwd") == (source + "\n", ["%pwd"])


@pytest.mark.parametrize(
    "source", ["def f(:\n  x", "x = 'abc\n", "x == !y\n%", "print(1)?", "x = 5 ?", "f(x\n%pwd\n", "'''\n%pwd"]
)
def test_a_broken_source_stays_broken_in_its_own_way(source: str) -> None:
    """A syntax error comes back as it was, so that Python names it at its own line."""
    assert transform(source)[0] == source.replace("y\n%", "y\n")


def test_nothing_is_warned() -> None:
    """Looking whether a cell is Python already doesn't show its warnings before Python itself does."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert transform("x = '''\n%a\n'''\ny = '\\d'")[1] == []


MAGICS = ("%matplotlib inline", "%time ", "%%time", "%%bash", "!ls", "x = !ls", "a, b = %who", "x?", "pip install x")
SIGNS = (*"?%!=()[{}'\"\\#,\n\r\t", "'''", '"""', "\r\n", "    ", "x = 1", "if x:")
PARTS = (*MAGICS, *SIGNS)
SOURCES = st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=20).map("".join)


@given(SOURCES)
@example("x = %time x = %time")
@example("a,\\\nb = !ls")
@example("%%timeit -n\n!ls")
def test_every_line_keeps_its_number(source: str) -> None:
    """Whatever the source, nothing is raised, no line is lost and skipped texts are short and one line each."""
    plain, skipped = transform(source)
    assert lines(plain) == lines(source)
    assert all(len(item) <= 80 and lines(item) == 1 for item in skipped)


@given(SOURCES)
def test_plain_python_is_untouched(source: str) -> None:
    """What Python takes comes back as it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError):
        return
    assert transform(source) == (source, [])


@given(
    st.lists(
        st.sampled_from(
            ["x = (1\n% 2)", "t = '''\n!a\n%b'''", "x = 7 \\\n% 4", "# %\n", "if x:\n    y = '?'", "'a\\\n%b'"]
        ),
        max_size=6,
    )
)
def test_plain_python_is_untouched_by_the_scan_alone(parts: list[str]) -> None:
    """The scan is right by itself, too, where a magic in the cell means that Python can't be asked."""
    source = "\n".join(parts)
    assert transform(f"{source}\n%pwd") == (f"{source}\n", ["%pwd"])


@pytest.mark.parametrize(
    "piece",
    [
        "x = %time ",
        "(",
        "%\n",
        "\n",
        "'",
        "? ",
        "x?",
        "a=\\\n",
        "!a\\\n",
        "# ?\n",
        "a,",
        "%%time\n",
        " x=1\n",
        "\\",
        '\\"',
        "=",
        "?#",
        "\r",
    ],
)
def test_a_long_source_is_read_in_linear_time(piece: str) -> None:
    """Half a million characters of anything take moments (a quadratic scan would take hours)."""
    source = piece * (2 * MAX_PARSED // len(piece)) + "\n%pwd"
    assert lines(transform(source)[0]) == lines(source)
