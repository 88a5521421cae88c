"""The compose file of ``deploy/``, built and started by a real engine, as the demo of its own machine."""

from __future__ import annotations

import json
import secrets
import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.web.work.servers import ROOT, Browser, free_port, until

__all__ = ["Deployment"]

START_SECONDS = 120.0
LEASE = "4"


class Deployment:
    """A project of containers with secrets, volumes, networks and a port of its own.

    What differs from ``deploy/compose.yaml``: the proxy is published on the loopback alone, learners need no LMS, and
    a worker that is killed is missed after a few seconds.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        # Attacks look for what is written so.
        self.secrets = {kind: f"SECRET-{kind}-{secrets.token_hex(8)}" for kind in ("KEY", "PASSWORD")}
        self.name = f"numgrade-{secrets.token_hex(4)}"
        self.compose, self.engine = _programs()
        known = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
        known["name"] = self.name
        for name in ("server", "worker"):
            known["services"][name]["build"]["context"] = str(ROOT)
            known["services"][name]["environment"].update(GRADE_DEMO="1", GRADE_LEASE=LEASE)
        known["services"]["proxy"]["ports"] = [f"127.0.0.1:{self.port}:443"]
        (folder / "compose.yaml").write_text(yaml.safe_dump(known, sort_keys=False), encoding="utf-8")
        (folder / ".env").write_text(
            f"GRADE_HOST=localhost\nGRADE_SECRET_KEY={self.secrets['KEY']}-{secrets.token_hex(16)}\n"
            f"POSTGRES_PASSWORD={self.secrets['PASSWORD']}\n"
        )

    # ------------------------------------------------------------ life

    def up(self) -> None:
        """Build the image, start everything, and wait until somebody grades."""
        self.composed("build")
        self.composed("up", "-d")
        until(lambda: self.health().get("workers"), "a worker", seconds=START_SECONDS)

    def down(self) -> None:
        """End everything and remove what it kept; images stay, so that the next build is quick."""
        self.composed("down", "-v")

    def composed(self, *words: str) -> str:
        """Run a command of Compose on the project; return what it printed. Raises OSError."""
        return self._run([*self.compose, "-p", self.name, "-f", "compose.yaml", *words])

    def of(self, service: str) -> str:
        """Return the id of a service's container, running or not."""
        labels = {"com.docker.compose.project": self.name, "com.docker.compose.service": service}
        filters = [f"--filter=label={name}={value}" for name, value in labels.items()]
        found = self._run([self.engine, "ps", "-a", "-q", "--no-trunc", *filters]).split()
        assert len(found) == 1, f"containers of {service}: {found}"
        return found[0]

    def known(self, service: str) -> dict[str, Any]:
        """Return what the engine knows of a service's container."""
        told: list[dict[str, Any]] = json.loads(self._run([self.engine, "inspect", self.of(service)]))
        return told[0]

    def inside(self, service: str, *words: str, detached: bool = False) -> str:
        """Run a program inside, with the rights of the service; return what it printed."""
        return self._run([self.engine, "exec", *(["-d"] if detached else []), self.of(service), *words])

    def python(self, service: str, code: str, *words: str, detached: bool = False) -> str:
        """Run a program in Python inside."""
        return self.inside(service, "python", "-c", code, *words, detached=detached)

    def kill(self, service: str) -> None:
        """End a service as a machine does that loses its power."""
        self._run([self.engine, "kill", "--signal", "KILL", self.of(service)])

    def start(self, service: str) -> None:
        """Start a service again that was killed."""
        self._run([self.engine, "start", self.of(service)])

    def logs(self) -> str:
        """Return what the server and the worker have said."""
        texts = []
        for service in ("server", "worker"):
            done = subprocess.run([self.engine, "logs", self.of(service)], capture_output=True, text=True, check=True)
            texts.append(done.stdout + done.stderr)
        return "".join(texts)

    def _run(self, words: list[str]) -> str:
        done = subprocess.run(
            words, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise OSError(f"{' '.join(words)[:300]}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done.stdout

    # ------------------------------------------------------------ the site

    @property
    def address(self) -> str:
        """Where the proxy is."""
        return f"https://localhost:{self.port}"

    def health(self) -> dict[str, Any]:
        """Return what the server says of itself. Raises OSError while it doesn't answer."""
        told: dict[str, Any] = json.loads(self.browser().get("/healthz"))
        return told

    def browser(self) -> Browser:
        """Return a browser that trusts the proxy's own authority."""
        authority = self.inside("proxy", "cat", "/data/caddy/pki/authorities/local/root.crt")
        return Browser(self.address, trusts=ssl.create_default_context(cadata=authority))


def _programs() -> tuple[list[str], str]:
    """Return the words that run Compose, and the engine that it uses."""
    if (
        shutil.which("docker")
        and not subprocess.run(["docker", "compose", "ps"], capture_output=True, check=False).returncode
    ):
        return ["docker", "compose"], "docker"
    if shutil.which("podman") and shutil.which("podman-compose"):
        return ["podman-compose"], "podman"
    pytest.fail("These tests need Docker with Compose, or Podman with podman-compose, and the right to use them.")
