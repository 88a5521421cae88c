"""Loading: however a file ends, what it defined before that is there."""

from __future__ import annotations

from typing import Any

import pytest

from grader.run.session import Life
from tests.run.arena import (
    LIMITS,
    LINUX,
    TOOLS,
    arena,
    assert_fine,
    notebook,
    script,
)

pytestmark = [pytest.mark.usefixtures("nothing_stays"), pytest.mark.slow]

QUICK = {
    ("an error", "notebook"),
    ("os._exit(0)", "notebook"),
    ("a loop", "notebook"),
    ("os._exit in a block", "one cell"),
}
"""Besides scripts; the rest of the table takes its time."""

# end of a script after its functions, kind of the load, kind of its failure
LOADS: dict[str, tuple[str, str, str]] = {
    "an error": ("1 / 0", "raised", "ZeroDivisionError"),
    "sys.exit": ("sys.exit()", "raised", "SystemExit"),
    "input()": ("input('name? ')", "raised", "EOFError"),
    "os._exit(0)": ("import os; os._exit(0)", "crashed", "exit"),
    "os._exit in a block": ("if True:\n    import os\n    os._exit(3)", "crashed", "exit"),
    "a segfault": ("import ctypes; ctypes.string_at(0)", "crashed", "signal"),
    "a loop": ("while True: pass", "timed_out", "too_long"),
    "a loop that swallows everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "timed_out",
        "too_long",
    ),
    "a sleep": ("import time; time.sleep(60)", "timed_out", "asleep"),
    "too large an array": ("x = np.ones(10**9)", "out_of_memory", ""),
    "a forged reply": (
        "import os; os.write(reply_pipe(), b'GRD1 and more than a frame has'); os._exit(0)",
        "crashed",
        "",
    ),
}


FORMS = [
    pytest.param(
        end, form, marks=() if form == "script" or (end, form) in QUICK else pytest.mark.slow, id=f"{end}-{form}"
    )
    for end in LOADS
    for form in ("script", "notebook", "one cell")
]


@LINUX
@pytest.mark.parametrize("title, form", FORMS)
def test_what_was_defined_before_the_end_is_there(title: str, form: str) -> None:
    """However a file ends, its functions up to there are called, and what ended it is known."""
    end, kind, failure = LOADS[title]
    whole = f"{TOOLS}\n{end}\ndef never(): return 1\n"
    handed_in = {"script": script(whole), "notebook": notebook(TOOLS, end, "x = 5"), "one cell": notebook(whole)}[form]
    with arena(handed_in, limits=LIMITS) as made:
        outcome = made.loads[1 if form == "notebook" else 0]

        assert outcome.kind == kind
        assert outcome.failure is not None
        assert outcome.failure.kind == (failure or outcome.failure.kind)
        if kind in ("raised", "crashed"):
            line = len(TOOLS.splitlines()) + 1 if form != "notebook" else 1
            assert outcome.failure.line in range(line, line + 4)
            assert outcome.failure.cell == {"script": 0, "notebook": 2, "one cell": 1}[form]
        if kind != "timed_out" or form != "notebook":
            assert "fine" in outcome.callables
        assert "never" not in made.load.callables
        assert_fine(made)
        made.ask("sys")  # a module can't be called
        assert_fine(made)


def test_what_hung_while_loading_hangs_twice_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a process has to begin anew, a loop at the end of the file isn't waited for again and again."""
    kinds: list[str] = []
    load = Life.load

    def noted(self: Life, *args: Any, **options: Any) -> Any:
        done = load(self, *args, **options)
        kinds.append(done[0].kind)
        return done

    monkeypatch.setattr(Life, "load", noted)
    with arena(TOOLS + "\nimport os\ndef die(): os._exit(0)\nwhile True:\n    pass\n", limits=LIMITS) as made:
        assert made.load.kind == "timed_out"
        for session in ("main", "hidden", "with softmax"):
            made.ask("die", session=session)
            assert made.value("fine", 2.0, session=session) is not None

    assert kinds.count("timed_out") == 2
    assert len(kinds) > 4


