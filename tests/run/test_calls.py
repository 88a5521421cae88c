"""Calls below small limits: whatever a function does costs that call only."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.run.arena import (
    CHOSEN,
    LIMITS,
    LINUX,
    TOOLS,
    Arena,
    arena,
    assert_fine,
    bad,
    children,
    function,
)

pytestmark = pytest.mark.slow  # plain pytest stays below two minutes; .ci/run runs all

# body of the function, kind of the outcome, kind of its failure
CALLS: dict[str, tuple[str, str, str]] = {
    "a loop": ("while True: pass", "timed_out", "too_long"),
    "a loop that swallows everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "timed_out",
        "too_long",
    ),
    "a sleep": ("import time; time.sleep(60)", "timed_out", "asleep"),
    "a lock": ("import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()", "timed_out", "asleep"),
    "a stop": ("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", "timed_out", ""),
    "ignored signals and a loop": (
        "import signal\nfor n in range(1, 9): signal.signal(n, signal.SIG_IGN)\nwhile True: pass",
        "timed_out",
        "too_long",
    ),
    "os._exit(0)": ("import os; os._exit(0)", "crashed", "exit"),
    "os._exit(7)": ("import os; os._exit(7)", "crashed", "exit"),
    "a segfault": ("import ctypes; ctypes.string_at(0)", "crashed", "signal"),
    "os.abort": ("import os; os.abort()", "crashed", "signal"),
    "a kill": ("import os; os.kill(os.getpid(), 9)", "crashed", "signal"),
    "sys.exit": ("sys.exit(3)", "raised", "SystemExit"),
    "exit()": ("exit()", "raised", "SystemExit"),
    "an interrupt": ("raise KeyboardInterrupt", "raised", "KeyboardInterrupt"),
    "an error": ("raise ValueError('no')", "raised", "ValueError"),
    "an error of its own": ("class E(BaseException): pass\nraise E('no')", "raised", "E"),
    "an error that can't be shown": (
        "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E",
        "raised",
        "E",
    ),
    "an error whose text never ends": (
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
        "timed_out",
        "too_long",
    ),
    "an error with a long text": ("raise ValueError('x' * 10**7)", "raised", "ValueError"),
    "an error with bad text": ("raise ValueError('\\ud800\\x00')", "raised", "ValueError"),
    "a group of errors": ("raise ExceptionGroup('g', [ValueError()])", "raised", "ExceptionGroup"),
    "MemoryError": ("raise MemoryError", "out_of_memory", "MemoryError"),
    "too large an array": ("return np.ones(10**9)", "out_of_memory", ""),
    "too long a list": ("x = [0] * 10**10", "out_of_memory", "MemoryError"),
    "recursion": ("def f(): return f()\nreturn f()", "raised", "RecursionError"),
    "recursion in C": ("x = []\nfor _ in range(10**5): x = [x]\nreturn repr(x)", "raised", "RecursionError"),
    "input()": ("return input('?')", "raised", "EOFError"),
    "a missing module": ("import no_such_module", "raised", "ModuleNotFoundError"),
    "a missing file": ("open('no such file')", "raised", "FileNotFoundError"),
    "too large a file": ("open('big', 'wb').write(bytes(100 << 20))", "raised", "OSError"),
    "closed descriptors": ("import os; os.closerange(0, 1000)", "crashed", ""),
    "a closed reply pipe": ("import os; os.close(reply_pipe())", "crashed", ""),
    "a full reply pipe": (
        "import os\nfd = reply_pipe()\nwhile True: os.write(fd, b'x' * 4096)",
        "crashed",
        "garbled",
    ),
    "half a frame": ("import os; os.write(reply_pipe(), b'GRD1')", "crashed", "garbled"),
    "a frame that declares 2^60 bytes": (
        "import os, struct; os.write(reply_pipe(), b'GRD1' + struct.pack('<IQ', 10, 1 << 60))",
        "crashed",
        "garbled",
    ),
    "a forged reply with a wrong id": ("forge(id='other/1', kind='returned', value=None)", "crashed", "garbled"),
    "a forged reply that isn't one": ("forge(id=my_id(), kind='returned', value=5)", "crashed", "garbled"),
    "a forged reply of a kind that only the grader says": ("forge(id=my_id(), kind='not_run')", "crashed", "garbled"),
    "a forged reply that claims our own fault": ("forge(id=my_id(), kind='not_graded')", "crashed", "garbled"),
    "progress where nobody asked for it": (
        "import os\nframe = forged(id=my_id(), kind='progress', at=1) * 500\nwhile True: os.write(reply_pipe(), frame)",
        "crashed",
        "garbled",
    ),
    "a recursion limit of 40": ("sys.setrecursionlimit(40)\nreturn fine()", "", ""),
    "no modules": ("sys.modules.clear()\nreturn 1", "returned", ""),
    "no builtins": (
        "import builtins\nfor name in ('len', 'type', 'isinstance', 'list', 'str'): delattr(builtins, name)\nreturn 1",
        "",
        "",
    ),
    "a replaced json": (
        "import json\njson.dumps = json.loads = lambda *a, **k: 1 / 0\njson.JSONEncoder = None\nreturn 1",
        "",
        "",
    ),
    "a replaced os": (
        "import os\nfor n in ('write', 'read', 'chdir', '_exit', 'dup'): setattr(os, n, lambda *a: 1 / 0)\nreturn 1",
        "returned",
        "",
    ),
    "a replaced numpy": ("np.array = np.asarray = np.ndarray = np.generic = None\nreturn 1", "returned", ""),
    "replaced streams": ("sys.stdout = sys.stderr = None\nreturn 1", "returned", ""),
    "closed streams": ("sys.stdout.close()\nreturn 1", "returned", ""),
    "no descriptors": (
        "import resource\ntry: resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))\nexcept ValueError: pass\nreturn 1",
        "returned",
        "",
    ),
    "a changed directory": ("import os; os.chdir('/')\nreturn 1", "returned", ""),
    "a deleted directory": (
        "import os, shutil; shutil.rmtree(os.getcwd(), ignore_errors=True)\nreturn 1",
        "returned",
        "",
    ),
    "a read-only directory": (
        "import os\ntry: os.chmod('.', 0)\nexcept OSError: pass\nreturn 1",
        "returned",
        "",
    ),
    "a thread left running": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\nreturn 1",
        "returned",
        "",
    ),
    "a busy thread left running": (
        "import threading\ndef f():\n    while True: pass\nthreading.Thread(target=f, daemon=True).start()\nreturn 1",
        "returned",
        "",
    ),
    "a process left running": (
        "import subprocess\ntry: subprocess.Popen(['sleep', '60'])\nexcept OSError: pass\nreturn 1",
        "returned",
        "",
    ),
    "a fork that goes on": ("import os\nos.fork()\nreturn 1", "", ""),
    "an exit handler": ("import atexit, time; atexit.register(time.sleep, 60)\nreturn 1", "returned", ""),
    "a trace function": ("sys.settrace(lambda *a: 1 / 0)\nreturn 1", "", ""),
    "a collector that raises": ("import gc\ngc.callbacks.append(lambda *a: 1 / 0)\nreturn 1", "returned", ""),
    "a timer": (
        "import signal as s\ns.signal(s.SIGALRM, lambda *a: 1 / 0)\ns.setitimer(s.ITIMER_REAL, 0.01, 0.01)\nreturn 1",
        "",
        "",
    ),
    "a huge print": ("print('x' * 20_000_000)\nreturn 1", "returned", ""),
    "a huge text": ("return 'x' * 10**7", "returned", ""),
    "a huge list": ("return [0.5] * 10**6", "returned", ""),
    "lists in lists": ("return [[0.5] * 4000] * 4000", "returned", ""),
    "a huge int": ("return 1 << 10**6", "returned", ""),
    "a list that holds itself": ("x = []\nx.append(x)\nreturn x", "returned", ""),
    "many large arrays": ("return [np.zeros(100_000)] * 100", "returned", ""),
    "the function's own file": ("return open(__file__).read()", "raised", "FileNotFoundError"),
}


STAYS = frozenset(
    {
        *(
            "a recursion limit of 40",
            "no modules",
            "no builtins",
            "a replaced json",
            "a replaced os",
            "a replaced numpy",
        ),
        *("replaced streams", "closed streams", "no descriptors", "a changed directory", "a deleted directory"),
        *("a read-only directory", "a thread left running", "a busy thread left running", "a process left running"),
        *("a fork that goes on", "an exit handler", "a trace function", "a collector that raises", "a timer"),
        "ignored signals and a loop",
    }
)
"""What changes the process for good: these get one of their own, the others share theirs while it lives."""


LATER = frozenset(
    {
        *("a lock", "os._exit(7)", "os.abort", "a kill", "an error whose text never ends", "half a frame"),
        *("a forged reply that isn't one", "a forged reply that claims our own fault", "ignored signals and a loop"),
        *("a replaced numpy", "closed streams", "an exit handler", "a collector that raises", "a thread left running"),
    }
)
"""Much like others of the table: left to the tests that may take longer."""


def marked(titles: Iterable[str]) -> list[Any]:
    """Return parameters, the later ones marked as slow."""
    return [pytest.param(title, marks=pytest.mark.slow if title in LATER else (), id=title) for title in titles]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """Return an arena with all bodies as functions."""
    source = TOOLS + "".join(function(f"bad_{number}", body) for number, (body, _, _) in enumerate(CALLS.values()))
    before = children()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("shared")))
        limits = replace(LIMITS, load_seconds=20.0, submission_seconds=600)
        with arena(source, limits=limits) as made:
            yield made
    assert children() == before


@LINUX
@pytest.mark.parametrize("title", marked(title for title in CALLS if title not in STAYS))
def test_a_call_costs_itself_only(title: str, shared: Arena) -> None:
    """What one function does is its own failure; another function is then called as ever."""
    kind, failure = CALLS[title][1:]
    if CHOSEN[0].name == "namespaces" and title in ("a stop", "a kill"):
        kind, failure = "returned", ""  # the first process of a namespace doesn't obey such signals of its own
    check_call(shared, f"bad_{list(CALLS).index(title)}", kind, failure)


@LINUX
@pytest.mark.usefixtures("nothing_stays")
@pytest.mark.parametrize("title", marked(sorted(STAYS)))
def test_a_changed_process_costs_nobody_else(title: str) -> None:
    """The same holds for what changes the process for good."""
    body, kind, failure = CALLS[title]
    with arena(bad(body), limits=replace(LIMITS, load_seconds=20.0)) as made:
        check_call(made, "bad", kind, failure)


def check_call(made: Arena, name: str, kind: str, failure: str) -> None:
    """Call a function, then the one that is fine."""
    outcome = made.ask(name)

    assert outcome.kind == (kind or outcome.kind)
    if failure:
        assert outcome.failure is not None
        assert outcome.failure.kind == failure
    # Never our fault, and nothing that only the grader may say.
    assert outcome.kind not in ("not_run", "missing")
    assert_fine(made)
    assert_fine(made)


ONCE = """
import os
asked = 0

def once(answer):
    global asked
    asked += 1
    if asked > 1:
        os._exit(1)
    return answer()

def steady():
    return once(lambda: 1)

def lucky():
    return once(lambda: os.urandom(8).hex())
"""


@LINUX
@pytest.mark.usefixtures("nothing_stays")
@pytest.mark.parametrize("name, kind", [("steady", "returned"), ("lucky", "crashed")])
def test_a_second_chance_is_no_luck(name: str, kind: str) -> None:
    """What crashes after other calls is asked in new processes: two of them have to give the same answer."""
    with arena(ONCE) as made:
        assert made.ask(name).kind == "returned"
        assert made.ask(name).kind == kind
