"""Sessions below small limits: whatever a call does costs that call only, and nothing stays."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.errors import IsolationError, OutputError
from grader.model import Limits, Opaque
from grader.run import session as sessions
from grader.run.backend import Launch
from grader.run.process import ProcessBackend, ProcessWorker
from grader.run.runner import MAX_TRANSCRIPT_BYTES, Runner, Scratch
from tests.run.arena import LIMITS, Arena, arena, children, notebook, roomy, script

TOOLS = """
import sys
import numpy as np

def fine(x=1.0):
    return np.full(3, x) + len([1, 2])

def reply_pipe():
    # The pipe to the grader: the only open one that can be written to.
    import os, stat, fcntl
    for fd in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode) and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
                return fd
        except OSError:
            pass

def request_pipe():
    import os, stat, fcntl
    for fd in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode) and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                return fd
        except OSError:
            pass

def forged(payload=b"", **head):
    import json, struct
    text = json.dumps(head).encode()
    return b"GRD1" + struct.pack("<IQ", len(text), len(payload)) + text + payload

def forge(**head):
    import os
    os.write(reply_pipe(), forged(**head))

def my_id():
    # The frames above hold the request.
    frame = sys._getframe()
    while frame:
        head = frame.f_locals.get("head")
        if isinstance(head, dict) and "id" in head:
            return head["id"]
        frame = frame.f_back
"""


def function(name: str, body: str) -> str:
    """Return a function without parameters."""
    return f"\ndef {name}():\n" + "".join(f"    {line}\n" for line in body.splitlines())


def bad(body: str) -> str:
    """Return a script with a function ``bad`` and one that is fine."""
    return TOOLS + function("bad", body)


@pytest.fixture(autouse=True)
def _nothing_stays(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hold for every test here: no process and no temporary folder is left."""
    if "shared" in request.fixturenames:
        yield
        return
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # What was asked for first has a worker of its own.
    before = children()
    yield
    left = children() - before
    deadline = time.monotonic() + 5
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = children() - before
    assert left == set()
    assert [path for path in tmp_path.iterdir() if path.name.startswith("grade-")] == []


def assert_fine(made: Arena) -> None:
    """The other function still returns."""
    assert np.asarray(made.value("fine", 2.0)).tolist() == [4.0, 4.0, 4.0]


# ------------------------------------------------------------------ one call

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
        "import signal\nfor n in range(1, 31):\n    try: signal.signal(n, signal.SIG_IGN)\n    except OSError: pass\n"
        "while True: pass",
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
    "too long a list": ("x = [0]\nwhile True: x += x", "out_of_memory", "MemoryError"),
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
        "import os\nframe, fd = forged(id=my_id(), kind='progress', at=1) * 500, reply_pipe()\n"
        "while True: os.write(fd, frame)",
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
        "import json\njson.dumps = json.loads = lambda *a, **k: 1 / 0\njson.JSONEncoder = json.JSONDecoder = None\nreturn 1",
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
    "no descriptors": ("import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))\nreturn 1", "returned", ""),
    "a changed directory": ("import os; os.chdir('/')\nreturn 1", "returned", ""),
    "a deleted directory": ("import os, shutil; shutil.rmtree(os.getcwd())\nreturn 1", "returned", ""),
    "a read-only directory": ("import os; os.chmod('.', 0)\nreturn 1", "returned", ""),
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
    "a process left running": ("import subprocess; subprocess.Popen(['sleep', '60'])\nreturn 1", "returned", ""),
    "a fork that goes on": ("import os\nos.fork()\nreturn 1", "", ""),
    "an exit handler": ("import atexit, time; atexit.register(time.sleep, 60)\nreturn 1", "returned", ""),
    "a trace function": ("sys.settrace(lambda *a: 1 / 0)\nreturn 1", "", ""),
    "a collector that raises": ("import gc\ngc.callbacks.append(lambda *a: 1 / 0)\nreturn 1", "returned", ""),
    "a timer": (
        "import signal\nsignal.signal(signal.SIGALRM, lambda *a: 1 / 0)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)\nreturn 1",
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
    ["a recursion limit of 40", "no modules", "no builtins", "a replaced json", "a replaced os", "a replaced numpy"]
    + ["replaced streams", "closed streams", "no descriptors", "a changed directory", "a deleted directory"]
    + ["a read-only directory", "a thread left running", "a busy thread left running", "a process left running"]
    + ["a fork that goes on", "an exit handler", "a trace function", "a collector that raises", "a timer"]
    + ["ignored signals and a loop"]
)
"""What changes the process for good: these get one of their own, the others share theirs while it lives."""


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


