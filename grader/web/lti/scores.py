"""Scores go to the LMS's gradebook."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from grader.model._data import data
from grader.web.lti.http import Answer
from grader.web.lti.lineitems import below, ensure_lineitem, number, with_query
from grader.web.lti.models import Platform
from grader.web.lti.services import RESULT, SCORE, ServiceError, call, platform_of, server_time

__all__ = ["Delivered", "Refused", "Score", "ServiceError", "ensure_lineitem", "send_score"]

CONTENT = "application/vnd.ims.lis.v1.score+json"
RESULTS = "application/vnd.ims.lis.v2.resultcontainer+json"

NEAR = 1e-5
"""Of the maximum: Moodle keeps five decimals."""

MAX_COMMENT = 10_000
UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@data
class Score:
    """A score as the gradebook takes it.

    Attributes:
        given: The points, as decimal text.
        maximum: The points that can be had, as decimal text.
        comment: Plain text; an empty one clears what the LMS shows.
        timestamp: When the score became what it is; it has to rise from score to score of one learner.
        submitted_at: When the learner handed in, which is what lateness is measured by.
    """

    given: str
    maximum: str
    comment: str
    timestamp: datetime
    submitted_at: datetime


@data
class Delivered:
    """The gradebook has the score.

    Attributes:
        timestamp: The time that the score went with: later than asked for where the LMS's clock is ahead. The next
            score of this learner has to be later than it.
    """

    timestamp: datetime


@data
class Refused:
    """The gradebook doesn't have the score.

    Attributes:
        reason: Why, as a sentence for the instructor.
        retry: Whether trying again may help.
        after: How many seconds to wait before it.
    """

    reason: str
    retry: bool
    after: float


def send_score(platform_id: int, lineitem: str, user: str, score: Score) -> Delivered | Refused:
    """Send one learner's score; nothing is raised for what the LMS or the network does.

    An LMS refuses with 409 what isn't later than what it has. It may measure that by its own clock and in whole
    seconds, so that a score is refused because another came within the same second, or because our clock is behind.
    Then we look at what it has. If that is this score, it is delivered; else the score goes once more, with a time
    that is later by the LMS's own clock.
    """
    try:
        platform = platform_of(platform_id)
        when = score.timestamp
        answer = _post(platform, lineitem, user, score, when)
        if answer.status == 409:
            if _there(platform, lineitem, user, score):
                return Delivered(timestamp=when)
            theirs = server_time(answer)
            when = max(when, theirs if theirs is not None else when) + timedelta(seconds=1)
            answer = _post(platform, lineitem, user, score, when)
        if answer.status == 409:
            return Refused(reason="The LMS says that it has a later score.", retry=True, after=5.0)
        return Delivered(timestamp=when)
    except ServiceError as error:
        return Refused(reason=error.reason, retry=error.retry, after=error.after)


def _post(platform: Platform, lineitem: str, user: str, score: Score, when: datetime) -> Answer:
    content: dict[str, Any] = {
        "userId": user,
        "scoreGiven": number(score.given),
        "scoreMaximum": number(score.maximum),
        "comment": UNFIT.sub("", score.comment)[:MAX_COMMENT],
        "timestamp": stamp(when),
        # Anything else than these two takes away what the gradebook has.
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
        "submission": {"submittedAt": stamp(score.submitted_at)},
    }
    return call(
        platform, "POST", below(lineitem, "scores"), [SCORE], accept="*/*", content_type=CONTENT, content=content
    )


def _there(platform: Platform, lineitem: str, user: str, score: Score) -> bool:
    """Whether the gradebook has this score already, with this comment as far as it tells."""
    try:
        url = with_query(below(lineitem, "results"), user_id=user)
        given = call(platform, "GET", url, [RESULT], accept=RESULTS).json()
    except (ServiceError, ValueError):
        return False
    for result in given if isinstance(given, list) else ():
        if isinstance(result, dict) and str(result.get("userId", "")) == user:
            return _equal(result, score) and _same_text(result.get("comment"), score.comment)
    return False


def _equal(result: dict[str, Any], score: Score) -> bool:
    got, of = result.get("resultScore"), result.get("resultMaximum", 1)
    if not isinstance(got, int | float) or not isinstance(of, int | float) or of <= 0:
        return False
    wanted = number(score.given) / number(score.maximum)
    return math.isclose(got / of, wanted, rel_tol=0.0, abs_tol=NEAR)


def _same_text(kept: object, sent: str) -> bool:
    """Whether a comment is the one we sent. An LMS may mark it up, so that only its words count."""
    if not isinstance(kept, str):
        return kept is None
    return re.sub(r"<[^>]*>|\s+", "", kept) == re.sub(r"\s+", "", sent)


def stamp(when: datetime) -> str:
    """Return a time with milliseconds and Z: some LMSs refuse microseconds, and some want a fraction."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
