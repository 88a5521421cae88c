"""Rosters, page by page."""

from __future__ import annotations

from typing import Any

import pytest

from grader.web.lti.models import Platform
from grader.web.lti.roster import RosterEntry, members
from grader.web.lti.services import ServiceError
from tests.web.lti.away import Lms
from tests.web.lti.ours import tool_pem

MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"


@pytest.mark.parametrize("page", [1, 2, 100])
def test_everybody_is_there(platform: Platform, lms: Lms, page: int) -> None:
    """However small the pages are; next pages' addresses are taken to the letter."""
    lms.be(tool=tool_pem(), page=page)
    found = members(platform.pk, f"{lms.base}/course/2/members")

    assert [entry.user for entry in found] == ["4", "5", "3"]
    assert found[0] == RosterEntry(
        user="4", name="Alice Example", email="alice@example.invalid", roles=frozenset({"learner"}), status="active",
        sourcedid="S1004",
    )  # fmt: skip
    assert found[2].roles == {"instructor"}


def test_those_of_a_link(platform: Platform, lms: Lms) -> None:
    """With rlid, on every page."""
    lms.be(tool=tool_pem(), page=1)

    assert [entry.user for entry in members(platform.pk, f"{lms.base}/course/2/members", resource_link_id="1")] == [
        "4",
        "3",
    ]
    assert all("rlid=1" in one["path"] for one in lms.asked("/members"))


@pytest.mark.parametrize(
    "member, expected",
    [
        ({"user_id": "1", "roles": ["Learner"], "status": "Inactive"}, ("1", {"learner"}, "inactive")),
        ({"user_id": 7, "roles": [f"{MEMBERSHIP}#Instructor"]}, ("7", {"instructor"}, "active")),
        ({"user_id": "1", "roles": "Learner", "status": "DELETED"}, ("1", set(), "deleted")),
        ({"user_id": "1", "roles": [f"{MEMBERSHIP}#Mentor", 3, None]}, ("1", set(), "active")),
        ({"user_id": "1", "roles": [f"{MEMBERSHIP}/Learner#Instructor"]}, ("1", {"learner"}, "active")),
        ({"user_id": "1", "name": "\u202eevil\0", "roles": []}, ("1", set(), "active")),
        ({"user_id": ""}, None),
        ({"user_id": "x\0"}, None),
        ({"roles": ["Learner"]}, None),
        ("nobody", None),
    ],
)
def test_members_as_they_may_come(platform: Platform, lms: Lms, member: Any, expected: Any) -> None:
    """What says not even who it is is left out; all else gets its best reading."""
    lms.be(tool=tool_pem(), behaviour={"members": {"status": 200, "body": {"members": [member, member]}}})
    found = members(platform.pk, f"{lms.base}/course/2/members")

    assert [(entry.user, set(entry.roles), entry.status) for entry in found] == ([expected] if expected else [])
    assert all("\u202e" not in entry.name for entry in found)


@pytest.mark.parametrize("body", [[], {"people": []}, {"members": {}}, "x"])
def test_what_isn_t_a_roster(platform: Platform, lms: Lms, body: Any) -> None:
    """Is an error, never an empty course."""
    lms.be(tool=tool_pem(), behaviour={"members": {"status": 200, "body": body}})
    with pytest.raises(ServiceError):
        members(platform.pk, f"{lms.base}/course/2/members")