@pytest.mark.skipif(sys.platform != "linux", reason="these are Linux's ways to die")
@pytest.mark.parametrize("title", [title for title in CALLS if title not in STAYS])
def test_a_call_costs_itself_only(title: str, shared: Arena) -> None:
    """What one function does is its own failure; another function is then called as ever."""
    check_call(shared, f"bad_{list(CALLS).index(title)}", *CALLS[title][1:])


@pytest.mark.skipif(sys.platform != "linux", reason="these are Linux's ways to die")
@pytest.mark.parametrize("title", sorted(STAYS))
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


def test_the_failure_says_where() -> None:
    """An error in the submission says its kind, its text, its cell and its line, not those of a library."""
    with arena(bad("x = np.ones(3)\nreturn x.reshape(2, 2)")) as made:
        failure = made.ask("bad").failure

    assert failure is not None
    assert (failure.kind, failure.cell) == ("ValueError", 0)
    assert failure.line == len(TOOLS.splitlines()) + 4
    assert "cannot reshape" in failure.message


@pytest.mark.parametrize(
    "body",
    [
        "raise SyntaxError('x', ('secret.py', 10**9, 1, 'text'))",
        "error = SyntaxError('x'); error.lineno = 'one'; error.filename = []; raise error",
        "exec(compile('\\n' * 50 + '1 / 0', '/etc/passwd', 'exec'))",
        "exec(compile('\\n' * (1 << 20) + '1 / 0', '<submission.py:0>', 'exec'))",
    ],
    ids=["a SyntaxError of its own", "fields of other types", "another file", "a line that isn't there"],
)
def test_a_failure_may_lie(body: str) -> None:
    """An error can claim any place; what is said stays numbers or nothing, and no file is read."""
    with arena(bad(body)) as made:
        failure = made.ask("bad").failure

    assert failure is not None
    assert (failure.cell is None) == (failure.line is None)
    assert failure.cell in (None, 0)


def test_what_is_printed_is_kept_and_cut() -> None:
    """Printed text comes back, up to the limit, and from the call that printed it."""
    with arena(bad("print('x' * 3000); print('y' * 3000, file=sys.stderr)"), limits=roomy(stdout_kib=4)) as made:
        outcome = made.ask("bad")
        later = made.ask("fine")

    assert outcome.stdout == "x" * 3000 + "\n" + "y" * (4096 - 3001)
    assert outcome.stdout_cut
    assert (later.stdout, later.stdout_cut) == ("", False)


def test_two_strikes() -> None:
    """What ended the process twice isn't called again; other functions still are, and later ones too."""
    with arena(bad("import os; os._exit(1)")) as made:
        kinds = [made.ask("bad").kind for _ in range(4)]
        assert_fine(made)

    assert kinds == ["crashed", "crashed", "not_run", "not_run"]


def test_a_strike_is_the_functions_own() -> None:
    """A function that fails now and then without ending the process is called as often as it is asked."""
    with arena(bad("raise ValueError")) as made:
        kinds = {made.ask("bad").kind for _ in range(5)}

    assert kinds == {"raised"}


def test_the_deadline_ends_everything() -> None:
    """When a submission's time is up, what is left isn't run, and says so."""
    limits = Limits(call_seconds=30, asleep_seconds=30, submission_seconds=0.7)
    with arena(bad("while True: pass"), limits=limits) as made:
        began = time.monotonic()
        late = made.ask("bad")
        after = made.ask("fine")

    assert time.monotonic() - began < 5
    assert (late.kind, after.kind) == ("timed_out", "not_run")
    assert late.failure is not None
    assert after.failure is not None
    assert (late.failure.kind, after.failure.kind) == ("deadline", "deadline")


