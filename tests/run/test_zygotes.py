"""Zygotes: their workers are ended, counted and told apart, and no death of ours costs anybody a point."""

from __future__ import annotations

import base64
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.errors import IsolationError
from grader.run import quota
from grader.run import zygote as zygotes
from grader.run.backend import Backend, Launch
from grader.run.forked import LandlockBackend, NamespacesBackend
from grader.run.inside import frames
from grader.run.inside.seccomp import PLACEHOLDER
from tests.run.arena import TOOLS, alive, arena, assert_fine, children, roomy
from tests.run.offered import ISOLATED, opened

pytestmark = pytest.mark.usefixtures("nothing_stays")


@pytest.fixture(params=ISOLATED)
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Return each isolated backend, opened for one test."""
    with opened(request.param) as made:
        yield made


def zygote_of(backend: Backend) -> int:
    """Return the number of the process that forks workers; bubblewrap is two above it, and one waits for it."""
    assert isinstance(backend, (LandlockBackend, NamespacesBackend))
    found = backend._zygote._process.pid
    for _ in range(3 if backend.name == "namespaces" else 0):
        (found,) = (pid for pid in children(found) if parent_of(pid) == found)
    return found


def parent_of(pid: int) -> int:
    """Return the number of a process's parent."""
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])


# ------------------------------------------------------------------ quota

FILES = (
    TOOLS
    + """
def many():
    for i in range(6_000): open(f"file-{i}", "w").close()
    while True: pass
def large():
    for i in range(100): open(f"large-{i}", "wb").write(bytes(8 << 20))
def nameless():
    import os
    kept = []
    for i in range(50):
        kept.append(open("gone", "w+b", buffering=0))
        kept[-1].write(bytes(8 << 20))
        os.unlink("gone")
    while True: pass
def mapped():
    import ctypes, os
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    for i in range(20):
        gone = os.open("gone", os.O_RDWR | os.O_CREAT)
        os.unlink("gone")
        os.ftruncate(gone, 32 << 20)
        place = libc.mmap(None, 32 << 20, 3, 1, gone, 0)
        os.close(gone)
        ctypes.memset(place, 1, 32 << 20)
    while True: pass
def deep():
    import os
    for i in range(5_000):
        os.mkdir("d")
        os.chdir("d")
    while True: pass
"""
)


@pytest.mark.parametrize("name", ["many", "large", "nameless", "mapped", "deep"])
def test_a_full_scratch_ends_the_call(backend: Backend, name: str) -> None:
    """Who fills the folder loses that call: by an error where the kernel counts, else the worker is ended."""
    with arena(FILES, backend=backend) as made:
        outcome = made.ask(name)
        if backend.name == "namespaces":
            assert outcome.failure is not None
            # Who writes by a mapping is told by a signal.
            told = ("crashed", "signal") if name == "mapped" else ("raised", "OSError")
            assert (outcome.kind, outcome.failure.kind) == told
        else:
            assert outcome.failure is not None
            assert (outcome.kind, outcome.failure.kind) == ("crashed", "scratch")
        assert_fine(made)


def test_what_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the limit is fine, folders and links count as files, links aren't followed."""
    monkeypatch.setattr(quota, "MAX_FILES", 8)
    for number in range(4):
        (tmp_path / f"f{number}").touch()
    (tmp_path / "below").mkdir()
    for number in range(3):
        (tmp_path / "below" / f"f{number}").symlink_to("/")
    assert not quota.over_quota(tmp_path, os.getpid())
    (tmp_path / "below" / "one-more").mkdir()
    assert quota.over_quota(tmp_path, os.getpid())


def test_a_file_that_only_says_that_it_is_large_takes_no_room(tmp_path: Path) -> None:
    """Blocks are counted, not what a file says of its length."""
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(2 * quota.MAX_BYTES)
    assert not quota.over_quota(tmp_path, os.getpid())


# ------------------------------------------------------------------ ends of workers


@pytest.mark.parametrize(
    "body, kind, detail",
    [
        ("import os; os._exit(3)", "exit", "3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal", "SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", "signal", "SIGSEGV"),
    ],
    ids=["exit", "kill", "segfault"],
)
def test_how_a_worker_ended(backend: Backend, body: str, kind: str, detail: str) -> None:
    """The zygote tells how its child ended."""
    if (backend.name, detail) == ("namespaces", "SIGKILL"):
        body = body.replace("SIGKILL", "SIGSEGV")  # the first process of a namespace can't kill itself
        detail = "SIGSEGV"
    with arena(f"{TOOLS}\ndef end(): {body}\n", backend=backend) as made:
        outcome = made.ask("end")
        if backend.name == "namespaces" and outcome.kind == "returned":
            return
        assert outcome.kind == "crashed"
        assert outcome.failure is not None
        assert (outcome.failure.kind, outcome.failure.message) == (kind, detail)
        assert_fine(made)


def test_a_worker_that_ignores_everything_is_ended(backend: Backend) -> None:
    """Signals that are ignored and threads that go on keep nobody alive."""
    source = TOOLS + (
        "def stay():\n    import signal, threading\n"
        "    for number in range(1, 60):\n        try: signal.signal(number, signal.SIG_IGN)\n"
        "        except (OSError, ValueError): pass\n"
        "    for _ in range(3): threading.Thread(target=stay_on).start()\n    stay_on()\n"
        "def stay_on():\n    while True: pass\n"
    )
    with arena(source, backend=backend, limits=roomy(call_seconds=0.3)) as made:
        assert made.ask("stay").kind == "timed_out"
        assert_fine(made)