def test_a_notebook_goes_on_after_a_cell_that_fails() -> None:
    """Cells after one that raised, exited or ended the process run as ever."""
    cells = ["x = 1", "raise ValueError", "import os\ny = 2\nos._exit(1)", "def f(): return x + z", "z = 5"]
    with arena(notebook(*cells)) as made:
        assert [outcome.kind for outcome in made.loads] == ["returned", "raised", "crashed", "returned", "returned"]
        assert made.value("f") == 6


def test_a_session_of_its_own_loads_again() -> None:
    """Each session is another process that has loaded the file: nothing is shared."""
    source = (
        "import time\nborn, seen = time.monotonic(), []\ndef f():\n    seen.append(1)\n    return len(seen), born\n"
    )
    with arena(source) as made:
        one, again, other = made.value("f"), made.value("f"), made.value("f", session="hidden")

    assert (one[0], again[0], other[0]) == (1, 2, 1)  # type: ignore[index]  # pairs
    assert one[1] != other[1]  # type: ignore[index]  # pairs


def test_a_stand_in_takes_the_place_of_a_function() -> None:
    """In its session a stand-in is what the name means, also to the functions that use it and after reloading."""
    source = "import os\ndef helper(): return 1\ndef f(): return helper() + 1\ndef die(): os._exit(0)\n"
    stand_ins = {"with helper": {"helper": "def helper():\n    return 10\n"}}
    with arena(source, stand_ins=stand_ins) as made:
        assert made.value("f") == 2
        assert made.value("f", session="with helper") == 11
        made.ask("die", session="with helper")
        assert made.value("f", session="with helper") == 11
        assert made.value("f") == 2


def test_a_script_is_no_main() -> None:
    """A script is imported, not run: what it keeps for ``__main__`` isn't done. A notebook is ``__main__``."""
    source = "def f(): return __name__\nif __name__ == '__main__':\n    1 / 0\n"
    with arena(source) as made:
        assert made.value("f") == "submission"
    with arena(notebook("def f(): return __name__")) as made:
        assert made.value("f") == "__main__"


def test_a_script_that_was_a_notebook_keeps_its_magics() -> None:
    """Colab and nbconvert leave shell lines and calls of ``get_ipython`` behind: they do nothing, with a remark."""
    with arena("!pip install numpy\n%matplotlib inline\nget_ipython().system('ls')\ndef f(): return 1\n") as made:
        assert made.load.remarks == ("!pip install numpy", "%matplotlib inline")
        assert made.value("f") == 1
    with arena("def f(): return 1\n!ls\ndef g(:\n") as made:
        assert (made.load.kind, made.load.failure and made.load.failure.line) == ("raised", 2)


@pytest.mark.parametrize(
    "source, value",
    [
        ("from __future__ import annotations\ndef f(x: no_such = 1): return x", 1),
        ("def f(x: list[int] = 2): return x", 2),
        ("import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 3\ndef f(): return A().x", 3),
        ("import pickle\nclass A: pass\ndef f(): return type(pickle.loads(pickle.dumps(A()))).__name__", "A"),
        ("import typing\nclass A(typing.NamedTuple):\n    x: 'int'\ndef f(): return A(4).x", 4),
        ("import inspect\ndef f(): return str(inspect.signature(f))", "()"),
        ("import warnings\ndef f():\n    warnings.warn('x')\n    return 1", 1),
        ("import multiprocessing, threading, logging\ndef f(): return 1", 1),
        ("import sys\ndef f(): return sys.argv", ["submission.py"]),
        ("help\ndef f(): return help(f) is None or 1", 1),
        ("import math as m\nf = lambda: m.sqrt(4)", 2.0),
        ("class F:\n    def __call__(self): return 1\nf = F()", 1),
        ("import functools\n@functools.lru_cache\ndef f(): return 1", 1),
        ("def softmax(ﬁ): return ﬁ\nf = lambda: softmax(1)", 1),
    ],
    ids=[
        *("future", "annotations", "dataclass", "pickle", "namedtuple", "inspect", "warnings", "many modules", "argv"),
        *("help", "lambda", "callable object", "cached", "folded names"),
    ],
)
def test_ordinary_python_works(source: str, value: object) -> None:
    """What works in a file that is imported works here."""
    with arena(source) as made:
        assert made.load.kind == "returned", made.load
        assert made.value("f") == value
