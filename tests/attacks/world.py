"""What attacks could harm: planted files, a process to disturb, a port to call; and a look at all of it afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import secrets
import shutil
import socket
import stat
import subprocess
import time
from pathlib import Path

from grader.run.removal import remove_tree

__all__ = ["ROOT", "World"]

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "LEFT_BY_AN_ATTACK_"
SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/")
"""Folders of everybody, where only files with the prefix above are looked for."""
IPC_KEY = 0x1A77AC
SETTLE_SECONDS = 3.0


class World:
    """An arena with secrets in it, a sentinel process and a listener."""

    def __init__(self, arena: Path) -> None:
        self.arena = arena
        kinds = ("FILE", "ENVIRONMENT", "MEMORY", "OTHERS", "HOME")
        self.secrets = {kind: f"SECRET-{kind}-{secrets.token_hex(8)}" for kind in kinds}
        self._plant()
        self._listen()
        self.sentinel = subprocess.Popen(["sleep", "900"], start_new_session=True)
        self._calm = _manners(self.sentinel.pid)

    # ------------------------------------------------------------ before

    def _plant(self) -> None:
        for name in ("course", "others", "home", "results", "inbox", "out", "tmp"):
            (self.arena / name).mkdir(parents=True, exist_ok=True)
        for name in ("exercises", "reference", "reports"):
            shutil.copytree(ROOT / name, self.arena / "course" / name, ignore=shutil.ignore_patterns("__pycache__"))
        reference = self.arena / "course" / "reference" / "attention"
        solution = reference / "solution.py"
        solution.write_text(f"{solution.read_text()}\nPLANTED = '{self.secrets['FILE']}'\n")
        (reference / "expected.txt").write_text(self.secrets["FILE"])
        (self.arena / "others" / "alice.py").write_text(f"# {self.secrets['OTHERS']}\n")
        (self.arena / "home" / ".netrc").write_text(self.secrets["HOME"])
        (self.arena / "results" / "results.json").write_text('{"score": null}')

    def _listen(self) -> None:
        self._stream, self._datagram = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
        self._stream.bind(("127.0.0.1", 0))
        self.port = self._stream.getsockname()[1]
        self._datagram.bind(("127.0.0.1", self.port))
        self.abstract = f"attacks-{secrets.token_hex(4)}"
        self._local = socket.socket(socket.AF_UNIX)
        self._local.bind("\0" + self.abstract)
        for listener in (self._stream, self._local):
            listener.listen()
        for each in (self._stream, self._datagram, self._local):
            each.setblocking(False)

    def close(self) -> None:
        """End what was started here."""
        self.sentinel.kill()
        self.sentinel.wait()
        for each in (self._stream, self._datagram, self._local):
            each.close()

    def environment(self) -> dict[str, str]:
        """Return the environment of a grader that lives here."""
        return {
            **os.environ,
            "HOME": str(self.arena / "home"),
            "TMPDIR": str(self.arena / "tmp"),
            "PYTHONPATH": str(ROOT),
            "GRADER_TOKEN": self.secrets["ENVIRONMENT"],
        }

    def fill_in(self, text: str, host: int) -> str:
        """Put the names of what is here into an attack."""
        names = {
            "ARENA": self.arena,
            "SENTINEL": self.sentinel.pid,
            "HOST": host,
            "PORT": self.port,
            "ABSTRACT": self.abstract,
            "ROOT": ROOT,
        }
        for name, value in names.items():
            text = text.replace(f"@{name}@", str(value))
        return text

    # ------------------------------------------------------------ after

    def look(self) -> dict[str, object]:
        """Return the state of all that must not change."""
        watched = {}
        for place in ("course", "others", "home", "results"):
            for path in [self.arena / place, *sorted((self.arena / place).rglob("*"))]:
                with contextlib.suppress(FileNotFoundError):
                    watched[str(path)] = _state(path)
        return {
            "files": watched,
            "shared": sorted(str(path) for folder in SHARED for path in Path(folder).glob(f"{PREFIX}*")),
            "scratch": sorted(path.name for path in (self.arena / "tmp").iterdir()),
            "ipc": _ipc(),
        }

    TRACES = frozenset(["changes files", "leaves something", "ends a process", "slows a process"])
    """Harm that has to be put right before the next attack."""

    def restore(self, *, scratch: bool) -> None:
        """Put back what an attack changed, and remove what it left; also scratch folders, if nobody needs them now."""
        for folder in SHARED:
            for path in Path(folder).glob(f"{PREFIX}*"):
                _remove(path)
        for found in _ipc():
            kind, number = found.split()
            subprocess.run(["ipcrm", {"shm": "-m", "msg": "-q", "sem": "-s"}[kind], number], check=False)
        for name in ("course", "others", "home", "results", "inbox", *(["tmp"] if scratch else [])):
            _remove(self.arena / name)
        self._plant()
        if self.sentinel.poll() is not None or _manners(self.sentinel.pid) != self._calm:
            self.sentinel.kill()
            self.sentinel.wait()
            self.sentinel = subprocess.Popen(["sleep", "900"], start_new_session=True)
            self._calm = _manners(self.sentinel.pid)

    def harms(self, before: dict[str, object], processes: set[int]) -> set[str]:
        """Say what has changed since ``before``, when ``processes`` lived here; wait for what is about to end."""
        found = set()
        until = time.monotonic() + SETTLE_SECONDS
        left = self.processes() - processes
        while left and time.monotonic() < until:
            time.sleep(0.02)
            left = self.processes() - processes
        if left:
            found.add("survives")
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, 9)
        after = self.look()
        if after["files"] != before["files"]:
            found.add("changes files")
        if any(after[key] != before[key] for key in ("shared", "scratch", "ipc")):
            found.add("leaves something")
        if self.sentinel.poll() is not None:
            found.add("ends a process")
        elif _manners(self.sentinel.pid) != self._calm:
            found.add("slows a process")
        if self._was_called():
            found.add("connects")
        return found

    def _was_called(self) -> bool:
        called = False
        for listener in (self._stream, self._local, self._datagram):
            with contextlib.suppress(BlockingIOError):
                while True:
                    if listener is self._datagram:
                        listener.recv(100)
                    else:
                        listener.accept()[0].close()
                    called = True
        return called

    def processes(self) -> set[int]:
        """Return the processes that live here: their environment names the arena."""
        mark = str(self.arena).encode()
        found = set()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                known = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                if mark in known and b") Z " not in (entry / "stat").read_bytes():
                    found.add(int(entry.name))
        return found


def _state(path: Path) -> tuple[object, ...]:
    about = path.lstat()
    content = ""
    if stat.S_ISLNK(about.st_mode):
        content = str(path.readlink())
    elif stat.S_ISREG(about.st_mode):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    extra = tuple(os.listxattr(path, follow_symlinks=False))
    return about.st_mode, about.st_mtime_ns, about.st_nlink if stat.S_ISREG(about.st_mode) else 0, content, extra


def _manners(pid: int) -> tuple[object, ...]:
    """How the kernel treats a process: what others could worsen."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return (
        os.getpriority(os.PRIO_PROCESS, pid),
        sorted(os.sched_getaffinity(pid)),
        os.sched_getscheduler(pid),
        resource.prlimit(pid, resource.RLIMIT_NOFILE),
        fields[0] in (b"T", b"t"),
    )


def _ipc() -> list[str]:
    """System V memory, queues and semaphores of the attacks' key, by their ids."""
    found = []
    for kind in ("shm", "msg", "sem"):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
            found += [f"{kind} {line.split()[1]}" for line in lines if int(line.split()[0]) == IPC_KEY]
    return found


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