def test_the_transcript_has_an_end() -> None:
    """Answers are kept up to 16 MB in all; what comes later is too large, and the run goes on."""
    with arena(TOOLS + "\ndef large():\n    return np.zeros(130_000)\n") as made:
        kinds = [made.ask("large").kind for _ in range(20)]

    assert kinds.count("returned") == MAX_TRANSCRIPT_BYTES // (130_000 * 8)
    assert kinds[-1] == "too_large"


# ------------------------------------------------------------------ forged and early replies


def test_a_forged_reply_may_say_what_was_returned() -> None:
    """A reply with the right id is what the function returned: that is all that it can say."""
    with arena(bad("import os\nforge(id=my_id(), kind='returned', value={'f': '0x1p3'})\nos._exit(0)")) as made:
        outcome = made.ask("bad")
        assert_fine(made)

    assert (outcome.kind, outcome.value) == ("returned", 8.0)


def test_a_second_reply_costs_nobody_else() -> None:
    """After a forged reply the real one is left over: it isn't taken for another function's answer."""
    with arena(bad("forge(id=my_id(), kind='returned', value={'f': '0x1p3'})\nreturn 5.0")) as made:
        assert made.value("bad") == 8.0
        time.sleep(0.1)
        assert_fine(made)


def test_a_reply_before_the_question_costs_nobody_else() -> None:
    """A thread that answers questions that weren't asked yet ends that process; the others are asked in a new one."""
    body = (
        "import threading, time\ndef late():\n    time.sleep(0.05)\n    forge(id='fine/2', kind='returned', value=None)\n"
        "threading.Thread(target=late).start()\nreturn 1"
    )
    with arena(bad(body)) as made:
        made.ask("bad")
        time.sleep(0.3)
        assert_fine(made)


def test_reading_ahead_finds_nothing() -> None:
    """The next request is sent only after the reply to the last: there is nothing to read ahead."""
    body = "import os\nfd = request_pipe()\nos.set_blocking(fd, False)\ntry: return os.read(fd, 10)\nexcept BlockingIOError: return 'nothing'\nfinally: os.set_blocking(fd, True)"  # noqa: E501
    with arena(bad(body)) as made:
        assert made.value("bad") == "nothing"
        assert_fine(made)


def test_a_flood_of_replies_stays_in_the_pipe() -> None:
    """A thread that never stops replying fills a pipe, not the grader's memory."""
    body = (
        "import os, threading\ndef flood():\n    frame = forged(bytes(8 << 20), id='x', kind='returned')\n"
        "    fd = reply_pipe()\n    while True:\n        sent = 0\n        while sent < len(frame): sent += os.write(fd, frame[sent:])\n"
        "threading.Thread(target=flood, daemon=True).start()\nreturn 1"
    )
    with arena(bad(body)) as made:
        made.ask("bad")
        time.sleep(0.5)
        before = _resident_mib()
        time.sleep(0.5)

        assert _resident_mib() - before < 100
        assert_fine(made)


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


# ------------------------------------------------------------------ loading

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


@pytest.mark.skipif(sys.platform != "linux", reason="these are Linux's ways to die")
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


def test_what_hung_while_loading_hangs_twice_at_most(tmp_path: Path) -> None:
    """When a process has to begin anew, a loop at the end of the file isn't waited for again and again."""
    log = tmp_path / "log"
    end = f"\nimport os\ndef die(): os._exit(0)\nopen({str(log)!r}, 'a').write('x')\nwhile True:\n    pass\n"
    with arena(TOOLS + end, limits=LIMITS) as made:
        assert made.load.kind == "timed_out"
        for session in ("main", "hidden", "with softmax"):
            made.ask("die", session=session)
            assert made.value("fine", 2.0, session=session) is not None

    assert log.read_text() == "xx" + "x" * 3


def test_a_notebook_goes_on_after_a_cell_that_fails() -> None:
    """Cells after one that raised, exited or ended the process run as ever."""
    cells = ["x = 1", "raise ValueError", "import os\ny = 2\nos._exit(1)", "def f(): return x + z", "z = 5"]
    with arena(notebook(*cells)) as made:
        assert [outcome.kind for outcome in made.loads] == ["returned", "raised", "crashed", "returned", "returned"]
        assert made.value("f") == 6


