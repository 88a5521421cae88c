"""Runs in the worker's container beside the worker: what attacks may try to hurt, and a look at it afterwards.

``python -c GUARD guard`` plants, listens and waits; ``python -c GUARD look`` tells in JSON what is to be seen.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

ARENA = Path("/tmp/data")
ABSTRACT = "attacks-on-a-container"
PREFIX = "LEFT_BY_AN_ATTACK_"


def guard() -> None:
    """Plant what others own, listen at a port and at a name, and wait for ever."""
    planted = {"others/alice.py": "SECRET-OTHERS-0123456789abcdef", "home/.netrc": "SECRET-HOME-0123456789abcdef"}
    for name, text in {**planted, "results/results.json": '{"score": null}'}.items():
        (ARENA / name).parent.mkdir(exist_ok=True)
        (ARENA / name).write_text(text)
    stream, local = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
    local.bind("\0" + ABSTRACT)
    local.listen()
    for listener in (stream, local):
        threading.Thread(target=called, args=(listener,), daemon=True).start()
    (ARENA / "guard.json").write_text(json.dumps({"pid": os.getpid(), "port": stream.getsockname()[1]}))
    time.sleep(7200)


def called(listener: socket.socket) -> None:
    """Note that somebody came."""
    listener.accept()
    (ARENA / "called").touch()


def look() -> None:
    """Print the state of all that must not change."""
    known = json.loads((ARENA / "guard.json").read_text())
    processes = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                processes[entry.name] = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
    print(
        json.dumps(
            {
                **known,
                "guard": processes.get(str(known["pid"]), "gone"),
                "processes": processes,
                "files": {
                    str(path): hashlib.sha256(path.read_bytes()).hexdigest()
                    for path in sorted(ARENA.rglob("*"))
                    if path.is_file()
                },
                "left": [str(p) for folder in ("/tmp", "/dev/shm", ARENA) for p in Path(folder).glob(f"{PREFIX}*")],
                # A process that grades keeps a folder of its own; what submissions get lies in it.
                "scratch": sorted(
                    str(path)
                    for pattern in ("*", "grade-batch-*/*")
                    for path in Path("/tmp").glob(pattern)
                    if not path.name.startswith("grade-batch-")
                ),
            }
        )
    )


if __name__ == "__main__":
    {"guard": guard, "look": look}[sys.argv[1]]()
