"""What is said of a call: where it failed, what was printed, when it is given up; and who may say it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from grader.model import Limits
from grader.run.replay import replay_draws
from grader.run.runner import MAX_TRANSCRIPT_BYTES
from tests.run.arena import (
    TOOLS,
    arena,
    assert_fine,
    bad,
    roomy,
)

pytestmark = pytest.mark.usefixtures("nothing_stays")


def test_the_failure_says_where() -> None:
    """An error in the submission says its kind, its text, its cell and its line, not those of a library."""
    with arena(bad("x = np.ones(3)\nreturn x.reshape(2, 2)")) as made:
        failure = made.ask("bad").failure

    assert failure is not None
    assert (failure.kind, failure.cell) == ("ValueError", 0)
    assert failure.line == len(TOOLS.splitlines()) + 4
    assert "cannot reshape" in failure.message


@pytest.mark.parametrize(
    "body",
    [
        "raise SyntaxError('x', ('secret.py', 10**9, 1, 'text'))",
        "error = SyntaxError('x'); error.lineno = 'one'; error.filename = []; raise error",
        "exec(compile('\\n' * 50 + '1 / 0', '/etc/passwd', 'exec'))",
        "exec(compile('\\n' * (1 << 20) + '1 / 0', '<submission.py:0>', 'exec'))",
    ],
    ids=["a SyntaxError of its own", "fields of other types", "another file", "a line that isn't there"],
)
def test_a_failure_may_lie(body: str) -> None:
    """An error can claim any place; what is said stays numbers or nothing, and no file is read."""
    with arena(bad(body)) as made:
        failure = made.ask("bad").failure

    assert failure is not None
    assert (failure.cell is None) == (failure.line is None)
    assert failure.cell in (None, 0)


def test_what_is_printed_is_kept_and_cut() -> None:
    """Printed text comes back, up to the limit, and from the call that printed it."""
    with arena(bad("print('x' * 3000); print('y' * 3000, file=sys.stderr)"), limits=roomy(stdout_kib=4)) as made:
        outcome = made.ask("bad")
        later = made.ask("fine")

    assert outcome.stdout == "x" * 3000 + "\n" + "y" * (4096 - 3001)
    assert outcome.stdout_cut
    assert (later.stdout, later.stdout_cut) == ("", False)


def test_two_strikes() -> None:
    """What ended the process twice isn't called again; other functions still are, and later ones too."""
    with arena(bad("import os; os._exit(1)")) as made:
        kinds = [made.ask("bad").kind for _ in range(4)]
        assert_fine(made)

    assert kinds == ["crashed", "crashed", "not_run", "not_run"]


def test_a_strike_is_the_functions_own() -> None:
    """A function that fails now and then without ending the process is called as often as it is asked."""
    with arena(bad("raise ValueError")) as made:
        kinds = {made.ask("bad").kind for _ in range(5)}

    assert kinds == {"raised"}


def test_the_deadline_ends_everything() -> None:
    """When a submission's time is up, what is left isn't run, and says so."""
    limits = Limits(call_seconds=30, asleep_seconds=30, submission_seconds=2.5)  # its start counts too
    with arena(bad("while True: pass"), limits=limits) as made:
        began = time.monotonic()
        late = made.ask("bad")
        after = made.ask("fine")

    assert time.monotonic() - began < 20
    assert (late.kind, after.kind) == ("timed_out", "not_run")
    assert late.failure is not None
    assert after.failure is not None
    assert (late.failure.kind, after.failure.kind) == ("deadline", "deadline")


def test_the_transcript_has_an_end() -> None:
    """Answers are kept up to 16 MB in all; what comes later is too large, and the run goes on."""
    with arena(TOOLS + "\ndef large():\n    return np.zeros(130_000)\n") as made:
        kinds = [made.ask("large").kind for _ in range(20)]

    assert kinds.count("returned") == MAX_TRANSCRIPT_BYTES // (130_000 * 8)
    assert kinds[-1] == "too_large"


# ------------------------------------------------------------------ forged and early replies


def test_a_forged_reply_may_say_what_was_returned() -> None:
    """A reply with the right id is what the function returned: that is all that it can say."""
    with arena(bad("import os\nforge(id=my_id(), kind='returned', value={'f': '0x1p3'})\nos._exit(0)")) as made:
        outcome = made.ask("bad")
        assert_fine(made)

    assert (outcome.kind, outcome.value) == ("returned", 8.0)