def test_a_session_of_its_own_loads_again() -> None:
    """Each session is another process that has loaded the file: nothing is shared."""
    source = "import os\nseen = []\ndef f():\n    seen.append(1)\n    return len(seen), os.getpid()\n"
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
    ids=["future", "annotations", "dataclass", "pickle", "namedtuple", "inspect", "warnings", "many modules", "argv"]
    + ["help", "lambda", "callable object", "cached", "folded names"],
)
def test_ordinary_python_works(source: str, value: object) -> None:
    """What works in a file that is imported works here."""
    with arena(source) as made:
        assert made.load.kind == "returned", made.load
        assert made.value("f") == value


# ------------------------------------------------------------------ the surroundings

SURROUNDINGS = """
import os, sys
import numpy as np

def environment(): return sorted(os.environ)
def variable(name): return os.environ.get(name)
def folder(): return os.getcwd()
def read_stdin(): return sys.stdin.read(), os.read(0, 10) == b""
def order(): return list({"a", "b", "c", "d", "e"})
def threads(): return len(os.listdir("/proc/self/task"))
def own_grader():
    import grader, grader.core.judge
    from grader import check
    check("softmax")
    return hasattr(grader, "__version__"), type(grader.core.judge.judge).__name__
def path(): return [place for place in sys.path if os.path.isdir(os.path.join(place, "grader"))]
def main_file(): return sys.argv
def descriptors(): return sorted(int(fd) for fd in os.listdir("/proc/self/fd") if int(fd) < 100)
def user_site(): return sys.flags.no_user_site
def writes(): open("own", "w").write("x"); return os.path.exists("own")
"""


@pytest.fixture(scope="module")
def surroundings() -> Iterator[Arena]:
    """Return a worker that tells of its surroundings, started where something was planted."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PLANTED_SECRET", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "PYTHONSTARTUP", "HTTPS_PROXY"):
            patch.setenv(name, "planted")
        patch.setenv("PYTHONHASHSEED", "123")
        patch.setenv("OMP_NUM_THREADS", "7")
        with arena(SURROUNDINGS) as made:
            assert made.load.kind == "returned", made.load
            yield made


def test_no_environment_is_inherited(surroundings: Arena) -> None:
    """Nothing of our environment is seen, but what a system needs to start Python."""
    names = surroundings.value("environment")

    assert isinstance(names, list)
    allowed = {"PATH", "HOME", "TMPDIR", "TEMP", "MPLCONFIGDIR", "MPLBACKEND", "PYTHONHASHSEED", "PYTHONUTF8"}
    allowed |= {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}
    allowed |= {"LD_LIBRARY_PATH", "SYSTEMROOT", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "LC_CTYPE"}
    assert set(names) <= allowed


@pytest.mark.parametrize("name", ["HOME", "TMPDIR", "TEMP", "MPLCONFIGDIR"])
def test_home_is_the_scratch(surroundings: Arena, name: str) -> None:
    """Home and temporary folder are the worker's own, which goes with it."""
    folder = surroundings.value("variable", name)

    assert folder == surroundings.value("folder")
    assert isinstance(folder, str)
    assert Path(folder).parent == surroundings.root
    assert Path(folder).stat().st_mode & 0o77 == 0


@pytest.mark.parametrize(
    "name, value",
    [("MPLBACKEND", "Agg"), ("PYTHONHASHSEED", "0"), ("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")]
    + [("MKL_NUM_THREADS", "1"), ("PLANTED_SECRET", None), ("PYTHONPATH", None)],
)
def test_settings(surroundings: Arena, name: str, value: str | None) -> None:
    """Plots need no screen, hashes and sums have one order."""
    assert surroundings.value("variable", name) == value


def test_the_surroundings_are_plain(surroundings: Arena) -> None:
    """Standard input is empty, one thread computes, three descriptors and two pipes are open, the folder is writable."""
    assert surroundings.value("read_stdin") == ("", True)
    assert surroundings.value("threads") == 1
    assert len(surroundings.value("descriptors")) <= 6  # type: ignore[arg-type]  # a list; one of them lists the folder
    assert surroundings.value("user_site") == 1
    assert surroundings.value("writes") is True


