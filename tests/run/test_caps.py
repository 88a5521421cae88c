"""What is capped before it is looked at, and what comes before it was asked."""

from __future__ import annotations

import pytest

from grader.run.inside.wire import MAX_NAME
from tests.run.arena import LINUX, TOOLS, arena, notebook
from tests.run.offered import ISOLATED, opened

pytestmark = [LINUX, pytest.mark.usefixtures("nothing_stays")]


def test_names_of_functions() -> None:
    """Of thousands of functions a thousand are known, and none whose name is longer than a hundred characters."""
    source = """
globals()["x" * 101] = len
for n in range(3_000):
    globals()[f"f{n}"] = len
globals()["y" * 100] = globals().pop("f0")
"""
    with arena(source) as made:
        names = made.load.callables

    assert len(names) == 1_000
    assert "f1" in names
    assert max(map(len, names)) <= 100 == MAX_NAME


def test_a_long_name_is_left_out_and_the_longest_isn_t() -> None:
    """A hundred characters are a name, one more is none."""
    with arena('globals()["x" * 101] = globals()["y" * 100] = len\n') as made:
        assert made.load.callables == ("y" * 100,)


def test_variables_of_a_cell() -> None:
    """Of a hundred thousand variables few are kept, those of long names not at all, and no large ones."""
    cell = """
globals()["x" * 101] = 1.0
import numpy as np
large = np.ones(513)
for n in range(100_000):
    globals()[f"v{n}"] = n / 7
"""
    with arena(notebook(cell)) as made:
        names = [name for name, _ in made.load.names]

    assert len(names) == 256
    assert names[:3] == ["n", "v0", "v1"]


def test_what_is_noticed_has_an_end() -> None:
    """A hundred different things are noted, however many calls they are done in, each in a hundred characters."""
    source = """
def f(start):
    for n in range(start, start + 150):
        try:
            open(f"/nowhere/{n}/" + "x" * 200)
        except OSError:
            pass
"""
    with arena(source) as made:
        events = [event for start in (0, 100, 1_000) for event in made.ask("f", start).events]

    assert len(events) == len(set(events)) == 100
    assert {len(event.detail) for event in events} == {100}


@pytest.mark.parametrize("name", ISOLATED)
def test_an_answer_in_advance_is_none(name: str) -> None:
    """A reply that lies there before its question ends the session, though it has the right form and the right id."""
    source = (
        TOOLS
        + """
def first():
    import os
    # In one piece: what comes after the question is an answer like any other.
    mine = forged(id=my_id(), kind="returned", value={"i": "0x1"}, arrays=[])
    os.write(reply_pipe(), mine + forged(id="second/2", kind="returned", value={"i": "0x7"}, arrays=[]))
    return 1
def second():
    return 2
"""
    )
    with opened(name) as backend, arena(source, backend=backend) as made:
        assert made.value("first") == 1
        assert made.value("second") == 2


def test_names_are_folded_as_python_folds_them() -> None:
    """A function whose name was written in wide letters is the one that a learner means."""
    with arena("def ｓｏｆｔｍａｘ(): return 1\n") as made:
        assert made.load.callables == ("softmax",)
        assert made.value("softmax") == 1
