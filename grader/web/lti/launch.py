"""What a validated launch says: who came from which link of which course, and what the LMS lets us do."""

from __future__ import annotations

from typing import Literal

from grader.model._data import data

__all__ = ["Launch", "Message", "Role"]

Role = Literal["learner", "instructor"]
Message = Literal["resource", "deep_link", "review"]


@data
class Launch:
    """A launch whose every check held. Texts are the LMS's: to be escaped where they are shown, never part of a path.

    Attributes:
        platform_id: Our number of the LMS that sent it.
        deployment_id: The LMS's name for where in it we are installed.
        context_id: The LMS's name for the course; unique only together with platform and deployment. "" if there is
            no course.
        context_title: The course's title, "" if the LMS keeps it.
        resource_link_id: The link in the course that was opened; "" of a deep link.
        resource_title: The link's title.
        user: The LMS's name for the person (``sub``); unique only in its platform.
        name: The person's name, "" if the LMS keeps it.
        email: The person's address, "" if the LMS keeps it.
        roles: What the person is in this course.
        message: Whether an assignment is opened, one is being chosen, or one learner's submission is looked at.
        custom: The link's own parameters, sorted by name.
        lineitem: The address of the link's one line item, "" if there isn't just one.
        lineitems: The address of the course's line items, "" without grades.
        scopes: The services' rights that the LMS grants.
        memberships: The address of the roster, "" without one.
        for_user: Of a review: whose submission; "" if nobody is named.
        return_url: Where the LMS wants the person back, "" if it doesn't say; http or https.
        locale: The person's language, such as ``en``.
    """

    platform_id: int
    deployment_id: str
    context_id: str
    context_title: str
    resource_link_id: str
    resource_title: str
    user: str
    name: str
    email: str
    roles: frozenset[Role]
    message: Message
    custom: tuple[tuple[str, str], ...]
    lineitem: str
    lineitems: str
    scopes: frozenset[str]
    memberships: str
    for_user: str
    return_url: str
    locale: str
