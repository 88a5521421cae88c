"""What a worker sees around it, and what stays out of its sight."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.errors import IsolationError
from grader.run.backend import Closing, Launch
from grader.run.inside.namespaces import SCRATCH
from grader.run.process import ProcessWorker
from grader.run.runner import Runner
from grader.run.scratch import Scratch
from tests.run.arena import (
    CHOSEN,
    Arena,
    arena,
    roomy,
    script,
)

pytestmark = pytest.mark.usefixtures("nothing_stays")

SURROUNDINGS = """
import os, sys
import numpy as np

def environment(): return sorted(os.environ)
def variable(name): return os.environ.get(name)
def folder(): return os.getcwd()
def read_stdin(): return sys.stdin.read(), os.read(0, 10) == b""
def order(): return list({"a", "b", "c", "d", "e"})
def threads():
    import threading
    np.ones((300, 300)) @ np.ones((300, 300))
    return threading.active_count()
def own_grader():
    import grader, grader.core.judge
    from grader import check
    check("softmax")
    return hasattr(grader, "__version__"), type(grader.core.judge.judge).__name__
def path(): return [place for place in sys.path if os.path.isdir(os.path.join(place, "grader"))]
def main_file(): return sys.argv
def descriptors():
    def there(fd):
        try:
            return bool(os.fstat(fd))
        except OSError:
            return False
    return [fd for fd in range(64) if there(fd)]
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
    if CHOSEN[0].name == "namespaces":
        assert folder == SCRATCH  # it is in memory, and nobody else sees it
    else:
        assert Path(folder).parent == surroundings.root
        assert Path(folder).stat().st_mode & 0o77 == 0


@pytest.mark.parametrize(
    "name, value",
    [
        *[("MPLBACKEND", "Agg"), ("PYTHONHASHSEED", "0"), ("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")],
        *[("MKL_NUM_THREADS", "1"), ("PLANTED_SECRET", None), ("PYTHONPATH", None)],
    ],
)
def test_settings(surroundings: Arena, name: str, value: str | None) -> None:
    """Plots need no screen, hashes and sums have one order."""
    assert surroundings.value("variable", name) == value


def test_the_surroundings_are_plain(surroundings: Arena) -> None:
    """Standard input is empty, one thread computes, few descriptors are open, the folder is writable."""
    assert surroundings.value("read_stdin") == ("", True)
    assert surroundings.value("threads") == 1
    assert surroundings.value("descriptors") == [0, 1, 2, 3, 4]
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
        "def change():\n    os.unlink('data.csv')\n"
        "    open('data.csv', 'w').write('new')\n    os._exit(0)\n"
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
        "import no_plots.pyplot as plt\nfrom no_plots import progress\nfig, ax = plt.subplots()\n"
        "ax[0, 1].plot([1], label='x')\n"
        "with plt.style.context('x'): plt.show()\ndef f(): return [i for i in progress(range(3))]\n"
    )
    with arena(source, inert=("no_plots", "numpy")) as made:
        assert made.load.kind == "returned", made.load
        assert made.value("f") == [0, 1, 2]


# ------------------------------------------------------------------ our own faults


class NoBackend(Closing):
    """A machine that starts nothing, or something that never answers."""

    name = "process"

    def __init__(self, behaviour: str) -> None:
        self._behaviour = behaviour

    def start(self, launch: Launch) -> ProcessWorker:
        """Fail, or start something else."""
        if self._behaviour == "fails":
            raise IsolationError("No process.")
        # It ends without a hello.
        return ProcessWorker(launch, start=[sys.executable, "-c", ""])


@pytest.mark.parametrize("behaviour", ["fails", "ends"])
def test_a_worker_that_does_not_start_is_our_fault(behaviour: str) -> None:
    """Before any student code has run, that nothing starts is an IsolationError with a way out."""
    with pytest.raises(IsolationError) as caught:
        load_with(NoBackend(behaviour))

    assert caught.value.exit_code == 4


def load_with(backend: NoBackend) -> None:
    """Load something with another backend."""
    handed_in = script("x = 1")
    scratch: Scratch | None = None
    try:
        scratch = Scratch(backend, handed_in)
        with Runner(scratch, roomy(), ()) as runner:
            Arena(runner, handed_in, scratch.root)
    finally:
        if scratch is not None:
            scratch.close()