def test_a_sleeper_is_seen(backend: Backend) -> None:
    """Using no processor time is seen from outside, whatever the process's number is in there."""
    source = TOOLS + "def doze():\n    import time\n    time.sleep(50)\n"
    with arena(source, backend=backend, limits=roomy(asleep_seconds=0.3)) as made:
        outcome = made.ask("doze")
        assert outcome.failure is not None
        assert (outcome.kind, outcome.failure.kind) == ("timed_out", "asleep")


def test_whoever_closes_the_pipe_is_ended(backend: Backend) -> None:
    """A worker that closes its own pipes and goes on is killed."""
    source = TOOLS + "def cut():\n    import os\n    os.closerange(3, 64)\n    while True: pass\n"
    with arena(source, backend=backend) as made:
        assert made.ask("cut").kind == "crashed"
        assert_fine(made)


@pytest.mark.parametrize("header, payload", [(frames.MAX_HEADER + 1, 0), (2, frames.MAX_PAYLOAD + 1), (2, 1 << 63)])
def test_a_frame_too_large_is_never_read(backend: Backend, header: int, payload: int) -> None:
    """What promises more than a reply may have ends the call when its head has come, long before the bytes would."""
    source = TOOLS + (
        "def promise():\n    import os, struct\n"
        f"    os.write(reply_pipe(), b'GRD1' + struct.pack('<IQ', {header}, {payload}) + bytes(100))\n"
        "    while True: pass\n"
    )
    with arena(source, backend=backend) as made:
        outcome = made.ask("promise")
        assert outcome.failure is not None
        assert (outcome.kind, outcome.failure.kind) == ("crashed", "garbled")
        assert_fine(made)


def test_a_flood_of_replies_stays_in_the_pipe(backend: Backend) -> None:
    """Who writes without end waits; what comes before it was asked ends the worker."""
    source = TOOLS + "def flood():\n    import os\n    while True: os.write(reply_pipe(), forged(kind='returned'))\n"
    with arena(source, backend=backend, limits=roomy(call_seconds=1.0)) as made:
        assert made.ask("flood").kind == "crashed"
        assert_fine(made)


# ------------------------------------------------------------------ ends of the zygote


def test_a_zygote_that_dies_costs_nobody_a_point(backend: Backend) -> None:
    """A call that was running is our fault, and says so; the next worker comes from a new zygote."""
    source = TOOLS + "def wait():\n    while True: pass\n"
    with arena(source, backend=backend) as made:
        threading.Timer(0.2, os.kill, (zygote_of(backend), signal.SIGKILL)).start()
        with pytest.raises(IsolationError, match="has ended"):
            made.ask("wait")

    with arena(source, backend=backend) as made:
        assert_fine(made)


def test_a_zygote_that_is_stuck_is_replaced(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What gives no answer in time is ended, and another one asked."""
    with arena(TOOLS, backend=backend) as made:
        assert_fine(made)
    stuck = zygote_of(backend)
    os.kill(stuck, signal.SIGSTOP)
    monkeypatch.setattr(zygotes, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(zygotes, "ENDS_SECONDS", 0.2)
    with arena(TOOLS, backend=backend) as made:
        assert_fine(made)
    assert not alive(stuck)


def test_a_zygote_that_never_starts_is_our_fault(tmp_path: Path) -> None:
    """Its last words are in the message."""
    zygote = zygotes.Zygote([sys.executable, "-c", "raise SystemExit('no library here')"], {}, {})
    try:
        with pytest.raises(IsolationError, match="no library here"):
            zygote.child(tmp_path, over_quota=None)
    finally:
        zygote.close()


@pytest.mark.parametrize("name", ISOLATED)
def test_a_policy_that_cannot_be_kept_is_our_fault(name: str) -> None:
    """A child that can't lock itself down runs nothing, and its reason is told."""
    made = {"landlock": LandlockBackend, "namespaces": NamespacesBackend}[name]
    # The kernel refuses a program with an instruction that it doesn't know.
    broken = base64.b64encode(struct.pack("=HBBI", 0xFFFF, 0, 0, PLACEHOLDER)).decode()
    with made(changes={"filter": broken}) as backend:
        running = arena("x = 1", backend=backend)
        with pytest.raises(IsolationError, match="didn't start"):
            running.__enter__()


ORPHAN = """
import sys, time
from pathlib import Path
from grader.run.backend import Launch
from grader.run.forked import LandlockBackend, NamespacesBackend

backend = {"landlock": LandlockBackend, "namespaces": NamespacesBackend}[sys.argv[1]]()
worker = backend.start(Launch(folder=Path(sys.argv[2])))
print("ready", flush=True)
time.sleep(100)
"""


@pytest.mark.parametrize("name", ISOLATED)
def test_nothing_outlives_the_grader(name: str, root: Path, tmp_path: Path) -> None:
    """When the grader is killed without a word, zygote and workers end too."""
    folder = tmp_path / "life"
    folder.mkdir()
    grader = subprocess.Popen(
        [sys.executable, "-c", ORPHAN, name, str(folder)], cwd=root, stdout=subprocess.PIPE, text=True
    )
    assert grader.stdout is not None
    assert grader.stdout.readline() == "ready\n"
    below = children(grader.pid)
    assert len(below) >= 2
    grader.kill()
    grader.wait()
    grader.stdout.close()
    until = time.monotonic() + 20
    while (left := {pid for pid in below if alive(pid)}) and time.monotonic() < until:
        time.sleep(0.02)
    assert left == set()


def test_closing_ends_every_worker(backend: Backend) -> None:
    """A worker that nobody closed is gone with its backend."""
    before = children()
    with tempfile.TemporaryDirectory() as folder:
        worker = backend.start(Launch(folder=Path(folder)))
        born = children() - before
        assert born
        backend.close()
        until = time.monotonic() + 10
        while any(map(alive, born)) and time.monotonic() < until:
            time.sleep(0.02)
        assert not any(map(alive, born))
        worker.close()
