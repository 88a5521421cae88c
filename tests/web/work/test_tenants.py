"""Courses can't see each other: whatever belongs to another one isn't there."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.web.work import rows

pytestmark = pytest.mark.usefixtures("database")

PAGES = ("", "state", "report", "receipt", "file")
"""Pages of an attempt."""

CLASS = ("class", "class/download", "")
"""Pages of a link."""

FORMS = ("class/regrade", "class/send", "class/refresh", "hand-in")


def two_courses() -> tuple[Any, Any]:
    """Make two courses of one platform with an instructor, a learner and a graded attempt each."""
    made = []
    for name in ("one", "two"):
        course = rows.course(name)
        rows.member(course, "ina", learner=False, instructor=True)
        rows.graded(course, rows.member(course, "ada"))
        made.append(course)
    return made[0], made[1]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("own", [True, False])
def test_an_attempt_of_another_course_is_not_there(client: Any, page: str, own: bool) -> None:
    """Neither below its own course nor below the visitor's; for an instructor too."""
    mine, other = two_courses()
    rows.enter(client, mine.members.get(user="ina"))
    foreign, below = other.attempts.get(), mine if own else other

    assert client.get(f"/c/{mine.id}/attempt/{mine.attempts.get().id}/{page}").status_code == 200
    assert client.get(f"/c/{below.id}/attempt/{foreign.id}/{page}").status_code == 404


@pytest.mark.parametrize("page", CLASS)
@pytest.mark.parametrize("own", [True, False])
def test_a_link_of_another_course_is_not_there(client: Any, page: str, own: bool) -> None:
    """The same for the class's pages."""
    mine, other = two_courses()
    rows.enter(client, mine.members.get(user="ina"))
    foreign, below = other.links.get(), mine if own else other

    shown = client.get(f"/c/{mine.id}/a/{mine.links.get().id}/{page}")
    assert shown.status_code == 200
    shown.close()
    assert client.get(f"/c/{below.id}/a/{foreign.id}/{page}").status_code == 404


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("own", [True, False])
def test_a_form_changes_nothing_of_another_course(client: Any, form: str, own: bool) -> None:
    """With a good token too."""
    from grader.web.work.models import AuditEntry

    mine, other = two_courses()
    rows.enter(client, mine.members.get(user="ina"))
    below = mine if own else other
    page = f"/c/{mine.id}/a/{mine.links.get().id}/class"
    fields = {"attempt": str(other.attempts.get().id)}

    assert rows.post(client, page, f"/c/{below.id}/a/{other.links.get().id}/{form}", fields).status_code == 404
    assert not AuditEntry.objects.exists()


def test_an_attempt_of_another_course_is_not_regraded_by_one_s_own_form(client: Any) -> None:
    """An id in a field is looked for in the visitor's course only; so is a score's."""
    from grader.web.work import outbox
    from grader.web.work.models import Attempt, ScoreDelivery

    mine, other = two_courses()
    outbox.settle_score(other.links.get(), other.members.get(user="ada"))
    rows.enter(client, mine.members.get(user="ina"))
    page = f"/c/{mine.id}/a/{mine.links.get().id}/class"

    assert rows.post(client, page, f"{page}/regrade", {"attempt": str(other.attempts.get().id)}).status_code == 404
    assert rows.post(client, page, f"{page}/send", {"delivery": str(ScoreDelivery.objects.get().id)}).status_code == 404
    assert set(Attempt.objects.values_list("state", flat=True)) == {"graded"}


def test_a_learner_sees_no_one_else(client: Any) -> None:
    """Another learner's attempt, the class and the log aren't there, and nothing is decided."""
    mine, _ = two_courses()
    eve = rows.member(mine, "eve")
    theirs = mine.attempts.get()
    own = rows.graded(mine, eve)
    rows.enter(client, eve)
    link = mine.links.get()

    for page in PAGES:
        assert client.get(f"/c/{mine.id}/attempt/{own.id}/{page}").status_code == 200
        assert client.get(f"/c/{mine.id}/attempt/{theirs.id}/{page}").status_code == 404
    for page in (f"a/{link.id}/class", f"a/{link.id}/class/download", "log"):
        assert client.get(f"/c/{mine.id}/{page}").status_code == 404
    student = f"/c/{mine.id}/a/{link.id}/"
    fields = {"criterion": "softmax/values", "points": "10", "reason": "mine"}
    assert rows.post(client, student, f"/c/{mine.id}/attempt/{own.id}/override", fields).status_code == 404
    assert rows.post(client, student, f"{student}class/regrade").status_code == 404


def test_a_learner_never_gets_the_instructor_s_report(client: Any) -> None:
    """Asking for it by its parameter gives the learner's."""
    mine, _ = two_courses()
    ada, attempt = mine.members.get(user="ada"), mine.attempts.get()
    rows.enter(client, ada)
    address = f"/c/{mine.id}/attempt/{attempt.id}/report?as=instructor"
    assert b"for the learner" in client.get(address).content

    rows.enter(client, mine.members.get(user="ina"))
    assert b"for all" in client.get(address).content
    assert b"for the learner" in client.get(address.replace("instructor", "student")).content


@pytest.mark.parametrize("known", [True, False])
def test_nobody_comes_in_without_a_launch(client: Any, known: bool) -> None:
    """A stranger finds nothing, and can't tell what exists from what doesn't."""
    mine, _ = two_courses()
    course = mine.id if known else uuid.uuid4()

    answer = client.get(f"/c/{course}/a/{mine.links.get().id}/")
    assert answer.status_code == 404
    assert b"There is no such page, or it isn't open in this browser." in answer.content.replace(b"&#x27;", b"'")


def test_who_left_the_course_sees_nothing(client: Any) -> None:
    """The LMS's roster says so; what was handed in stays."""
    mine, _ = two_courses()
    ada = mine.members.get(user="ada")
    rows.enter(client, ada)
    page = f"/c/{mine.id}/a/{mine.links.get().id}/"
    assert client.get(page).status_code == 200
    ada.active = False
    ada.save()

    assert client.get(page).status_code == 404


def test_forms_need_their_token(client: Any) -> None:
    """A page of somebody else can't send our forms."""
    mine, _ = two_courses()
    rows.enter(client, mine.members.get(user="ina"))
    answer = client.post(f"/c/{mine.id}/a/{mine.links.get().id}/class/regrade", {"work": "run"})

    assert answer.status_code == 403
    assert b"send its cookie" in answer.content
    # Where it happens is an LMS's frame, which has to show it.
    assert "frame-ancestors *" in answer["Content-Security-Policy"]


def test_ids_cannot_be_guessed() -> None:
    """What stands in addresses is drawn at random: version 4, no counters."""
    mine, _ = two_courses()
    ids = [mine.id, mine.links.get().id, mine.attempts.get().id, *mine.members.values_list("id", flat=True)]

    assert {found.version for found in ids} == {4}


def test_without_the_demo_there_is_no_demo(client: Any) -> None:
    """Its page isn't there, nor its form."""
    assert client.get("/demo/").status_code == 404
    assert rows.post(client, "/admin/login/", "/demo/", {"person": "instructor"}).status_code == 404
