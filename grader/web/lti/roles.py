"""What a person is in a course, by the full names that LTI gives to roles."""

from __future__ import annotations

from collections.abc import Iterable

from grader.web.lti.launch import Role

__all__ = ["roles_in"]

MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"

LEARNERS = frozenset({
    f"{MEMBERSHIP}#Learner",
    *(f"{MEMBERSHIP}/Learner#{name}" for name in (
        "Learner", "NonCreditLearner", "ExternalLearner", "Instructor", "GuestLearner",
    )),
})  # fmt: skip
"""LIS has a sub-role of learners with the name Instructor: a teacher who sits in as a learner."""

INSTRUCTORS = frozenset({
    f"{MEMBERSHIP}#Instructor",
    f"{MEMBERSHIP}#Administrator",
    f"{MEMBERSHIP}#ContentDeveloper",
    *(f"{MEMBERSHIP}/Instructor#{name}" for name in (
        "Grader", "Lecturer", "PrimaryInstructor", "SecondaryInstructor", "TeachingAssistant",
        "TeachingAssistantGroup", "TeachingAssistantOffering", "TeachingAssistantSection",
        "TeachingAssistantSectionAssociation", "TeachingAssistantTemplate",
    )),
})  # fmt: skip
"""Who teaches this course. A role in the institution or the system says nothing about a course."""


def roles_in(names: Iterable[object]) -> frozenset[Role]:
    """Return what the roles of a launch or a roster come to; short names and unknown ones come to nothing."""
    given = {name for name in names if isinstance(name, str)}
    found: set[Role] = set()
    if given & LEARNERS:
        found.add("learner")
    if given & INSTRUCTORS:
        found.add("instructor")
    return frozenset(found)
