"""Pipes to a worker: both kinds, with real ones."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from grader.run.inside.frames import HEAD, MAGIC
from grader.run.pipes import Frame, Pipes, PolledPipes, ThreadedPipes

LARGE = 1 << 21
"""More than a pipe holds."""


class Ends:
    """Pipes, and the two ends that a worker has."""

    def __init__(self, kind: type[PolledPipes | ThreadedPipes]) -> None:
        self.stdin, requests = os.pipe()
        replies, self.stdout = os.pipe()
        self.pipes: Pipes = kind(requests, replies, LARGE)

    def say(self, raw: bytes) -> None:
        """Write as a worker, from a thread, since it may have to wait."""
        threading.Thread(target=os.write, args=(self.stdout, raw), daemon=True).start()

    def hang_up(self) -> None:
        """End as a worker does."""
        for end in (self.stdin, self.stdout):
            os.close(end)
        self.stdin = self.stdout = -1

    def close(self) -> None:
        """Close all."""
        if self.stdin >= 0:
            self.hang_up()
        self.pipes.close()


@pytest.fixture(params=[PolledPipes, ThreadedPipes])
def ends(request: pytest.FixtureRequest) -> Iterator[Ends]:
    """Pipes of each kind."""
    made = Ends(request.param)
    yield made
    made.close()


def frame(header: bytes, payload: bytes = b"") -> bytes:
    """Return a frame as it is sent."""
    return HEAD.pack(MAGIC, len(header), len(payload)) + header + payload


def get(pipes: Pipes) -> Frame | None:
    """Wait for a reply."""
    return pipes.receive(10.0)


def test_replies_come_one_at_a_time(ends: Ends) -> None:
    """In order, whole, whatever their sizes."""
    big = os.urandom(LARGE)
    os.write(ends.stdout, frame(b"one") + frame(b"", b"two"))
    assert [get(ends.pipes), get(ends.pipes)] == [(b"one", b""), (b"", b"two")]

    ends.say(frame(b"three", big))
    assert get(ends.pipes) == (b"three", big)


def test_waiting_has_an_end(ends: Ends) -> None:
    """A half reply is none; when the rest comes, it is one."""
    whole = frame(b"header", b"payload")
    os.write(ends.stdout, whole[:-3])
    assert ends.pipes.receive(0.0) is None
    assert ends.pipes.receive(0.05) is None

    os.write(ends.stdout, whole[-3:])
    assert get(ends.pipes) == (b"header", b"payload")


def test_a_request_is_never_waited_for(ends: Ends) -> None:
    """It is larger than the pipe, and goes through while a reply is waited for."""
    big = os.urandom(LARGE)
    ends.pipes.send(big)
    ends.pipes.send(b"end")
    got = bytearray()

    def read() -> None:
        while len(got) < LARGE + 3:
            got.extend(os.read(ends.stdin, 1 << 16))
        os.write(ends.stdout, frame(b"thanks"))

    threading.Thread(target=read, daemon=True).start()
    assert get(ends.pipes) == (b"thanks", b"")
    assert bytes(got) == big + b"end"


def test_the_end_is_told(ends: Ends) -> None:
    """After the last reply; half a reply isn't one; and sending to nobody is no error."""
    os.write(ends.stdout, frame(b"last") + frame(b"half")[:-1])
    ends.hang_up()
    assert get(ends.pipes) == (b"last", b"")
    with pytest.raises(EOFError):
        get(ends.pipes)

    assert (ends.pipes.ended, ends.pipes.garbled) == (True, False)
    ends.pipes.send(b"anybody there?")


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(HEAD.pack(b"HTTP", 1, 1), id="another magic"),
        pytest.param(HEAD.pack(MAGIC, (1 << 20) + 1, 0), id="a long header"),
        pytest.param(HEAD.pack(MAGIC, 1, LARGE + 1), id="a large payload"),
    ],
)
def test_what_is_no_frame_ends_it(head: bytes, ends: Ends) -> None:
    """Nothing of it is read."""
    os.write(ends.stdout, head + b"x" * 100)
    with pytest.raises(EOFError):
        get(ends.pipes)

    assert (ends.pipes.ended, ends.pipes.garbled) == (True, True)


def test_a_flood_stays_in_the_pipe(ends: Ends) -> None:
    """Whoever writes without being asked soon waits, and little of it is here."""
    written = [0]

    def flood() -> None:
        while True:
            try:
                written[0] += os.write(ends.stdout, frame(b"x" * 1000) * 1000)
            except OSError:
                return

    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    assert get(ends.pipes) == (b"x" * 1000, b"")
    thread.join(0.3)

    assert thread.is_alive()
    assert written[0] < 5_000_000
    ends.pipes.close()
    thread.join(5)
    ends.pipes = Ends(PolledPipes).pipes
