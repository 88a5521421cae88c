"""Puts attacks before a grader, one after the other, and says what harm each did."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.attacks.attack import Attack
from tests.attacks.world import World

__all__ = ["Ring", "Unavailable"]

ANSWER_SECONDS = 60.0
"""Nothing here may take so long, whatever the machine is busy with: the tight limits end a submission after six."""

PLAIN = "def softmax(x, axis=-1):\n    return x\n"
CONTAINER = Path(__file__).parent / "container.py"


class Unavailable(Exception):
    """This machine doesn't offer the backend."""


class Ring:
    """One world, one backend, one grader; a new grader where an attack ended it."""

    def __init__(self, arena: Path, backend: str, *, contained: bool) -> None:
        self.backend, self._contained = backend, contained
        self.world = World(arena)
        self._host: subprocess.Popen[str] | None = None

    def close(self) -> None:
        """End everything that was started."""
        self._end_host()
        self.world.close()

    def begin(self) -> None:
        """Start the grader. Raises Unavailable where its backend isn't to be had."""
        self._ready_host()

    def run(self, attack: Attack) -> dict[str, Any]:
        """Let ``attack`` be graded; return what the grader says of it, with all harm that was found."""
        host = self._ready_host()
        before, living = self.world.look(), self.world.processes()
        harms: set[str] = set()
        answer: dict[str, Any] = {}
        for _ in range(2 if attack.twice else 1):
            answer = self._ask(host, self._hand_in(attack, host.pid), attack)
            harms |= set(answer["harms"]) | self.world.harms(before, living)
        answer["harms"] = sorted(harms)
        # Later attacks find a world without traces of this one.
        if "changes the grader's process" in harms:
            self._end_host()
        if harms & self.world.TRACES:
            self.world.restore(scratch=self._host is None)
        return answer

    def _hand_in(self, attack: Attack, host: int) -> Path:
        folder = self.world.arena / "inbox" / attack.name
        folder.mkdir(exist_ok=True)
        for name, content in attack.files.items():
            (folder / name).write_bytes(content)
        path = folder / ("submission.py" if attack.source else "submission.ipynb")
        path.write_bytes(self.world.fill_in(_text(attack), host).encode("utf-8", "surrogatepass"))
        return path

    def _ask(self, host: subprocess.Popen[str], path: Path, attack: Attack) -> dict[str, Any]:
        assert host.stdin is not None
        host.stdin.write(json.dumps({"path": str(path), "roomy": attack.roomy}) + "\n")
        host.stdin.flush()
        answer = self._answer(host)
        if answer is None:
            harm = "hangs the grader" if host.poll() is None else "ends the grader"
            self._end_host()
            return {"harms": [harm], "points": 0.0, "kinds": [], "ran": True, "told": ""}
        return answer

    def _answer(self, host: subprocess.Popen[str]) -> dict[str, Any] | None:
        assert host.stdout is not None
        if not select.select([host.stdout], [], [], ANSWER_SECONDS)[0]:
            return None
        line = host.stdout.readline()
        answer: dict[str, Any] | None = json.loads(line) if line.endswith("\n") else None
        return answer

    def _ready_host(self) -> subprocess.Popen[str]:
        if self._host is not None and self._host.poll() is None:
            return self._host
        self._end_host()
        (self.world.arena / "plain.py").write_text(PLAIN)
        shell = [sys.executable, str(CONTAINER)] if self._contained else []
        with (self.world.arena / "host.log").open("w") as log:
            host = subprocess.Popen(
                [*shell, sys.executable, "-m", "tests.attacks.host", self.backend, str(self.world.arena)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self.world.environment(),
                cwd=self.world.arena / "out",
                text=True,
                start_new_session=True,
            )
        self._host = host
        assert host.stdin is not None
        host.stdin.write(json.dumps({"secrets": self.world.secrets}) + "\n")
        host.stdin.flush()
        ready = self._answer(host)
        if ready is None:
            raise Unavailable((self.world.arena / "host.log").read_text()[-2000:])
        assert ready == {"ready": self.backend}
        return host

    def _end_host(self) -> None:
        if self._host is None:
            return
        host, self._host = self._host, None
        assert host.stdin is not None
        assert host.stdout is not None
        with contextlib.suppress(OSError):
            host.stdin.close()
        try:
            host.wait(5)
        except subprocess.TimeoutExpired:
            host.kill()
            host.wait()
        host.stdout.close()
        # Whatever stayed of its workers.
        for pid in self.world.processes():
            with contextlib.suppress(OSError):
                subprocess.run(["kill", "-9", str(pid)], check=False)


def _text(attack: Attack) -> str:
    if attack.source or attack.document:
        return attack.source or attack.document
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": cell}
        for cell in attack.cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells})
