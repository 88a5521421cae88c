"""The queue's rules: who is next, who has what, and who may end it."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.web.work import rows

pytestmark = pytest.mark.usefixtures("database")


def answer(cents: int = 10000) -> Any:
    """Return what the process that grades would say."""
    from grader.batch.messages import Answer, Row

    row = Row(number=1, name="mine.py", folder="attempt", status="graded", cents=cents, max_cents=10000)
    files = {"report.html": "r", "instructor.html": "i", "fragment.html": "f", "result.json": '{"tasks": []}'}
    return Answer(row=row, files=files)


def taken_in_order() -> list[str]:
    """Take all that waits, and say whose it is."""
    from grader.web.work.models import Attempt
    from grader.web.work.queue import take

    order = []
    while (found := take("w")) is not None:
        attempt = Attempt.objects.select_related("member").get(id=found.id)
        order.append(f"{attempt.member.user}{attempt.number}")
    return order


def test_first_come_first_served() -> None:
    """With one attempt each, the order is that of coming."""
    course = rows.course()
    for user in "cab":
        rows.attempt(course, rows.member(course, user))

    assert taken_in_order() == ["c1", "a1", "b1"]


def test_many_attempts_of_one_learner_let_others_pass() -> None:
    """Who hands in five times stands with one among the others; the rest comes later, in order."""
    course = rows.course()
    greedy, *others = [rows.member(course, user) for user in "gab"]
    for _ in range(5):
        rows.attempt(course, greedy)
    for other in others:
        rows.attempt(course, other)

    assert taken_in_order() == ["g1", "a1", "b1", "g2", "g3", "g4", "g5"]


def test_nobody_starves() -> None:
    """A second attempt waits for those of a minute, not for ever."""
    course = rows.course()
    greedy = rows.member(course, "g")
    now = time.time()
    rows.attempt(course, greedy, due=now)
    second = rows.attempt(course, greedy)
    later = rows.attempt(course, rows.member(course, "z"), due=now + 120)

    assert second.due < later.due
    assert taken_in_order() == ["g1", "g2", "z1"]


def test_an_attempt_has_one_worker_at_a_time() -> None:
    """Eight threads that take at once get each row once."""
    from django.db import connection

    from grader.web.work.queue import take

    course = rows.course()
    for number in range(20):
        rows.attempt(course, rows.member(course, f"u{number}"))
    got: list[Any] = []

    def work() -> None:
        while (found := take("w")) is not None:
            got.append(found.id)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(got) == len(set(got)) == 20


def test_a_lease_that_ran_out_is_taken_again_and_the_first_one_ends_nothing() -> None:
    """Whoever wakes up late has lost the attempt; it is ended once, by who has it."""
    from grader.web.work.grading import end
    from grader.web.work.models import Attempt, Report
    from grader.web.work.queue import heartbeat, take

    course = rows.course()
    made = rows.attempt(course, rows.member(course, "a"))
    first = take("one")
    assert first is not None
    assert take("two") is None
    assert heartbeat(first)
    Attempt.objects.filter(id=made.id).update(lease_until=1.0)
    second = take("two")
    assert second is not None

    assert not heartbeat(first)
    assert not end(first, answer(1), 1.0)
    assert end(second, answer(), 1.0)
    assert not end(second, answer(), 1.0)
    made.refresh_from_db()
    assert (made.state, made.cents, Report.objects.count()) == ("graded", 10000, 1)


def test_what_is_put_back_is_not_blamed() -> None:
    """A worker that is told to stop gives its attempt back as if it had never had it."""
    from grader.web.work.grading import put_back
    from grader.web.work.queue import take

    course = rows.course()
    made = rows.attempt(course, rows.member(course, "a"))
    found = take("one")
    assert found is not None
    put_back(found, blame=False)
    made.refresh_from_db()

    assert (made.state, made.tries) == ("queued", 0)


def test_a_failed_regrade_keeps_the_report() -> None:
    """What is graded stays graded when judging it again fails; the instructor reads why."""
    from grader.web.work.grading import give_up
    from grader.web.work.models import Attempt
    from grader.web.work.queue import take

    course = rows.course()
    made = rows.graded(course, rows.member(course, "a"))
    Attempt.objects.filter(id=made.id).update(state="queued", work="judge")
    found = take("one")
    assert found is not None
    assert give_up(found, "the course can't be used")
    made.refresh_from_db()

    assert (made.state, made.cents) == ("graded", 5000)
    assert made.reason == "it couldn't be graded again: the course can't be used"


def test_the_page_is_honest_about_waiting() -> None:
    """Without workers no time is promised; with them it follows from what grading took lately."""
    from grader.web.work.models import Attempt
    from grader.web.work.queue import seen
    from grader.web.work.waiting import place_of

    course = rows.course()
    waiting = [rows.attempt(course, rows.member(course, f"u{number}")) for number in range(5)]
    place = place_of(waiting[4])
    assert (place.ahead, place.seconds) == (4, None)
    assert "Nothing is being graded at the moment" in place.sentence

    seen("one")
    rows.graded(course, rows.member(course, "z"))
    Attempt.objects.filter(state="graded").update(seconds=30.0)
    place = place_of(waiting[4])
    assert place.seconds == 180
    assert place.sentence == "4 files are graded before yours. It will be done in about 3 minutes."
    assert place_of(waiting[0]).sentence.startswith("Your file is next.")


def test_a_worker_in_trouble_is_not_counted(database: Path) -> None:
    """A worker that can't isolate, or whose course is broken, grades nothing and says so."""
    del database
    from grader.web.work.queue import seen
    from grader.web.work.waiting import live_workers

    seen("one")
    seen("two", "nothing keeps student code apart")

    assert live_workers() == 1
