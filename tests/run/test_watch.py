"""What the worker notices of student code; honest code leaves no trace."""

from __future__ import annotations

import textwrap

import pytest

from tests.run.arena import LINUX, arena

HONEST = """
import collections, dataclasses, json, random, typing
import numpy as np
import os.path
from numpy.linalg import norm
from pathlib import Path

Point = collections.namedtuple("Point", "x y")

@dataclasses.dataclass
class Config:
    n: int = 3

def f(x):
    Path("notes.txt").write_text("kept")
    np.save("w.npy", np.ones(3))
    with open("notes.txt") as file:
        assert file.read() == "kept"
    rng = np.random.default_rng(0)
    old = np.seterr(all="ignore")
    np.seterr(**old)
    print(np.random.randn(3), os.listdir("."), json.dumps({"a": 1}), random.random(), norm([3.0, 4.0]))
    np.testing.assert_allclose(rng.standard_normal(3).sum(), np.random.default_rng(0).standard_normal(3).sum())
    return np.asarray(x) * Config().n
"""

NOTICED = {
    "a file elsewhere": ("open('/etc/hostname').read()", "files", "/etc/hostname"),
    "a file through a library": ("np.fromfile('/etc/services')", "files", "/etc/services"),
    "a listing": ("import os; os.listdir('/home')", "files", "/home"),
    "a program": ("import subprocess; subprocess.run(['true'])", "process", "subprocess.Popen"),
    "a shell": ("import os; os.system('true')", "process", "os.system"),
    "a fork": ("import os\nif os.fork() == 0: os._exit(0)", "process", "os.fork"),
    "a connection": (
        "import socket; socket.socket().connect(('127.0.0.1', 9))", "network", "socket.__new__",
    ),
    "a signal": ("import os; os.kill(os.getppid(), 0)", "signal", "os.kill"),
    "a walk over frames": ("sys._getframe(1)", "frames", "sys._getframe"),
    "a walk by inspect": ("import inspect; inspect.currentframe()", "frames", "sys._getframe"),
    "all objects": ("import gc; gc.get_objects()", "frames", "gc.get_objects"),
    "a trace": ("sys.settrace(None)", "hooks", "sys.settrace"),
    "ctypes": ("import ctypes; ctypes.CDLL(None)", "ctypes", "ctypes.dlopen"),
    "a patched function": ("np.allclose = lambda *a, **k: True", "patched", "numpy.allclose"),
    "a removed builtin": ("import builtins; del builtins.round", "patched", "builtins.round"),
}  # fmt: skip


@LINUX
@pytest.mark.usefixtures("nothing_stays")
def test_honest_code_leaves_no_trace() -> None:
    """Libraries, files of one's own, generators: nothing of it is worth a note."""
    with arena(HONEST) as made:
        outcomes = [*made.loads, made.ask("f", 1.0), made.ask("f", 2.0)]

    assert [outcome.kind for outcome in outcomes] == ["returned"] * 3, outcomes
    assert [event for outcome in outcomes for event in outcome.events] == []


@LINUX
@pytest.mark.usefixtures("nothing_stays")
@pytest.mark.parametrize("title", NOTICED)
def test_what_is_noticed(title: str) -> None:
    """Each is told once with the call in which it happened, whether it succeeded or not."""
    body, kind, detail = NOTICED[title]
    tried = "    try:\n" + textwrap.indent(body, " " * 8) + "\n    except Exception: pass\n"
    source = f"import sys\nimport numpy as np\ndef f():\n{tried}    return 1\n"
    with arena(source) as made:
        events = made.ask("f").events
        again = made.ask("f").events

    assert (kind, detail) in [(event.kind, event.detail) for event in events]
    assert again == ()


@LINUX
@pytest.mark.usefixtures("nothing_stays")
def test_what_loading_did_is_noticed() -> None:
    """A patch while the file is loaded belongs to its loading."""
    with arena("import numpy as np\nnp.mean = len\ndef f(): return 1\n") as made:
        assert [(event.kind, event.detail) for event in made.load.events] == [("patched", "numpy.mean")]
        assert made.ask("f").events == ()
