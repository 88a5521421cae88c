"""Small mistakes: each operator gives a valid program that differs in one place."""

from __future__ import annotations

import ast

import pytest

from grader.checkcourse.mutate import mutants, with_steps

OPERATORS = [
    # id, body of a function of x, y and n = 8, what must be among the mutants
    ("plus", "return x + y", ["return x - y", "return x"]),
    ("minus", "return x - y", ["return x + y", "return x", "return y - x"]),
    ("times", "return x * y", ["return x / y", "return x"]),
    ("divide", "return x / y", ["return x * y", "return x", "return y / x"]),
    ("power", "return x ** 2", ["return x * 2", "return x ** 3", "return x ** 1"]),
    ("matmul", "return x @ y", ["return y @ x"]),
    ("unary minus", "return -x", ["return x"]),
    ("number", "return x[5]", ["return x[6]", "return x[4]"]),
    ("zero", "return x[0]", ["return x[1]", "return x[-1]"]),
    ("axis", "return x.sum(axis=-1)", ["return x.sum(axis=0)", "return x.sum(axis=-2)", "return x.sum()"]),
    ("keepdims", "return x.max(keepdims=True)", ["return x.max()", "return x.min(keepdims=True)"]),
    ("arguments", "return f(x, y)", ["return f(y, x)"]),
    ("compare", "return x < y", ["return x <= y"]),
    ("equal", "return x == y", ["return x != y"]),
    ("and", "return x and y", ["return x or y"]),
    ("not", "return not x", ["return x"]),
    ("pair", "return (x, y)", ["return (y, x)"]),
    ("root", "return np.sqrt(x)", ["return x"]),
    ("exp", "return np.exp(x)", ["return x", "return np.exp2(x)"]),
    ("variance", "return x.var()", ["return x.std()"]),
    ("transpose", "return x.transpose(0, 2, 1)", ["return x", "return x.transpose(2, 1, 0)"]),
    ("T", "return x.T", ["return x"]),
    ("ignored", "return x[:n]", ["return x[:8]"]),
    ("choice", "return x if y else n", ["return n if y else x"]),
    ("statement", "x += 1\n    return x", ["pass\n    return x", "x -= 1\n    return x"]),
    ("loop", "for i in x:\n        f(i)", ["for i in x:\n        pass"]),
]  # fmt: skip


@pytest.mark.parametrize(
    "body, expected", [(body, expected) for _, body, expected in OPERATORS], ids=[name for name, _, _ in OPERATORS]
)
def test_each_operator_makes_its_mistakes(body: str, expected: list[str]) -> None:
    """The mistakes of an operator are made, each in a whole program."""
    source = f"def made(x, y, n=8):\n    {body}"
    made = [mutant.source for mutant in mutants(source)]

    assert [text for text in expected if f"def made(x, y, n=8):\n    {text}" not in made] == []


SOURCE = '''"""A module."""

from __future__ import annotations

import numpy as np

Array = "np.ndarray"
LIMIT = 3


class Box:
    """Holds one."""

    size: int = 2

    def get(self, wide: bool = True) -> float:
        """Get it."""
        return self.size * LIMIT


@staticmethod
def made(x: Array[1], axis: int = -1, sizes: tuple[int, ...] = (4, 16), name: str = "") -> Array:
    """Make 1 of 2."""
    try:
        while x.ndim > 2:
            x = x[0]
    except ValueError:
        return None
    finally:
        x = x + 1
    if axis == 0:
        print(f"{x + 1:.2f}")
    return np.where(x > 0, x, -x).sum(axis=axis)
'''


def test_every_mutant_is_another_valid_program() -> None:
    """Each can be compiled, and no two are the same; none is what was there before."""
    made = list(mutants(SOURCE))
    trees = [ast.dump(ast.parse(mutant.source)) for mutant in made]

    assert len(trees) > 20
    assert len({*trees, ast.dump(ast.parse(SOURCE))}) == len(trees) + 1


def test_a_mutant_says_where_it_is() -> None:
    """Name, line and both versions of the line are those of the mistake."""
    lines = SOURCE.splitlines()
    made = list(mutants(SOURCE))
    ends = next(m for m in made if m.after == "return np.where(x > 0, x, x).sum(axis=axis)")

    assert {mutant.name for mutant in made} == {"LIMIT", "Box", "made"}
    assert (ends.name, lines[ends.line - 1].strip()) == ("made", ends.before)
    assert ends.what == "minus dropped"


def test_a_default_changes_once() -> None:
    """Defaults are seldom asked for, so one change for each of them is enough."""
    made = [mutant.after for mutant in mutants(SOURCE) if mutant.what == "default"]

    assert made == [
        "def get(self, wide=False)",
        "def made(x, axis=0, sizes=(4, 16), name='')",
        "def made(x, axis=-1, sizes=(4,), name='')",
    ]


def test_words_for_people_stay() -> None:
    """Docstrings, annotations, decorators and imports are no place for a mistake."""
    for mutant in mutants(SOURCE):
        tree = ast.parse(mutant.source)
        function = tree.body[-1]
        assert isinstance(function, ast.FunctionDef)
        assert ast.get_docstring(function) == "Make 1 of 2."
        assert ast.unparse(function.args.args[0]) == "x: Array[1]"
        assert ast.unparse(function.decorator_list[0]) == "staticmethod"
        assert ast.unparse(tree.body[2]) == "import numpy as np"


def test_steps_are_counted() -> None:
    """Every call and every round of a loop is one step; what the program gives stays."""
    count = 0

    def step() -> None:
        nonlocal count
        count += 1

    names: dict[str, object] = {"_step": step}
    exec(with_steps("def f(n):\n    'Doc.'\n    for i in range(n):\n        pass\n    return n\nresult = f(5)"), names)

    assert (names["result"], count) == (5, 6)
