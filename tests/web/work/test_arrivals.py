"""What a launch brings: rows, a session and the right page."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.work import rows

pytestmark = pytest.mark.usefixtures("database")

Instructor = frozenset({"instructor"})


def arrive(client: Any, *, again: bool = False, **changes: Any) -> Any:
    """Arrive with a launch, in a request with a session as the launch's own view has it; ``again`` in the same one."""
    from django.contrib.messages.storage.cookie import CookieStorage
    from django.contrib.sessions.backends.db import SessionStore
    from django.test import RequestFactory

    from grader.web.work.arrivals import arrive as come

    request = RequestFactory().post("/lti/launch")
    from django.conf import settings

    known = client.cookies[settings.SESSION_COOKIE_NAME].value if again else None
    request.session = SessionStore(known)
    request._messages = CookieStorage(request)  # type: ignore[attr-defined]  # as the middleware does
    answer = come(request, rows.launch(**changes))
    request.session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = request.session.session_key
    return answer


def test_a_learner_lands_on_the_assignment(client: Any) -> None:
    """The page is open in this browser from then on, and the LMS may show it in a frame."""
    answer = arrive(client)
    assert answer.status_code == 302
    page = client.get(answer["Location"])

    assert page.status_code == 200
    assert b"HW 1" in page.content
    assert "frame-ancestors 'self' https://lms.example" in page["Content-Security-Policy"]


def test_an_instructor_lands_on_the_class(client: Any) -> None:
    """Both pages are open to them."""
    answer = arrive(client, roles=Instructor)
    assert answer["Location"].endswith("/class")
    assert client.get(answer["Location"]).status_code == 200


def test_the_same_course_stays_one(client: Any) -> None:
    """Another launch changes what has changed, and makes nothing twice."""
    from grader.web.work.models import AuditEntry, Course, Link, Member

    arrive(client, custom=(("attempts", "3"),))
    arrive(client, name="Ada Lovelace", custom=(("attempts", "5"), ("deadline", "2030-01-01T00:00:00Z")))

    assert (Course.objects.count(), Link.objects.count(), Member.objects.count()) == (1, 1, 1)
    assert (Member.objects.get().name, Link.objects.get().attempts) == ("Ada Lovelace", 5)
    assert list(AuditEntry.objects.filter(what="link: attempts").values_list("was", "now")) == [("3", "5")]


@pytest.mark.parametrize(
    "changes",
    [{"platform_id": 2}, {"deployment_id": "other"}, {"context_id": "other"}],
    ids=lambda one: next(iter(one)),
)
def test_another_platform_deployment_or_course_is_another_course(client: Any, changes: dict[str, Any]) -> None:
    """The same names elsewhere are somebody else's."""
    from grader.web.work.models import Course, Member

    arrive(client)
    arrive(client, **changes)

    assert (Course.objects.count(), Member.objects.count()) == (2, 2)


@pytest.mark.parametrize(
    "name, value",
    [("assignment", "nothing"), ("attempts", "many"), ("attempts", "-1"), ("deadline", "tomorrow"),
     ("deadline", "2030-01-01T00:00:00"), ("deadline", "2030-13-45T00:00:00Z"), ("counts", "worst")],
)  # fmt: skip
def test_parameters_that_say_nothing_are_named(client: Any, name: str, value: str) -> None:
    """The instructor reads which parameter is wrong; nothing is half made."""
    from grader.web.work.models import Course

    answer = arrive(client, custom=((name, value),))

    assert answer.status_code == 400
    assert f"parameter &#x27;{name}&#x27;" in answer.content.decode()
    assert not Course.objects.exists()


def test_a_variable_that_the_lms_does_not_know_is_left_out(client: Any) -> None:
    """It comes as its own name."""
    from grader.web.work.models import Link

    arrive(client, custom=(("deadline", "$ResourceLink.submission.endDateTime"),))

    assert Link.objects.get().deadline is None


