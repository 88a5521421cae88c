"""Scores in a gradebook that behaves as Moodle 4.5's was seen to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from grader.web.lti.models import Platform
from grader.web.lti.scores import Delivered, Refused, Score, send_score
from tests.web.lti.away import Lms
from tests.web.lti.ours import tool_pem


def score(given: str, *, ago: float = 0, comment: str = "42.5 of 50 points.", maximum: str = "50") -> Score:
    """Return a score that became so a while ago."""
    when = timezone.now() - timedelta(seconds=ago)
    return Score(
        given=given, maximum=maximum, comment=comment, timestamp=when, submitted_at=when - timedelta(minutes=5)
    )


def item_of(lms: Lms) -> str:
    """Return the line item's address, with the query that Moodle's have."""
    return f"{lms.base}/course/2/lineitems/4/lineitem?type_id=1"


def grade_of(lms: Lms, user: str = "4") -> Any:
    """Return what the gradebook has."""
    return lms.state()["grades"].get(f"4/{user}")


def test_a_score_arrives(platform: Platform, lms: Lms) -> None:
    """In native points, with a comment, fully graded, before the query of the address, in the right content type."""
    sent = score("42.5")
    answer = send_score(platform.pk, item_of(lms), "4", sent)

    assert answer == Delivered(timestamp=sent.timestamp)
    grade = grade_of(lms)
    assert (grade["raw"], grade["final"], grade["comment"]) == (85.0, 85.0, "42.5 of 50 points.")
    assert (grade["sent"]["scoreGiven"], grade["sent"]["scoreMaximum"]) == (42.5, 50)
    assert grade["sent"]["gradingProgress"] == "FullyGraded"
    (request,) = lms.asked("/scores")
    assert request["path"] == "/course/2/lineitems/4/lineitem/scores?type_id=1"
    assert request["headers"]["content-type"] == "application/vnd.ims.lis.v1.score+json"


def test_times_have_milliseconds_and_z(platform: Platform, lms: Lms) -> None:
    """Whatever the zone and the fraction."""
    from zoneinfo import ZoneInfo

    when = datetime(2026, 11, 30, 15, 4, 5, 678901, tzinfo=ZoneInfo("Europe/Vienna"))
    sent = Score(given="1", maximum="2", comment="", timestamp=when, submitted_at=datetime(2026, 1, 1, tzinfo=UTC))
    send_score(platform.pk, item_of(lms), "4", sent)

    assert grade_of(lms)["sent"]["timestamp"] == "2026-11-30T14:04:05.678Z"
    assert grade_of(lms)["sent"]["submission"] == {"submittedAt": "2026-01-01T00:00:00.000Z"}


@pytest.mark.parametrize("text", ["0", "7", "7.5", "33.33", "0.01", "100"])
def test_numbers_as_they_are(platform: Platform, lms: Lms, text: str) -> None:
    """Decimal text becomes JSON's number without rounding, and whole ones have no point."""
    send_score(platform.pk, item_of(lms), "4", score(text, maximum="100"))

    (request,) = lms.asked("/scores")
    assert f'"scoreGiven": {text},' in request["body"]


def test_two_within_a_second(platform: Platform, lms: Lms) -> None:
    """The second one is refused with 409, isn't the one that is there, and so goes once more with a later time."""
    first, second = score("10"), score("20", comment="20 of 50 points.")
    send_score(platform.pk, item_of(lms), "4", first)
    answer = send_score(platform.pk, item_of(lms), "4", second)

    assert isinstance(answer, Delivered)
    assert answer.timestamp > second.timestamp
    assert (grade_of(lms)["raw"], grade_of(lms)["comment"]) == (40.0, "20 of 50 points.")


def test_the_same_again_is_there_already(platform: Platform, lms: Lms) -> None:
    """After a crash the same score is sent again: 409, and what is there is it. It isn't written twice."""
    sent = score("10")
    send_score(platform.pk, item_of(lms), "4", sent)

    assert send_score(platform.pk, item_of(lms), "4", sent) == Delivered(timestamp=sent.timestamp)
    assert len(lms.asked("/scores")) == 2
    assert len(lms.asked("/results")) == 1


