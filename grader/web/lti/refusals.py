"""Why a login or a launch is refused: a short reason for the log, and a plain page for the person."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType

from django.http import HttpRequest, HttpResponse

from grader.model._data import data
from grader.web.lti.pages import page

__all__ = ["REASONS", "Refusal", "refused"]

LOG = logging.getLogger("grader.web.lti")


@data
class Text:
    """What the person reads: what happened, and what to do."""

    happened: str
    todo: str


AGAIN = "Go back to your course and open the link once more."
ADMIN = "Please tell the people who look after your LMS; the code below tells them what to look at."

_SETUP = "Your LMS and this grader don't know each other well enough: "
_TOKEN = "Your LMS sent something that we can't trust: "

REASONS: Mapping[str, Text] = MappingProxyType({
    # The login, with which a launch begins.
    "login-no-issuer": Text(happened="This address is for an LMS: it has to say which one it is.", todo=AGAIN),
    "login-no-hint": Text(happened="Your LMS didn't say whom to log in.", todo=AGAIN),
    "login-too-long": Text(happened="What your LMS sent is too long.", todo=ADMIN),
    "login-unknown-platform": Text(happened=f"{_SETUP}this LMS isn't registered here.", todo=ADMIN),
    "login-which-platform": Text(
        happened=f"{_SETUP}it is registered here more than once, and didn't say which one it is.", todo=ADMIN
    ),
    "login-foreign-target": Text(happened=f"{_SETUP}its link leads to another server.", todo=ADMIN),
    # The browser that comes back.
    "launch-not-posted": Text(happened="This address is opened by an LMS.", todo=AGAIN),
    "launch-platform-said-no": Text(
        happened="Your LMS didn't let you in here.", todo=f"Log in to your LMS. {AGAIN}"
    ),
    "launch-no-state": Text(happened="Your LMS left out what belongs to the login.", todo=AGAIN),
    "launch-unknown-state": Text(happened="We don't know of the login that this belongs to.", todo=AGAIN),
    "launch-late": Text(happened="The login took too long, and isn't valid any more.", todo=AGAIN),
    "launch-used": Text(happened="This was opened already; each login counts once.", todo=AGAIN),
    "launch-no-cookie": Text(
        happened="Your browser blocks cookies inside of your LMS's page.",
        todo="Open the assignment in a window of its own.",
    ),
    "launch-other-browser": Text(happened="The login was begun by another browser.", todo=AGAIN),
    "launch-no-token": Text(happened="Your LMS didn't say who you are.", todo=AGAIN),
    "launch-inactive": Text(happened=f"{_SETUP}this LMS has been switched off here.", todo=ADMIN),
    # The token.
    "token-too-large": Text(happened=f"{_TOKEN}it is too large.", todo=ADMIN),
    "token-malformed": Text(happened=f"{_TOKEN}it isn't a signed message.", todo=ADMIN),
    "token-algorithm": Text(happened=f"{_TOKEN}it isn't signed with RS256.", todo=ADMIN),
    "token-no-key-id": Text(happened=f"{_TOKEN}it doesn't say which key signed it.", todo=ADMIN),
    "token-unknown-key": Text(happened=f"{_TOKEN}its key isn't one of your LMS's.", todo=f"{AGAIN} {ADMIN}"),
    "token-weak-key": Text(happened=f"{_TOKEN}its key is too short.", todo=ADMIN),
    "token-keys-unreachable": Text(
        happened="Your LMS's keys can't be had just now.", todo=f"Wait a minute. {AGAIN}"
    ),
    "token-signature": Text(happened=f"{_TOKEN}its signature is wrong.", todo=ADMIN),
    "token-expired": Text(
        happened="What your LMS sent isn't valid any more, or its clock and ours differ.", todo=f"{AGAIN} {ADMIN}"
    ),
    "token-early": Text(happened=f"{_TOKEN}it was made in the future. Its clock and ours differ.", todo=ADMIN),
    "token-missing-claim": Text(happened=f"{_TOKEN}a part is missing that each launch has.", todo=ADMIN),
    "token-bad-claim": Text(happened=f"{_TOKEN}a part of it isn't what it should be.", todo=ADMIN),
    "token-issuer": Text(happened=f"{_TOKEN}it comes from another LMS.", todo=ADMIN),
    "token-audience": Text(happened=f"{_TOKEN}it is meant for another tool.", todo=ADMIN),
    "token-authorised-party": Text(happened=f"{_TOKEN}it was given to another tool.", todo=ADMIN),
    "token-nonce": Text(happened=f"{_TOKEN}it belongs to another login.", todo=AGAIN),
    "token-deployment": Text(
        happened=f"{_SETUP}this place in your LMS (its deployment) isn't registered here.", todo=ADMIN
    ),
    "token-version": Text(happened=f"{_SETUP}it speaks another version than LTI 1.3.", todo=ADMIN),
    "token-message-type": Text(happened="Your LMS asks for something that this grader doesn't do.", todo=ADMIN),
    "token-foreign-target": Text(happened=f"{_TOKEN}its link leads to another server.", todo=ADMIN),
    "token-no-person": Text(
        happened="Your LMS doesn't say who you are, and without that nothing can be graded.", todo=ADMIN
    ),
    "token-no-link": Text(happened=f"{_TOKEN}it doesn't say which link was opened.", todo=ADMIN),
    "token-roles": Text(
        happened="You are neither a learner nor an instructor of this course.",
        todo="Ask your instructor to enrol you, then open the link once more.",
    ),
    "deep-link-settings": Text(happened=f"{_TOKEN}it doesn't say where the choice goes.", todo=ADMIN),
    "deep-link-not-ours": Text(happened="Your LMS asks for something that isn't a link.", todo=ADMIN),
    "deep-link-not-instructor": Text(
        happened="Only instructors choose assignments.", todo="Ask your instructor to do it."
    ),
    "deep-link-late": Text(happened="The choice took too long, and isn't valid any more.", todo=AGAIN),
    "deep-link-key-lost": Text(
        happened="This grader can't sign what it sends to your LMS: its secret key has changed.",
        todo="Please tell the people who run this grader; on it, the command grade lti keys says what to do.",
    ),
    "review-whose": Text(happened=f"{_TOKEN}it doesn't say whose submission is meant.", todo=ADMIN),
    "review-not-yours": Text(happened="This is somebody else's submission.", todo=AGAIN),
    # Registration.
    "registration-invitation": Text(
        happened="This registration address isn't valid, or has been used already.",
        todo="Ask the people who run this grader for a new one (grade lti invite).",
    ),
    "registration-configuration": Text(happened="Your LMS's configuration can't be used.", todo=ADMIN),
    "registration-issuer": Text(
        happened="Your LMS's configuration names an issuer of another server.", todo=ADMIN
    ),
    "registration-unreachable": Text(
        happened="We can't reach your LMS.", todo="See that this server can open your LMS's address."
    ),
    "registration-refused": Text(happened="Your LMS refused the registration.", todo=ADMIN),
    "registration-known": Text(happened="This LMS is registered here already.", todo=ADMIN),
})  # fmt: skip
"""Every reason. Nothing of what was sent is part of a text: it may be anybody's."""


class Refusal(Exception):
    """A login or launch that is refused.

    Attributes:
        reason: Its name in ``REASONS``.
        detail: For the log: a claim's name or a number of ours, never a person's data, never a token.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


def refused(
    request: HttpRequest, refusal: Refusal, *, platform_id: int | None = None, window: str = "", status: int = 403
) -> HttpResponse:
    """Log a refusal, and return the page that tells the person.

    Args:
        request: What was refused.
        refusal: Why.
        platform_id: Which platform it came from, if that is known.
        window: The address that goes on in a window of its own, if there is one.
        status: The answer's status.
    """
    text = REASONS[refusal.reason]
    LOG.warning(
        "refused: reason=%s platform=%s detail=%s", refusal.reason, platform_id or "-", refusal.detail[:60] or "-"
    )
    return page(
        request,
        "lti/refused.html",
        {"happened": text.happened, "todo": text.todo, "reason": refusal.reason, "window": window},
        status=status,
    )