def test_sets_have_one_order(surroundings: Arena) -> None:
    """What depends on the order of a set is the same in every process."""
    with arena(SURROUNDINGS) as other:
        assert surroundings.value("order") == other.value("order")


def test_the_grader_is_out_of_reach(surroundings: Arena) -> None:
    """``import grader`` gives something inert, wherever the grader is installed."""
    assert surroundings.value("own_grader") == (False, "Inert")


# ------------------------------------------------------------------ companions


def test_companions_lie_beside() -> None:
    """Companions can be read and imported, and can't be changed for the next session."""
    source = (
        "import os\nimport helper\ndef f(): return helper.VALUE, open('data.csv').read()\n"
        "def change():\n    os.chmod('.', 0o700)\n    os.unlink('data.csv')\n    open('data.csv', 'w').write('new')\n    os._exit(0)\n"
        "def mode(): return os.stat('data.csv').st_mode & 0o777\n"
    )
    beside = {"helper.py": b"VALUE = 5", "data.csv": b"1,2"}
    with arena(script(source, companions=beside)) as made:
        assert made.load.kind == "returned", made.load
        assert made.value("f") == (5, "1,2")
        assert made.value("mode") == 0o444
        made.ask("change")
        assert made.value("f") == (5, "1,2")


def test_companions_never_shadow() -> None:
    """A file named like a module of the library or of a package is never imported in its place."""
    names = ["json", "numpy", "random", "os", "this", "wave"]
    beside = {f"{name}.py": b"1 / 0" for name in names}
    source = "".join(f"import {name}\n" for name in names) + "def f(): return [json.__name__, numpy.__name__]"
    with arena(script(source, companions=beside)) as made:
        assert made.load.kind == "returned", made.load
        assert made.value("f") == ["json", "numpy"]


def test_without_companions_the_folder_is_no_place_to_import_from() -> None:
    """What student code writes itself isn't importable: an import can't change between two sessions."""
    source = "def f():\n    open('made.py', 'w').write('x = 1')\n    import made\n    return made.x\n"
    with arena(source) as made:
        failure = made.ask("f").failure

    assert failure is not None
    assert failure.kind == "ModuleNotFoundError"


def test_inert_modules_stand_in_for_plots() -> None:
    """A module that grading doesn't need is inert where it isn't installed; what is installed or ours to need isn't."""
    source = (
        "import no_plots.pyplot as plt\nfrom no_plots import progress\nfig, ax = plt.subplots()\nax[0, 1].plot([1], label='x')\n"
        "with plt.style.context('x'): plt.show()\ndef f(): return [i for i in progress(range(3))]\n"
    )
    with arena(source, inert=("no_plots", "numpy")) as made:
        assert made.load.kind == "returned", made.load
        assert made.value("f") == [0, 1, 2]


# ------------------------------------------------------------------ our own faults


class NoBackend:
    """A machine that starts nothing, or something that never answers."""

    name = "process"

    def __init__(self, behaviour: str) -> None:
        self._behaviour = behaviour

    def start(self, launch: Launch) -> ProcessWorker:
        """Fail, or start something else."""
        if self._behaviour == "fails":
            raise IsolationError("No process.")
        # The replayer reads a request and ends, which is no hello.
        return ProcessWorker(launch, "replayer")


@pytest.mark.parametrize("behaviour", ["fails", "ends"])
def test_a_worker_that_does_not_start_is_our_fault(behaviour: str) -> None:
    """Before any student code has run, that nothing starts is an IsolationError with a way out."""
    with pytest.raises(IsolationError) as caught, arena_of(NoBackend(behaviour)):
        pass

    assert caught.value.exit_code == 4


def arena_of(backend: NoBackend) -> Arena:
    """Load something with another backend."""
    handed_in = script("x = 1")
    scratch: Scratch | None = None
    try:
        scratch = Scratch(backend, handed_in)
        with Runner(scratch, roomy(), ()) as runner:
            return Arena(runner, handed_in, scratch.root)
    finally:
        if scratch is not None:
            scratch.close()