RECORDS = {
    "Philox buffer_pos -10^8": (
        "state = mapping(bit_generator='Philox', buffer_pos=-10**8, has_uint32=0, uinteger=0)\n"
        "step, kind, name = [0, 'standard_normal', [], [200, 64], '<f8', 2], 'Generator', 'Philox'"
    ),
    "MT19937 all zero": (
        "state = mapping(bit_generator='MT19937', has_gauss=0)\n"
        "step, kind, name = [0, 'randn', [], [200, 64], '<f8', 2], 'RandomState', 'MT19937'"
    ),
    "PCG64 zero behind a RandomState": (
        "state = mapping(bit_generator='PCG64', has_uint32=2**40, uinteger=0)\n"
        "step, kind, name = [0, 'randn', [], [200, 64], '<f8', 2], 'RandomState', 'PCG64'"
    ),
    "a method that isn't one": (
        "state = None\nstep, kind, name = [0, '__class__', [], [2], '<f8', 1], 'Generator', 'PCG64'"
    ),
    "10^12 numbers": (
        "state = None\nstep, kind, name = [0, 'randn', [], [10**6, 10**6], '<f8', 1], 'RandomState', 'MT19937'"
    ),
}


@pytest.mark.parametrize("claim", RECORDS.values(), ids=RECORDS)
def test_a_forged_record_counts_as_none(claim: str) -> None:
    """A record whose states or shapes are made up comes over the wire, and is no record: the value stands alone."""
    body = (
        "def mapping(**f):\n    said = lambda v: {'s': v} if type(v) is str else {'i': hex(v)}\n"
        "    pair = lambda k, v: {'q': ['tuple', [{'s': k}, said(v)]]}\n"
        f"    return {{'q': ['dict', [pair(k, v) for k, v in f.items()]]}}\n{claim}\n"
        "draws = {'sources': [[kind, name, state, '0' * 64]], 'steps': [step], 'values': None, 'complete': True}\n"
        "forge(id=my_id(), kind='returned', value={'f': '0x1p3'}, draws=draws)\nimport os\nos._exit(0)"
    )
    with arena(bad(body)) as made:
        outcome = made.ask("bad", draws="replay")

    assert (outcome.kind, outcome.value) == ("returned", 8.0)
    assert outcome.draws is not None
    replayed = replay_draws(outcome.draws)
    assert (replayed.values, replayed.complete) == (None, False)


def test_a_second_reply_costs_nobody_else() -> None:
    """After a forged reply the real one is left over: it isn't taken for another function's answer."""
    with arena(bad("forge(id=my_id(), kind='returned', value={'f': '0x1p3'})\nreturn 5.0")) as made:
        assert made.value("bad") == 8.0
        time.sleep(0.1)
        assert_fine(made)


def test_a_reply_before_the_question_costs_nobody_else() -> None:
    """A thread that answers questions that weren't asked yet ends that process; the others are asked in a new one."""
    body = (
        "import threading, time\ndef late():\n    time.sleep(0.05)\n"
        "    forge(id='fine/2', kind='returned', value=None)\n"
        "threading.Thread(target=late).start()\nreturn 1"
    )
    with arena(bad(body)) as made:
        made.ask("bad")
        time.sleep(0.3)
        assert_fine(made)


def test_reading_ahead_finds_nothing() -> None:
    """The next request is sent only after the reply to the last: there is nothing to read ahead."""
    body = "import os\nfd = request_pipe()\nos.set_blocking(fd, False)\ntry: return os.read(fd, 10)\nexcept BlockingIOError: return 'nothing'\nfinally: os.set_blocking(fd, True)"  # noqa: E501
    with arena(bad(body)) as made:
        assert made.value("bad") == "nothing"
        assert_fine(made)


def test_a_flood_of_replies_stays_in_the_pipe() -> None:
    """A thread that never stops replying fills a pipe, not the grader's memory."""
    body = (
        "import os, threading\ndef flood():\n    frame = forged(bytes(8 << 20), id='x', kind='returned')\n"
        "    while True:\n        left = memoryview(frame)\n"
        "        while left: left = left[os.write(reply_pipe(), left):]\n"
        "threading.Thread(target=flood, daemon=True).start()\nreturn 1"
    )
    with arena(bad(body)) as made:
        made.ask("bad")
        time.sleep(0.5)
        before = _resident_mib()
        time.sleep(0.5)

        assert _resident_mib() - before < 100
        assert_fine(made)


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
