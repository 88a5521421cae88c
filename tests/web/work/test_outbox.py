"""The outbox: the last score is the last that goes, and what is refused stays visible."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tests.web.work import rows

pytestmark = pytest.mark.usefixtures("database")


def delivered(row: Any) -> Any:
    """Return the LMS's yes."""
    from grader.web.lti.scores import Delivered

    return Delivered(timestamp=dt.datetime.fromtimestamp(row.stamp, dt.UTC))


def refused(*, retry: bool, after: float = 0.0) -> Any:
    """Return the LMS's no."""
    from grader.web.lti.scores import Refused

    return Refused(reason="no such user", retry=retry, after=after)


def take() -> tuple[Any, Any]:
    """Take what is due, or fail."""
    from grader.web.work import outbox
    from grader.web.work.models import ScoreDelivery

    sending = outbox._take()
    assert sending is not None
    return sending, ScoreDelivery.objects.get(id=sending.id)


def scored(cents: int, *, best: bool = False) -> tuple[Any, Any]:
    """Make a learner with one graded attempt, whose score is in the outbox."""
    from grader.web.work import outbox

    course = rows.course()
    who = rows.member(course, "a")
    link = course.links.get()
    if best:
        link.counts = "best"
        link.save()
    rows.graded(course, who, cents)
    outbox.settle_score(link, who)
    return course, who


def test_a_score_goes_out_once() -> None:
    """Settling what is settled changes nothing."""
    from grader.web.work import outbox
    from grader.web.work.models import ScoreDelivery

    course, who = scored(4200)
    sending, row = take()
    assert (row.cents, row.state) == (4200, "sending")
    assert outbox._take() is None
    outbox._settle(sending, row, delivered(row))
    outbox.settle_score(course.links.get(), who)

    row = ScoreDelivery.objects.get()
    assert (row.state, row.sent_cents, row.version, row.sent_version) == ("sent", 4200, 1, 1)
    assert outbox._take() is None


def test_a_newer_score_goes_after_the_one_on_its_way_with_a_later_time() -> None:
    """While one is sent, a newer one is graded: it waits, and its timestamp is a second later or more."""
    from grader.web.work import outbox
    from grader.web.work.models import ScoreDelivery

    course, who = scored(4200)
    sending, row = take()
    rows.graded(course, who, 6000)
    outbox.settle_score(course.links.get(), who)
    assert outbox._take() is None
    outbox._settle(sending, row, delivered(row))
    waiting = ScoreDelivery.objects.get()
    assert (waiting.state, waiting.sent_cents, waiting.cents) == ("waiting", 4200, 6000)
    assert waiting.next_at >= row.stamp + 1
    assert outbox._take() is None

    ScoreDelivery.objects.update(next_at=0)
    sending, later = take()
    assert later.stamp >= row.stamp + 1
    outbox._settle(sending, later, delivered(later))
    assert ScoreDelivery.objects.get().sent_cents == 6000


def test_an_older_attempt_that_is_graded_late_changes_nothing() -> None:
    """The second attempt was graded first; when the first one is, the gradebook keeps the second."""
    from grader.web.work import outbox
    from grader.web.work.models import Attempt, ScoreDelivery

    course = rows.course()
    who, link = rows.member(course, "a"), course.links.get()
    first = rows.attempt(course, who)
    rows.graded(course, who, 8000)
    outbox.settle_score(link, who)
    Attempt.objects.filter(id=first.id).update(state="graded", cents=3000, max_cents=10000)
    outbox.settle_score(link, who)

    assert (ScoreDelivery.objects.get().cents, ScoreDelivery.objects.get().version) == (8000, 1)


def test_the_best_counts_where_the_link_says_so() -> None:
    """A worse attempt sends nothing."""
    from grader.web.work import outbox
    from grader.web.work.models import ScoreDelivery

    course, who = scored(8000, best=True)
    rows.graded(course, who, 3000)
    outbox.settle_score(course.links.get(), who)

    assert ScoreDelivery.objects.get().cents == 8000


def test_a_sender_that_was_killed_is_followed_by_another_one() -> None:
    """Its lease runs out; what it says afterwards isn't heard, and no timestamp is used twice."""
    from grader.web.work import outbox
    from grader.web.work.models import ScoreDelivery

    scored(4200)
    dead, before = take()
    ScoreDelivery.objects.update(lease_until=1.0)
    alive, row = take()
    assert row.stamp >= before.stamp + 1
    outbox._settle(dead, before, refused(retry=False))
    assert ScoreDelivery.objects.get().state == "sending"
    outbox._settle(alive, row, delivered(row))
    assert ScoreDelivery.objects.get().state == "sent"


def test_refusals_are_tried_again_with_growing_pauses_and_never_forgotten() -> None:
    """After forty tries, or a no for good, it waits for the button, with the LMS's reason beside it."""
    from grader.web.work import outbox
    from grader.web.work.clock import now
    from grader.web.work.models import ScoreDelivery

    scored(4200)
    pauses = []
    for _ in range(outbox.MAX_TRIES - 1):
        sending, row = take()
        outbox._settle(sending, row, refused(retry=True))
        pauses.append(ScoreDelivery.objects.get().next_at - now())
        ScoreDelivery.objects.update(next_at=0)
    assert [round(pause) for pause in pauses[:4]] == [5, 10, 20, 40]
    assert max(pauses) <= outbox.LONGEST_WAIT
    sending, row = take()
    outbox._settle(sending, row, refused(retry=True))
    row = ScoreDelivery.objects.get()
    assert (row.state, row.reason) == ("refused", "no such user")

    outbox.send_again(row)
    assert ScoreDelivery.objects.get().state == "waiting"


def test_the_lms_says_how_long_to_wait() -> None:
    """A pause that the LMS asks for is kept."""
    from grader.web.work import outbox
    from grader.web.work.clock import now
    from grader.web.work.models import ScoreDelivery

    scored(4200)
    sending, row = take()
    outbox._settle(sending, row, refused(retry=True, after=500.0))

    assert 498 < ScoreDelivery.objects.get().next_at - now() <= 500


def test_no_score_is_sent_for_who_is_no_learner() -> None:
    """An instructor's try is graded and goes nowhere."""
    from grader.web.work import outbox
    from grader.web.work.models import ScoreDelivery

    course = rows.course()
    ina = rows.member(course, "ina", learner=False, instructor=True)
    rows.graded(course, ina)
    outbox.settle_score(course.links.get(), ina)

    assert not ScoreDelivery.objects.exists()


def test_scores_wait_for_a_gradebook() -> None:
    """A link without one keeps its scores; the launch that names it sends them."""
    from grader.web.work import outbox
    from grader.web.work.models import Link, ScoreDelivery

    course = rows.course()
    Link.objects.update(lineitem="")
    who = rows.member(course, "a")
    rows.graded(course, who)
    outbox.settle_score(course.links.get(), who)
    assert ScoreDelivery.objects.get().state == "nowhere"

    Link.objects.update(lineitem="https://lms.example/li/1")
    outbox.gradebook_found(course.links.get())
    assert ScoreDelivery.objects.get().state == "waiting"


def test_points_are_never_rounded() -> None:
    """Scores go in the assignment's own points."""
    from grader.web.work import outbox

    assert [outbox._points(cents) for cents in (0, 5, 4250, 10000)] == ["0", "0.05", "42.5", "100"]