def test_the_same_score_with_another_comment(platform: Platform, lms: Lms) -> None:
    """Equal points aren't all: a new comment goes out as well."""
    send_score(platform.pk, item_of(lms), "4", score("10", comment="Attempt 1"))
    send_score(platform.pk, item_of(lms), "4", score("10", comment="Attempt 2"))

    assert grade_of(lms)["comment"] == "Attempt 2"


@pytest.mark.parametrize("ahead", [-300, -2, 2, 300])
def test_clocks_differ(platform: Platform, lms: Lms, ahead: float) -> None:
    """A tool's clock behind the platform's gets 409 for each score; the platform's own time helps out."""
    lms.be(tool=tool_pem(), ahead=ahead)
    answers = [send_score(platform.pk, item_of(lms), "4", score(given)) for given in ("10", "20", "30")]

    assert all(isinstance(answer, Delivered) for answer in answers)
    assert grade_of(lms)["raw"] == 60.0


def test_an_lms_that_insists(platform: Platform, lms: Lms) -> None:
    """409 for ever: it is tried again later, and not at once for ever."""
    lms.be(tool=tool_pem(), behaviour={"scores": {"status": 409, "times": 99}})
    answer = send_score(platform.pk, item_of(lms), "4", score("10"))

    assert isinstance(answer, Refused)
    assert (answer.retry, answer.after > 1) == (True, True)
    assert len(lms.asked("/scores")) == 2


@pytest.mark.parametrize("user", ["3", "99"])
def test_nobody_to_grade(platform: Platform, lms: Lms, user: str) -> None:
    """A teacher, or somebody unknown: the LMS's reason stands behind its status only, and trying again is no use."""
    answer = send_score(platform.pk, item_of(lms), user, score("10"))

    assert answer == Refused(reason="The LMS refused it (400 Incorrect score received).", retry=False, after=0.0)


@pytest.mark.parametrize(
    "wish, retry",
    [
        ({"status": 500}, True),
        ({"status": 502, "reason": "Bad\tGateway"}, True),
        ({"status": 503, "headers": {"Retry-After": "120"}}, True),
        ({"status": 429}, True),
        ({"status": 403, "reason": "Forbidden"}, False),
        ({"status": 404}, False),
        ({"status": 422}, False),
    ],
)
def test_failures_say_what_to_do(platform: Platform, lms: Lms, wish: dict[str, Any], retry: bool) -> None:
    """Nothing is raised; the answer says whether trying again may help, and when."""
    lms.be(tool=tool_pem(), behaviour={"scores": wish})
    answer = send_score(platform.pk, item_of(lms), "4", score("10"))

    assert isinstance(answer, Refused)
    assert answer.retry is retry
    assert answer.reason.endswith(".")
    assert "\t" not in answer.reason
    assert grade_of(lms) is None
    if "Retry-After" in wish.get("headers", {}):
        assert answer.after == 120


def test_a_result_that_can_t_be_had(platform: Platform, lms: Lms) -> None:
    """Without the right to read results, 409 is answered by a later time all the same."""
    lms.be(tool=tool_pem(), behaviour={"results": {"status": 403, "times": 9}})
    send_score(platform.pk, item_of(lms), "4", score("10"))

    assert isinstance(send_score(platform.pk, item_of(lms), "4", score("20")), Delivered)
    assert grade_of(lms)["raw"] == 40.0


def test_an_unknown_platform(lti: None) -> None:
    """A platform that was deleted isn't asked."""
    answer = send_score(4711, "https://lms.test/item", "4", score("10"))

    assert isinstance(answer, Refused)
    assert not answer.retry


def test_a_hostile_comment(platform: Platform, lms: Lms) -> None:
    """Comments are text: what can't be written is left out, and markup stays what it is."""
    send_score(platform.pk, item_of(lms), "4", score("10", comment="a\0b\ud800 <b>ok</b>\nc" + "x" * 20_000))
    kept = grade_of(lms)["comment"]

    assert kept.startswith("ab <b>ok</b>\ncxx")
    assert len(kept) <= 10_000
