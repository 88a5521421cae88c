"""Who is in a course, as the LMS tells it."""

from __future__ import annotations

from typing import Literal

from grader.model._data import data
from grader.web.lti.launch import Role

__all__ = ["RosterEntry", "members"]


@data
class RosterEntry:
    """One person of a course.

    Attributes:
        user: The LMS's name for the person, the same as in launches.
        name: The name, "" if the LMS keeps it.
        email: The address, "" if the LMS keeps it.
        roles: What the person is in this course; empty for what is neither learner nor instructor.
        status: Whether the person takes part now.
        sourcedid: The number that file exports call the ID number, "" if the LMS keeps it.
    """

    user: str
    name: str
    email: str
    roles: frozenset[Role]
    status: Literal["active", "inactive", "deleted"]
    sourcedid: str


def members(platform_id: int, memberships: str, *, resource_link_id: str = "") -> list[RosterEntry]:
    """Return the people of a course; with a link, those who can open it, where the LMS knows the difference.

    Raises:
        ServiceError: If the LMS doesn't answer as it should; it has ``reason``, ``retry`` and ``after``.
    """
    raise NotImplementedError
