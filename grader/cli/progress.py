"""One short line on standard error that says what is being waited for. Only where a person watches.

Nothing is started for it: whoever waits for a worker looks in here while waiting.
"""

from __future__ import annotations

import os
import time
from typing import TextIO

from grader.model import Call
from grader.render import clean

__all__ = ["Progress", "watched"]

PATIENCE = 0.5
"""Seconds that nobody needs to be told about."""
EVERY = 0.1
MAX_NAME = 60
_CLEAR = "\r\x1b[K"


def watched(stream: TextIO) -> bool:
    """Whether a person sees what is written to ``stream``, and it can take a line back."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class Progress:
    """Shows the function that is being called, once that takes a while. ``clear`` takes the line back."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = time.monotonic() + PATIENCE
        self._shown = ""

    def __call__(self, call: Call) -> None:
        """Say what is being waited for, unless it was said or it is too early to say anything."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + EVERY
        text = _said(call)
        if text != self._shown:
            self._shown = text
            self._write(_CLEAR + text)

    def clear(self) -> None:
        """Take the line back, if there is one."""
        if self._shown:
            self._shown = ""
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._next = float("inf")  # whoever watched has gone


def _said(call: Call) -> str:
    if call.kind == "function":
        # It may be the submission's word for the function, so it is cleaned like any other.
        return f"calling {clean.terminal(call.name, unicode=False)[:MAX_NAME]} ..."
    return "running the file ..." if call.name == "0" else f"running cell {call.name} ..."
