"""Submission review: from a cell of the LMS's gradebook to that learner's report, signed by Open edX's platform."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import override_settings

from grader.web.lti.arriving import ARRIVE
from tests.web.lti.away import LTI, Browser, Lms
from tests.web.work import rows


@pytest.fixture
def course(browser: Browser, platform: Any) -> Iterator[Any]:
    """Return the course, in which Alice (4) has two graded attempts and Bob (5) none; launches arrive as they do."""
    from grader.web.work.models import Course, Member

    del platform
    with override_settings(LTI_ARRIVE=ARRIVE):
        for user in ("4", "5", "3"):
            assert Browser(browser.lms).launch(user).status_code == 302
        made = Course.objects.get()
        alice = Member.objects.get(course=made, user="4")
        rows.graded(made, alice, cents=9000)
        rows.graded(made, alice, cents=5000)
        yield made
    Course.objects.all().delete()


def review(browser: Browser, user: str, whose: str, change: Any = None) -> Any:
    """Open somebody's submission from the gradebook."""
    start = f"{browser.lms.base}/start?{urlencode({'user': user, 'kind': 'review', 'for': whose})}"
    form = browser.lms.answer(browser.get(browser.lms.ask("GET", start)[1]["Location"])["Location"])
    if change is not None:
        import jwt

        claims = jwt.decode(form["id_token"], options={"verify_signature": False})
        change(claims)
        form = {**form, "id_token": browser.lms.signed(claims)}
    return browser.post(form)


def attempt(number: int) -> Any:
    """Return one of Alice's attempts."""
    from grader.web.work.models import Attempt

    return Attempt.objects.get(member__user="4", number=number)


def test_an_instructor_lands_on_the_learner_s_report(browser: Browser, course: Any) -> None:
    """On the attempt whose score is in the gradebook, with the others beside it; the report opens."""
    answer = review(browser, "3", "4")
    assert answer.status_code == 302
    assert answer["Location"].endswith(f"/attempt/{attempt(2).id}/")
    page = browser.get(f"https://grader.test{answer['Location']}")

    assert page.status_code == 200
    assert "Alice Example" in page.content.decode()
    assert browser.get(f"https://grader.test{answer['Location']}report").status_code == 200


def test_the_best_attempt_where_it_counts(browser: Browser, course: Any) -> None:
    """What the gradebook shows is what is looked at."""
    course.links.update(counts="best")

    assert review(browser, "3", "4")["Location"].endswith(f"/attempt/{attempt(1).id}/")


def test_what_is_not_graded_yet(browser: Browser, course: Any) -> None:
    """An attempt that waits is better than nothing."""
    rows.attempt(course, course.members.get(user="5"))

    assert "/attempt/" in review(browser, "3", "5")["Location"]


def test_a_review_changes_nothing(browser: Browser, course: Any) -> None:
    """It comes without the link's own parameters: attempts, deadline and roster stay as they were."""
    before = list(course.links.values()), course.memberships
    review(browser, "3", "4")
    course.refresh_from_db()

    assert (list(course.links.values()), course.memberships) == before
    assert course.links.get().attempts == 3


def test_a_learner_sees_the_own_only(browser: Browser, course: Any, reasons: Any) -> None:
    """Their own report, never another's, in one way or the other."""
    own = review(browser, "4", "4")
    assert own["Location"].endswith(f"/attempt/{attempt(2).id}/")
    bob = Browser(browser.lms)
    assert review(bob, "5", "4").status_code == 403
    assert reasons() == "review-not-yours"
    bob.launch("5")
    assert bob.get(f"https://grader.test{own['Location']}").status_code == 404
    assert review(bob, "5", "5").status_code == 404


@pytest.mark.parametrize("whose", ["5", "nobody", "'; --", "é" * 200])
def test_somebody_who_handed_in_nothing(browser: Browser, course: Any, whose: str) -> None:
    """A plain page, from which an instructor gets to the class; known and unknown look the same."""
    answer = review(browser, "3", whose)
    page = answer.content.decode()

    assert answer.status_code == 404
    assert "This person has handed in nothing for this assignment." in page
    (link,) = re.findall(r'href="([^"]+/class)"', page)
    assert browser.get(f"https://grader.test{link}").status_code == 200


def test_another_course_s_learner(browser: Browser, course: Any) -> None:
    """Who handed in elsewhere handed in nothing here, and what is there can't be opened."""
    other = rows.course("other")
    foreign = rows.graded(other, rows.member(other, "77"))
    answer = review(browser, "3", "77")

    assert answer.status_code == 404
    assert browser.get(f"https://grader.test/c/{course.id}/attempt/{foreign.id}/").status_code == 404
    assert browser.get(f"https://grader.test/c/{other.id}/attempt/{foreign.id}/").status_code == 404


def test_a_link_that_nobody_has_opened(browser: Browser, course: Any) -> None:
    """There is nothing to look at, and nothing is made of it."""
    answer = review(browser, "3", "4", lambda claims: claims[f"{LTI}/resource_link"].update(id="99"))
    elsewhere = review(browser, "3", "4", lambda claims: claims[f"{LTI}/context"].update(id="99"))

    assert (answer.status_code, elsewhere.status_code) == (404, 404)
    assert "Nobody has opened this assignment yet." in answer.content.decode()
    assert (type(course).objects.count(), course.links.count()) == (1, 1)


def test_by_its_column(browser: Browser, course: Any, reasons: Any) -> None:
    """A gradebook's column may belong to no link; without either it can't be known what is meant."""

    def loose(claims: dict[str, Any]) -> None:
        del claims[f"{LTI}/resource_link"]

    def lost(claims: dict[str, Any]) -> None:
        loose(claims)
        del claims["https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"]["lineitem"]

    assert review(browser, "3", "4", loose)["Location"].endswith(f"/attempt/{attempt(2).id}/")
    assert review(browser, "3", "4", lost).status_code == 403
    assert reasons() == "token-no-link"


def test_a_column(browser: Browser, course: Any) -> None:
    """With nobody named, an instructor gets to the class and a learner to the own page: so Moodle opens a column."""

    def nobody(claims: dict[str, Any]) -> None:
        del claims[f"{LTI}/for_user"]

    assert review(browser, "3", "4", nobody)["Location"].endswith("/class")
    assert review(Browser(browser.lms), "4", "4", nobody)["Location"].endswith(f"/a/{course.links.get().id}/")


def test_nobody_s_review(browser: Browser, course: Any, lms: Lms, reasons: Any) -> None:
    """A person without a name is nobody."""
    assert review(browser, "3", "").status_code == 403
    assert reasons() == "review-whose"
