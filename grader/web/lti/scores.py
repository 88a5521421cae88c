"""Scores go to the LMS's gradebook."""

from __future__ import annotations

from datetime import datetime

from grader.model._data import data

__all__ = ["Delivered", "Refused", "Score", "ensure_lineitem", "send_score"]


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
    """Send one learner's score; nothing is raised for what the LMS or the network does."""
    raise NotImplementedError


def ensure_lineitem(platform_id: int, lineitems: str, resource_link_id: str, tag: str, label: str, maximum: str) -> str:
    """Return the address of the line item of a link, found if it is there and created if it isn't.

    Raises:
        ServiceError: If the LMS doesn't answer as it should; it has ``reason``, ``retry`` and ``after``.
    """
    raise NotImplementedError