def test_a_review_opens_the_learner_s_last_attempt(client: Any) -> None:
    """From the gradebook: for an instructor anybody's, for a learner their own."""
    from grader.web.work.models import Course, Member

    arrive(client)
    course = Course.objects.get()
    rows.graded(course, Member.objects.get())
    last = rows.graded(course, Member.objects.get())
    shown = arrive(client, message="review", for_user="u", user="ina", roles=Instructor)
    assert str(last.id) in shown["Location"]
    assert str(last.id) in arrive(client, message="review", for_user="u")["Location"]
    assert arrive(client, message="review", for_user="u", user="eve").status_code == 404


def test_texts_of_the_lms_are_tame(client: Any) -> None:
    """Control and direction characters go, markup is shown as text, length is capped."""
    from grader.web.work.models import Member

    name = "<b>Ada</b>\x00\u202e\n" + "x" * 900
    answer = arrive(client, name=name, roles=Instructor)
    arrive(client, name=name)
    answer = arrive(client, name=name, roles=Instructor | {"learner"})

    kept = Member.objects.get().name
    assert len(kept) <= 500
    assert "\x00" not in kept
    assert "\u202e" not in kept
    assert "<b>" not in client.get(answer["Location"]).content.decode()


def test_a_new_gradebook_lets_scores_go(client: Any) -> None:
    """A link that had none before sends what waited."""
    from grader.web.work import outbox
    from grader.web.work.models import Course, Link, Member, ScoreDelivery

    arrive(client, lineitem="", lineitems="")
    rows.graded(Course.objects.get(), Member.objects.get())
    outbox.settle_score(Link.objects.get(), Member.objects.get())
    assert ScoreDelivery.objects.get().state == "nowhere"
    arrive(client)

    assert ScoreDelivery.objects.get().state == "waiting"


def test_the_session_is_a_new_one(client: Any) -> None:
    """Whoever had planted a session before the launch doesn't have it afterwards."""
    from django.contrib.sessions.backends.db import SessionStore
    from django.test import RequestFactory

    from grader.web.work.arrivals import arrive as come

    request = RequestFactory().post("/lti/launch")
    request.session = SessionStore()
    request.session.create()
    planted = str(request.session.session_key)
    come(request, rows.launch())

    assert request.session.session_key != planted
    assert not SessionStore().exists(planted)


def test_each_course_s_lms_frames_its_own_pages(client: Any) -> None:
    """An LMS that a visitor came from as well can't show another one's pages: clicks there would be the visitor's."""
    mine = arrive(client, roles=Instructor)["Location"]
    other = arrive(
        client, again=True, platform_id=2, return_url="https://evil.example/back", roles=Instructor, user="ina"
    )["Location"]

    for page, lms in ((mine, "https://lms.example"), (other, "https://evil.example")):
        assert client.get(page)["Content-Security-Policy"].endswith(f"frame-ancestors 'self' {lms}")
    assert client.get("/verify/")["Content-Security-Policy"].endswith("frame-ancestors 'self'")


@pytest.mark.parametrize("address", ["https://a.example;script-src *", "https://a.example,b", "https://ä.example/", ""])
def test_an_address_that_fits_no_policy(client: Any, address: str) -> None:
    """It ends neither its word nor its rule."""
    page = client.get(arrive(client, return_url=address)["Location"])

    assert page["Content-Security-Policy"].endswith("frame-ancestors 'self'")


def test_somebody_else_at_the_same_computer(client: Any) -> None:
    """Who comes next from the same LMS finds nothing open of the one before; the same person keeps all courses."""
    first = arrive(client, context_id="one")["Location"]
    second = arrive(client, again=True, context_id="two")["Location"]
    assert [client.get(page).status_code for page in (first, second)] == [200, 200]
    third = arrive(client, again=True, context_id="two", user="eve")["Location"]

    assert [client.get(page).status_code for page in (first, third)] == [404, 200]
