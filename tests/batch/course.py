"""A course of one function, whose check can be told to go wrong by what the function returns."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_course"]

ASSIGNMENT = """\
id = "say"
version = "1.0"
packages = ["numpy"]

[[task]]
id = "say"
function = "say"
signature = "say()"
criteria = [{ id = "word", points = 10, core = true }]
"""
FEEDBACK = """\
"title" = "Say a word"
"say.title" = "A word"
"say.wrong" = "It is another word."
[say.word]
title = "the right word"
"""
CHECKS = """\
import os
import signal
from pathlib import Path

from grader.api import Case, Finding, Note, Status

ONCE = Path(__file__).parents[2] / "once"

def act(word):
    if word == "die" or (word == "die once" and not ONCE.exists()):
        ONCE.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "fail":
        raise ValueError("a check of ours is broken")
    if word == "print":
        print("checks may print", flush=True)

class Checks:
    def plan(self, inputs, seen):
        yield Case(id="word", args=())

    def judge(self, inputs, seen):
        for call in seen:
            act(call.value)
            right = call.returned and call.value in ("right", "look", "print", "die once")
            notes = (Note(text="say.wrong", kind="review"),) if call.value == "look" else ()
            yield Finding(
                criterion="say/word",
                status=Status.PASSED if right else Status.FAILED,
                text="" if right else "say.wrong",
                notes=notes,
            )

TASKS = {"say": Checks()}
"""


def write_course(root: Path) -> Path:
    """Write the course below ``root`` and return its folder."""
    folder = root / "reference" / "say"
    folder.mkdir(parents=True)
    files = {"__init__.py": "", "assignment.toml": ASSIGNMENT, "feedback.en.toml": FEEDBACK, "checks.py": CHECKS}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return root
