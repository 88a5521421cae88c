"""Who is in a course, as the LMS tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from grader.model._data import data
from grader.web.lti.claims import UNFIT
from grader.web.lti.launch import Role
from grader.web.lti.lineitems import with_query
from grader.web.lti.roles import roles_in
from grader.web.lti.services import ROSTER, ServiceError, pages, platform_of

__all__ = ["RosterEntry", "Status", "members"]

CONTENT = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
MAX_MEMBERS = 50_000

Status = Literal["active", "inactive", "deleted"]
STATUSES: Mapping[str, Status] = {"active": "active", "inactive": "inactive", "deleted": "deleted"}


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
    status: Status
    sourcedid: str


def members(platform_id: int, memberships: str, *, resource_link_id: str = "") -> list[RosterEntry]:
    """Return the people of a course; with a link, those who can open it, where the LMS knows the difference.

    Raises:
        ServiceError: If the LMS doesn't answer as it should; it has ``reason``, ``retry`` and ``after``.
    """
    platform = platform_of(platform_id)
    url = with_query(memberships, rlid=resource_link_id) if resource_link_id else memberships
    found: dict[str, RosterEntry] = {}
    for page in pages(platform, url, [ROSTER], CONTENT):
        listed = page.get("members") if isinstance(page, dict) else None
        if not isinstance(listed, list):
            raise ServiceError("The LMS's list of people can't be read.", retry=True, after=60.0, code="roster")
        for member in listed:
            entry = _entry(member)
            if entry is not None:
                found.setdefault(entry.user, entry)
        if len(found) > MAX_MEMBERS:
            raise ServiceError("The LMS's list of people has no end.", retry=False, code="roster-many")
    return list(found.values())


def _entry(member: object) -> RosterEntry | None:
    """Return what a list's item says; None if it says not even who it is."""
    if not isinstance(member, dict):
        return None
    user = member.get("user_id")
    user = str(user) if isinstance(user, int) and not isinstance(user, bool) else user
    if not isinstance(user, str) or not user or len(user) > 255 or UNFIT.search(user):
        return None
    roles = member.get("roles")
    name = _text(member, "name") or f"{_text(member, 'given_name')} {_text(member, 'family_name')}".strip()
    return RosterEntry(
        user=user,
        name=name,
        email=_text(member, "email"),
        roles=roles_in(_full(role) for role in (roles if isinstance(roles, list) else ())),
        status=STATUSES.get(_text(member, "status").lower(), "active"),
        sourcedid=_text(member, "lis_person_sourcedid"),
    )


def _full(role: object) -> object:
    """Return a role's full name: rosters, other than launches, may hold the short names of a course's roles."""
    short = isinstance(role, str) and role in ("Learner", "Instructor", "Administrator", "ContentDeveloper")
    return f"http://purl.imsglobal.org/vocab/lis/v2/membership#{role}" if short else role


def _text(member: Mapping[str, Any], key: str) -> str:
    value = member.get(key)
    return UNFIT.sub("", value)[:500].strip() if isinstance(value, str) else ""
