"""Real servers for tests: ``grade serve`` in a process of its own, PostgreSQL on a temporary folder, and a browser."""

from __future__ import annotations

import contextlib
import html
import http.cookiejar
import json
import os
import re
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
POSTGRES = Path("/usr/lib/postgresql/15/bin")
KEY = "a-key-of-the-tests-that-is-long-enough-0123456789"
PATIENCE = 120.0


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def until(true: Callable[[], Any], what: str, *, seconds: float = PATIENCE) -> Any:
    """Wait until something is so, and return it."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError, ValueError):
            if found := true():
                return found
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.1)


class Server:
    """``grade serve`` as a shell starts it. Its log lies beside its data."""

    def __init__(self, folder: Path, *words: str, environment: Mapping[str, str] | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.port = folder, free_port()
        self.words = words
        # Nothing of this process's own settings, which another test may have made.
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("GRADE_", "DJANGO_"))}
        self.environment = {
            **plain, "GRADE_DATA": str(folder), "PYTHONPATH": str(ROOT), "GRADE_LEASE": "4", **(environment or {}),
        }  # fmt: skip
        self.process: subprocess.Popen[bytes] | None = None
        self.others: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://localhost:{self.port}"

    @property
    def log(self) -> str:
        """What it said so far."""
        return (self.folder / "log").read_text(errors="replace")

    def start(self, *, workers: int = 1, wait: bool = True) -> Server:
        """Start it, and wait until somebody grades."""
        process = self.process = self._started(
            "serve", "--port", str(self.port), "--workers", str(workers), *self.words
        )
        if wait:
            until(lambda: process.poll() is not None or self.health()["workers"] >= bool(workers), "a server")
            assert process.poll() is None, self.log
        return self

    def worker(self) -> subprocess.Popen[bytes]:
        """Start ``grade worker``, as on another machine; `stop` ends it too."""
        self.others.append(self._started("worker"))
        return self.others[-1]

    def _started(self, *words: str) -> subprocess.Popen[bytes]:
        """Start ``grade`` with these words; what it says goes into the log."""
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "grader", *words],
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def health(self) -> dict[str, Any]:
        """Return what it says of itself, with the status of the answer."""
        try:
            with urllib.request.urlopen(f"{self.address}/healthz", timeout=10) as answer:
                return {**json.load(answer), "code": answer.status}
        except urllib.error.HTTPError as error:
            return {**json.load(error), "code": error.code}

    def workers(self) -> list[int]:
        """Return the process ids of its workers."""
        assert self.process is not None
        return [
            int(path.name)
            for path in Path("/proc").iterdir()
            if path.name.isdigit() and _parent(path) == self.process.pid
        ]

    def kill(self) -> None:
        """End it as a power cut would; its workers notice by themselves."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """End it as Ctrl-C does, and its workers of other machines; return its exit code."""
        for other in self.others:
            other.terminate()
        for other in self.others:
            try:
                other.wait(30)
            except subprocess.TimeoutExpired:
                other.kill()
                other.wait()
        self.others.clear()
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
        code, self.process = self.process.returncode, None
        return code


def _parent(path: Path) -> int:
    try:
        return int((path / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


class Browser:
    """A browser without script: it keeps cookies, follows redirects and fills forms."""

    def __init__(self, address: str, *, trusts: ssl.SSLContext | None = None) -> None:
        self.address = address
        self.jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(self.jar), urllib.request.HTTPSHandler(context=trusts)
        )
        self.url, self.status, self.text = "", 0, ""
        self.headers: Any = {}

    def get(self, path: str) -> str:
        """Open a page and return its text."""
        return self._open(urllib.request.Request(self._full(path)))

    def post(self, path: str, fields: Mapping[str, str], file: tuple[str, bytes] | None = None) -> str:
        """Send a form with the token of the page that is open."""
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.text)
        sent = {**({"csrfmiddlewaretoken": token[1]} if token else {}), **fields}
        border = secrets.token_hex(16)
        parts = [
            f'--{border}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in sent.items()
        ]
        if file is not None:
            head = f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="{file[0]}"\r\n\r\n'
            parts.append(head.encode() + file[1] + b"\r\n")
        body = b"".join([*parts, f"--{border}--\r\n".encode()])
        headers = {"Content-Type": f"multipart/form-data; boundary={border}", "Origin": self.address}
        return self._open(urllib.request.Request(self._full(path), body, headers))

    def enter(self, person: str) -> str:
        """Be somebody in the demo."""
        self.get("/demo/")
        return self.post("/demo/", {"person": person})

    def hand_in(self, name: str, content: bytes) -> str:
        """Hand a file in on the page that is open, and return the address of its attempt."""
        self.post(self.link(r"/hand-in"), {}, (name, content))
        return self.url

    def link(self, ending: str) -> str:
        """Return the first address in the page with this ending, a pattern."""
        found = re.search(rf'(?:href|action|src)="([^"]*{ending})"', self.text)
        assert found, f"no link {ending} in {self.url}"
        return html.unescape(found[1])

    def graded(self, address: str) -> str:
        """Wait until an attempt is done; return its page."""
        until(lambda: not json.loads(self.get(f"{address}state"))["waits"], "a grade")
        return self.get(address)

    def _full(self, path: str) -> str:
        return path if path.startswith("http") else self.address + path

    def _open(self, request: urllib.request.Request) -> str:
        try:
            with self._opener.open(request, timeout=60) as answer:
                self.status, self.url, self.headers = answer.status, answer.url, answer.headers
                self.text = answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            self.status, self.url, self.headers = error.code, error.url or "", error.headers
            self.text = error.read().decode(errors="replace")
        return self.text


class Postgres:
    """Debian's PostgreSQL with a folder and a port of its own, run by somebody without rights.

    Args:
        synced: It waits for the disk, as it does where its data is worth something. Without, it outlives the end of
            its processes all the same, and not that of the machine.
    """

    def __init__(self, *, synced: bool = False) -> None:
        self._sync = [] if synced else ["-c fsync=off"]
        # Whoever runs it has to reach its folder, which the tests' own may not let them; and a socket's path is short.
        self.folder, self.port = Path(tempfile.mkdtemp(prefix="grade-pg-", dir="/tmp")), free_port()
        self._as = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
        if self._as:
            shutil.chown(self.folder, 65534, 65534)
        self._do(
            "initdb", "-D", str(self.folder / "data"), "-U", "grade", "-A", "trust", "-N", "--no-locale", "-E", "UTF8"
        )

    @property
    def url(self) -> str:
        """Its address."""
        return f"postgresql://grade@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it and wait until it answers."""
        places = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        options = " ".join([places, *self._sync])
        self._do(
            "pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", str(self.folder / "log"), "-o", options, "start"
        )

    def stop(self, how: str = "immediate") -> None:
        """Stop it: ``immediate`` is as if it had crashed."""
        self._do("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", how, "stop")

    def _do(self, program: str, *words: str) -> None:
        subprocess.run(
            [*self._as, str(POSTGRES / program), *words], check=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
        )  # fmt: skip


@contextlib.contextmanager
def postgres(*, synced: bool = False) -> Iterator[Postgres]:
    """Run a PostgreSQL until it isn't needed any more."""
    made = Postgres(synced=synced)
    try:
        made.start()
        yield made
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            made.stop()
        shutil.rmtree(made.folder, ignore_errors=True)
